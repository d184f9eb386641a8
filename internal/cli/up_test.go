package cli

import (
	"context"
	"errors"
	"os"
	"testing"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/control"
)

// A runningHouse says of itself only what it is.
type runningHouse struct {
	control.House
	version control.Version
}

func (h runningHouse) Version(context.Context) (control.Version, error) { return h.version, nil }

func TestAHouseOfOneCommandIsNotUp(t *testing.T) {
	for forCommand, want := range map[bool]call.Code{true: "", false: call.HomeLocked} {
		dir := t.TempDir()
		runDir := config.Home{Dir: dir}.RunDir()
		if err := os.MkdirAll(runDir, 0o700); err != nil {
			t.Fatal(err)
		}
		s, err := control.Listen(runDir, runningHouse{version: control.Version{API: control.API, PID: 7, ForCommand: forCommand}}, control.ListenOptions{})
		if err != nil {
			t.Fatal(err)
		}
		var got *call.Error
		err = new(program).alreadyUp(t.Context(), dir)
		if errors.As(err, &got); err != nil && (got == nil || got.Code != want) || err == nil && want != "" {
			t.Errorf("for a command %t: %v", forCommand, err)
		}
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
}

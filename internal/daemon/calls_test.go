package daemon

import (
	"context"
	"math"
	"testing"
	"time"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/control"
	"github.com/aurorabot/aurora/internal/platform/host"
)

// A hangingDialer never gets anywhere.
type hangingDialer struct{}

func (hangingDialer) Dial(ctx context.Context, _ *config.App) (*host.Link, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// Pairs are typed by a schema, for which a call waits while its app starts. That
// is part of the time it may take.
func TestACallWithPairsTakesNoLongerThanItMay(t *testing.T) {
	d := open(t, Options{Home: makeHome(t, "apps: {demo: {mcp: {command: [aurora]}}}\n"), Dialer: hangingDialer{}})
	began := time.Now()
	r := d.Call(t.Context(), control.CallRequest{Name: "demo.a", Pairs: []string{"x=1"}, TimeoutMS: 100}, nil)
	if took := time.Since(began); took > 5*time.Second { // the app has ten
		t.Errorf("it took %v", took)
	}
	if r.Outcome != call.Unavailable || r.Error == nil || r.Error.Code != call.AppUnavailable {
		t.Errorf("it ended as %s: %v", r.Outcome, r.Error)
	}
}

func TestATimeForEverIsLong(t *testing.T) {
	if d := milliseconds(math.MaxInt64); d < 100*365*24*time.Hour {
		t.Errorf("it is %v", d)
	}
}

package host

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"testing"
	"time"
)

func TestTheHealthFileTellsHowItEnded(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		path := filepath.Join(t.TempDir(), "data", "platform", "health.json")
		h.opt.HealthFile = path
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		// Of a run that was killed while it wrote.
		if err := os.WriteFile(filepath.Join(filepath.Dir(path), ".health.tmp"), []byte("half"), 0o600); err != nil {
			t.Fatal(err)
		}
		h.app("demo", "tool a\non tools/call\n  exit 3")
		h.open()
		h.pass(healthEvery)

		// While the host runs the file follows and does not claim a good end.
		now, err := ReadHealth(path)
		if err != nil {
			t.Fatal(err)
		}
		if now.Clean || now.PID != os.Getpid() || now.Apps[0].State != Ready || now.Apps[0].PID == 0 {
			t.Errorf("while it runs the file says %+v", now)
		}
		if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("the file has mode %v (%v)", st.Mode(), err)
		}
		h.call("demo.a", "")
		h.pass(healthEvery)
		if now, err = ReadHealth(path); err != nil || now.Apps[0].State != Restarting || now.Apps[0].Exit.Code != 3 {
			t.Errorf("after a crash the file says %+v (%v)", now, err)
		}

		if err := h.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if now, err = ReadHealth(path); err != nil || !now.Clean || now.Apps[0].State != Stopped {
			t.Errorf("after Close the file says %+v (%v)", now, err)
		}
		if left, _ := os.ReadDir(filepath.Dir(path)); len(left) != 1 {
			t.Errorf("%d files are left in the folder", len(left))
		}
	})
}

func TestTheHealthFileHoldsWhatTheHouseSays(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		path := filepath.Join(t.TempDir(), "health.json")
		h.opt.HealthFile = path
		var said atomic.Value
		said.Store("ready")
		h.opt.House = func() json.RawMessage { return json.RawMessage(strconv.Quote(said.Load().(string))) }
		h.app("demo", "tool a")
		h.open()
		h.pass(healthEvery)
		if now, err := ReadHealth(path); err != nil || string(now.House) != `"ready"` {
			t.Errorf("the file says %s (%v)", now.House, err)
		}
		said.Store("degraded")
		h.HouseChanged()
		h.pass(2 * healthEvery)
		if now, err := ReadHealth(path); err != nil || string(now.House) != `"degraded"` {
			t.Errorf("the file says %s (%v)", now.House, err)
		}
	})
}

func TestAHealthFileThatCannotBeWrittenHarmsNothing(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		file := filepath.Join(t.TempDir(), "file")
		if err := os.WriteFile(file, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		h.opt.HealthFile = filepath.Join(file, "health.json")
		h.app("demo", "tool a")
		h.open()
		h.pass(time.Second)
		wantOK(t, h.call("demo.a", ""), "{}")
	})
}

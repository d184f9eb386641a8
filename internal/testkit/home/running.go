package home

import (
	"bytes"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"
)

// Patience bounds every wait. It only says that something hangs.
const Patience = 2 * time.Minute

// A Running is `aurora up` in the background. It ends with the test.
type Running struct {
	h     *Home
	cmd   *exec.Cmd
	ready chan struct{} // closed when all apps are decided
	ended chan struct{}

	mu   sync.Mutex // guards said
	said bytes.Buffer
}

// Up starts `aurora up`; it does not wait until it is.
func (h *Home) Up() *Running {
	h.T.Helper()
	r := &Running{h: h, cmd: h.Command("up", "--json"), ready: make(chan struct{}), ended: make(chan struct{})}
	stdout, err := r.cmd.StdoutPipe()
	if err != nil {
		h.T.Fatal(err)
	}
	r.cmd.Stderr = stderr{r}
	if err := r.cmd.Start(); err != nil {
		h.T.Fatal(err)
	}
	go func() {
		defer close(r.ended)
		line := make([]byte, 1)
		if n, _ := io.ReadFull(stdout, line); n == 1 {
			close(r.ready)
		}
		_, _ = io.Copy(io.Discard, stdout)
		_ = r.cmd.Wait()
	}()
	h.T.Cleanup(r.Kill)
	return r
}

// stderr keeps what it says.
type stderr struct{ r *Running }

func (w stderr) Write(p []byte) (int, error) {
	w.r.mu.Lock()
	defer w.r.mu.Unlock()
	return w.r.said.Write(p)
}

// Said returns what it has written to stderr so far.
func (r *Running) Said() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.said.String()
}

// Ready reports whether all apps are decided.
func (r *Running) Ready() bool {
	select {
	case <-r.ready:
		return true
	default:
		return false
	}
}

// PID returns the id of the process.
func (r *Running) PID() int { return r.cmd.Process.Pid }

// Settled waits until all apps are decided.
func (r *Running) Settled() *Running {
	r.h.T.Helper()
	select {
	case <-r.ready:
	case <-r.ended:
		r.h.T.Fatalf("aurora up has ended:\n%s", r.Said())
	case <-time.After(Patience):
		r.h.T.Fatalf("aurora up does not come up:\n%s", r.Said())
	}
	return r
}

// Kill ends it as kill -9 does.
func (r *Running) Kill() {
	_ = r.cmd.Process.Kill() // in vain when it has ended
	<-r.ended
}

// Stop ends it as Ctrl-C does.
func (r *Running) Stop() {
	r.h.T.Helper()
	if err := r.cmd.Process.Signal(os.Interrupt); err != nil {
		r.h.T.Fatal(err)
	}
	select {
	case <-r.ended:
	case <-time.After(Patience):
		r.h.T.Fatalf("aurora up does not stop:\n%s", r.Said())
	}
	if code := r.cmd.ProcessState.ExitCode(); code != 0 {
		r.h.T.Fatalf("aurora up ended with %d:\n%s", code, r.Said())
	}
}

// Await looks until done says so.
func (r *Running) Await(what string, done func() bool) {
	r.h.T.Helper()
	for limit := time.After(Patience); !done(); {
		select {
		case <-time.After(5 * time.Millisecond):
		case <-r.ended:
			r.h.T.Fatalf("%s: aurora up has ended:\n%s", what, r.Said())
		case <-limit:
			r.h.T.Fatalf("%s: never\n%s", what, r.Said())
		}
	}
}

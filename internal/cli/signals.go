package cli

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

// errInterrupted is the cause of a context that a signal has ended.
var errInterrupted = errors.New("interrupted")

// signals turns the signals of this process into an orderly end: the first
// Ctrl-C or TERM ends ctx, a second one kills what is left and ends the
// process at once.
type signals struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	quit   chan struct{}
	done   chan struct{} // closed when the goroutine has ended
	first  time.Time     // when ctx was ended; used by the goroutine only

	mu     sync.Mutex // guards kill and hangup
	kill   func()     // called before the process ends in a hurry
	hangup func()     // called on SIGHUP; nil: it counts as TERM
}

func catchSignals() *signals {
	s := &signals{quit: make(chan struct{}), done: make(chan struct{})}
	s.ctx, s.cancel = context.WithCancelCause(context.Background())
	c := make(chan os.Signal, 4)
	// PIPE is caught so that a closed stdout is an error of a write and not the
	// end of the process, which would leave apps behind. It is not ignored,
	// since children would inherit that.
	signal.Notify(c, os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
	go s.listen(c)
	return s
}

func (s *signals) listen(c chan os.Signal) {
	defer close(s.done)
	defer signal.Stop(c)
	for {
		select {
		case <-s.quit:
			return
		case sig := <-c:
			s.take(sig)
		}
	}
}

func (s *signals) take(sig os.Signal) {
	s.mu.Lock()
	kill, hangup := s.kill, s.hangup
	s.mu.Unlock()
	switch {
	case sig == syscall.SIGPIPE:
	case sig == syscall.SIGHUP && hangup != nil:
		hangup()
	case s.ctx.Err() == nil:
		s.first = time.Now()
		s.cancel(errInterrupted)
	case time.Since(s.first) < onePress:
	case sig != syscall.SIGHUP:
		if kill != nil {
			inTime(kill)
		}
		os.Exit(exitInterrupted)
	}
}

// onePress is the time within which signals count as one: timeout(1) sends its
// signal to the process and to its group.
const onePress = 200 * time.Millisecond

// killPatience is how long a second Ctrl-C waits for what is left to die.
const killPatience = 3 * time.Second

// inTime runs f, but waits for it no longer than that.
func inTime(f func()) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		f()
	}()
	select {
	case <-done:
	case <-time.After(killPatience):
	}
}

// onKill sets what a second Ctrl-C does before the process ends.
func (s *signals) onKill(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.kill = f
}

// onHangup sets what SIGHUP does.
func (s *signals) onHangup(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hangup = f
}

// stop gives the signals back to the system.
func (s *signals) stop() {
	close(s.quit)
	<-s.done
	s.cancel(context.Canceled)
}

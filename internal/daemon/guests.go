package daemon

import (
	"context"
	"sync"

	"github.com/aurorabot/aurora/internal/call"
)

// guests are the questions under way. A house that runs for one command leaves
// only when those that others have asked it meanwhile are answered.
type guests struct {
	mu      sync.Mutex // guards what follows
	n       int
	leaving bool
	gone    chan struct{} // closed when the house leaves and nobody is left; nil: it does not leave
}

// errLeaving turns a question away that has not been said: it may be asked again,
// here or elsewhere.
var errLeaving = &call.Error{Code: call.ShuttingDown, Message: "Aurora is stopping; say it again in a moment", Retryable: true}

// enter lets a question in, which must leave. The error says that the house takes
// no more.
func (g *guests) enter() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.leaving {
		return errLeaving
	}
	g.n++
	return nil
}

func (g *guests) leave() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.n--; g.n == 0 && g.leaving {
		close(g.gone)
	}
}

// close lets nobody in any more. What it returns is closed when nobody is left.
func (g *guests) close() <-chan struct{} {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !g.leaving {
		g.leaving, g.gone = true, make(chan struct{})
		if g.n == 0 {
			close(g.gone)
		}
	}
	return g.gone
}

// Farewell takes no more questions and waits until those under way are answered,
// or ctx ends. It is for a house that runs for one command, before it is closed:
// others may have found it and asked.
func (d *Daemon) Farewell(ctx context.Context) {
	select {
	case <-d.guests.close():
	case <-ctx.Done():
	case <-d.hurry.Done():
	}
}

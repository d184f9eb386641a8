package bridge

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/aurorabot/aurora/internal/config"
)

// ackTimeout is how long an acknowledgement may take to be written. The app
// sends again what was not acknowledged, so a lost one costs nothing.
const ackTimeout = 5 * time.Second

// ErrNotWanted says that a session wants no acknowledgements.
var ErrNotWanted = errors.New("the app wants no acknowledgements")

// acks tells apps which of their events are durable.
type acks struct {
	send func(ctx context.Context, app *config.App, epoch uint64, params []byte) error
	log  *slog.Logger
	wg   sync.WaitGroup // the goroutines that write

	mu       sync.Mutex // guards what follows
	waiting  map[address][]string
	busy     map[address]bool
	unwanted map[string]uint64 // by key: the latest session that wants none
}

// An address is one session of one app.
type address struct {
	app   *config.App
	epoch uint64
}

func newAcks(send func(context.Context, *config.App, uint64, []byte) error, log *slog.Logger) *acks {
	return &acks{
		send: send, log: log, waiting: make(map[address][]string), busy: make(map[address]bool),
		unwanted: make(map[string]uint64),
	}
}

// add acknowledges an event, soon, together with others of the same session.
func (a *acks) add(app *config.App, epoch uint64, id string) {
	if a.send == nil || app == nil {
		return
	}
	to := address{app, epoch}
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.unwanted[app.Key] == epoch {
		return
	}
	a.waiting[to] = append(a.waiting[to], id)
	if !a.busy[to] {
		a.busy[to] = true
		a.wg.Go(func() { a.write(to) })
	}
}

// write sends what waits for one session until nothing does.
func (a *acks) write(to address) {
	for {
		a.mu.Lock()
		ids := a.waiting[to]
		delete(a.waiting, to)
		if len(ids) == 0 {
			delete(a.busy, to)
			a.mu.Unlock()
			return
		}
		a.mu.Unlock()
		params, err := json.Marshal(struct {
			MessageIDs []string `json:"message_ids"`
		}{ids})
		if err == nil {
			ctx, cancel := context.WithTimeout(context.Background(), ackTimeout)
			err = a.send(ctx, to.app, to.epoch, params)
			cancel()
		}
		switch {
		case errors.Is(err, ErrNotWanted):
			a.mu.Lock()
			a.unwanted[to.app.Key] = to.epoch
			a.mu.Unlock()
		case err != nil:
			a.log.Debug("an acknowledgement was not delivered", "app", to.app.Key, "count", len(ids), "error", err)
		}
	}
}

// wait waits until nothing is being written.
func (a *acks) wait() { a.wg.Wait() }

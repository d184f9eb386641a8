package soak

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
)

// callers is how many call at once.
const callers = 24

// live starts the apps that rest and lets callers and keepers do what they want
// for a while. It returns the highest figures of that time.
func (h *house) live(r *rand.Rand, d time.Duration) figures {
	for _, app := range h.apps {
		if err := h.host.StartApp(context.Background(), app.Key); err != nil {
			h.t.Errorf("starting %s: %v", app.Key, err)
		}
	}
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	var busy sync.WaitGroup
	for range callers {
		own := rand.New(rand.NewPCG(r.Uint64(), 2))
		busy.Go(func() { h.call(ctx, own) })
	}
	own := rand.New(rand.NewPCG(r.Uint64(), 3))
	busy.Go(func() { h.keep(ctx, own) })

	var peak figures
	tick := time.NewTicker(time.Second)
	defer tick.Stop()
	for ctx.Err() == nil {
		select {
		case <-tick.C:
			peak = peak.highest(look())
		case <-ctx.Done():
		}
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		busy.Wait()
	}()
	select {
	case <-ended:
	case <-time.After(patience):
		panic("callers hang") // goroutines are lost; no test can go on
	}
	return peak
}

// call is one caller.
func (h *house) call(ctx context.Context, r *rand.Rand) {
	for ctx.Err() == nil {
		tools := h.host.Catalog().Tools()
		if len(tools) == 0 {
			time.Sleep(10 * time.Millisecond)
			continue
		}
		t := tools[r.IntN(len(tools))]
		args := json.RawMessage(`{"a":1}`)
		if r.IntN(8) == 0 {
			args = fmt.Appendf(nil, `{"text":%q}`, strings.Repeat("天气", r.IntN(40_000)))
		}
		own, cancel := context.WithCancel(ctx)
		if r.IntN(8) == 0 {
			time.AfterFunc(time.Duration(r.IntN(100))*time.Millisecond, cancel)
		}
		result := h.host.Call(own, call.Call{
			Caller: call.Caller{Kind: call.CLI}, Name: t.Name, Args: args,
			Timeout:    time.Duration(50+r.IntN(1000)) * time.Millisecond,
			OnProgress: func(call.Progress) {},
		})
		cancel()
		if healthy(t.App.Key) && result.Outcome == call.OK && len(result.Raw) == 0 {
			h.t.Errorf("%s ended well without a result", t.Name)
		}
		time.Sleep(time.Duration(r.IntN(20)) * time.Millisecond)
	}
}

// keep is the keeper, who cannot leave things alone.
func (h *house) keep(ctx context.Context, r *rand.Rand) {
	for {
		select {
		case <-ctx.Done():
			// What it did last is undone. A stop whose start did not come any
			// more would outlive a reload.
			h.host.Reload(context.Background(), h.apps, nil)
			for _, app := range h.apps {
				if err := h.host.StartApp(context.Background(), app.Key); err != nil {
					h.t.Errorf("starting %s: %v", app.Key, err)
				}
			}
			return
		case <-time.After(time.Duration(200+r.IntN(1000)) * time.Millisecond):
		}
		app := h.apps[r.IntN(len(h.apps))]
		var err error
		switch r.IntN(5) {
		case 0:
			err = h.host.RestartApp(ctx, app.Key)
		case 1:
			if err = h.host.StopApp(ctx, app.Key); err == nil {
				err = h.host.StartApp(ctx, app.Key)
			}
		case 2: // another configuration of one app
			changed := *app
			changed.MCP.Env = append(slices.Clone(app.MCP.Env), fmt.Sprintf("CHANGED=%d", r.IntN(1000)))
			changed.MCP.CallTimeout += time.Millisecond
			apps := slices.Clone(h.apps)
			apps[slices.Index(apps, app)] = &changed
			h.host.Reload(ctx, apps, nil)
		case 3: // one app less, for a while
			h.host.Reload(ctx, slices.DeleteFunc(slices.Clone(h.apps), func(a *config.App) bool { return a == app }), nil)
			h.host.Reload(ctx, h.apps, nil)
		case 4:
			h.host.Status()
			h.bridge.Status()
			h.host.Fresh(ctx)
		}
		if err != nil && ctx.Err() == nil && !unknownApp(err) {
			h.t.Errorf("an order to %s: %v", app.Key, err)
		}
	}
}

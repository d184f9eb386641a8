package host

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aurorabot/aurora/internal/call"
)

// restless is a server on which everything happens that can happen to a call.
const restless = `
tool echo
tool slow
tool never
tool crash
tool grow
tool storm
tool wrong
resource demo://x
on tools/call slow
  background
    sleep 3s
    reply default
on tools/call never
  ignore
on tools/call crash
  exit 1
on tools/call grow
  add tool extra
  notify notifications/tools/list_changed
  reply default
on tools/call storm
  background
    repeat 20 every 10ms
      notify notifications/tools/list_changed
  reply default
on tools/call wrong
  reply error -32000 "no"
`

// Whatever happens around it, each call ends exactly once and in time, none is
// made twice, and nothing is left when the host closes.
func TestEveryCallEndsOnceWhateverHappens(t *testing.T) {
	for range 20 {
		seed := rand.Uint64()
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { liveWildly(t, seed) })
		if t.Failed() {
			return
		}
	}
}

func liveWildly(t *testing.T, seed uint64) {
	inHouse(t, func(t *testing.T, h *house) {
		r := rand.New(rand.NewPCG(seed, 1))
		keys := []string{"one", "two", "three"}
		for _, key := range keys {
			c := h.app(key, restless)
			c.MCP.CallTimeout, c.MCP.CallMax = 20*time.Second, 40*time.Second
			c.MCP.Restart.MaxAttempts = 5
		}
		h.open()

		tools := []string{"echo", "echo", "echo", "slow", "never", "crash", "grow", "extra", "storm", "wrong", "nope"}
		var calls []<-chan call.Result
		var giveUp []context.CancelFunc
		tend := func(key string, act func(context.Context, string) error) {
			go func() {
				if err := act(context.Background(), key); err != nil {
					t.Errorf("seed %d: %v", seed, err)
				}
			}()
		}
		for n := range 200 {
			key := keys[r.IntN(len(keys))]
			switch r.IntN(12) {
			case 0:
				h.pass(time.Duration(r.IntN(5000)) * time.Millisecond)
			case 1:
				if len(giveUp) > 0 {
					giveUp[r.IntN(len(giveUp))]()
				}
			case 2:
				if r.IntN(4) == 0 {
					tend(key, h.RestartApp)
				}
			case 3:
				if r.IntN(8) == 0 {
					tend(key, h.StopApp)
				} else if r.IntN(2) == 0 {
					tend(key, h.StartApp)
				}
			case 4:
				h.all(key)[r.IntN(h.starts(key))].kill()
			default:
				ctx, cancel := context.WithCancel(t.Context())
				giveUp = append(giveUp, cancel)
				name := key + "." + tools[r.IntN(len(tools))]
				calls = append(calls, h.callingAs(ctx, call.Call{Caller: cli, Name: name, Args: json.RawMessage(fmt.Sprintf(`{"nonce":"%d."}`, n))}))
			}
		}
		h.pass(2 * time.Minute)
		for i, done := range calls {
			select {
			case r := <-done:
				if r.Outcome == "" || (r.Outcome == call.OK) != (r.Err == nil) {
					t.Errorf("seed %d: call %d ended as %q with %v", seed, i, r.Outcome, r.Err)
				}
			default:
				t.Errorf("seed %d: call %d has not ended", seed, i)
			}
		}
		for _, cancel := range giveUp {
			cancel()
		}
		synctest.Wait()
		if len(h.records) != len(calls) || len(h.ofKind(SignalCalled)) != len(calls) {
			t.Errorf("seed %d: %d calls made %d records and %d signals", seed, len(calls), len(h.records), len(h.ofKind(SignalCalled)))
		}
		made := map[string]int{}
		for _, key := range keys {
			for _, p := range h.all(key) {
				for _, params := range p.params("tools/call") {
					_, nonce, _ := strings.Cut(params, `"nonce":"`)
					made[nonce[:strings.IndexByte(nonce, '.')]]++
				}
			}
		}
		for nonce, n := range made {
			if n > 1 {
				t.Errorf("seed %d: call %s was made %d times", seed, nonce, n)
			}
		}
	})
}

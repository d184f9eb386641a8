package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/testkit"
)

// The property: whatever a server does, every call ends exactly once, with its
// own answer or with a reason of its own, and nothing is left behind.

// A trickster is a server that answers late, twice, in any order, under other
// spellings, in batches and in pieces, and talks nonsense in between. It never
// answers a call with the result of another.
type trickster struct {
	rng *rand.Rand
	out io.Writer

	open   []message // calls it may still answer
	past   []message // calls it has answered
	cancel map[string]int
}

func (k *trickster) serve(in io.Reader) {
	arrived := make(chan message, 1000)
	go func() {
		defer close(arrived)
		lines := bufio.NewReader(in)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return
			}
			var m message
			if json.Unmarshal(line, &m) != nil {
				panic("the session wrote " + string(line))
			}
			arrived <- m
		}
	}()
	for m := range arrived {
		k.take(m)
		for k.rng.IntN(3) > 0 {
			k.act()
			if k.rng.IntN(4) == 0 {
				time.Sleep(time.Duration(k.rng.IntN(3000)) * time.Microsecond)
			}
		}
		for len(k.open) > 12 {
			k.answer(k.rng.IntN(len(k.open)))
		}
	}
}

func (k *trickster) take(m message) {
	switch m.Method {
	case "initialize":
		k.say(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-03-26","capabilities":{"tools":{}}}}`, m.ID)
	case "tools/call":
		k.open = append(k.open, m)
	case "notifications/cancelled":
		var p struct{ RequestID json.RawMessage }
		json.Unmarshal(m.Params, &p)
		k.cancel[string(p.RequestID)]++
	}
}

// act does one thing of many.
func (k *trickster) act() {
	switch n := k.rng.IntN(14); {
	case n < 5 && len(k.open) > 0:
		k.answer(k.rng.IntN(len(k.open)))
	case n == 5 && len(k.past) > 0:
		k.say("%s", k.result(k.past[k.rng.IntN(len(k.past))])) // again
	case n == 6:
		k.say(`{"jsonrpc":"2.0","id":%d,"result":{"for":"nobody"}}`, 1_000_000+k.rng.IntN(1000))
	case n == 7:
		k.say("[info] noise %d", k.rng.IntN(1000))
	case n == 8:
		k.say(`{"jsonrpc":"2.0","id":"q%d","method":"ping"}`, k.rng.IntN(1000))
	case n == 9 && len(k.open) > 0:
		k.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, k.open[k.rng.IntN(len(k.open))].ID)
	case n == 10:
		k.say(`{"jsonrpc":"2.0","method":"acme/tick","params":[%d]}`, k.rng.IntN(1000))
	case n == 11 && len(k.open) > 1:
		one, two := k.pick(), k.pick()
		k.say("[%s,%s]", k.result(one), k.result(two))
	case n == 12 && len(k.open) > 1:
		one, two := k.pick(), k.pick()
		k.say("%s%s", k.result(one), k.result(two))
	case n == 13:
		k.say(`{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"parse error"}}`)
	}
}

func (k *trickster) pick() message {
	i := k.rng.IntN(len(k.open))
	m := k.open[i]
	k.open = append(k.open[:i], k.open[i+1:]...)
	k.past = append(k.past, m)
	return m
}

func (k *trickster) answer(i int) {
	m := k.open[i]
	k.open = append(k.open[:i], k.open[i+1:]...)
	k.past = append(k.past, m)
	k.say("%s", k.result(m))
}

// result is the answer to m, under one of the spellings of its id.
func (k *trickster) result(m message) string {
	id := []string{"%s", "%s", "%s", `"%s"`, "%s.0"}[k.rng.IntN(5)]
	var p struct{ Name string }
	json.Unmarshal(m.Params, &p)
	text := `{"jsonrpc":"2.0","id":` + fmt.Sprintf(id, m.ID) + `,"result":{"for":"` + p.Name + `","pad":"` + strings.Repeat("x", k.rng.IntN(3)*k.rng.IntN(40_000)) + `"}}`
	if strings.HasPrefix(p.Name, "fails") {
		text = `{"jsonrpc":"2.0","id":` + fmt.Sprintf(id, m.ID) + `,"error":{"code":1,"message":"` + p.Name + `"}}`
	}
	return text
}

// say writes a line, now and then in two pieces.
func (k *trickster) say(format string, args ...any) {
	line := fmt.Sprintf(format, args...) + "\n"
	if k.rng.IntN(5) == 0 {
		cut := k.rng.IntN(len(line))
		io.WriteString(k.out, line[:cut])
		line = line[cut:]
	}
	io.WriteString(k.out, line)
}

// scramble lets callers loose on a trickster and checks the property.
func scramble(t *testing.T, seed uint64, callers, calls int, tr Transport, childIn io.Reader, childOut io.WriteCloser) {
	k := &trickster{rng: rand.New(rand.NewPCG(seed, 1)), out: childOut, cancel: map[string]int{}}
	served := make(chan struct{})
	go func() {
		defer close(served)
		k.serve(childIn)
	}()
	var notified atomic.Int64
	s, err := Connect(t.Context(), tr, Options{
		OnNotification: func(string, []byte) { notified.Add(1) },
	})
	if err != nil {
		t.Fatal(err)
	}

	var gaveUp atomic.Int64
	var all sync.WaitGroup
	for c := range callers {
		all.Go(func() {
			rng := rand.New(rand.NewPCG(seed, uint64(c)+2))
			for n := range calls {
				name := fmt.Sprintf("%s-%d-%d", []string{"works", "fails"}[rng.IntN(2)], c, n)
				ctx, stop := context.WithCancel(t.Context())
				o := &RequestOptions{Whole: time.Duration(1+rng.IntN(40)) * time.Millisecond}
				if rng.IntN(3) == 0 {
					o.OnProgress = func(call.Progress) {}
				}
				if rng.IntN(3) == 0 {
					timer := time.AfterFunc(time.Duration(rng.IntN(20_000))*time.Microsecond, stop)
					defer timer.Stop()
				}
				r, err := s.CallTool(ctx, name, []byte(`{"a":"`+strings.Repeat("y", rng.IntN(2000))+`"}`), o)
				stop()
				if !own(name, r, err) {
					t.Errorf("seed %d: %s ended with %.60s, %v", seed, name, r.Raw, err)
				}
				var e *CallError
				if errors.As(err, &e) && e.Kind != TooLarge && e.Delivered {
					gaveUp.Add(1)
				}
			}
		})
	}
	all.Wait()
	equal(t, "in flight", s.Inflight(), 0)
	s.Close(nil)
	<-served
	childOut.Close()
	s.Wait()
	for id, n := range k.cancel {
		if n > 1 {
			t.Errorf("seed %d: request %s was cancelled %d times", seed, id, n)
		}
	}
	if n := int64(len(k.cancel)) + s.Stats().Unanswered; n > gaveUp.Load() {
		t.Errorf("seed %d: %d cancellations for %d calls that were given up", seed, n, gaveUp.Load())
	}
}

// own tells whether this is an end that the call of that name may have.
func own(name string, r Result, err error) bool {
	var refused *RPCError
	var e *CallError
	switch {
	case err == nil:
		return strings.HasPrefix(name, "works") && strings.HasPrefix(string(r.Raw), `{"for":"`+name+`"`)
	case errors.As(err, &refused):
		return strings.HasPrefix(name, "fails") && refused.Message == name
	case errors.As(err, &e):
		// Several answers on a line that is too long are lost together.
		return e.Kind == Timeout || e.Kind == Cancelled || e.Kind == TooLarge
	}
	return false
}

func TestRandomInterleavings(t *testing.T) {
	for seed := range uint64(20) {
		synctest.Test(t, func(t *testing.T) {
			childIn, stdin := net.Pipe()
			stdout, childOut := net.Pipe()
			scramble(t, seed, 6, 40, NewStdio(stdout, stdin, StdioOptions{MaxMessage: 60_000}), childIn, childOut)
		})
	}
}

// The same over HTTP, where answers come on other streams than their requests.
func TestRandomInterleavingsOverHTTP(t *testing.T) {
	for seed := range uint64(10) {
		for how, w := range map[string]wire{"strict": wireJSON, "strict\nanswers sse": wireSSE, "strict\nanswers sse\nnumbered\npieces 100": wireSSE, "answers legacy": wireLegacy} {
			synctest.Test(t, func(t *testing.T) {
				childIn, stdin := net.Pipe()
				stdout, childOut := net.Pipe()
				server := testkit.StartHTTP(t, func(int) (io.Reader, io.WriteCloser) { return stdout, stdin }, testkit.MustParseHTTP(t, how))
				tr, late := dialTest(t, w, HTTPOptions{URL: server.URL, Dial: server.Dial, MaxMessage: 60_000})
				stop := context.AfterFunc(late, func() { stdin.Close() })
				defer stop()
				scramble(t, seed, 6, 30, tr, childIn, childOut)
			})
		}
	}
}

// The same over real pipes and in real time, for the race detector.
func TestRandomInterleavingsOverPipes(t *testing.T) {
	for seed := range uint64(2) {
		childIn, stdin, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		stdout, childOut, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		scramble(t, seed, 12, 20, NewStdio(stdout, stdin, StdioOptions{MaxMessage: 60_000}), childIn, childOut)
		childIn.Close()
		stdout.Close()
	}
}

package mcp

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// leading returns a session whose reader has lent the baton: calls have
// followed each other closely.
func leading(t *testing.T, o Options) (*peer, *Session, *baton) {
	t.Helper()
	p, s := connect(t, o)
	b := &s.t.(*stdio).baton
	warmUp(t, p, s)
	return p, s, b
}

// warmUp calls until the baton is lent.
func warmUp(t *testing.T, p *peer, s *Session) {
	t.Helper()
	for range 10 {
		end := callTool(s, t.Context(), "warm up", nil)
		p.answer(p.nextCall(), "{}")
		(<-end).want(t, "{}")
		synctest.Wait()
		if s.t.(*stdio).baton.holder.Load() == lent {
			return
		}
	}
	t.Fatal("the reader does not lend the baton")
}

func TestCallersReadTheirOwnAnswersWhenCallsFollowClosely(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s, b := leading(t, Options{})
		before := b.taken.Load()
		for i := range 100 {
			end := callTool(s, t.Context(), "f", nil)
			p.answer(p.next("tools/call"), fmt.Sprintf(`{"n":%d}`, i))
			(<-end).want(t, fmt.Sprintf(`{"n":%d}`, i))
		}
		equal(t, "taken", b.taken.Load()-before, 100)

		// When the calls cease, the reader takes over again.
		time.Sleep(3 * lendTime)
		equal(t, "holder", b.holder.Load(), withReader)
	})
}

// Between and during such calls everything else reaches the reader, in order.
func TestWhatIsNoAnswerIsLeftToTheReader(t *testing.T) {
	for _, line := range []string{
		`{"jsonrpc":"2.0","method":"a/b"}`,
		`{"jsonrpc":"2.0","id":"q","method":"ping"}`,
		`noise`,
		`{"jsonrpc":"2.0","id":1,"result":{"a":`,
		`{"jsonrpc":"2.0","id":1,"result":"` + "\xff" + `"}`,
		`[{"jsonrpc":"2.0","method":"a/b"}]`,
		strings.Repeat("x", 50_000),
	} {
		t.Run(fmt.Sprintf("%.30q", line), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var seen []string
				p, s, b := leading(t, Options{OnNotification: func(method string, _ []byte) { seen = append(seen, method) }})
				before := b.taken.Load()
				end := callTool(s, t.Context(), "f", nil)
				m := p.next("tools/call")
				synctest.Wait()
				equal(t, "holder", b.holder.Load(), withCaller)
				equal(t, "taken", b.taken.Load()-before, 1)
				p.say("%s", line)
				p.say(`{"jsonrpc":"2.0","method":"after"}`)
				p.answer(m, `{"mine":1}`)
				(<-end).want(t, `{"mine":1}`)
				equal(t, "the last notification before the answer", seen[len(seen)-1], "after")
			})
		})
	}
}

// A line behind the caller's answer does not wait for the next call.
func TestWhatFollowsTheAnswerIsReadAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := make(chan string, 1)
		p, s, _ := leading(t, Options{OnNotification: func(method string, _ []byte) { seen <- method }})
		end := callTool(s, t.Context(), "f", nil)
		m := p.next("tools/call")
		synctest.Wait()
		began := time.Now()
		p.write(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{}}` + "\n" + `{"jsonrpc":"2.0","method":"after"}` + "\n")
		(<-end).want(t, "{}")
		equal(t, "seen", <-seen, "after")
		equal(t, "after", time.Since(began), 0)
	})
}

// While the baton is lent nobody reads; that ends soon.
func TestANotificationAfterABurstOfCallsIsNotHeldBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		seen := make(chan string, 1)
		p, _, _ := leading(t, Options{OnNotification: func(method string, _ []byte) { seen <- method }})
		began := time.Now()
		p.say(`{"jsonrpc":"2.0","method":"late"}`)
		equal(t, "seen", <-seen, "late")
		if d := time.Since(began); d > 2*lendTime {
			t.Errorf("took %v", d)
		}
	})
}

func TestACallerThatReadsCanBeCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s, b := leading(t, Options{})
		ctx, stop := context.WithCancel(t.Context())
		end := callTool(s, ctx, "f", nil)
		p.next("tools/call")
		synctest.Wait()
		equal(t, "holder", b.holder.Load(), withCaller)
		began := time.Now()
		stop()
		(<-end).wantKind(t, Cancelled, true)
		if d := time.Since(began); d > leadTime {
			t.Errorf("took %v", d)
		}
		p.next("notifications/cancelled")

		// A timeout that is shorter than that is kept.
		warmUp(t, p, s)
		began = time.Now()
		end = callTool(s, t.Context(), "f", &RequestOptions{Whole: 2 * time.Millisecond})
		(<-end).wantKind(t, Timeout, true)
		equal(t, "ended after", time.Since(began), 2*time.Millisecond)
	})
}

// A long call does not keep its caller reading, and a second call at the same
// time gets its answer from whoever reads.
func TestCallsAtTheSameTimeAreReadByOneOfThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s, b := leading(t, Options{})
		first := callTool(s, t.Context(), "first", nil)
		one := p.next("tools/call")
		synctest.Wait()
		equal(t, "holder", b.holder.Load(), withCaller)
		second := callTool(s, t.Context(), "second", nil)
		two := p.next("tools/call")
		p.answer(two, `{"n":2}`) // read by the first
		(<-second).want(t, `{"n":2}`)
		third := callTool(s, t.Context(), "third", nil)
		three := p.next("tools/call")
		synctest.Wait() // it has found the baton taken, and waits
		p.answer(one, `{"n":1}`)
		(<-first).want(t, `{"n":1}`)
		synctest.Wait()
		equal(t, "holder", b.holder.Load(), withReader) // the third still waits
		p.answer(three, `{"n":3}`)
		(<-third).want(t, `{"n":3}`)

		long := callTool(s, t.Context(), "long", nil)
		m := p.next("tools/call")
		time.Sleep(time.Second)
		equal(t, "holder", b.holder.Load(), withReader)
		p.answer(m, "{}")
		(<-long).want(t, "{}")
	})
}

func TestTheEndOfTheServerIsSeenWhileTheBatonIsLent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s, _ := leading(t, Options{})
		p.out.Close()
		<-s.Done()
		contains(t, s.Err().Error(), "EOF")
	})
	synctest.Test(t, func(t *testing.T) {
		p, s, _ := leading(t, Options{})
		end := callTool(s, t.Context(), "f", nil)
		p.next("tools/call")
		synctest.Wait()
		p.out.Close()
		(<-end).wantKind(t, Closed, true)
	})
	synctest.Test(t, func(t *testing.T) {
		p, s, _ := leading(t, Options{})
		end := callTool(s, t.Context(), "f", nil)
		p.next("tools/call")
		synctest.Wait()
		s.Close(nil)
		(<-end).wantKind(t, Closed, true)
	})
}

// A last answer without its line end reaches the caller that reads.
func TestALastAnswerWithoutItsEndWhileACallerReads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s, _ := leading(t, Options{})
		end := callTool(s, t.Context(), "f", nil)
		m := p.next("tools/call")
		synctest.Wait()
		p.write(`{"jsonrpc":"2.0","id":` + string(m.ID) + `,"result":{"bye":1}}`)
		p.out.Close()
		(<-end).want(t, `{"bye":1}`)
	})
}

package mcp

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aurorabot/aurora/internal/call"
)

// The tests of this file are rows of the areas "tools" and "events" of the
// field faults that concern one session. T07 is in list_test.go.

// T11: a long tool reports progress.
func TestT11ProgressResetsTheSoftTimeout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := connect(t, Options{SoftTimeout: time.Second})
		var seen []call.Progress
		long := callTool(s, t.Context(), "long", &RequestOptions{OnProgress: func(p call.Progress) { seen = append(seen, p) }})
		m := p.next("tools/call")
		contains(t, string(m.Params), `"_meta":{"progressToken":`+string(m.ID)+`}`)
		for i := range 7 {
			time.Sleep(400 * time.Millisecond)
			p.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":%d,"message":"step %[2]d"}}`, m.ID, i)
			// None of these is anybody's.
			p.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":999,"progress":1}}`)
			p.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"%s","progress":1}}`, m.ID)
			p.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":null}}`)
			p.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":[%s]}`, m.ID)
			p.say(`{"jsonrpc":"2.0","method":"notifications/progress"}`)
			p.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":"half"}}`, m.ID)
		}
		p.answer(m, `{"done":true}`)
		(<-long).want(t, `{"done":true}`)
		equal(t, "progress", fmt.Sprint(seen[0], seen[6], len(seen)), "{0 0 step 0} {6 0 step 6} 7")

		// While idle, nothing breaks.
		p.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1,"total":2}}`, m.ID)
		short := callTool(s, t.Context(), "short", nil)
		p.answer(p.next("tools/call"), "{}")
		(<-short).want(t, "{}")
		equal(t, "progress", len(seen), 7)
	})
}

// T11: without progress the soft timeout ends the call, and cancels it upstream.
func TestT11SilenceEndsTheCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := connect(t, Options{SoftTimeout: time.Second})
		began := time.Now()
		call := callTool(s, t.Context(), "silent", nil)
		m := p.next("tools/call")
		time.Sleep(700 * time.Millisecond)
		p.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, m.ID)
		got := <-call
		got.wantKind(t, Timeout, true)
		contains(t, got.err.Error(), "no answer within 1s")
		equal(t, "ended after", time.Since(began), 1700*time.Millisecond)
		equal(t, "cancelled", p.next("notifications/cancelled").line,
			`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`+string(m.ID)+`,"reason":"timeout"}}`+"\n")
	})
}

// T12: progress without end.
func TestT12TheHardMaximumEndsACallWithEndlessProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := connect(t, Options{})
		began := time.Now()
		flooded := callTool(s, t.Context(), "flood", &RequestOptions{Soft: time.Second, Hard: 2 * time.Second})
		m := p.next("tools/call")
		go func() {
			for time.Since(began) < 3*time.Second {
				p.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, m.ID)
				time.Sleep(10 * time.Millisecond)
			}
		}()
		(<-flooded).wantKind(t, Timeout, true)
		equal(t, "ended after", time.Since(began), 2*time.Second)
		contains(t, p.next("notifications/cancelled").line, `"requestId":`+string(m.ID))
		time.Sleep(2 * time.Second)
	})
}

// T12: the whole time of a call is not extended.
func TestT12TheWholeTimeIsNotExtendedByProgress(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := connect(t, Options{SoftTimeout: time.Second, HardTimeout: time.Second})
		began := time.Now()
		call := callTool(s, t.Context(), "f", &RequestOptions{Whole: 5 * time.Second})
		m := p.next("tools/call")
		time.Sleep(4 * time.Second)
		p.say(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}`, m.ID)
		(<-call).wantKind(t, Timeout, true)
		equal(t, "ended after", time.Since(began), 5*time.Second)
	})
}

// T13: somebody stops a turn.
func TestT13CancellingOneCallLeavesTheOtherAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := connect(t, Options{})
		ctx, stop := context.WithCancelCause(t.Context())
		a := callTool(s, ctx, "slow", nil)
		first := p.next("tools/call")
		b := callTool(s, t.Context(), "slow", nil)
		second := p.next("tools/call")
		synctest.Wait()
		time.Sleep(time.Second)
		stop(fmt.Errorf("the turn was stopped"))
		got := <-a
		got.wantKind(t, Cancelled, true)
		contains(t, got.err.Error(), "the turn was stopped")
		contains(t, p.next("notifications/cancelled").line, `"requestId":`+string(first.ID)+`,`)

		p.answer(first, `{"late":true}`) // dropped, and nobody else's
		p.answer(second, `{"mine":true}`)
		(<-b).want(t, `{"mine":true}`)
		synctest.Wait()
		p.silent()

		// Cancelling after the answer is nothing.
		ctx, late := context.WithCancel(t.Context())
		c := callTool(s, ctx, "fast", nil)
		p.answer(p.next("tools/call"), "{}")
		(<-c).want(t, "{}")
		late()
		synctest.Wait()
		p.silent()
	})
}

// T13: a call whose context is over before it begins is not sent at all.
func TestT13ACallThatIsCancelledBeforeIsNotSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := connect(t, Options{})
		ctx, stop := context.WithCancel(t.Context())
		stop()
		_, err := s.CallTool(ctx, "f", nil, nil)
		wantKind(t, err, Cancelled, false)
		synctest.Wait()
		p.silent()
	})
}

// E01: notifications and requests of the server's own making.
func TestE01UnknownNotificationsAreKeptRaw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []string
		p, s := connect(t, Options{OnNotification: func(method string, params []byte) {
			seen = append(seen, method+" "+string(params))
		}})
		p.say(`{"jsonrpc":"2.0","method":"notifications/acme/tick","params":[1, 12345678901234567890,1e400]}`)
		p.say(`{"jsonrpc":"2.0","method":"acme/event"}`)
		p.say(`{"jsonrpc":"2.0","method":"acme\/\u0065vent","params":null,"id":null}`)
		p.say(`{"jsonrpc":"2.0","method":"aurora/event","params":{"type":"weather.alert","data":{"z":1,"a":"\ud800"}}}`)
		p.say(`{"jsonrpc":"2.0","method":"notifications/odd","params":"text"}`)
		p.say(`{"jsonrpc":"2.0","method":"acme/ask","id":"s-1"}`)
		contains(t, p.next("").line, `{"jsonrpc":"2.0","id":"s-1","error":{"code":-32601,`)
		equal(t, "seen", strings.Join(seen, "\n"), strings.Join([]string{
			`notifications/acme/tick [1, 12345678901234567890,1e400]`,
			`acme/event `,
			`acme/event `,
			`aurora/event {"type":"weather.alert","data":{"z":1,"a":"\ud800"}}`,
			`notifications/odd "text"`,
		}, "\n"))
		equal(t, "refused", s.Stats().Refused, 1)
	})
}

// E07: a flood of notifications during a call.
func TestE07TheAnswerArrivesBehindAFloodOfNotifications(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const flood = 20_000
		sink := make(chan int, 100) // the bridge: it drops what it cannot take
		dropped, next, torn := 0, 0, false
		p, s := connect(t, Options{OnNotification: func(_ string, params []byte) {
			torn = torn || string(params) != fmt.Sprintf(`{"n":%d}`, next)
			select {
			case sink <- next:
			default:
				dropped++
			}
			next++
		}})
		call := callTool(s, t.Context(), "chatty", nil)
		m := p.next("tools/call")
		var all strings.Builder
		for i := range flood {
			fmt.Fprintf(&all, `{"jsonrpc":"2.0","method":"notifications/message","params":{"n":%d}}`+"\n", i)
		}
		p.write(all.String())
		p.answer(m, `{"content":[]}`)
		(<-call).want(t, `{"content":[]}`)
		equal(t, "in order and whole", torn, false)
		equal(t, "delivered before the answer", next, flood)
		equal(t, "dropped by the sink", dropped, flood-cap(sink))
		equal(t, "counted", s.Stats().Notifications, flood)
	})
}

package turn

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/aurorabot/aurora/internal/brain/llm"
	"github.com/aurorabot/aurora/internal/brain/llm/llmtest"
	"github.com/aurorabot/aurora/internal/brain/unit"
	"github.com/aurorabot/aurora/internal/call"
)

// A thinker is a model whose answer follows from what it is shown: three calls,
// then one more, then words.
type thinker struct {
	t    testing.TB
	lazy bool // it takes any request
}

func (m thinker) Complete(_ context.Context, r llm.Request, _ func(string)) (llm.Answer, error) {
	if err := llmtest.Check(r); err != nil && !m.lazy {
		m.t.Errorf("a provider would refuse this request: %v\n%s", err, llmtest.Print(r))
	}
	switch len(told(r)) {
	case 0:
		return llm.Answer{ToolCalls: []llm.ToolCall{toolCall(weather, `{"city":"上海"}`), toolCall(diary, `{"date":"d","content":"c"}`), toolCall(weather, `{"city":"北京"}`)}, Usage: llm.Usage{Input: 1}}, nil
	case 3:
		return llm.Answer{ToolCalls: []llm.ToolCall{toolCall(diary, `{"date":"e","content":"f"}`)}}, nil
	}
	return llm.Answer{Text: "done"}, nil
}

// A life is one unit's turn through the deaths of its processes.
type life struct {
	t     *testing.T
	v     *village
	u     *unit.Unit
	disk  *memory
	what  string // how it dies, for messages
	calls int    // parallel
}

// process runs the turn in a process of its own and reports whether it ended.
func (l *life) process() bool {
	o := Options{Dir: "/turns", House: l.v, Model: thinker{t: l.t}, Language: "en", Files: l.disk, Parallel: l.calls}
	r, err := New(o)
	if err != nil {
		return false
	}
	return r.Run(l.t.Context(), l.u) == nil
}

// guard makes the house notice calls that a dead process makes. Of several calls
// at a time one may be on its way while another meets the death.
func (l *life) guard() {
	if l.calls > 1 {
		return
	}
	for name, do := range l.v.do {
		l.v.do[name] = func(ctx context.Context, c call.Call) call.Result {
			if l.disk.dead() {
				l.t.Errorf("%s: a process that is dead calls %s", l.what, c.ID)
			}
			return do(ctx, c)
		}
	}
}

// check looks at what has come of it.
func (l *life) check() {
	l.t.Helper()
	ids, bodies := map[string]int{}, map[string]int{}
	for _, c := range l.v.calls {
		ids[c.ID]++
		bodies[c.Name+string(c.Args)]++
	}
	for id, n := range ids {
		if n > 1 {
			l.t.Errorf("%s: %s was called %d times", l.what, id, n)
		}
	}
	for body, n := range bodies {
		if n > 1 {
			l.t.Errorf("%s: %s was called %d times", l.what, body, n)
		}
	}
	if n := len(l.v.replies()); n > 1 {
		l.t.Errorf("%s: %d replies", l.what, n)
	}
	// The end is durable: the power may go now.
	text := l.disk.crash(lossPower).text(FileName(l.u.ID))
	recs, size, whole := parse([]byte(text))
	s := load(recs)
	if s.end == nil || !whole || int(size) != len(text) {
		l.t.Fatalf("%s: the journal is not whole:\n%s", l.what, text)
	}
	sent := len(l.v.replies())
	switch ending := Ending(s.end.Outcome); ending {
	case Answered:
		if sent != 1 {
			l.t.Errorf("%s: %s, and %d replies", l.what, ending, sent)
		}
	case Uncertain: // on its way when the process died; it may not even have left
	default:
		l.t.Errorf("%s: the turn ended as %s", l.what, ending)
	}
	// Every call of the model has a result, and each one that was made and whose
	// result is not known is said to be so.
	for _, st := range s.steps {
		for i, c := range st.calls {
			made := ids[st.callID(l.u.ID, i)] > 0
			switch {
			case c.result == nil:
				l.t.Errorf("%s: call %d/%d has no result", l.what, st.number, i+1)
			case !made && c.given():
				l.t.Errorf("%s: call %d/%d has a result and was never made", l.what, st.number, i+1)
			case made && c.result.Ours && c.result.Outcome != string(call.Unknown):
				l.t.Errorf("%s: call %d/%d was made and is said to be %s", l.what, st.number, i+1, c.result.Outcome)
			}
		}
	}
	// It is remembered once.
	if n := strings.Count(l.disk.crash(lossPower).text(sessionName(l.u.Lane())+".jsonl"), `"content":"done"`); n != 1 {
		l.t.Errorf("%s: the turn is remembered %d times", l.what, n)
	}
}

// steps returns how many operations on files a turn needs that nothing disturbs.
func steps(t *testing.T, parallel int) int {
	l := &life{t: t, v: newVillage(), u: words("go"), disk: newMemory(), what: "undisturbed", calls: parallel}
	if !l.process() {
		t.Fatal("the turn does not end")
	}
	l.check()
	if n := len(l.v.calls); n != 5 {
		t.Fatalf("%d calls", n)
	}
	return l.disk.steps
}

// The process dies at every step, or with the machine, and is started again.
func TestAProcessThatDiesAnywhereCallsNothingTwice(t *testing.T) {
	for _, parallel := range []int{1, 4} {
		n := steps(t, parallel)
		for _, loss := range []loss{lossNone, lossHalf, lossPower} {
			for at := 1; at <= n; at++ {
				l := &life{t: t, v: newVillage(), u: words("go"), disk: newMemory(), calls: parallel}
				l.what = fmt.Sprintf("%d at a time, death at step %d of %d, loss of %s", parallel, at, n, loss)
				l.guard()
				l.disk.dieAt = at
				if l.process() && !l.disk.dead() {
					t.Fatalf("%s: nobody died", l.what)
				}
				l.disk = l.disk.crash(loss)
				if !l.process() {
					t.Fatalf("%s: the turn does not end", l.what)
				}
				l.check()
			}
		}
	}
}

// It dies again while it goes on, at every step, and once more.
func TestAProcessThatDiesAgainAndAgain(t *testing.T) {
	n := steps(t, 1)
	for _, loss := range []loss{lossNone, lossHalf, lossPower} {
		for first := 1; first <= n; first++ {
			for again := 1 + first%2; again <= n; again += 2 {
				l := &life{t: t, v: newVillage(), u: words("go"), disk: newMemory(), calls: 1}
				l.what = fmt.Sprintf("deaths at steps %d, %d and %d, loss of %s", first, again, (first+again)/2, loss)
				l.guard()
				for _, at := range []int{first, again, (first + again) / 2} {
					l.disk.dieAt = at
					l.process()
					l.disk = l.disk.crash(loss)
				}
				if !l.process() {
					t.Fatalf("%s: the turn does not end", l.what)
				}
				l.check()
			}
		}
	}
}

// A full disk or an odd error ends the run, not the process: the circuit tries
// again.
func TestADiskThatFailsOnceCostsNoCallTwice(t *testing.T) {
	n := steps(t, 1)
	for at := 1; at <= n; at++ {
		l := &life{t: t, v: newVillage(), u: words("go"), disk: newMemory(), calls: 1}
		l.what = fmt.Sprintf("failure at step %d of %d", at, n)
		l.disk.failAt = at
		o := Options{Dir: "/turns", House: l.v, Model: thinker{t: t}, Language: "en", Files: l.disk, Parallel: 1}
		r, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			if err = r.Run(t.Context(), l.u); err == nil {
				break
			}
		}
		if err != nil {
			t.Fatalf("%s: %v", l.what, err)
		}
		l.check()
	}
}

// An unknown outcome is told to the model and shown in the journal.
func TestWhatWasCutShortIsToldToTheModel(t *testing.T) {
	v := newVillage()
	l := &life{t: t, v: v, u: words("go"), disk: newMemory(), calls: 1}
	work := v.do[diary]
	v.do[diary] = func(ctx context.Context, c call.Call) call.Result {
		l.disk.dieAt = l.disk.steps + 1 // the process dies before it can write down what came of it
		return work(ctx, c)
	}
	l.process()
	l.disk = l.disk.crash(lossNone)
	v.do[diary] = work
	m := llmtest.New(t, llmtest.Step{Text: "done", Expect: func(t testing.TB, r llm.Request) {
		got := told(r)
		want(t, got[0], "上海：晴")
		want(t, got[1], "The tool "+diary, "how it ended is not known", "may or may not", "interrupted")
		want(t, got[2], "北京：晴")
	}})
	r, err := New(Options{Dir: "/turns", House: v, Model: m, Language: "en", Files: l.disk})
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Run(t.Context(), l.u); err != nil {
		t.Fatal(err)
	}
	if r.HasResult(l.u.ID+"/1/2") || !r.HasResult(l.u.ID+"/1/1") {
		t.Error("a late end of the lost call would wake nobody")
	}
	if len(v.made(diary)) != 1 {
		t.Error("it was called again")
	}
}

// A journal with a hole says too little to go on: nothing is called or sent.
func TestADamagedJournalIsClosed(t *testing.T) {
	v := newVillage()
	l := &life{t: t, v: v, u: words("go"), disk: newMemory(), calls: 1}
	l.disk.dieAt = 20
	l.process()
	disk := l.disk.crash(lossNone)
	calls := len(v.calls)
	for name, c := range disk.names {
		if strings.HasSuffix(name, FileName(l.u.ID)) {
			lines := strings.SplitAfter(string(c.data), "\n")
			lines[1] = "\x00\x00\x00\n"
			c.data = []byte(strings.Join(lines, ""))
		}
	}
	r, err := New(Options{Dir: "/turns", House: v, Model: thinker{t: t}, Files: disk})
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if err := r.Run(t.Context(), l.u); err != nil {
			t.Fatal(err)
		}
	}
	if r.Open(l.u.ID) || len(v.calls) != calls {
		t.Errorf("it went on: %v", v.calls[calls:])
	}
	want(t, disk.text(FileName(l.u.ID)), `"t":"end"`, `"outcome":"damaged"`)
}

// Whatever stands in a journal, it is read, and what is good of it is kept.
func FuzzJournal(f *testing.F) {
	u := words("go")
	l := &life{v: newVillage(), u: u, disk: newMemory(), calls: 1}
	runner, err := New(Options{Dir: "/turns", House: l.v, Model: thinker{t: f}, Files: l.disk})
	if err != nil {
		f.Fatal(err)
	}
	if err := runner.Run(context.Background(), u); err != nil {
		f.Fatal(err)
	}
	whole := l.disk.text(FileName(u.ID))
	f.Add([]byte(whole))
	f.Add([]byte(whole[:len(whole)/2]))
	f.Add([]byte("{}\n{\"t\":\"end\"}\n"))
	f.Add([]byte("\x00\x00\n\n"))
	answered := strings.Index(whole, `{"t":"intent"`)
	f.Add([]byte(whole[:answered] + `{"t":"stop"}` + "\n"))
	f.Add([]byte(whole[:answered] + `{"t":"reply_intent","call":"x/reply/1","text":"x"}` + "\n"))
	f.Add([]byte(`{"t":"request","step":-1}` + "\n" + `{"t":"answer","step":-1,"calls":[{}]}` + "\n" + `{"t":"result","call":"/-1/1","again":true}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		records, size, _ := parse(data)
		if size > int64(len(data)) {
			t.Fatal("more is good than there is")
		}
		again, same, whole := parse(data[:size])
		if len(again) != len(records) || same != size || len(records) == 0 && !whole {
			t.Fatal("what is good is read otherwise the second time")
		}
		// A turn goes on from it, whatever it says, and ends.
		disk := newMemory()
		disk.names["/turns/"+FileName(u.ID)] = &content{data: data, synced: len(data)}
		v := newVillage()
		r, err := New(Options{Dir: "/turns", House: v, Model: thinker{t: t, lazy: true}, Files: disk})
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Run(t.Context(), u); err != nil {
			t.Fatal(err)
		}
		if r.Open(u.ID) {
			t.Fatal("the turn has no end")
		}
	})
}

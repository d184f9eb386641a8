package turn

import (
	"cmp"
	"context"
	"errors"
	"runtime/debug"
	"sync"

	"github.com/aurorabot/aurora/internal/brain"
	"github.com/aurorabot/aurora/internal/call"
)

// execute sees to it that every call of a step has its result.
func (t *turn) execute(ctx context.Context, st *step) error {
	tools := t.tools(ctx)
	room := t.room(len(st.calls))
	slots := make(chan struct{}, t.opt.Parallel)
	errs := make([]error, len(st.calls))
	var all sync.WaitGroup
	for i, c := range st.calls {
		if c.result != nil {
			continue
		}
		// A slot is waited for here, so that calls begin in their order.
		slots <- struct{}{}
		all.Go(func() {
			defer func() { <-slots }()
			errs[i] = t.settle(ctx, st, i, tools, room)
		})
	}
	all.Wait()
	if err := errors.Join(errs...); err != nil {
		return err
	}
	return t.journal.sync()
}

// room returns how large one of n results may be in what the model sees.
func (t *turn) room(n int) int {
	used := 0
	for _, st := range t.state.steps {
		for _, c := range st.calls {
			if c.result != nil {
				used += len(c.result.Text)
			}
		}
	}
	return min(t.opt.Results.One, max((t.opt.Results.Turn-used)/max(n, 1), minResult))
}

// minResult is what is left of a result however much there was before it.
const minResult = 1 << 10

// settle gives one call its result.
func (t *turn) settle(ctx context.Context, st *step, i int, tools []brain.Tool, room int) error {
	c, id := st.calls[i], st.callID(t.unit.ID, i)
	r := Record{Kind: KindResult, Step: st.number, Call: id, Ours: true}
	if c.intent != nil { // the process died, or the disk failed, while the call ran
		r.Name, r.App, r.Outcome, r.Code = c.intent.Name, c.intent.App, string(call.Unknown), call.OutcomeUnknown
		r.Text = "Aurora was interrupted while the call ran."
		return t.resolve(c, r)
	}
	why, err := over(ctx)
	if err != nil {
		return err
	}
	if why != "" {
		r.Name, r.Outcome, r.Code, r.Text = nameOf(tools, c.asked.Name), string(call.Cancelled), call.CallCancelled, why
		return t.resolve(c, r)
	}
	tool, args, problem := prepare(tools, c.asked.written())
	if problem != nil {
		r.Name, r.App, r.Outcome, r.Code = cmp.Or(tool.Canonical, c.asked.Name), tool.App, string(call.ProtocolError), problem.Code
		r.Text = failureText(problem)
		return t.resolve(c, r)
	}
	intent := Record{Kind: KindIntent, At: t.now(), Step: st.number, Call: id, Name: tool.Canonical, App: tool.App, Args: args}
	if err := t.journal.commit(intent); err != nil {
		return err
	}
	began := t.now()
	result := t.call(ctx, call.Call{Caller: t.caller(), ID: id, Name: tool.Canonical, Args: args})
	r.Ours, r.MS = false, t.now().Sub(began).Milliseconds()
	r.Name, r.App = cmp.Or(result.Tool, tool.Canonical), cmp.Or(result.App, tool.App)
	r.Outcome, r.Size = string(result.Outcome), len(result.Raw)
	if result.Err != nil {
		r.Code = result.Err.Code
	}
	if r.Code == call.ShuttingDown { // surely not called: the next run of the turn does it
		r.Again = true
		return errors.Join(t.record(r), ErrInterrupted)
	}
	t.tell(&r, result, st.number, i+1, room)
	return t.resolve(c, r)
}

// resolve writes down the result of a call.
func (t *turn) resolve(c *called, r Record) error {
	if err := t.record(r); err != nil {
		return err
	}
	c.result = &r
	return nil
}

// call calls a tool. A house that breaks down over it has an unknown outcome like
// any other.
func (t *turn) call(ctx context.Context, c call.Call) (r call.Result) {
	defer func() {
		if p := recover(); p != nil {
			t.log.Error("a call broke down", "call", c.ID, "tool", c.Name, "panic", p, "stack", string(debug.Stack()))
			r = call.Result{Tool: c.Name, Outcome: call.Unknown, Err: &call.Error{Code: call.OutcomeUnknown, Message: "Aurora itself failed during the call."}}
		}
	}()
	return t.opt.House.Call(ctx, c)
}

func (t *turn) caller() call.Caller {
	return call.Caller{Kind: call.Brain, Session: t.unit.Session, Sender: t.unit.Sender}
}

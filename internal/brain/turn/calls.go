package turn

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"sync"
	"time"

	"github.com/aurorabot/aurora/internal/brain"
	"github.com/aurorabot/aurora/internal/brain/arguments"
	"github.com/aurorabot/aurora/internal/brain/llm"
	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/names"
)

// callID names the call with an index within the step.
func (st *step) callID(turn string, index int) string {
	return fmt.Sprintf("%s/%d/%d", turn, st.number, index+1)
}

var (
	plainID   = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	plainName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)
	odd       = regexp.MustCompile(`[^A-Za-z0-9_-]+`)
)

// asked makes the calls of an answer fit for every provider: an id that is empty,
// odd or taken becomes one of ours (field fault Q12), arguments that are no object
// are remembered as none. What the model wrote stands beside it.
func (t *turn) asked(st *step, calls []llm.ToolCall, taken map[string]bool) []Asked {
	out := make([]Asked, len(calls))
	for i, c := range calls {
		a := Asked{ToolCall: c}
		if !plainID.MatchString(a.ID) || taken[a.ID] {
			a.ID = ownID(t.unit.ID, st.number, i+1, taken)
		}
		taken[a.ID] = true
		if !plainName.MatchString(a.Name) {
			a.Name = cmp.Or(strings.Trim(odd.ReplaceAllString(a.Name, "_"), "_"), "unnamed")
			a.Name = a.Name[:min(len(a.Name), 64)]
		}
		args, err := arguments.FromModel(nil, c.Arguments)
		if err != nil {
			args = json.RawMessage("{}")
		}
		a.Arguments = string(args)
		if a.ToolCall != c {
			wrote := c
			wrote.ID, wrote.Name, wrote.Arguments = utf8Text(wrote.ID), utf8Text(wrote.Name), utf8Text(wrote.Arguments)
			a.Wrote = &wrote
		}
		out[i] = a
	}
	return out
}

func utf8Text(s string) string { return strings.ToValidUTF8(s, "\uFFFD") }

// ownID returns an id of ours that is not taken.
func ownID(turn string, step, number int, taken map[string]bool) string {
	head, _, _ := strings.Cut(turn, "-")
	id := odd.ReplaceAllString(fmt.Sprintf("call_%s_%d_%d", head[:min(len(head), 16)], step, number), "_")
	for taken[id] {
		id += "x"
	}
	return id
}

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

// tell fills in what the model is told of a result.
func (t *turn) tell(r *Record, result call.Result, step, number, room int) {
	whole := true
	switch {
	case len(result.Raw) > 0:
		r.Text, whole = resultText(result.Raw)
	case result.Err != nil:
		r.Text = failureText(result.Err)
	}
	if whole && len(r.Text) <= room {
		return
	}
	name := filepath.Join(t.unit.ID+".d", fmt.Sprintf("%d-%d.json", step, number))
	if err := t.keep(name, result.Raw); err != nil {
		t.log.Warn("the whole of a result could not be kept", "call", r.Call, "error", err)
	} else {
		r.Kept = filepath.ToSlash(name)
	}
	kept := ""
	if r.Kept != "" {
		kept = filepath.Join(t.opt.Dir, name)
	}
	r.Text = cut(r.Text, room, max(r.Size, len(r.Text)), kept)
}

// keep writes a file beside the journal.
func (t *turn) keep(name string, data []byte) error {
	path := filepath.Join(t.opt.Dir, name)
	if err := t.files.MkdirAll(filepath.Dir(path)); err != nil {
		return err
	}
	f, err := t.files.Append(path, 0)
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	return errors.Join(err, f.Close())
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

// nameOf returns the canonical name of the tool with an alias.
func nameOf(tools []brain.Tool, alias string) string {
	for _, t := range tools {
		if t.Alias == alias {
			return t.Canonical
		}
	}
	return alias
}

// prepare finds the tool of a call and reads its arguments.
func prepare(tools []brain.Tool, c llm.ToolCall) (brain.Tool, json.RawMessage, *call.Error) {
	tool, ok := find(tools, c.Name)
	if !ok {
		return tool, nil, unknownTool(tools, c.Name)
	}
	args, err := arguments.FromModel(tool.Schema, c.Arguments)
	if err != nil {
		message := err.Error() + ". You wrote: " + cut(utf8Text(c.Arguments), 300, len(c.Arguments), "")
		return tool, nil, &call.Error{Code: call.ArgumentsInvalid, Message: message}
	}
	return tool, args, nil
}

// find returns the tool that a model means. It is the one with that alias. A name
// that is the alias of a canonical name is believed though no such tool is
// offered: it may have been a moment ago, and the house says, and writes down,
// what has become of it. No other name is looked for: nothing is called by guess.
func find(tools []brain.Tool, alias string) (brain.Tool, bool) {
	for _, t := range tools {
		if t.Alias == alias {
			return t, true
		}
	}
	if canonical, ok := names.Unalias(alias); ok && strings.Contains(canonical, ".") {
		return brain.Tool{Canonical: canonical, Alias: alias}, true
	}
	return brain.Tool{}, false
}

// unknownTool tells the model that there is no such tool, and which it may mean
// (field fault Q06).
func unknownTool(tools []brain.Tool, name string) *call.Error {
	aliases := make(map[string]string, len(tools))
	among := make([]string, len(tools))
	for i, t := range tools {
		among[i], aliases[t.Canonical] = t.Canonical, t.Alias
	}
	var near []string
	for _, n := range names.Near(strings.ReplaceAll(name, "__", "."), among, 3) {
		near = append(near, aliases[n])
	}
	message := fmt.Sprintf("There is no tool %q.", cut(utf8Text(name), 200, len(name), ""))
	if near != nil {
		message += " Did you mean " + strings.Join(near, ", ") + "?"
	}
	return &call.Error{Code: call.ToolUnknown, Message: message}
}

// tools returns the tools that may be called now.
func (t *turn) tools(ctx context.Context) []brain.Tool {
	all := t.opt.House.Tools(ctx)
	on := make([]brain.Tool, 0, len(all))
	for _, tool := range all {
		if tool.Enabled {
			on = append(on, tool)
		}
	}
	return on
}

func (t *turn) now() time.Time { return t.opt.Now() }

package turn

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"runtime/debug"
	"strings"

	"github.com/aurorabot/aurora/internal/brain/llm"
	"github.com/aurorabot/aurora/internal/call"
)

// The bounds that a turn can meet.
const (
	boundSteps  = "steps"
	boundTime   = "time"
	boundTokens = "tokens"
	boundError  = "error" // the model failed once; without tools it may not
)

// think asks the model, and calls the tools it asks for, until it has an answer
// for people. The error is ErrStopped when a person stopped the turn.
func (t *turn) think(ctx context.Context, said []string) (string, error) {
	if t.state.stopped {
		return "", ErrStopped
	}
	timed, cancel := context.WithTimeoutCause(ctx, t.opt.Limits.Time, errTime)
	defer cancel()
	for {
		if st := t.last(); st != nil && st.answer != nil {
			text, done, err := t.follow(timed, st)
			if err != nil {
				return "", t.cause(ctx, err)
			}
			if done {
				return text, nil
			}
		}
		if err := ctx.Err(); err != nil {
			return "", t.cause(ctx, err)
		}
		r := t.request(ctx, said)
		st, bound := t.next(timed, r)
		if bound == boundTokens && st.number == 1 {
			t.forced = boundTokens
			return says(t.opt.Language).budget, nil
		}
		st.bound = bound
		if err := t.ask(timed, ctx, st, r); err != nil {
			return "", t.cause(ctx, err)
		}
	}
}

// cause returns why the turn cannot go on: ErrStopped, or what err says.
func (t *turn) cause(ctx context.Context, err error) error {
	if errors.Is(context.Cause(ctx), ErrStopped) && !broken(err) {
		return ErrStopped
	}
	return err
}

// broken tells errors of the journal from those that follow from a ctx.
func broken(err error) bool {
	return !errors.Is(err, context.Canceled) && !errors.Is(err, context.DeadlineExceeded) && !errors.Is(err, ErrInterrupted)
}

func (t *turn) last() *step {
	if len(t.state.steps) == 0 {
		return nil
	}
	return t.state.steps[len(t.state.steps)-1]
}

// follow does what an answer asks for. done says that text is for people.
func (t *turn) follow(ctx context.Context, st *step) (text string, done bool, err error) {
	a := st.answer
	t.forced = st.bound
	fixed := says(t.opt.Language)
	switch {
	case a.Error != "":
		if st.bound != "" || (&llm.Error{Fault: a.Fault}).Hopeless() {
			t.forced = cmp.Or(st.bound, boundError)
			return fixed.failed(a.Fault), true, nil
		}
		return "", false, nil
	case st.bound != "":
		if strings.TrimSpace(a.Text) == "" {
			return fixed.bound(st.bound), true, nil
		}
		return a.Text, true, nil
	case len(st.calls) == 0 && len(a.Prompts) == 0:
		return a.Text, true, nil
	}
	if err := t.execute(ctx, st); err != nil {
		return "", false, err
	}
	for i := len(st.prompts); i < len(a.Prompts); i++ {
		if err := t.render(ctx, st, a.Prompts[i]); err != nil {
			return "", false, err
		}
	}
	return "", false, nil
}

// next returns the step that is to be made, and the bound that makes it the last.
func (t *turn) next(timed context.Context, r llm.Request) (*step, string) {
	st := t.last()
	if st == nil || st.answer != nil {
		st = &step{number: len(t.state.steps) + 1}
		t.state.steps = append(t.state.steps, st)
	}
	before := len(t.state.steps) - 1
	switch {
	case before >= t.opt.Limits.Steps:
		return st, boundSteps
	case timed.Err() != nil:
		return st, boundTime
	case t.opt.Limits.DayTokens > 0 && t.ledger.tokens(t.now()) >= t.opt.Limits.DayTokens && !llm.Costless(t.opt.Model, r):
		return st, boundTokens
	case before > 0 && t.state.steps[before-1].answer.Error != "":
		return st, boundError
	}
	return st, ""
}

// ask makes one request and writes down what came of it.
func (t *turn) ask(timed, whole context.Context, st *step, r llm.Request) error {
	ctx, cancel := timed, context.CancelFunc(func() {})
	if st.bound != "" {
		r = t.lastRequest(r, st)
		ctx, cancel = context.WithTimeoutCause(whole, t.opt.Limits.Last, errTime)
	}
	defer cancel()
	if err := t.record(Record{Kind: KindRequest, Step: st.number, Messages: len(r.Messages), Tools: len(r.Tools), Bound: st.bound}); err != nil {
		return err
	}
	began := t.now()
	a, err := t.complete(ctx, st, r)
	answer := Record{Kind: KindAnswer, Step: st.number, MS: t.now().Sub(began).Milliseconds()}
	switch {
	case err != nil && whole.Err() != nil:
		return ErrInterrupted
	case err != nil:
		answer.Error, answer.Fault = t.faultOf(err)
		if context.Cause(ctx) != nil {
			answer.Error = "no answer in time"
		}
		t.log.Warn("the model gave no answer", "step", st.number, "error", answer.Error)
	default:
		if r.Tools == nil {
			a.ToolCalls, a.Prompts = nil, nil // nothing was offered
		}
		answer.Text = utf8Text(a.Text)
		answer.Calls = t.asked(st, a.ToolCalls, ids(r.Messages))
		answer.Prompts = a.Prompts
		if a.Usage != (llm.Usage{}) {
			answer.Usage = &a.Usage
		}
	}
	if err := t.record(answer); err != nil {
		return err
	}
	if answer.Usage != nil {
		t.ledger.spend(t.now(), answer.Usage.Total())
	}
	st.answer = &answer
	for _, c := range answer.Calls {
		st.calls = append(st.calls, &called{asked: c})
	}
	return nil
}

// complete asks the model. One that breaks down over a request has failed like any
// other: the session is told so, and does not wait for ever.
func (t *turn) complete(ctx context.Context, st *step, r llm.Request) (a llm.Answer, err error) {
	defer func() {
		if p := recover(); p != nil {
			t.log.Error("the model broke down", "step", st.number, "panic", p, "stack", string(debug.Stack()))
			a, err = llm.Answer{}, &llm.Error{Message: "Aurora itself failed to ask the model"}
		}
	}()
	return t.opt.Model.Complete(ctx, r, t.delta)
}

// faultOf returns what an error of a model says, without secrets.
func (t *turn) faultOf(err error) (string, llm.Fault) {
	text, fault := err.Error(), llm.Fault("")
	var known *llm.Error
	if errors.As(err, &known) {
		text, fault = known.Message, known.Fault
	}
	text = cut(utf8Text(t.opt.Redact.String(text)), maxErrorText, len(text), "")
	return cmp.Or(text, "it failed without a word"), fault
}

// maxErrorText bounds an error in a journal, in bytes.
const maxErrorText = 2 << 10

func (t *turn) delta(text string) {
	if t.opt.OnDelta != nil && text != "" {
		t.opt.OnDelta(t.unit, text)
	}
}

// render has a prompt rendered into the conversation. It only reads, so a turn
// that was cut short does it again.
func (t *turn) render(ctx context.Context, st *step, p llm.PromptCall) error {
	if _, err := over(ctx); err != nil {
		return err
	}
	began := t.now()
	result := t.opt.House.Prompt(ctx, t.caller(), p.Name, p.Arguments)
	if _, err := over(ctx); err != nil && result.Outcome != call.OK {
		return err
	}
	r := Record{Kind: KindPrompt, Step: st.number, Name: p.Name, App: result.App, Args: p.Arguments, Outcome: string(result.Outcome), Size: len(result.Raw), MS: t.now().Sub(began).Milliseconds()}
	if result.Outcome == call.OK {
		r.Rendered = t.rendered(p.Name, result.Raw)
	} else {
		text := failureText(result.Err)
		if result.Err != nil {
			r.Code = result.Err.Code
		}
		r.Rendered = []llm.Message{{Role: llm.User, Content: cmp.Or(text, r.Outcome), Prompt: p.Name}}
	}
	if err := t.record(r); err != nil {
		return err
	}
	st.prompts = append(st.prompts, &r)
	return nil
}

// rendered returns the messages of a prompt (MCP 2025-11-25, GetPromptResult).
func (t *turn) rendered(name string, raw []byte) []llm.Message {
	var r struct {
		Messages []struct {
			Role    string          `json:"role"`
			Content json.RawMessage `json:"content"`
		} `json:"messages"`
	}
	_ = json.Unmarshal(raw, &r) // what is no prompt has no messages
	var out []llm.Message
	room := t.room(len(r.Messages))
	for _, m := range r.Messages {
		text, _, _ := partText(m.Content)
		text = cut(utf8Text(text), room, len(text), "")
		if strings.TrimSpace(text) == "" {
			continue
		}
		role := llm.User
		if m.Role == "assistant" {
			role = llm.Assistant
		}
		out = append(out, llm.Message{Role: role, Content: text, Prompt: name})
	}
	if out == nil {
		out = []llm.Message{{Role: llm.User, Content: "(" + name + ")", Prompt: name}}
	}
	return out
}

package reflex

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/aurorabot/aurora/internal/brain"
	"github.com/aurorabot/aurora/internal/brain/arguments"
	"github.com/aurorabot/aurora/internal/brain/commands"
	"github.com/aurorabot/aurora/internal/brain/llm"
)

// A Model is the model without a key. The zero value is ready for use.
type Model struct{}

var (
	_ llm.Volunteer = Model{}
	_ llm.Free      = Model{}
)

// Free implements [llm.Free].
func (Model) Free(llm.Request) bool { return true }

// Takes reports whether a request is all about commands: every message that this
// turn answers is one, or nearly one, of a tool or a prompt. A prompt that has
// been rendered is for the next model to answer.
func (Model) Takes(r llm.Request) bool {
	if len(r.Said) == 0 {
		return false
	}
	for _, m := range r.Messages[r.Turn:] {
		if m.Prompt != "" {
			return false
		}
	}
	x := commands.NewIndex(r.Tools, r.Prompts)
	for _, said := range r.Said {
		c, ok := x.Read(said)
		if !ok || c.Target == (commands.Target{}) && c.Candidates == nil && c.Near == nil {
			return false
		}
	}
	return true
}

// Complete implements [llm.Model]. It fails only when ctx has ended.
func (Model) Complete(ctx context.Context, r llm.Request, onDelta func(string)) (llm.Answer, error) {
	if err := ctx.Err(); err != nil {
		return llm.Answer{}, err
	}
	p := read(r)
	seen := results(r)
	if len(seen) == 0 && (len(p.calls) > 0 || len(p.prompts) > 0) && len(r.Tools)+len(r.Prompts) > 0 {
		return llm.Answer{ToolCalls: p.calls, Prompts: p.prompts}, nil
	}
	if len(seen) > 0 && len(r.Tools)+len(r.Prompts) == 0 {
		p.notes = nil // without the tools nothing can be said of commands
	}
	var text string
	switch parts := append(p.notes, seen...); {
	case len(parts) > 0:
		text = strings.Join(parts, "\n\n")
	case len(r.Said) > 0:
		text = advice(r)
	default:
		text = events(r)
	}
	if onDelta != nil && text != "" {
		onDelta(text)
	}
	return llm.Answer{Text: text}, nil
}

// A plan is what the commands of a turn come to.
type plan struct {
	calls   []llm.ToolCall
	prompts []llm.PromptCall
	notes   []string // what cannot be done, and why
}

func read(r llm.Request) plan {
	var p plan
	var x *commands.Index
	for _, said := range r.Said {
		if _, ok := commands.ParseLine(said); !ok {
			continue
		}
		if x == nil {
			x = commands.NewIndex(r.Tools, r.Prompts)
		}
		c, _ := x.Read(said)
		p.take(x, c, r)
	}
	return p
}

func (p *plan) take(x *commands.Index, c commands.Reading, r llm.Request) {
	l := r.Language
	switch {
	case c.Candidates != nil:
		p.notes = append(p.notes, fmt.Sprintf(l.Pick("/%s 可以指好几个命令，请用：", "/%s may mean several commands; use one of:"), c.Name)+x.List(c.Candidates))
		return
	case c.Target == (commands.Target{}):
		p.notes = append(p.notes, commands.Unknown(x, c.Name, c.Near, r.Missing, l))
		return
	case c.Target.Kind == commands.KindBuiltin:
		return // answered before any model is asked
	}
	args, err := arguments.FromWords(c.Target.Schema(), c.Rest)
	if err != nil {
		p.notes = append(p.notes, why(err, l)+"\n"+x.Explain(c.Target, l))
		return
	}
	if c.Target.Tool != nil {
		p.calls = append(p.calls, llm.ToolCall{Name: c.Target.Tool.Alias, Arguments: string(args)})
	} else {
		p.prompts = append(p.prompts, llm.PromptCall{Name: c.Target.Name, Arguments: args})
	}
}

// why says what is wrong with the arguments of a command.
func why(err error, l brain.Language) string {
	var missing *arguments.MissingError
	var extra *arguments.ExtraError
	switch {
	case errors.As(err, &missing):
		return l.Pick("还缺：", "Missing: ") + strings.Join(missing.Names, l.Pick("、", ", "))
	case errors.As(err, &extra):
		return fmt.Sprintf(l.Pick("没有参数可以放“%s”。", "No argument takes %q."), extra.Text)
	}
	return l.Pick("参数不对：", "The arguments are wrong: ") + err.Error()
}

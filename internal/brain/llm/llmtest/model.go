package llmtest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aurorabot/aurora/internal/brain/llm"
)

// A Step is the answer to one request.
type Step struct {
	// Expect, if set, looks at the request.
	Expect func(t testing.TB, r llm.Request)
	// Delay passes before anything is answered.
	Delay time.Duration
	// Deltas are told one after the other; none: the text is told at once.
	Deltas []string
	// Text, Calls, Prompts and Usage are the answer.
	Text    string
	Calls   []llm.ToolCall
	Prompts []llm.PromptCall
	Usage   llm.Usage
	// Err, if set, is returned instead, after the deltas.
	Err error
	// Hang waits until ctx ends.
	Hang bool
}

// A Model follows a script.
type Model struct {
	t testing.TB

	mu       sync.Mutex // guards what follows
	steps    []Step
	requests []llm.Request
}

// New returns a model that answers with steps, and fails the test at its end if
// some are left.
func New(t testing.TB, steps ...Step) *Model {
	m := &Model{t: t, steps: steps}
	t.Cleanup(func() {
		if left := m.left(); left > 0 && !t.Failed() {
			t.Errorf("%d steps of the model's script were not asked for", left)
		}
	})
	return m
}

func (m *Model) left() int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return len(m.steps)
}

// Requests returns the requests so far.
func (m *Model) Requests() []llm.Request {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]llm.Request(nil), m.requests...)
}

// Complete implements [llm.Model].
func (m *Model) Complete(ctx context.Context, r llm.Request, onDelta func(string)) (llm.Answer, error) {
	m.t.Helper()
	if err := Check(r); err != nil {
		m.t.Errorf("a provider would refuse this request: %v\n%s", err, Print(r))
	}
	m.mu.Lock()
	m.requests = append(m.requests, r)
	if len(m.steps) == 0 {
		m.mu.Unlock()
		m.t.Errorf("a request without a step:\n%s", Print(r))
		return llm.Answer{}, errors.New("the script is over")
	}
	step := m.steps[0]
	m.steps = m.steps[1:]
	m.mu.Unlock()
	if step.Expect != nil {
		step.Expect(m.t, r)
	}
	if err := wait(ctx, step); err != nil {
		return llm.Answer{}, err
	}
	deltas := step.Deltas
	if deltas == nil && step.Text != "" {
		deltas = []string{step.Text}
	}
	for _, d := range deltas {
		if onDelta != nil {
			onDelta(d)
		}
	}
	if step.Err != nil {
		return llm.Answer{}, step.Err
	}
	return llm.Answer{Text: step.Text, ToolCalls: step.Calls, Prompts: step.Prompts, Usage: step.Usage}, nil
}

func wait(ctx context.Context, step Step) error {
	if step.Hang {
		<-ctx.Done()
		return ctx.Err()
	}
	timer := time.NewTimer(step.Delay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Call returns a tool call. args is what the model writes as arguments.
func Call(id, name, args string) llm.ToolCall {
	return llm.ToolCall{ID: id, Name: name, Arguments: args}
}

// Print returns the messages of a request, one a line.
func Print(r llm.Request) string {
	var b strings.Builder
	for i, m := range r.Messages {
		mark := " "
		if i == r.Turn {
			mark = ">"
		}
		fmt.Fprintf(&b, "%s %s %s %q", mark, m.Role, m.ToolCallID, m.Content)
		for _, c := range m.ToolCalls {
			fmt.Fprintf(&b, " %s:%s(%s)", c.ID, c.Name, c.Arguments)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

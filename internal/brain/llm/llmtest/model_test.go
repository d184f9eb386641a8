package llmtest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aurorabot/aurora/internal/brain/llm"
	"github.com/aurorabot/aurora/internal/brain/llm/llmtest"
)

func hello() llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "hello"}}}
}

func TestStepsAreTakenInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		said := errors.New("no")
		m := llmtest.New(t,
			llmtest.Step{Delay: time.Hour, Deltas: []string{"a", "b"}, Text: "ab", Usage: llm.Usage{Input: 2}},
			llmtest.Step{Err: said},
			llmtest.Step{Hang: true},
		)
		began := time.Now()
		var told []string
		a, err := m.Complete(t.Context(), hello(), func(s string) { told = append(told, s) })
		if err != nil || a.Text != "ab" || a.Usage.Total() != 2 || strings.Join(told, "|") != "a|b" || time.Since(began) != time.Hour {
			t.Errorf("%+v, %v, %q", a, err, told)
		}
		if _, err := m.Complete(t.Context(), hello(), nil); !errors.Is(err, said) {
			t.Error(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if _, err := m.Complete(ctx, hello(), nil); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if len(m.Requests()) != 3 {
			t.Error("the requests are not kept")
		}
	})
}

func TestRequestsThatProvidersRefuse(t *testing.T) {
	user := llm.Message{Role: llm.User, Content: "x"}
	calls := func(ids ...string) llm.Message {
		m := llm.Message{Role: llm.Assistant}
		for _, id := range ids {
			m.ToolCalls = append(m.ToolCalls, llmtest.Call(id, "t", "{}"))
		}
		return m
	}
	result := func(id string) llm.Message { return llm.Message{Role: llm.Tool, ToolCallID: id, Content: "r"} }
	for _, c := range []struct {
		want     string
		messages []llm.Message
	}{
		{"", []llm.Message{user, calls("a", "b"), result("a"), result("b"), user}},
		{"no result for b", []llm.Message{user, calls("a", "b"), result("a")}},
		{"before the result", []llm.Message{user, calls("a"), user}},
		{"awaited is a, b", []llm.Message{user, calls("a", "b"), result("b"), result("a")}},
		{"awaited is", []llm.Message{user, result("a")}},
		{"was there before", []llm.Message{user, calls("a"), result("a"), calls("a"), result("a")}},
		{`the id ""`, []llm.Message{user, calls(""), result("")}},
		{"not UTF-8", []llm.Message{{Role: llm.User, Content: "\xff"}}},
		{"is empty", []llm.Message{user, {Role: llm.Assistant}}},
		{"no object", []llm.Message{user, {Role: llm.Assistant, ToolCalls: []llm.ToolCall{{ID: "a", Name: "t", Arguments: "[]"}}}, result("a")}},
		{"does not begin with a user message", []llm.Message{{Role: llm.System, Content: "x"}}},
	} {
		err := llmtest.Check(llm.Request{Messages: c.messages})
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("want %q, got %v", c.want, err)
		}
	}
}

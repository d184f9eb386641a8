package turn

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/brain"
	"github.com/aurorabot/aurora/internal/brain/llm"
	"github.com/aurorabot/aurora/internal/brain/llm/llmtest"
	"github.com/aurorabot/aurora/internal/brain/llm/reflex"
	"github.com/aurorabot/aurora/internal/brain/unit"
	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/spool"
)

func TestAMessageIsAnsweredInItsSession(t *testing.T) {
	v := newVillage()
	m := llmtest.New(t,
		llmtest.Step{Calls: []llm.ToolCall{llmtest.Call("a", alias(weather), `{"city":"上海"}`)}, Usage: llm.Usage{Input: 10, Output: 2}},
		llmtest.Step{Text: "上海是晴天。", Usage: llm.Usage{Input: 20, Output: 3}},
	)
	r := newRunner(t, options(t, v, m))
	u := words("上海天气怎么样")
	if got := run(t, r, u); got != Answered {
		t.Error(got)
	}
	if got := v.replies(); len(got) != 1 || got[0] != "g1: 上海是晴天。" {
		t.Error(got)
	}
	c := v.made(weather)[0]
	if c.Caller != (call.Caller{Kind: call.Brain, Session: "g1", Sender: "im.polaris.qq:42"}) || c.ID != u.ID+"/1/1" || string(c.Args) != `{"city":"上海"}` {
		t.Errorf("%+v", c)
	}
	if got := v.made(send)[0].ID; got != u.ID+"/reply/1" {
		t.Error(got)
	}
	var kinds []string
	for _, rec := range records(t, r, u) {
		kinds = append(kinds, string(rec.Kind))
	}
	if got := strings.Join(kinds, " "); got != "begin request answer intent result request answer reply_intent reply_result end" {
		t.Error(got)
	}
	if got := r.Status(); got.Tokens != 35 || len(got.Turns) != 0 {
		t.Errorf("%+v", got)
	}
	// Again, and nothing happens.
	if got := run(t, r, u); got != Answered || len(v.calls) != 2 {
		t.Errorf("%s, %d calls", got, len(v.calls))
	}
}

func TestTheModelIsToldWhereItIs(t *testing.T) {
	m := llmtest.New(t, llmtest.Step{Text: "hi"})
	r := newRunner(t, options(t, newVillage(), m))
	run(t, r, words("hello", "are you there?"))
	q := m.Requests()[0]
	want(t, q.Messages[0].Content, "data from programs", `"g1" of the app im.polaris.qq`)
	if q.Turn != 1 || q.Messages[1].Content != "hello\nare you there?" || len(q.Said) != 2 || len(q.Tools) != 3 || q.Session == "" || strings.Contains(q.Session, "g1") {
		t.Errorf("%+v", q)
	}
}

func TestEmptyTextIsNoAnswer(t *testing.T) {
	v := newVillage()
	r := newRunner(t, options(t, v, llmtest.New(t, llmtest.Step{Text: " \n"})))
	if got := run(t, r, words("just talking to myself")); got != Silent || len(v.calls) != 0 {
		t.Errorf("%s, %v", got, v.calls)
	}
}

func TestASourceWithoutAReplyToolIsNotAnswered(t *testing.T) {
	for name, change := range map[string]func(*village){
		"no reply tool": func(v *village) { v.apps[1].Reply = "" },
		"no such app":   func(v *village) { v.apps = v.apps[:1] },
	} {
		v := newVillage()
		change(v)
		o := options(t, v, llmtest.New(t, llmtest.Step{Text: "hi"}))
		var log strings.Builder
		o.Logger = slog.New(slog.NewTextHandler(&log, nil))
		r := newRunner(t, o)
		u := words("hello")
		if got := run(t, r, u); got != Mute || len(v.calls) != 0 {
			t.Errorf("%s: %s, %v", name, got, v.calls)
		}
		want(t, journalText(t, r, u), `"t":"end"`, `"error":"`)
		want(t, log.String(), "level=WARN", "as reply: in apps/config.yml")
	}
}

func TestReplyArgumentsFollowTheSchema(t *testing.T) {
	u := in("123", "x")
	noSession := in("", "x")
	for _, c := range []struct {
		u            *unit.Unit
		schema, want string
	}{
		{u, `{"properties":{"session_id":{"type":"string"},"text":{"type":"string"}}}`, `{"session_id":"123","text":"a\n\"b\""}`},
		{u, `{"properties":{"message":{},"session":{}}}`, `{"session":"123","message":"a\n\"b\""}`},
		{u, `{"properties":{"content":{"type":"string"}}}`, `{"content":"a\n\"b\""}`},
		{u, `{"properties":{"session_id":{"type":"integer"},"text":{"type":"string"}}}`, `{"session_id":123,"text":"a\n\"b\""}`},
		{u, `{"properties":{"session_id":{"type":"string"},"body":{"type":"string"}}}`, `{"session_id":"123","body":"a\n\"b\""}`},
		{u, ``, `{"session_id":"123","text":"a\n\"b\""}`},
		{noSession, `{"properties":{"session_id":{},"text":{}}}`, `{"text":"a\n\"b\""}`},
	} {
		if got := replyArguments([]byte(c.schema), c.u, "a\n\"b\""); string(got) != c.want {
			t.Errorf("%s\n got  %s\n want %s", c.schema, got, c.want)
		}
	}
}

func TestAReplyIsTriedAgainOnlyIfItWasSurelyNotDelivered(t *testing.T) {
	busy := failed(call.Denied, "RATE_LIMITED", "slow down")
	busy.Err.Retryable = true
	for _, c := range []struct {
		name  string
		ends  []call.Result
		want  Ending
		tries int
	}{
		{"at once", []call.Result{said("ok")}, Answered, 1},
		{"after a restart of the app", []call.Result{failed(call.Unavailable, call.AppUnavailable, "down"), said("ok")}, Answered, 2},
		{"after the limit", []call.Result{busy, said("ok")}, Answered, 2},
		{"never", []call.Result{failed(call.Unavailable, call.AppUnavailable, "down")}, Undelivered, 5},
		{"denied", []call.Result{failed(call.Denied, call.PolicyDenied, "no")}, Refused, 1},
		{"waiting", []call.Result{failed(call.Waiting, "APPROVAL_REQUIRED", "approval 7")}, Refused, 1},
		{"refused by the app", []call.Result{toolError("no such session")}, Refused, 1},
		{"timed out", []call.Result{failed(call.Timeout, call.CallTimeout, "no answer")}, Uncertain, 1},
		{"lost", []call.Result{failed(call.Unknown, call.OutcomeUnknown, "the app died")}, Uncertain, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				v := newVillage()
				n := 0
				v.add(send, `{}`, func(context.Context, call.Call) call.Result {
					n++
					return c.ends[min(n, len(c.ends))-1]
				})
				o := options(t, v, llmtest.New(t, llmtest.Step{Text: "hi"}))
				var log strings.Builder
				o.Logger = slog.New(slog.NewTextHandler(&log, nil))
				r := newRunner(t, o)
				if got := run(t, r, words("hello")); got != c.want || n != c.tries {
					t.Errorf("%s after %d tries", got, n)
				}
				if told := strings.Contains(log.String(), "level=WARN"); told != (c.want != Answered) {
					t.Errorf("the log says\n%s", log.String())
				}
				if got := r.Status().Uncertain; (got == 1) != (c.want == Uncertain) {
					t.Errorf("%d uncertain replies", got)
				}
			})
		})
	}
}

// A turn may take so many requests with tools, and one more without.
func TestAtTheBoundOfStepsOneLastRequestHasNoTools(t *testing.T) {
	again := llmtest.Step{Calls: []llm.ToolCall{llmtest.Call("", alias(weather), `{"city":"x"}`)}}
	for _, c := range []struct {
		name string
		last llmtest.Step
		want string
	}{
		{"it answers", llmtest.Step{Text: "so far: sunny"}, "g1: so far: sunny"},
		{"it says nothing", llmtest.Step{}, "g1: I took many steps and did not get it done; I have to stop here."},
		{"it calls all the same", again, "g1: I took many steps and did not get it done; I have to stop here."},
		{"it fails", llmtest.Step{Err: errors.New("boom")}, "g1: The language model failed, and I have no answer."},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := newVillage()
			c.last.Expect = func(t testing.TB, r llm.Request) {
				if r.Tools != nil || len(told(r)) != 2 {
					t.Errorf("the last request has %d tools and %d results", len(r.Tools), len(told(r)))
				}
				want(t, r.Messages[0].Content, "You cannot call tools any more")
			}
			o := options(t, v, llmtest.New(t, again, again, c.last))
			o.Limits.Steps = 2
			r := newRunner(t, o)
			u := words("loop")
			if got := run(t, r, u); got != Answered || len(v.replies()) != 1 || v.replies()[0] != c.want {
				t.Errorf("%s, %q", got, v.replies())
			}
			if n := len(v.made(weather)); n != 2 {
				t.Errorf("%d calls", n)
			}
			all := records(t, r, u)
			if all[len(all)-1].Bound != "steps" {
				t.Error(journalText(t, r, u))
			}
		})
	}
}

func TestAtTheBoundOfTimeWhatRunsIsCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVillage()
		v.add(weather, `{}`, hang)
		o := options(t, v, llmtest.New(t,
			llmtest.Step{Calls: []llm.ToolCall{llmtest.Call("a", alias(weather), `{}`), llmtest.Call("b", alias(diary), `{"date":"d","content":"c"}`)}},
			llmtest.Step{Text: "no weather today", Expect: func(t testing.TB, r llm.Request) {
				if r.Tools != nil {
					t.Error("it may still call")
				}
				want(t, strings.Join(told(r), "\n"), "was cancelled. It may or may not", "The time of the turn was over before the call began")
			}},
		))
		o.Parallel = 1
		o.Limits.Time = time.Minute
		r := newRunner(t, o)
		began := time.Now()
		u := words("weather?")
		if got := run(t, r, u); got != Answered || v.replies()[0] != "g1: no weather today" {
			t.Errorf("%s, %q", got, v.replies())
		}
		if d := time.Since(began); d != time.Minute {
			t.Errorf("it took %v", d)
		}
		if len(v.made(diary)) != 0 {
			t.Error("a call began after the end")
		}
	})
}

func TestAModelThatHangsIsGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVillage()
		o := options(t, v, llmtest.New(t, llmtest.Step{Hang: true}, llmtest.Step{Hang: true}))
		o.Limits.Time, o.Limits.Last = time.Minute, 10*time.Second
		r := newRunner(t, o)
		began := time.Now()
		run(t, r, words("hello"))
		if d := time.Since(began); d != 70*time.Second || v.replies()[0] != "g1: The language model failed, and I have no answer." {
			t.Errorf("%v, %q", d, v.replies())
		}
	})
}

func TestAModelThatFailsOnceGetsOneMoreRequestWithoutTools(t *testing.T) {
	for _, c := range []struct {
		name string
		err  error
		more bool
		want string
	}{
		{"refused", &llm.Error{Fault: llm.FaultRefused, Message: "bad schema"}, true, "fine"},
		{"unknown", errors.New("boom"), true, "fine"},
		{"too long", &llm.Error{Fault: llm.FaultTooLong, Message: "too long"}, true, "fine"},
		{"key", &llm.Error{Fault: llm.FaultKey, Message: "401"}, false, "The key of the language model is not accepted; see llm.api_key in aurora.yml."},
		{"money", &llm.Error{Fault: llm.FaultQuota, Message: "402"}, false, "The language model takes no more requests now (money or limits)."},
		{"unreachable", &llm.Error{Fault: llm.FaultUnreachable, Message: "dial"}, false, "The language model cannot be reached now."},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := newVillage()
			steps := []llmtest.Step{{Text: "first"}, {Err: c.err}}
			if c.more {
				steps = append(steps, llmtest.Step{Text: "fine", Expect: func(t testing.TB, r llm.Request) {
					if r.Tools != nil || c.name == "too long" && r.Turn != 0 || c.name != "too long" && r.Turn != 3 {
						t.Errorf("tools: %v, the turn begins at %d", r.Tools, r.Turn)
					}
				}})
			}
			r := newRunner(t, options(t, v, llmtest.New(t, steps...)))
			run(t, r, words("one"))
			run(t, r, words("two"))
			if got := v.replies(); got[1] != "g1: "+c.want {
				t.Error(got)
			}
		})
	}
}

func TestTheBudgetOfTheDay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVillage()
		zone := time.FixedZone("CST", 8*3600)
		dear := llmtest.Step{Text: "dear", Usage: llm.Usage{Input: 90, Output: 10}}
		calls := dear
		calls.Text, calls.Calls = "", []llm.ToolCall{llmtest.Call("a", alias(weather), `{"city":"x"}`)}
		o := options(t, v, llm.Front(reflex.Model{}, llmtest.New(t, dear, calls, dear, dear)))
		o.Zone, o.Limits.DayTokens = zone, 150
		r := newRunner(t, o)
		run(t, r, words("one"))
		run(t, r, words("two")) // goes over it: the last request has no tools
		run(t, r, words("three"))
		run(t, newRunner(t, o), words("four")) // the same after a restart
		run(t, r, words("/weather 上海"))        // costs nothing
		// synctest begins at midnight UTC, eight in the morning there.
		time.Sleep(16 * time.Hour)
		run(t, r, words("five"))
		budget := "g1: Today's budget is used up. Let us talk tomorrow; commands still work."
		got := strings.Join(v.replies(), "\n")
		if got != strings.Join([]string{"g1: dear", "g1: dear", budget, budget, "g1: 上海：晴", "g1: dear"}, "\n") {
			t.Error(got)
		}
		if s := r.Status(); s.Tokens != 100 || s.Limit != 150 {
			t.Errorf("%+v", s)
		}
	})
}

func TestStopEndsTheTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVillage()
		v.add(weather, `{}`, hang)
		m := llmtest.New(t,
			llmtest.Step{Calls: []llm.ToolCall{llmtest.Call("a", alias(weather), `{}`), llmtest.Call("b", alias(diary), `{}`)}},
			llmtest.Step{Text: "yes?", Expect: func(t testing.TB, r llm.Request) {
				want(t, llmtest.Print(r), "was cancelled", "A person stopped the turn before the call began", "My answer was stopped")
			}},
		)
		o := options(t, v, m)
		o.Parallel = 1
		r := newRunner(t, o)
		u := words("weather?")
		ended := make(chan error)
		go func() { ended <- r.Run(t.Context(), u) }()
		synctest.Wait()
		if got := r.Status().Turns; len(got) != 1 || !r.Open(u.ID) {
			t.Error(got)
		}
		if r.Stop(u.Source, "other") || !r.Stop(u.Source, "g1") {
			t.Error("the wrong session was stopped")
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
		if got := ending(t, r, u); got != Stopped || len(v.replies()) != 0 || r.Open(u.ID) {
			t.Errorf("%s, %q", got, v.replies())
		}
		run(t, r, words("/stop"))
		run(t, r, words("hello"))
		run(t, r, words("/stop "))
		if got := strings.Join(v.replies(), "|"); got != "g1: Stopped.|g1: yes?|g1: No answer is under way." {
			t.Error(got)
		}
	})
}

func TestATurnThatAModelMakesWaitCanBeStopped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVillage()
		r := newRunner(t, options(t, v, llmtest.New(t, llmtest.Step{Hang: true})))
		u := words("hello")
		ctx, cancel := context.WithCancelCause(t.Context())
		ended := make(chan error)
		go func() { ended <- r.Run(ctx, u) }()
		synctest.Wait()
		cancel(ErrStopped) // the other way
		if err := <-ended; err != nil || ending(t, r, u) != Stopped {
			t.Error(err)
		}
	})
}

// The end of the process is no end of the turn.
func TestAnInterruptedTurnGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVillage()
		v.add(weather, `{}`, hang)
		m := llmtest.New(t,
			llmtest.Step{Calls: []llm.ToolCall{llmtest.Call("a", alias(weather), `{}`), llmtest.Call("b", alias(diary), `{"date":"d","content":"c"}`)}},
			llmtest.Step{Text: "done", Expect: func(t testing.TB, r llm.Request) {
				want(t, strings.Join(told(r), "\n"), "was cancelled. It may or may not", "Result of the tool "+diary, "saved")
			}},
		)
		o := options(t, v, m)
		o.Parallel = 1
		r := newRunner(t, o)
		u := words("weather?")
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- r.Run(ctx, u) }()
		synctest.Wait()
		cancel()
		if err := <-ended; err == nil || !r.Open(u.ID) {
			t.Errorf("the turn is over: %v", err)
		}
		if got := run(t, newRunner(t, o), u); got != Answered || len(v.made(weather)) != 1 || len(v.made(diary)) != 1 {
			t.Errorf("%s, %v", got, v.calls)
		}
	})
}

// A house that is being shut down takes no calls; they are made after it is up.
func TestCallsThatAShutdownRefusesAreMadeLater(t *testing.T) {
	v := newVillage()
	down := true
	work := v.do[weather]
	refuse := func(do func(context.Context, call.Call) call.Result) func(context.Context, call.Call) call.Result {
		return func(ctx context.Context, c call.Call) call.Result {
			if down {
				return failed(call.Unavailable, call.ShuttingDown, "shutting down")
			}
			return do(ctx, c)
		}
	}
	v.do[weather], v.do[send] = refuse(work), refuse(v.do[send])
	m := llmtest.New(t, llmtest.Step{Calls: []llm.ToolCall{llmtest.Call("a", alias(weather), `{"city":"上海"}`)}}, llmtest.Step{Text: "sunny"})
	r := newRunner(t, options(t, v, m))
	u := words("weather?")
	if err := r.Run(t.Context(), u); !errors.Is(err, ErrInterrupted) {
		t.Fatal(err)
	}
	down = false
	v.do[send] = func(ctx context.Context, c call.Call) call.Result { down = true; return refuse(nil)(ctx, c) }
	if err := r.Run(t.Context(), u); !errors.Is(err, ErrInterrupted) {
		t.Fatal(err)
	}
	down = false
	v.do[send] = func(context.Context, call.Call) call.Result { return said("ok") }
	if got := run(t, r, u); got != Answered || len(v.made(weather)) != 2 || len(v.replies()) != 2 {
		t.Errorf("%s, %v", got, v.calls)
	}
}

func TestTwoTurnsOfASessionNeverRunAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newRunner(t, options(t, newVillage(), llmtest.New(t, llmtest.Step{Delay: time.Minute, Text: "a"}, llmtest.Step{Text: "b"})))
		ended := make(chan error)
		go func() { ended <- r.Run(t.Context(), words("one")) }()
		synctest.Wait()
		if err := r.Run(t.Context(), words("two")); err == nil {
			t.Error("the second began")
		}
		if err := r.Run(t.Context(), in("g2", "other")); err != nil {
			t.Error(err)
		}
		if err := <-ended; err != nil {
			t.Error(err)
		}
	})
}

func TestDeltasAndRecordsAreToldAsTheyCome(t *testing.T) {
	var deltas []string
	var kinds []Kind
	o := options(t, newVillage(), llmtest.New(t, llmtest.Step{Deltas: []string{"a", "b"}, Text: "ab"}))
	o.OnDelta = func(u *unit.Unit, text string) { deltas = append(deltas, u.Session+":"+text) }
	o.OnRecord = func(_ *unit.Unit, r Record) { kinds = append(kinds, r.Kind) }
	r := newRunner(t, o)
	u := words("hello")
	run(t, r, u)
	if strings.Join(deltas, " ") != "g1:a g1:b" || len(kinds) != len(records(t, r, u)) {
		t.Error(deltas, kinds)
	}
}

func TestCommandsAreAnsweredWithoutAModel(t *testing.T) {
	v := newVillage()
	m := llmtest.New(t, llmtest.Step{Text: "hello", Expect: func(t testing.TB, r llm.Request) {
		if len(r.Said) != 1 || r.Said[0] != "hi there" {
			t.Errorf("%q", r.Said)
		}
	}})
	r := newRunner(t, options(t, v, m))
	run(t, r, words("/help"))
	run(t, r, words("/sid"))
	run(t, r, words("/status"))
	run(t, r, words("/apps", "hi there"))
	got := v.replies()
	want(t, got[0], "Just talk, or use a command")
	want(t, got[1], "Session: g1", "im.polaris.qq / qq", "im.polaris.qq:42")
	want(t, got[2], "Tokens today: 0", "Turns remembered in this session: 0")
	want(t, got[3], "qq  ready", "\n\nhello")
}

func TestReflexAnswersWithoutAKey(t *testing.T) {
	v := newVillage()
	v.prompts = []brain.Prompt{{Canonical: trip, Arguments: []brain.PromptArgument{{Name: "place", Required: true}}}}
	o := options(t, v, reflex.Model{})
	o.Language = "zh"
	r := newRunner(t, o)
	for _, c := range []struct{ said, want string }{
		{"/weather 上海", "g1: 上海：晴"},
		{"/weather", "g1: 还缺：city"},
		{"/plan Paris", `g1: Plan a trip: {"place":"Paris"}`},
		{"今天天气怎么样", "g1: 我还没有接上语言模型"},
		{"你好", "g1: 还没有语言模型"},
		{"/new", "g1: 好，我们重新开始。"},
		{"你好呀", "g1: 我还没有接上语言模型"},
	} {
		run(t, r, words(c.said))
		if got := v.replies(); !strings.HasPrefix(got[len(got)-1], c.want) {
			t.Errorf("%s: %s", c.said, got[len(got)-1])
		}
	}
}

func TestAPromptIsForTheModelToAnswer(t *testing.T) {
	v := newVillage()
	v.prompts = []brain.Prompt{{Canonical: trip, Arguments: []brain.PromptArgument{{Name: "place", Required: true}}}}
	m := llmtest.New(t, llmtest.Step{Text: "By train.", Expect: func(t testing.TB, r llm.Request) {
		want(t, llmtest.Print(r), `user  "/plan Paris"`, `Plan a trip: {\"place\":\"Paris\"}`)
	}})
	r := newRunner(t, options(t, v, llm.Front(reflex.Model{}, m)))
	run(t, r, words("/plan Paris"))
	if got := v.replies(); got[0] != "g1: By train." {
		t.Error(got)
	}
}

func TestAPromptThatFailsIsSaidSo(t *testing.T) {
	v := newVillage()
	v.prompts = []brain.Prompt{{Canonical: "im.demo.gone.plan"}}
	r := newRunner(t, options(t, v, reflex.Model{}))
	run(t, r, words("/plan"))
	if got := v.replies(); got[0] != "g1: PROMPT_UNKNOWN: There is no prompt im.demo.gone.plan." {
		t.Error(got)
	}
}

func TestAnAlarmWakesWithoutWords(t *testing.T) {
	v := newVillage()
	e := message("g1", "alarm-1", "")
	e.Payload.Type, e.Payload.Summary, e.Payload.Data = "alarm.triggered", "Tea is ready.", nil
	u := unit.Of([]*amp.Envelope{e}, func(*amp.Envelope) bool { return true }, time.Now())
	r := newRunner(t, options(t, v, llmtest.New(t, llmtest.Step{Text: "Your tea!", Expect: func(t testing.TB, r llm.Request) {
		if len(r.Said) != 0 || r.Messages[r.Turn].Content != "[alarm.triggered] Tea is ready." {
			t.Errorf("%q %q", r.Said, r.Messages[r.Turn].Content)
		}
	}})))
	if run(t, r, u); v.replies()[0] != "g1: Your tea!" {
		t.Error(v.replies())
	}
}

// What belongs to no session is answered only by a tool that needs none, and
// nothing is remembered of it.
func TestWhatBelongsToNoSession(t *testing.T) {
	v := newVillage()
	o := options(t, v, llmtest.New(t, llmtest.Step{Text: "one"}, llmtest.Step{Text: "two"}))
	r := newRunner(t, o)
	if got := run(t, r, in("", "one")); got != Mute || len(v.calls) != 0 {
		t.Errorf("%s, %v", got, v.calls)
	}
	v.add(send, `{"properties":{"text":{"type":"string"}}}`, v.do[send])
	if got := run(t, r, in("", "two")); got != Answered || string(v.made(send)[0].Args) != `{"text":"two"}` {
		t.Errorf("%s, %v", got, v.calls)
	}
	if entries, err := r.files.ReadDir(r.opt.Sessions); err != nil || len(entries) != 0 {
		t.Errorf("%v, %v", entries, err)
	}
}

// What a model says went wrong may hold its key.
func TestSecretsOfErrorsAreHidden(t *testing.T) {
	secret := "sk-" + strings.Repeat("a1B2", 10)
	r := newRunner(t, options(t, newVillage(), llmtest.New(t, llmtest.Step{Err: &llm.Error{Fault: llm.FaultKey, Message: "bad key " + secret}})))
	u := words("hello")
	run(t, r, u)
	if text := journalText(t, r, u); strings.Contains(text, secret) || !strings.Contains(text, "bad key") {
		t.Error(text)
	}
}

func TestOpenAndHasResult(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVillage()
		v.add(diary, `{}`, func(context.Context, call.Call) call.Result {
			return failed(call.Waiting, "APPROVAL_REQUIRED", "approval 7")
		})
		m := llmtest.New(t,
			llmtest.Step{Calls: []llm.ToolCall{llmtest.Call("a", alias(weather), `{"city":"x"}`), llmtest.Call("b", alias(diary), `{}`), llmtest.Call("c", "nonsense", `{}`)}},
			llmtest.Step{Delay: time.Minute, Text: "ok"})
		r := newRunner(t, options(t, v, m))
		u := words("hello")
		if r.Open(u.ID) || r.HasResult(u.ID+"/1/1") || r.Open("../x") || r.Open("") || r.HasResult("x") {
			t.Error("what never was is open")
		}
		ended := make(chan error)
		go func() { ended <- r.Run(t.Context(), u) }()
		synctest.Wait()
		if !r.Open(u.ID) {
			t.Error("the turn is not open")
		}
		if err := <-ended; err != nil {
			t.Fatal(err)
		}
		for id, want := range map[string]bool{"/1/1": true, "/1/2": false, "/1/3": false, "/1/4": false, "/reply/1": true} {
			if got := r.HasResult(u.ID + id); got != want {
				t.Errorf("%s: %v", id, got)
			}
		}
		if r.Open(u.ID) {
			t.Error("the turn is still open")
		}
	})
}

func TestOldTurnsAreSweptAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		v := newVillage()
		v.add(weather, `{}`, func(context.Context, call.Call) call.Result { return said(strings.Repeat("x", 50_000)) })
		long := llmtest.Step{Calls: []llm.ToolCall{llmtest.Call("", alias(weather), `{}`)}}
		o := options(t, v, llmtest.New(t, long, llmtest.Step{Text: "old"}, llmtest.Step{Hang: true}))
		clock := time.Now
		o.Now = func() time.Time { return clock() }
		r := newRunner(t, o)
		old, open := words("old"), in("g2", "open")
		run(t, r, old)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := r.Run(ctx, open); err == nil {
			t.Error("it ended")
		}
		if err := r.Sweep(time.Hour); err != nil || !r.HasResult(old.ID+"/1/1") {
			t.Errorf("young turns are gone: %v", err)
		}
		clock = func() time.Time { return time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC) }
		if err := r.Sweep(time.Hour); err != nil {
			t.Error(err)
		}
		if r.HasResult(old.ID+"/1/1") || !r.Open(open.ID) {
			t.Error("the wrong one is gone")
		}
		entries, err := r.files.ReadDir(o.Dir)
		if err != nil || len(entries) != 1 {
			t.Errorf("%v, %v", entries, err)
		}
		if entries, err := r.files.ReadDir(r.opt.Sessions); err != nil || len(entries) != 0 {
			t.Errorf("%v, %v", entries, err)
		}
	})
}

// A conversation that is taken up again after a long time is not forgotten under
// the turn that remembers it.
func TestASessionAtWorkIsNotSweptAway(t *testing.T) {
	v := newVillage()
	clock := time.Now()
	o := options(t, v, nil)
	o.Now = func() time.Time { return clock }
	var r *Runner
	o.Model = llmtest.New(t, llmtest.Step{Text: "one"},
		llmtest.Step{Text: "two", Expect: func(t testing.TB, _ llm.Request) {
			if err := r.Sweep(time.Hour); err != nil {
				t.Error(err)
			}
		}},
		llmtest.Step{Text: "three", Expect: func(t testing.TB, req llm.Request) {
			if text := llmtest.Print(req); !strings.Contains(text, `"one"`) || !strings.Contains(text, `"two"`) {
				t.Errorf("the model is reminded of:\n%s", text)
			}
		}})
	r = newRunner(t, o)
	run(t, r, words("a"))
	clock = clock.AddDate(1, 0, 0)
	run(t, r, words("b"))
	run(t, r, words("c"))
}

// A person stops a turn whose house refuses, for it is closing, what the turn
// asks for.
func TestATurnIsStoppedWhileTheHouseCloses(t *testing.T) {
	v := newVillage()
	var r *Runner
	u := words("do it")
	v.add(weather, `{}`, func(context.Context, call.Call) call.Result {
		r.Stop(u.Source, u.Session)
		return failed(call.Denied, call.ShuttingDown, "the house closes")
	})
	r = newRunner(t, options(t, v, llmtest.New(t, llmtest.Step{Calls: []llm.ToolCall{toolCall(weather, `{}`), toolCall(diary, `{"date":"d","content":"c"}`)}})))
	if got := run(t, r, u); got != Stopped {
		t.Errorf("the turn ended as %s", got)
	}
	if s := load(records(t, r, u)); !s.sound(u.ID) || len(v.replies()) != 0 {
		t.Errorf("journal:\n%s", journalText(t, r, u))
	}
}

// A fragile model breaks down over every request.
type fragile struct{}

func (fragile) Complete(context.Context, llm.Request, func(string)) (llm.Answer, error) {
	panic("no such answer")
}

func TestAModelThatBreaksDownLeavesNobodyWithoutAWord(t *testing.T) {
	v := newVillage()
	r := newRunner(t, options(t, v, fragile{}))
	if got := run(t, r, words("hello")); got != Answered {
		t.Errorf("the turn ended as %s", got)
	}
	if got := v.replies(); len(got) != 1 || !strings.Contains(got[0], "The language model failed") {
		t.Errorf("replies %q", got)
	}
}

// deaf is a disk that does not tell what is in a folder, once.
type deaf struct {
	FileLayer
	heard bool
}

func (d *deaf) ReadDir(dir string) ([]fs.DirEntry, error) {
	if !d.heard {
		d.heard = true
		return nil, errDisk
	}
	return d.FileLayer.ReadDir(dir)
}

func TestTokensAreCountedOnceThoughTheDiskFailed(t *testing.T) {
	o := options(t, newVillage(), llmtest.New(t, llmtest.Step{Text: "hi", Usage: llm.Usage{Input: 30, Output: 5}}))
	o.Files = &deaf{FileLayer: disk{spool.Disk()}}
	r := newRunner(t, o)
	run(t, r, words("hello"))
	if got := r.Status().Tokens; got != 35 {
		t.Errorf("%d tokens", got)
	}
}

func TestARunnerSaysWhatItNeeds(t *testing.T) {
	if _, err := New(Options{}); err == nil {
		t.Error("it needs nothing")
	}
	o := options(t, newVillage(), reflex.Model{})
	o.Dir = "/dev/null/turns"
	if _, err := New(o); err == nil {
		t.Error("it made a folder in a file")
	}
}

func TestManySessionsAtOnce(t *testing.T) {
	v := newVillage()
	r := newRunner(t, options(t, v, reflex.Model{}))
	errs := make(chan error)
	for i := range 50 {
		go func() { errs <- r.Run(t.Context(), in(fmt.Sprint("s", i), "/weather 上海")) }()
	}
	for range 50 {
		if err := <-errs; err != nil {
			t.Error(err)
		}
	}
	if got := v.replies(); len(got) != 50 {
		t.Error(len(got))
	}
}

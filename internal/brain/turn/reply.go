package turn

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/aurorabot/aurora/internal/brain"
	"github.com/aurorabot/aurora/internal/brain/arguments"
	"github.com/aurorabot/aurora/internal/brain/unit"
	"github.com/aurorabot/aurora/internal/call"
)

// The tries to send a reply that was surely not delivered, and the wait before
// the second; each further wait is twice as long.
const (
	maxReplies = 5
	firstWait  = time.Second
)

// replyID names one try to send the reply.
func replyID(turn string, try int) string { return fmt.Sprintf("%s/%s/%d", turn, replyPart, try) }

// replyPart stands where calls of tools have the number of their step.
const replyPart = "reply"

// reply sends the text to the session, unless that was done or tried already, and
// ends the turn. A person who stops the turn stops it before the reply or not at
// all: one on its way ends with base only.
func (t *turn) reply(ctx, base context.Context, text string) error {
	t.text = text
	if n := len(t.state.replies); n > 0 {
		last := t.state.replies[n-1]
		if last.result == nil { // cut short while it was on its way
			r := Record{Kind: KindReplyResult, Call: last.intent.Call, Name: last.intent.Name, Outcome: string(call.Unknown), Code: call.OutcomeUnknown, Ours: true}
			if err := t.commit(r); err != nil {
				return err
			}
			last.result = &r
		}
		if !last.result.Again || n >= maxReplies {
			return t.replied(last.result)
		}
	}
	if text == "" {
		return t.end(Silent, "")
	}
	for try := len(t.state.replies) + 1; ; try++ {
		if errors.Is(context.Cause(ctx), ErrStopped) {
			return t.stopped(ctx)
		}
		if ctx.Err() != nil {
			return ErrInterrupted
		}
		tool, reason := t.replyTool(ctx)
		if reason != "" {
			return t.end(Mute, reason)
		}
		r, err := t.send(base, tool, text, try)
		if err != nil {
			return err
		}
		if !r.Again || try >= maxReplies {
			return t.replied(r)
		}
		if r.Code == call.ShuttingDown {
			return ErrInterrupted
		}
		t.log.Info("the reply was not delivered and is tried again", "try", try, "outcome", r.Outcome)
		wait(ctx, firstWait<<(try-1))
	}
}

// replyTool returns the tool that answers the unit's session, or why there is
// none.
func (t *turn) replyTool(ctx context.Context) (brain.Tool, string) {
	apps := t.opt.House.Apps(ctx)
	i := slices.IndexFunc(apps, func(a brain.App) bool { return a.Package == t.unit.Source.App })
	switch {
	case i < 0:
		return brain.Tool{}, fmt.Sprintf("%s is no app of this house", t.unit.Source.App)
	case apps[i].Reply == "":
		return brain.Tool{}, fmt.Sprintf("the app %s has no reply tool", apps[i].Key)
	}
	for _, tool := range t.opt.House.Tools(ctx) {
		if tool.Canonical != apps[i].Reply {
			continue
		}
		if t.unit.Session == "" && addressOf(tool.Schema).must {
			return brain.Tool{}, "what woke the brain belongs to no session"
		}
		return tool, ""
	}
	return brain.Tool{Canonical: apps[i].Reply, App: apps[i].Key}, "" // not up; the call says so
}

// send sends the reply once and writes down what came of it.
func (t *turn) send(ctx context.Context, tool brain.Tool, text string, try int) (*Record, error) {
	args := replyArguments(tool.Schema, t.unit, text)
	id := replyID(t.unit.ID, try)
	intent := Record{Kind: KindReplyIntent, Call: id, Name: tool.Canonical, App: tool.App, Text: text}
	if err := t.commit(intent); err != nil {
		return nil, err
	}
	began := t.now()
	result := t.call(ctx, call.Call{Caller: t.caller(), ID: id, Name: tool.Canonical, Args: args})
	r := Record{Kind: KindReplyResult, Call: id, Name: cmp.Or(result.Tool, tool.Canonical), App: cmp.Or(result.App, tool.App),
		Outcome: string(result.Outcome), Size: len(result.Raw), MS: t.now().Sub(began).Milliseconds()}
	if result.Err != nil {
		r.Code, r.Error = result.Err.Code, failureText(result.Err)
	}
	r.Again = result.Outcome == call.Unavailable || result.Outcome == call.Denied && result.Err != nil && result.Err.Retryable
	if err := t.commit(r); err != nil {
		return nil, err
	}
	t.state.replies = append(t.state.replies, &attempt{&intent, &r})
	return &r, nil
}

// replied ends the turn as the last reply went.
func (t *turn) replied(r *Record) error {
	switch call.Outcome(r.Outcome) {
	case call.OK:
		return t.end(Answered, "")
	case call.Unavailable:
		return t.end(Undelivered, r.Error)
	case call.Timeout, call.Cancelled, call.Unknown:
		return t.end(Uncertain, r.Error)
	}
	return t.end(Refused, r.Error)
}

// The names that reply tools have for what they need, the likeliest first.
var (
	sessionKeys = []string{"session_id", "session", "sessionId"}
	textKeys    = []string{"text", "message", "content"}
)

// An address says which arguments of a reply tool take what.
type address struct {
	session string // empty: the tool knows one session only
	must    bool   // the session is required
	text    string
}

// addressOf reads the schema of a reply tool; one that is not known is taken for
// the usual.
func addressOf(schema json.RawMessage) address {
	properties := arguments.Properties(schema)
	if len(properties) == 0 {
		return address{session: sessionKeys[0], text: textKeys[0]}
	}
	pick := func(keys []string) (string, bool) {
		for _, k := range keys {
			if i := slices.IndexFunc(properties, func(p arguments.Property) bool { return p.Name == k }); i >= 0 {
				return k, properties[i].Required
			}
		}
		return "", false
	}
	var a address
	a.session, a.must = pick(sessionKeys)
	if a.text, _ = pick(textKeys); a.text == "" {
		a.text = textKeys[0]
		for _, p := range properties {
			if p.Text() && p.Name != a.session {
				a.text = p.Name
				break
			}
		}
	}
	return a
}

// replyArguments returns the arguments of a reply tool, by its schema.
func replyArguments(schema json.RawMessage, u *unit.Unit, text string) json.RawMessage {
	a := addressOf(schema)
	args := quote(a.text) + ":" + quote(text)
	if a.session != "" && u.Session != "" {
		args = quote(a.session) + ":" + quote(u.Session) + "," + args
	}
	args = "{" + args + "}"
	// A session that is a number, where the schema wants one.
	if fit, err := arguments.FromModel(schema, args); err == nil {
		return fit
	}
	return json.RawMessage(args)
}

// quote returns s as a JSON string.
func quote(s string) string {
	raw, _ := json.Marshal(s) // a string always encodes
	return string(raw)
}

// wait waits, or less if ctx ends.
func wait(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}

package control

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"

	"github.com/aurorabot/aurora/internal/call"
)

var _ Mind = (*Client)(nil)

// Ask implements [Mind].
func (c *Client) Ask(ctx context.Context, r AskRequest, tell func(ChatNews)) Answer {
	failed := func(e *call.Error) Answer {
		return Answer{Session: r.Session, ToolCalls: []ToolCall{}, Error: e}
	}
	b, err := Marshal(r)
	if err != nil {
		return failed(Errorf(call.UsageInvalid, "encoding the request: %v", err))
	}
	body, sent, err := c.do(ctx, http.MethodPost, "mind/ask", b)
	if err == nil {
		var a Answer
		a, err = readAnswer(body, tell)
		body.Close()
		if err == nil {
			return a
		}
	}
	var e *call.Error
	switch {
	case ctx.Err() != nil:
		return failed(AsError(ctx.Err()))
	case errors.As(err, &e) && e.Code != call.DaemonUnreachable:
		return failed(e)
	case sent:
		return failed(Errorf(call.DaemonUnreachable, "the daemon went away before it answered; the answer, if there is one, waits for `aurora chat` (%v)", err))
	}
	unasked := *AsError(err)
	unasked.Retryable = true // nobody has heard the question
	return failed(&unasked)
}

func readAnswer(body io.Reader, tell func(ChatNews)) (Answer, error) {
	dec := json.NewDecoder(body)
	for {
		var f chatFrame
		if err := dec.Decode(&f); err != nil {
			return Answer{}, err
		}
		switch {
		case f.Answer != nil:
			return *f.Answer, nil
		case f.Error != nil:
			return Answer{}, f.Error
		case f.News != nil && tell != nil:
			tell(*f.News)
		}
	}
}

// Say implements [Mind].
func (c *Client) Say(ctx context.Context, r SayRequest) (s Said, err error) {
	err = c.post(ctx, "mind/say", r, &s)
	return s, err
}

// StopTurn implements [Mind].
func (c *Client) StopTurn(ctx context.Context, session string) (s Stopped, err error) {
	err = c.post(ctx, "mind/stop", ListenRequest{Session: session}, &s)
	return s, err
}

// Suggest implements [Mind].
func (c *Client) Suggest(ctx context.Context, r SuggestRequest) (s []Suggestion, err error) {
	err = c.post(ctx, "mind/suggest", r, &s)
	return s, err
}

// Topology implements [Mind].
func (c *Client) Topology(ctx context.Context) (t Topology, err error) {
	err = c.get(ctx, "mind/topology", Filter{}, &t)
	return t, err
}

// Listen implements [Mind]. A connection that breaks off is DAEMON_UNREACHABLE.
func (c *Client) Listen(ctx context.Context, r ListenRequest, tell func(ChatNews) error) error {
	return follow(ctx, c, "mind/listen", r, tell)
}

package mcp

import (
	"bytes"
	"context"
	"net/http"
	"regexp"
	"strings"
)

// A goneError says that the server does not know the session any more, so that
// it did nothing.
type goneError struct{ err error }

func (e *goneError) Error() string { return e.err.Error() }
func (e *goneError) Unwrap() error { return e.err }

// forgotten tells whether the server refused a request because it does not know
// the session. That is 404 by the specification; others answer 401 to it, or
// another 4xx and say so. What was refused so was not done; where it was not the
// session, a new one changes nothing.
func forgotten(e *StatusError, body []byte) bool {
	switch e.Code {
	case http.StatusNotFound, http.StatusUnauthorized:
		return true
	case http.StatusTooManyRequests:
		return false
	}
	return e.Code/100 == 4 && ofSession.Match(body)
}

// suspicious tells whether a refusal may be about the session, which a ping would
// show: servers refuse in every status and in every language.
func suspicious(e *StatusError, body []byte) bool {
	switch e.Code {
	case http.StatusForbidden, http.StatusTooManyRequests, http.StatusServiceUnavailable:
		return false // that is about more than the session
	case http.StatusRequestEntityTooLarge:
		return false // and that about less
	}
	return e.Code/100 == 4 || ofSession.Match(body)
}

// ofSession knows the words in which servers say that they do not know a session.
var ofSession = regexp.MustCompile(`(?i)session[ -]?id|` +
	`\b(no|not|invalid|unknown|unrecognized|missing|expired)\b[^.]{0,20}\bsession\b|` +
	`\bsession\b[^.]{0,40}\b(not found|not exist|not known|unknown|invalid|expired|terminated)\b|` +
	`\bnot initialized\b`)

// unbegun knows the words in which servers say that they wait for initialize,
// also those that have no sessions by name. It need not be asked with a ping,
// which is allowed before.
var unbegun = regexp.MustCompile(`(?i)\b(server|session|client|connection)\b( is| has)?( not|n't)( yet)?( been)? initiali[sz]ed\b|` +
	`\bbefore initiali[sz]ation\b`)

// of says what an error of JSON-RPC, as it was sent, means for g: that the
// session is gone for sure, that it may be, or neither.
func (g *generation) of(refusal []byte) (sure, perhaps bool) {
	if !g.open || refusal == nil {
		return false, false
	}
	said := []byte(parseRPCError(refusal).Message)
	sure = g.proven.Load() && unbegun.Match(said)
	return sure, sure || g.id != "" && g.proven.Load() && ofSession.Match(said)
}

// pingProbe asks whether a session is known. Its id is none that a request of the
// session has.
const pingProbe = `{"jsonrpc":"2.0","id":"aurora-ping","method":"ping"}` + "\n"

// alike tells whether a ping was refused for the reason for which something else
// was: some servers refuse pings because they do not know them.
func alike(refusal, ping *StatusError) bool {
	if !suspicious(ping, []byte(ping.Body)) {
		return false
	}
	return ofSession.MatchString(ping.Body) || refusal.Code == ping.Code && reasonOf(refusal.Body) == reasonOf(ping.Body)
}

// reasonOf returns what the body of a refusal says, without the ids in it.
func reasonOf(body string) string {
	if message := stringOf(object(object([]byte(body))["error"])["message"]); message != "" {
		body = message
	}
	return strings.Map(func(r rune) rune {
		if '0' <= r && r <= '9' {
			return -1
		}
		return r
	}, body)
}

// lost finds out with a ping whether the session is gone: then it is refused as
// well. refusal is that of a status, if there was one. A server that cannot be
// reached has said nothing.
func (t *streamable) lost(ctx context.Context, g *generation, refusal *StatusError) bool {
	ctx, stop := context.WithTimeoutCause(ctx, tellTime, errNotTaken)
	defer stop()
	res, err := t.origin.do(ctx, http.MethodPost, g.ask, []byte(pingProbe))
	if err != nil {
		return false
	}
	if res.StatusCode/100 != 2 {
		e, _ := newStatusError(res)
		if refusal == nil {
			return ofSession.MatchString(e.Body)
		}
		return alike(refusal, e)
	}
	if isEventStream(res) { // a refusal is no stream
		_ = res.Body.Close() // it is not wanted
		return false
	}
	defer res.Body.Close()
	box, err := t.readAll(res)
	if err != nil {
		return false
	}
	defer t.pool.put(box)
	gone := false
	t.split(bytes.Clone(*box), func(m *Message) {
		if m.Error != nil {
			_, gone = g.of(m.Error)
		}
	})
	return gone
}

package mcp

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync/atomic"
)

// A legacySSE is the transport of MCP 2024-11-05,
// basic/transports#http-with-sse: the server speaks on one stream, whose first
// event says where to post to.
type legacySSE struct {
	web
	opened   atomic.Bool   // the stream is there
	named    chan struct{} // closed when the first endpoint is known
	endpoint atomic.Pointer[url.URL]
	version  atomic.Pointer[string] // of the protocol; nil before the handshake
}

// NewLegacySSE returns a transport to a remote server that speaks HTTP+SSE, the
// predecessor of Streamable HTTP. It connects when Run begins.
//
// The stream is the session: when it ends the transport does, and whoever wants
// the server connects anew. Limits are those of requests, as with
// [NewStreamableHTTP].
func NewLegacySSE(o HTTPOptions) (Transport, error) {
	t := &legacySSE{named: make(chan struct{})}
	if err := t.init(o); err != nil {
		return nil, err
	}
	return t, nil
}

// Run reads the stream until it ends.
func (t *legacySSE) Run(deliver func(*Message)) error {
	t.deliver = func(m *Message) {
		t.note(m)
		deliver(m)
	}
	close(t.ready)
	err := t.read()
	if t.life.Err() != nil { // we ended it
		if err = context.Cause(t.life); errors.Is(err, os.ErrClosed) {
			err = nil
		}
	}
	t.close(cmp.Or(err, io.EOF), nil)
	t.finish()
	return err
}

// read opens the stream and delivers what comes.
func (t *legacySSE) read() error {
	// It lasts as long as there are last words to say: without it the server
	// does not know whose they are.
	res, err := t.origin.do(t.late, http.MethodGet, t.origin.with(
		"Accept", "text/event-stream",
		"Accept-Encoding", "identity",
	), nil)
	if err != nil {
		return err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK {
		e, _ := newStatusError(res)
		return e
	}
	events := t.events(res)
	if !isEventStream(res) && !events.events() {
		res.Body = events.rest(res.Body)
		return newContentError(res)
	}
	defer events.release()
	t.opened.Store(true)
	for {
		ev, err := events.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return fmt.Errorf("its stream broke off: %w", err)
		}
		if ev.name != "endpoint" {
			t.event(ev, t.hand)
			continue
		}
		if err := t.move(res.Request.URL, string(ev.data)); err != nil {
			return err
		}
	}
}

// ErrNoEndpoint is why a message could not be sent in time to a server of HTTP+SSE
// that has not said where to.
var ErrNoEndpoint = errors.New("the server's stream has named no endpoint to post to")

// move takes the address to post to, which must be of the same origin.
func (t *legacySSE) move(from *url.URL, endpoint string) error {
	if text, err := strconv.Unquote(endpoint); err == nil {
		endpoint = text // some write it as JSON
	}
	u, err := from.Parse(strings.TrimSpace(endpoint))
	switch {
	case err != nil, strings.HasPrefix(u.Path, "{"), strings.Contains(u.Path, "/{"):
		return errors.New("the server named an endpoint that is no address")
	case !sameOrigin(from, u):
		return fmt.Errorf("the server named the endpoint %s, which is another origin, so nothing was sent there", shownURL(u))
	}
	encode(u)
	if t.endpoint.Swap(u) == nil {
		close(t.named)
	}
	return nil
}

// note takes the version of the protocol from the first answer that has one.
func (t *legacySSE) note(m *Message) {
	if m.Result != nil && t.version.Load() == nil {
		if v := stringOf(object(m.Result)["protocolVersion"]); v != "" {
			t.version.Store(&v)
		}
	}
}

// exchange posts a request; its answer comes on the stream.
func (t *legacySSE) exchange(ctx context.Context, method string, _ int64, msg []byte) error {
	if !t.begin() {
		return &NotDeliveredError{os.ErrClosed}
	}
	defer t.work.Done()
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	defer context.AfterFunc(t.life, func() { end(context.Cause(t.life)) })()
	return t.post(ctx, method, bytes.Clone(msg))
}

// Send posts a notification or an answer.
func (t *legacySSE) Send(ctx context.Context, msg []byte) error {
	method := methodOf(msg)
	msg = bytes.Clone(msg)
	post := func(ctx context.Context) error { return t.post(ctx, method, msg) }
	if method == "" || method == methodCancelled {
		return t.later(ctx, method, post)
	}
	return t.within(ctx, post)
}

// post sends one message to the endpoint, for which it waits.
func (t *legacySSE) post(ctx context.Context, method string, msg []byte) error {
	select {
	case <-t.named:
	case <-ctx.Done():
		if t.opened.Load() {
			return t.sorted(&NotDeliveredError{ErrNoEndpoint})
		}
		return t.sorted(&NotDeliveredError{context.Cause(ctx)})
	}
	version := ""
	if v := t.version.Load(); v != nil {
		version = *v
	}
	h := t.origin.with(
		"Content-Type", "application/json",
		"Accept", "application/json, text/event-stream",
		"Mcp-Protocol-Version", version,
	)
	if repeatable(method) {
		h = safe(h)
	}
	to := t.endpoint.Load()
	err := t.said(ctx, to, h, msg)
	var refusal, ping *StatusError
	if errors.As(err, &refusal) && suspicious(refusal, []byte(refusal.Body)) &&
		errors.As(t.tell(ctx, to, safe(h), []byte(pingProbe)), &ping) && alike(refusal, ping) {
		// Whoever takes messages does not know the stream any more.
		t.close(err, nil)
		return &exchangeError{Closed, false, err}
	}
	return err
}

// said is tell, but some servers answer where it is posted, too, or only there.
func (t *legacySSE) said(ctx context.Context, to *url.URL, h http.Header, msg []byte) error {
	return t.tellAnd(ctx, to, h, msg, func(res *http.Response) {
		if !strings.Contains(res.Header.Get("Content-Type"), "json") {
			return
		}
		if box, err := t.readAll(res); err == nil { // else the answer comes on the stream, or not at all
			t.split(*box, t.hand)
			t.pool.put(box)
		}
	})
}

// Close ends the stream and lets Run come to its end.
func (t *legacySSE) Close() error {
	t.close(os.ErrClosed, nil)
	return nil
}

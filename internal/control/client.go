package control

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"sync/atomic"
	"time"

	"github.com/aurorabot/aurora/internal/call"
)

// maxAnswer bounds what a client reads of one answer, in bytes.
const maxAnswer = 512 << 20

// A Client is a [House] in another process.
type Client struct {
	at   endpoint
	http *http.Client
}

var _ House = (*Client)(nil)

// ErrNoDaemon is the error of [Dial] when no daemon serves the run folder:
// there is no address, or nobody listens there any more.
var ErrNoDaemon = errors.New("no daemon is running")

// dialPatience is how long a daemon may take to say its version. It does so at
// once; one that is stopped or hangs never does.
const dialPatience = 5 * time.Second

// Dial finds the daemon of a run folder and asks its version. The error is
// [ErrNoDaemon] when there is none, and a [*call.Error] when there is one that
// this client cannot speak with, or that does not answer within 5 s.
func Dial(ctx context.Context, runDir string) (*Client, error) {
	return dial(ctx, runDir, dialPatience)
}

func dial(ctx context.Context, runDir string, patience time.Duration) (*Client, error) {
	at, err := readEndpoint(runDir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrNoDaemon
	}
	if err != nil {
		return nil, Errorf(call.DaemonUnreachable, "%v; remove the file if no aurora runs", err)
	}
	c := newClient(at)
	first, stop := context.WithTimeout(ctx, patience)
	defer stop()
	v, err := c.Version(first)
	if first.Err() != nil && ctx.Err() == nil {
		c.Close()
		return nil, Errorf(call.DaemonUnreachable,
			"the daemon at %s has not answered within %s; it hangs, or this machine is very busy", at, patience)
	}
	if err == nil && v.API != API {
		err = Errorf(call.VersionIncompatible,
			"the running daemon (pid %d, aurora %s) speaks control API v%d, this aurora v%d; restart the daemon with this version", v.PID, v.Version, v.API, API)
	}
	if err != nil {
		c.Close()
		var e *call.Error
		if errors.As(err, &e) && e.Code == call.DaemonUnreachable && ctx.Err() == nil {
			return nil, fmt.Errorf("%w: %s", ErrNoDaemon, e.Message)
		}
		return nil, err
	}
	return c, nil
}

func newClient(at endpoint) *Client {
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, at.network, at.address)
	}
	// No timeouts: the deadline of a call belongs to the call. No proxy: the
	// daemon is on this machine.
	return &Client{at: at, http: &http.Client{
		Transport: &http.Transport{DialContext: dial, DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return http.ErrUseLastResponse
		},
	}}
}

// Close frees the connections that are not in use.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// Version implements [House].
func (c *Client) Version(ctx context.Context) (v Version, err error) {
	err = c.get(ctx, "version", Filter{}, &v)
	return v, err
}

// Apps implements [House].
func (c *Client) Apps(ctx context.Context) (a []App, err error) {
	err = c.get(ctx, "apps", Filter{}, &a)
	return a, err
}

// AppAction implements [House].
func (c *Client) AppAction(ctx context.Context, key string, action Action) (a App, err error) {
	path := "apps/" + url.PathEscape(key) + "/" + url.PathEscape(string(action))
	body, _, err := c.do(ctx, http.MethodPost, path, nil)
	if err != nil {
		return a, err
	}
	err = decode(body, &a)
	return a, err
}

// Tools implements [House].
func (c *Client) Tools(ctx context.Context, f Filter) (t Tools, err error) {
	err = c.get(ctx, "tools", f, &t)
	return t, err
}

// Export implements [House].
func (c *Client) Export(ctx context.Context, dialect string, f Filter) (e Export, err error) {
	err = c.get(ctx, "tools/"+url.PathEscape(dialect), f, &e)
	return e, err
}

// Resources implements [House].
func (c *Client) Resources(ctx context.Context, f Filter) (r Resources, err error) {
	err = c.get(ctx, "resources", f, &r)
	return r, err
}

// Prompts implements [House].
func (c *Client) Prompts(ctx context.Context, f Filter) (p Prompts, err error) {
	err = c.get(ctx, "prompts", f, &p)
	return p, err
}

// Call implements [House].
func (c *Client) Call(ctx context.Context, r CallRequest, progress func(call.Progress)) Reply {
	rep := c.ask(ctx, "call", r, func(body io.Reader) (Reply, error) {
		dec := json.NewDecoder(body)
		for {
			var f frame
			if err := dec.Decode(&f); err != nil {
				return Reply{}, err
			}
			switch {
			case f.Reply != nil:
				return *f.Reply, nil
			case f.Error != nil:
				return Reply{}, f.Error
			case f.Progress != nil && progress != nil:
				progress(*f.Progress)
			}
		}
	})
	if rep.Tool == "" {
		rep.Tool = r.Name
	}
	return rep
}

// Read implements [House].
func (c *Client) Read(ctx context.Context, r ReadRequest) Reply {
	rep := c.ask(ctx, "read", r, decodeReply)
	rep.URI = r.URI
	return rep
}

// Prompt implements [House].
func (c *Client) Prompt(ctx context.Context, r PromptRequest) Reply {
	rep := c.ask(ctx, "prompt", r, decodeReply)
	if rep.Prompt == "" {
		rep.Prompt = r.Name
	}
	return rep
}

// Complete implements [House].
func (c *Client) Complete(ctx context.Context, r CompleteRequest) Reply {
	rep := c.ask(ctx, "complete", r, decodeReply)
	if rep.Prompt == "" && rep.Template == "" {
		rep.Prompt, rep.Template = r.Prompt, r.Template
	}
	return rep
}

// Flow implements [House].
func (c *Client) Flow(ctx context.Context) (f Flow, err error) {
	err = c.get(ctx, "events/flow", Filter{}, &f)
	return f, err
}

// EventAction implements [House].
func (c *Client) EventAction(ctx context.Context, r EventActionRequest) (d EventDone, err error) {
	err = c.post(ctx, "events/action", r, &d)
	return d, err
}

// FollowEvents implements [House]. A connection that breaks off is
// DAEMON_UNREACHABLE.
func (c *Client) FollowEvents(ctx context.Context, r FollowRequest, tell func(EventNews) error) error {
	return follow(ctx, c, "events/follow", r, tell)
}

// follow posts a request and tells what comes, for as long as the house lives:
// lines that have news, or the error that ends them.
func follow[News any](ctx context.Context, c *Client, path string, request any, tell func(News) error) error {
	body, err := c.send(ctx, path, request)
	if err != nil {
		return err
	}
	defer body.Close()
	// There is no bound: the answer goes on as long as the house does.
	dec := json.NewDecoder(body.whole)
	for {
		var line newsFrame[News]
		err := dec.Decode(&line)
		switch {
		case ctx.Err() != nil:
			return AsError(ctx.Err())
		case err != nil:
			return Errorf(call.DaemonUnreachable, "the daemon went away (%v)", err)
		case line.Error != nil:
			return line.Error
		case line.News != nil:
			if err := tell(*line.News); err != nil {
				return err
			}
		}
	}
}

// send posts a request and returns what is answered.
func (c *Client) send(ctx context.Context, path string, request any) (*bounded, error) {
	b, err := Marshal(request)
	if err != nil {
		return nil, Errorf(call.UsageInvalid, "encoding the request: %v", err)
	}
	body, _, err := c.do(ctx, http.MethodPost, path, b)
	return body, err
}

// post sends a request and decodes the answer into v.
func (c *Client) post(ctx context.Context, path string, request, v any) error {
	body, err := c.send(ctx, path, request)
	if err != nil {
		return err
	}
	return decode(body, v)
}

// ask posts a request whose effect may be lost with the connection, and says
// truly which: not sent is unavailable, sent without an answer is unknown.
func (c *Client) ask(ctx context.Context, path string, request any, read func(io.Reader) (Reply, error)) Reply {
	b, err := Marshal(request)
	if err != nil {
		return failed(call.ProtocolError, Errorf(call.UsageInvalid, "encoding the request: %v", err))
	}
	body, sent, err := c.do(ctx, http.MethodPost, path, b)
	if err == nil {
		var rep Reply
		rep, err = read(body)
		body.Close()
		if err == nil {
			return rep
		}
	}
	var e *call.Error
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return failed(call.Cancelled, AsError(ctx.Err()))
	case ctx.Err() != nil:
		return failed(call.Timeout, AsError(ctx.Err()))
	case errors.As(err, &e) && e.Code != call.DaemonUnreachable:
		return failed(call.ProtocolError, e)
	case sent:
		return failed(call.Unknown, Errorf(call.OutcomeUnknown,
			"the daemon went away before it answered: it may have been done or not (%v)", err))
	}
	return failed(call.Unavailable, AsError(err))
}

func failed(o call.Outcome, e *call.Error) Reply { return Reply{Outcome: o, Error: e} }

func decodeReply(r io.Reader) (rep Reply, err error) {
	err = json.NewDecoder(r).Decode(&rep)
	return rep, err
}

func (c *Client) get(ctx context.Context, path string, f Filter, v any) error {
	if len(f.Apps) > 0 {
		path += "?" + url.Values{"app": f.Apps}.Encode()
	}
	body, _, err := c.do(ctx, http.MethodGet, path, nil)
	if err != nil {
		return err
	}
	return decode(body, v)
}

func decode(body io.ReadCloser, v any) error {
	defer body.Close()
	if err := json.NewDecoder(body).Decode(v); err != nil {
		return Errorf(call.DaemonUnreachable, "reading the daemon's answer: %v", err)
	}
	return nil
}

// do sends a request and returns the body of a good answer. Sent reports
// whether any of it may have reached the daemon.
func (c *Client) do(ctx context.Context, method, path string, content []byte) (body *bounded, sent bool, err error) {
	var wrote atomic.Bool
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { wrote.Store(true) },
	})
	host := "aurora" // a unix socket has no name; HTTP wants one
	if c.at.network == "tcp" {
		host = c.at.address
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://"+host+"/v1/"+path, bytes.NewReader(content))
	if err != nil {
		return nil, false, Errorf(call.UsageInvalid, "%v", err)
	}
	if c.at.token != "" {
		req.Header.Set("Authorization", "Bearer "+c.at.token)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if e := ctx.Err(); e != nil {
			return nil, wrote.Load(), AsError(e)
		}
		return nil, wrote.Load(), Errorf(call.DaemonUnreachable, "asking the daemon at %s: %v", c.at, err)
	}
	body = &bounded{Reader: io.LimitReader(resp.Body, maxAnswer), Closer: resp.Body, whole: resp.Body}
	if resp.StatusCode == http.StatusOK {
		return body, true, nil
	}
	defer body.Close()
	var f Failure
	if err := json.NewDecoder(body).Decode(&f); err != nil || f.Error == nil {
		return nil, true, Errorf(call.VersionIncompatible,
			"whoever listens at %s does not speak the control API of this aurora (HTTP %d)", c.at, resp.StatusCode)
	}
	return nil, true, f.Error
}

// bounded is a body that ends after maxAnswer bytes.
type bounded struct {
	io.Reader
	io.Closer
	whole io.Reader // without the bound
}

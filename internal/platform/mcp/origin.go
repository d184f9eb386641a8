package mcp

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// HTTPOptions say where a remote server is. URL is required; the rest has
// useful zero values.
type HTTPOptions struct {
	// URL is the address of the server: the endpoint of Streamable HTTP, or the
	// event stream of HTTP+SSE. User and password in it become basic
	// authentication.
	URL string
	// Headers go with every request. Those that MCP and HTTP set themselves are
	// left out.
	Headers map[string]string
	// UserAgent is ours, unless Headers has one; "aurora" if empty.
	UserAgent string
	// TLS, if set, has the authorities to believe in and our own certificate.
	TLS *tls.Config
	// Proxy picks the proxy of a request; nil: the variables HTTP_PROXY,
	// HTTPS_PROXY and NO_PROXY of the process decide.
	Proxy func(*http.Request) (*url.URL, error)
	// Dial, if set, opens connections instead of the network.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
	// MaxMessage is the longest message that is read, in bytes, decompressed;
	// 32 MiB if 0. The rest of a longer one is dropped and only its request
	// fails.
	MaxMessage int
	// OnNoise, if set, is shown the first 4 KiB of every event that is no
	// JSON-RPC message. It must not block or keep the bytes.
	OnNoise func(text []byte)
	// Logger gets debug lines about connections; nil discards them.
	Logger *slog.Logger
}

const (
	dialTime      = 10 * time.Second
	handshakeTime = 10 * time.Second
	// idleTime is how long a connection without a request is kept. Many servers
	// close theirs after five seconds; a request that meets such a close on its
	// way may or may not have been read, and nobody can tell.
	idleTime = 4 * time.Second
	maxIdle  = 64 // connections that are kept
	maxHops  = 3  // redirects of one request
)

// An origin makes HTTP requests to one server and to nobody else, so that
// whatever the configuration gives us for it stays with it. It has connections
// of its own.
type origin struct {
	url     *url.URL    // as configured
	headers http.Header // of every request; never changes
	http    *http.Transport
	down    atomic.Bool // the last request could not connect
	wary    atomic.Bool // a kept connection broke under a request; never false again

	mu sync.Mutex
	// mu guards the fields below.
	moved *url.URL       // where redirects led; nil: nowhere
	jar   http.CookieJar // nil before the first cookie
}

// ownHeaders are set by us alone.
var ownHeaders = []string{
	"Accept", "Connection", "Content-Length", "Content-Type", "Host", "Last-Event-Id",
	"Mcp-Method", "Mcp-Name", "Mcp-Protocol-Version", "Mcp-Session-Id", "Transfer-Encoding",
}

func newOrigin(o *HTTPOptions) (*origin, error) {
	u, err := url.Parse(o.URL)
	if err != nil {
		return nil, errors.New("the address of the server is no URL") // it may hold secrets
	}
	encode(u)
	if u.Scheme != "http" && u.Scheme != "https" || u.Host == "" {
		return nil, errors.New("the address of the server must begin with http:// or https://")
	}
	h := http.Header{"User-Agent": {"aurora"}}
	if o.UserAgent != "" {
		h.Set("User-Agent", o.UserAgent)
	}
	if u.User != nil {
		h.Set("Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(basic(u.User))))
		bare := *u
		bare.User = nil
		u = &bare
	}
	for name, value := range o.Headers {
		h.Set(name, value)
	}
	for _, name := range ownHeaders {
		h.Del(name)
	}
	t := &http.Transport{
		Proxy:                 o.Proxy,
		DialContext:           o.Dial,
		TLSClientConfig:       &tls.Config{},
		TLSHandshakeTimeout:   handshakeTime,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   maxIdle,
		IdleConnTimeout:       idleTime,
		ExpectContinueTimeout: time.Second,
		// Without it the error is a bare "Forbidden", and nobody knows of whom.
		OnProxyConnectResponse: func(_ context.Context, proxy *url.URL, _ *http.Request, res *http.Response) error {
			if res.StatusCode == http.StatusOK {
				return nil
			}
			return &ProxyError{Proxy: proxy.Host, Code: res.StatusCode}
		},
		// A connection that shares many streams is asked whether it lives.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 30 * time.Second, PingTimeout: 15 * time.Second},
	}
	if o.TLS != nil {
		t.TLSClientConfig = o.TLS.Clone()
	}
	if t.TLSClientConfig.ClientSessionCache == nil {
		t.TLSClientConfig.ClientSessionCache = tls.NewLRUClientSessionCache(0)
	}
	if t.Proxy == nil {
		t.Proxy = http.ProxyFromEnvironment
	}
	if t.DialContext == nil {
		t.DialContext = (&net.Dialer{Timeout: dialTime}).DialContext
	}
	return &origin{url: u, headers: h, http: t}, nil
}

// encode escapes what a person, or a server, wrote into a query as it is: a blank
// in it would end the address in the line of the request.
func encode(u *url.URL) {
	var b strings.Builder
	for _, c := range []byte(u.RawQuery) {
		if c <= ' ' || c >= 0x7f || c == '"' || c == '<' || c == '>' {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	u.RawQuery = b.String()
}

func basic(u *url.Userinfo) string {
	password, _ := u.Password()
	return u.Username() + ":" + password
}

// with returns the headers of every request and the given ones, as pairs of
// name and value. An empty value leaves its header out.
func (o *origin) with(pairs ...string) http.Header {
	h := o.headers.Clone()
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] != "" {
			h.Set(pairs[i], pairs[i+1])
		}
	}
	return h
}

// do makes one request and follows its redirects within the origin. h is not
// changed and may be shared. body must not change before the answer has been
// read, or an error returned, and the context ended; nil for none.
//
// The error is a *NotDeliveredError when surely no byte of the request reached
// the server, a *RedirectError, or that of the connection.
func (o *origin) do(ctx context.Context, method string, h http.Header, body []byte) (*http.Response, error) {
	return o.to(ctx, o.where(), method, h, body)
}

func (o *origin) to(ctx context.Context, u *url.URL, method string, h http.Header, body []byte) (*http.Response, error) {
	seen := []string{u.String()}
	for {
		res, err := o.once(ctx, method, u, h, body)
		if err != nil {
			return nil, err
		}
		next, err := o.follow(res, u)
		if err != nil {
			finish(res)
			return nil, err
		}
		if next == nil {
			if len(seen) > 1 && method == http.MethodPost && res.StatusCode/100 == 2 {
				o.settle(u)
			}
			return res, nil
		}
		finish(res)
		for _, before := range seen {
			if before == next.String() {
				return nil, redirectError(res, next, "which leads in a circle")
			}
		}
		if len(seen) > maxHops {
			return nil, redirectError(res, next, fmt.Sprintf("after %d redirects before it", maxHops))
		}
		seen = append(seen, next.String())
		u = next
	}
}

// where is the address to begin with.
func (o *origin) where() *url.URL {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.moved != nil {
		return o.moved
	}
	return o.url
}

// settle remembers where redirects led; nil: forget it.
func (o *origin) settle(u *url.URL) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.moved = u
}

// closedIdle is what net/http says of a connection that the server had closed
// before anything of the request was written to it. It then takes another one
// only for requests that may be done twice; we know better.
const closedIdle = "http: server closed idle connection"

// maxStale is how many such connections one request may meet: as many as are kept.
const maxStale = maxIdle

// safe returns h for a request that may be done twice, which nobody is told: when
// a kept connection breaks under it, net/http makes it again on another one.
func safe(h http.Header) http.Header {
	h = h.Clone()
	h["Idempotency-Key"] = nil
	return h
}

// repeatable tells whether a message may come twice. Only a call may do work;
// the rest asks, or says what is so.
func repeatable(method string) bool { return method != methodCall }

const methodCall = "tools/call"

// beWary is called when a kept connection broke before anything of the answer.
// Some servers close connections after each answer without saying so, and what
// is on its way by then is lost. From now on no connection is used twice, so
// that this costs one request and not every other one.
func (o *origin) beWary() {
	o.wary.Store(true)
	o.http.CloseIdleConnections()
}

// shared tells whether a connection serves many requests at once, as those of
// HTTP/2 do, which say when they close.
func shared(c net.Conn) bool {
	t, ok := c.(*tls.Conn)
	return ok && t.ConnectionState().NegotiatedProtocol == "h2"
}

// once makes one request.
func (o *origin) once(ctx context.Context, method string, u *url.URL, h http.Header, body []byte) (*http.Response, error) {
	// A request is on its way from the moment it has a connection. If it gets
	// another one, nothing of it was written to the first.
	var begun, kept atomic.Bool
	trace := &httptrace.ClientTrace{
		GetConn: func(string) {
			if begun.Swap(false); kept.Swap(false) { // it broke, and there is another try
				o.beWary()
			}
		},
		GotConn: func(got httptrace.GotConnInfo) {
			begun.Store(true)
			switch {
			case !got.Reused || shared(got.Conn):
			case o.wary.Load() || ended(got.Conn):
				_ = got.Conn.Close() // nothing was written, so net/http takes another one
			default:
				kept.Store(true)
			}
		},
		GotFirstResponseByte: func() { kept.Store(false) },
	}
	req := (&http.Request{
		Method: method, URL: u, Host: u.Host, Header: o.cookies(u, h),
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Close: o.wary.Load(),
	}).WithContext(httptrace.WithClientTrace(ctx, trace))
	if body != nil {
		req.ContentLength = int64(len(body))
		req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	}
	var res *http.Response
	var err error
	for stale := 0; ; stale++ {
		if body != nil {
			req.Body, _ = req.GetBody()
		}
		if res, err = o.http.RoundTrip(req); err == nil || err.Error() != closedIdle || stale == maxStale {
			break
		}
	}
	switch {
	case err == nil:
		o.down.Store(false)
		o.keep(u, res)
		return unpack(res)
	case ctx.Err() != nil && begun.Load():
		return nil, context.Cause(ctx)
	case ctx.Err() != nil:
		return nil, &NotDeliveredError{context.Cause(ctx)}
	case begun.Load():
		if kept.Load() {
			o.beWary()
		}
		return nil, fmt.Errorf("the connection broke before the answer: %w", err)
	}
	o.down.Store(true)
	if errors.Is(err, context.DeadlineExceeded) { // its own, not that of the caller
		err = errors.New(err.Error())
	}
	return nil, &NotDeliveredError{err}
}

// cookies returns h with the cookies that the server gave us, if it did. Some
// gateways find the process that holds a session by them.
func (o *origin) cookies(u *url.URL, h http.Header) http.Header {
	o.mu.Lock()
	jar := o.jar
	o.mu.Unlock()
	if jar == nil {
		return h
	}
	r := http.Request{Header: h.Clone()}
	for _, c := range jar.Cookies(u) {
		r.AddCookie(c)
	}
	return r.Header
}

func (o *origin) keep(u *url.URL, res *http.Response) {
	if len(res.Header["Set-Cookie"]) == 0 {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.jar == nil {
		o.jar, _ = cookiejar.New(nil) // it never fails
	}
	o.jar.SetCookies(u, res.Cookies())
}

// follow says where a redirect leads; nil: the answer is none.
func (o *origin) follow(res *http.Response, from *url.URL) (*url.URL, error) {
	keepsMethod := false
	switch res.StatusCode {
	case http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		keepsMethod = true
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther:
		keepsMethod = res.Request.Method == http.MethodGet
	default:
		return nil, nil
	}
	location := res.Header.Get("Location")
	if location == "" {
		return nil, nil // a status like any other
	}
	to, err := from.Parse(location)
	switch {
	case err != nil || to.Host == "":
		return nil, &RedirectError{Code: res.StatusCode, Location: excerpt([]byte(location)), Reason: "which is no address"}
	case !sameOrigin(o.url, to):
		return nil, redirectError(res, to, "which is another origin, so nothing was sent there")
	case !keepsMethod:
		return nil, redirectError(res, to, "which would turn the request into another one")
	}
	to.Fragment = ""
	encode(to)
	return to, nil
}

func redirectError(res *http.Response, to *url.URL, reason string) *RedirectError {
	return &RedirectError{Code: res.StatusCode, Location: shownURL(to), Reason: reason}
}

// sameOrigin compares scheme, host and port (RFC 6454).
func sameOrigin(a, b *url.URL) bool {
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

func port(u *url.URL) string {
	switch p := u.Port(); {
	case p != "":
		return p
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}

// A cancelBody ends the context of its request when it is closed.
type cancelBody struct {
	io.ReadCloser
	cancel context.CancelFunc
}

// Close closes the body.
func (b *cancelBody) Close() error {
	defer b.cancel()
	return b.ReadCloser.Close()
}

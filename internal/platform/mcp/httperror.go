package mcp

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

const (
	// bodyShown is how many bytes of a body that is no MCP errors hold: more than
	// people are shown, so that a secret in what they are shown can be told whole.
	bodyShown = 1 << 10
	bodyRead  = 64 << 10 // bytes of such a body that are read
)

// A StatusError is an HTTP answer that says no: the server, or something in
// front of it, did not take a message.
type StatusError struct {
	Code   int    // such as 401
	Method string // of the HTTP request
	// Body is how the answer begins, on one line and without control
	// characters; empty if there was none. It is foreign text.
	Body string
	// Authenticate is the scheme and the error of a WWW-Authenticate header:
	// "Bearer: invalid_token: The access token expired". It is foreign text.
	Authenticate string
	// RetryAfter is how long the server asks to wait; 0 if it does not.
	RetryAfter time.Duration
}

// Error returns the status and what the server said.
func (e *StatusError) Error() string {
	text := fmt.Sprintf("HTTP %d", e.Code)
	if name := http.StatusText(e.Code); name != "" {
		text += " " + name
	}
	for _, said := range []string{e.Authenticate, e.Body} {
		if said != "" {
			text += ": " + said
		}
	}
	return text
}

// Credentials tells whether the server wants other credentials than it got.
func (e *StatusError) Credentials() bool {
	return e.Code == http.StatusUnauthorized || e.Code == http.StatusForbidden
}

// executed tells whether the request may have been done all the same. Only an
// error behind the door can come after work has begun.
func (e *StatusError) executed() bool {
	return e.Code >= 500 && e.Code != http.StatusServiceUnavailable && e.Code != http.StatusNotImplemented
}

// newStatusError reads the answer, which it closes, and returns its body too.
func newStatusError(res *http.Response) (*StatusError, []byte) {
	body, _ := io.ReadAll(io.LimitReader(res.Body, bodyRead)) // what broke off says less, that is all
	finish(res)
	return &StatusError{
		Code:         res.StatusCode,
		Method:       res.Request.Method,
		Body:         excerpt(body),
		Authenticate: authenticate(res.Header.Get("Www-Authenticate")),
		RetryAfter:   retryAfter(res.Header.Get("Retry-After")),
	}, body
}

// A ProxyError is the refusal of a proxy to connect us with the server.
type ProxyError struct {
	Proxy string // host and port
	Code  int    // of its answer
}

// Error names the proxy and what it answered.
func (e *ProxyError) Error() string {
	return strings.TrimSpace(fmt.Sprintf("the proxy %s answered HTTP %d %s", e.Proxy, e.Code, http.StatusText(e.Code)))
}

// A RedirectError is a redirect that is not followed: it leads to another
// origin, which must not get our headers, or it would turn a POST into a GET,
// or it leads in circles.
type RedirectError struct {
	Code     int
	Location string // without query and fragment, which may hold secrets; empty: the answer names none
	Reason   string
}

// Error names the new place.
func (e *RedirectError) Error() string {
	return fmt.Sprintf("HTTP %d redirects to %s, %s", e.Code, e.Location, e.Reason)
}

// newContentError reads the answer, which it closes.
func newContentError(res *http.Response) *ContentError {
	body, _ := io.ReadAll(io.LimitReader(res.Body, bodyRead)) // what broke off says less, that is all
	_ = res.Body.Close()                                      // it is not wanted
	return contentError(res, body)
}

func contentError(res *http.Response, body []byte) *ContentError {
	return &ContentError{Type: excerpt([]byte(res.Header.Get("Content-Type"))), Body: excerpt(body)}
}

// A ContentError is an HTTP answer of success that is no MCP: a login page, for
// example.
type ContentError struct {
	Type string // its Content-Type; may be empty
	Body string // how it begins, as in a StatusError
}

// Error shows how the answer begins.
func (e *ContentError) Error() string {
	kind := e.Type
	if kind == "" {
		kind = "of no type"
	}
	if e.Body == "" {
		return fmt.Sprintf("the answer (%s) is empty", kind)
	}
	return fmt.Sprintf("the answer (%s) is no JSON-RPC; it begins: %s", kind, e.Body)
}

// An exchangeError is the end of a request over HTTP that got no answer.
type exchangeError struct {
	kind      Kind
	delivered bool
	err       error
}

func (e *exchangeError) Error() string { return e.err.Error() }
func (e *exchangeError) Unwrap() error { return e.err }

// excerpt shows how a body begins, on one line.
func excerpt(body []byte) string {
	text := strings.ToValidUTF8(string(bytes.TrimPrefix(body[:min(len(body), 2*bodyShown)], byteOrderMark)), "\uFFFD")
	text = strings.Join(strings.FieldsFunc(text, func(r rune) bool {
		return r <= ' ' || r == 0x7f || 0x80 <= r && r < 0xa0 || r == 0x2028 || r == 0x2029
	}), " ")
	if short := string(clip([]byte(text), bodyShown)); len(short) < len(text) || len(body) > 2*bodyShown {
		return short + "…"
	}
	return text
}

// authenticate returns the scheme, the error and the description of a
// challenge. Its other parameters are for programs, and some hold tokens.
func authenticate(challenge string) string {
	scheme, params, _ := strings.Cut(strings.TrimSpace(challenge), " ")
	said := scheme
	for _, name := range []string{"error", "error_description"} {
		if value := challengeParam(params, name); value != "" {
			said += ": " + value
		}
	}
	return excerpt([]byte(said))
}

// challengeParam returns a parameter of a challenge (RFC 9110, 11.2).
func challengeParam(params, name string) string {
	for rest := params; rest != ""; {
		before, value, ok := strings.Cut(rest, "=")
		if !ok {
			return ""
		}
		value = strings.TrimLeft(value, " \t")
		var text string
		if strings.HasPrefix(value, `"`) {
			text, rest = quotedText(value[1:])
		} else {
			text, rest, _ = strings.Cut(value, ",")
		}
		if strings.EqualFold(strings.Trim(before, ", \t"), name) {
			return strings.TrimSpace(text)
		}
	}
	return ""
}

// quotedText returns the text up to the closing quote, and what follows it.
func quotedText(s string) (text, rest string) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '"':
			return b.String(), s[i+1:]
		case s[i] == '\\' && i+1 < len(s):
			i++
		}
		b.WriteByte(s[i])
	}
	return b.String(), ""
}

// retryAfter reads the header of that name (RFC 9110, 10.2.3).
func retryAfter(text string) time.Duration {
	text = strings.TrimSpace(text)
	if seconds, err := strconv.ParseFloat(text, 64); err == nil && !math.IsNaN(seconds) {
		// Some are no integers, and some are longer than a Duration is.
		return time.Duration(min(max(seconds, 0), maxRetry.Seconds()) * float64(time.Second))
	}
	if at, err := http.ParseTime(text); err == nil {
		return min(max(time.Until(at), 0), maxRetry)
	}
	return 0
}

// shownURL is a URL without what may be secret in it.
func shownURL(u *url.URL) string {
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	text := shown.String()
	if u.RawQuery != "" {
		text += "?…"
	}
	return excerpt([]byte(text))
}

// finish closes an answer. If little is said to be left of it, it is read, which
// makes the connection free for another request.
func finish(res *http.Response) {
	if res.ContentLength > 0 && res.ContentLength <= 4<<10 && !isEventStream(res) {
		_, _ = io.Copy(io.Discard, res.Body) // it is only about the connection
	}
	_ = res.Body.Close() // a body that was read has nothing left to say
}

// isEventStream tells by the type of its content what an answer is.
func isEventStream(res *http.Response) bool {
	kind, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	return strings.EqualFold(strings.TrimSpace(kind), "text/event-stream")
}

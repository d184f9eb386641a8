package host

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/platform/mcp"
)

// wantsCredentials reports whether a server refused something because of who asks.
func wantsCredentials(err error) bool {
	var status *mcp.StatusError
	return errors.As(err, &status) && status.Credentials()
}

// remoteReason says, in full sentences, what went wrong with a remote server and
// what to do about it; empty if the error is none of the ways of HTTP. said is
// the text of an error without secrets.
func remoteReason(c *config.App, err error, said func(error) string) string {
	if c.MCP.Transport == config.Stdio {
		return ""
	}
	var status *mcp.StatusError
	var redirect *mcp.RedirectError
	var content *mcp.ContentError
	var not *mcp.NotDeliveredError
	var cut *mcp.CallError
	switch {
	case errors.As(err, &status) && status.Credentials():
		return fmt.Sprintf("The server refused who we say we are (%s). %s", said(status), credentialsHint(c))
	case errors.As(err, &status):
		return fmt.Sprintf("The server answered %s.%s", said(status), statusHint(c, status.Code))
	case errors.As(err, &redirect):
		return fmt.Sprintf("The server does not answer there: %s. If that is the right address, write it as url in apps/config.yml.", said(redirect))
	case errors.As(err, &content):
		return fmt.Sprintf("The server does not speak MCP there: %s. Check the path of its url in apps/config.yml.", said(content))
	case errors.As(err, &not):
		return fmt.Sprintf("The server cannot be reached: %s. %s", said(not.Err), connectHint(err))
	case errors.As(err, &cut) && cut.Kind == mcp.Closed && !errors.Is(err, io.EOF):
		return sentence(said(cut.Err))
	case errors.As(err, &cut) && cut.Kind == mcp.Lost:
		return fmt.Sprintf("The server broke off: %s.%s", said(cut.Err), lostHint(c, cut.Err))
	}
	return ""
}

// lostHint says what may be wrong with the address of a server that takes
// connections and then does not answer as HTTP does.
func lostHint(c *config.App, err error) string {
	switch {
	case strings.Contains(err.Error(), "malformed HTTP"):
		return " What listens there does not speak HTTP; check the port of its url in apps/config.yml."
	case strings.Contains(err.Error(), "before the answer") && strings.HasPrefix(strings.ToLower(c.MCP.URL), "http:"):
		return " If it speaks TLS, its url in apps/config.yml must begin with https://."
	}
	return ""
}

// credentialsHint says where our credentials come from, so that somebody can
// mend them.
func credentialsHint(c *config.App) string {
	again := fmt.Sprintf(", then run: aurora apps restart %s", c.Key)
	var names []string
	for name := range c.MCP.Headers {
		if from := c.MCP.HeaderSources[name]; len(from) > 0 {
			name += " from " + strings.Join(from, " and ")
		}
		names = append(names, name)
	}
	slices.Sort(names)
	if names == nil {
		return `It was sent no credentials; give them as headers: {Authorization: "Bearer ${TOKEN}"} in apps/config.yml` + again
	}
	return fmt.Sprintf("It was sent %s; renew that in .env, in the environment or in apps/config.yml%s", strings.Join(names, ", "), again)
}

const proxyHint = "A proxy on the way wants credentials: HTTPS_PROXY=http://user:password@host:port, or NO_PROXY for this server."

func statusHint(c *config.App, code int) string {
	switch {
	case code == http.StatusNotFound, code == http.StatusMethodNotAllowed, code == http.StatusBadRequest:
		if c.MCP.Transport == config.SSE {
			return " Check the path of its url in apps/config.yml; a newer server wants transport: streamable-http."
		}
		return " Check the path of its url in apps/config.yml; a server of 2024 may want transport: sse."
	case code == http.StatusProxyAuthRequired:
		return " " + proxyHint
	case code/100 == 3:
		return " That is a redirect without a place; ask for the right url and write it in apps/config.yml."
	case code == http.StatusTooManyRequests:
		return " It wants to be asked less often."
	}
	return ""
}

// connectHint says what to do about a connection that does not come about.
func connectHint(err error) string {
	var unknown x509.UnknownAuthorityError
	var name x509.HostnameError
	var record tls.RecordHeaderError
	var alert tls.AlertError
	var dns *net.DNSError
	var proxy *mcp.ProxyError
	var op *net.OpError
	switch {
	case errors.As(err, &proxy) && proxy.Code == http.StatusProxyAuthRequired:
		return proxyHint
	case errors.As(err, &proxy), errors.As(err, &op) && op.Op == "proxyconnect":
		return "HTTPS_PROXY or HTTP_PROXY leads there; with its name in NO_PROXY this server is asked without a proxy."
	case errors.As(err, &unknown):
		return "If its certificate is of an authority of your own, name that with mcp.tls.ca in apps/config.yml."
	case errors.As(err, &name):
		return "Its url in apps/config.yml has another name than its certificate."
	case errors.As(err, &record):
		return "Its url in apps/config.yml says https, but it does not speak TLS."
	case errors.As(err, &alert), strings.Contains(err.Error(), "tls: certificate required"):
		return "If it wants a certificate of us, name that with mcp.tls.cert and mcp.tls.key in apps/config.yml."
	case errors.As(err, &dns):
		return "Check the name in its url in apps/config.yml."
	}
	return "Check that it runs, and its url in apps/config.yml."
}

// retryHint says when the server wants to be asked again.
func retryHint(after time.Duration) string {
	if after <= 0 {
		return "It may be tried again later."
	}
	return fmt.Sprintf("It may be tried again in %v.", roughly(after))
}

// busy reports whether a server only wants to be asked less often.
func busy(err error) bool {
	var status *mcp.StatusError
	return errors.As(err, &status) && status.Code == http.StatusTooManyRequests
}

// refusedCall explains why HTTP refused a request.
func (a *app) refusedCall(cut *mcp.CallError) call.Result {
	var status *mcp.StatusError
	errors.As(cut.Err, &status)
	e := &call.Error{Code: call.AppUnavailable, Message: fmt.Sprintf("The app %q did not take the request. %s", a.key, remoteReason(a.config(), cut, a.redacted))}
	switch {
	case cut.Delivered:
		e.Code = call.OutcomeUnknown
		e.Message = fmt.Sprintf("The app %q failed: %s. Whether the call did its work is not known, so it was not repeated.", a.key, a.redacted(cut.Err))
		return call.Result{Outcome: call.Unknown, Err: e}
	case status == nil, status.Credentials():
	case status.Code == http.StatusTooManyRequests:
		e.Code, e.Retryable = call.AppBusy, true
		e.Message = fmt.Sprintf("The app %q did not take the request: %s. %s", a.key, a.redacted(status), retryHint(status.RetryAfter))
	case status.Code == http.StatusServiceUnavailable:
		e.Retryable = true
		e.Message = fmt.Sprintf("The app %q did not take the request: %s. %s", a.key, a.redacted(status), retryHint(status.RetryAfter))
	default:
		// The app answered before, so its address is right.
		e.Code = call.ProtocolFault
		e.Message = fmt.Sprintf("The app %q did not take the request. The server answered %s.", a.key, a.redacted(status))
		return call.Result{Outcome: call.ProtocolError, Err: e}
	}
	return call.Result{Outcome: call.Unavailable, Err: e}
}

package weather

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Where Open-Meteo answers.
const (
	geocodingURL = "https://geocoding-api.open-meteo.com"
	forecastURL  = "https://api.open-meteo.com"
)

const (
	maxBody    = 2 << 20                // bytes of one answer; 100 places are some 60 KiB
	retryAfter = 250 * time.Millisecond // before the one retry of a connection that failed
)

// A Doer sends an HTTP request, as [http.Client] does.
type Doer interface {
	Do(*http.Request) (*http.Response, error)
}

// newHTTPClient returns the client that is used unless another one is given.
// It honours HTTPS_PROXY and its like, and does not follow redirects: the
// provider sends none, but captive portals do.
func newHTTPClient() *http.Client {
	return &http.Client{
		Transport: &http.Transport{
			Proxy:               http.ProxyFromEnvironment,
			DialContext:         (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
			ForceAttemptHTTP2:   true,
			MaxIdleConns:        8,
			MaxIdleConnsPerHost: 4,
			IdleConnTimeout:     30 * time.Second,
			TLSHandshakeTimeout: 5 * time.Second,
		},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// An openMeteo is a client of the provider's two services.
type openMeteo struct {
	http      Doer
	geocoding string // base URLs, without a slash at the end
	forecast  string
}

// get asks for a JSON document and decodes it. Its error is a *providerFault,
// or the context's.
func (c *openMeteo) get(ctx context.Context, address string, query url.Values, into any) error {
	body, err := c.fetch(ctx, address+"?"+query.Encode())
	if err != nil {
		return err
	}
	if err := json.Unmarshal(body, into); err != nil {
		return &providerFault{ProviderUnavailable, true, fmt.Errorf("the answer cannot be read: %w", err)}
	}
	return nil
}

// fetch returns the body of a good answer. A connection that fails is tried
// once more.
func (c *openMeteo) fetch(ctx context.Context, address string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, &providerFault{ProviderUnavailable, false, err}
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "aurora-app-weather/"+Version)
	res, err := c.http.Do(req)
	if err != nil && ctx.Err() == nil && !isTimeout(err) {
		select {
		case <-time.After(retryAfter):
			res, err = c.http.Do(req)
		case <-ctx.Done():
		}
	}
	if err != nil {
		return nil, connectionFault(ctx, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxBody+1))
	if err != nil {
		return nil, connectionFault(ctx, fmt.Errorf("reading the answer: %w", err))
	}
	if len(body) > maxBody {
		return nil, &providerFault{ProviderUnavailable, false, fmt.Errorf("the answer is longer than %d bytes", maxBody)}
	}
	if err := statusFault(res, body); err != nil {
		return nil, err
	}
	return body, nil
}

// statusFault judges the status and the kind of an answer.
func statusFault(res *http.Response, body []byte) error {
	fault := func(code Code, retryable bool, format string, args ...any) error {
		return &providerFault{code, retryable, fmt.Errorf(format, args...)}
	}
	media, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type"))
	html := media == "text/html" || bytes.HasPrefix(bytes.TrimSpace(body), []byte("<"))
	switch {
	case res.StatusCode == http.StatusTooManyRequests:
		return fault(RateLimited, true, "HTTP 429: %s", reasonIn(body))
	case res.StatusCode >= 500:
		return fault(ProviderUnavailable, true, "HTTP %d", res.StatusCode)
	case res.StatusCode >= 300 && res.StatusCode < 400, html:
		return fault(ProviderUnavailable, true,
			"HTTP %d with a web page or a redirect instead of data: is there a proxy or a login page on the way?", res.StatusCode)
	case res.StatusCode != http.StatusOK:
		return fault(ProviderUnavailable, false, "HTTP %d: %s", res.StatusCode, reasonIn(body))
	default:
		return nil
	}
}

// reasonIn returns what the provider says of an error: {"error": true, "reason": …}.
func reasonIn(body []byte) string {
	var said struct {
		Reason string `json:"reason"`
	}
	if json.Unmarshal(body, &said) != nil || said.Reason == "" {
		return "no reason given"
	}
	return strings.ToValidUTF8(said.Reason[:min(len(said.Reason), 200)], "")
}

// connectionFault names what is wrong with a connection, without the address,
// in which the user of a proxy may have put a password.
func connectionFault(ctx context.Context, err error) error {
	var inURL *url.Error
	if errors.As(err, &inURL) {
		err = inURL.Err
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case ctx.Err() != nil, isTimeout(err):
		return &providerFault{ProviderTimeout, true, err}
	default:
		return &providerFault{ProviderUnavailable, true, err}
	}
}

func isTimeout(err error) bool {
	var netErr net.Error
	return errors.Is(err, context.DeadlineExceeded) || errors.As(err, &netErr) && netErr.Timeout()
}

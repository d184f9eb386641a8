package host

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"sync/atomic"

	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/platform/mcp"
	"github.com/aurorabot/aurora/internal/redact"
	"github.com/aurorabot/aurora/internal/short"
)

// A RemoteDialer speaks with remote apps over Streamable HTTP and HTTP+SSE. It
// does not start local ones and refuses them. Each link has connections of its
// own, so that no app shares anything with another.
type RemoteDialer struct {
	// Logger gets what goes wrong with streams at DEBUG, and events that are no
	// messages, the first of each start at WARN. Default: none.
	Logger *slog.Logger
	// Redact masks secrets in such events. Nil masks what looks like one.
	Redact *redact.Redactor
	// UserAgent is how we name ourselves. Default: aurora.
	UserAgent string
	// Proxy picks the proxy of a request. Default: by HTTP_PROXY, HTTPS_PROXY and
	// NO_PROXY of the process.
	Proxy func(*http.Request) (*url.URL, error)
	// Connect opens connections. Default: the network.
	Connect func(ctx context.Context, network, address string) (net.Conn, error)
}

// Dial makes ready to speak with the server. Nothing is sent before the
// handshake.
func (d *RemoteDialer) Dial(ctx context.Context, app *config.App) (*Link, error) {
	log := d.Logger
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	log = log.With("app", app.Key)
	trust, err := trustOf(app.MCP.TLS)
	if err != nil {
		return nil, err // the files may be mended while it waits
	}
	var noise atomic.Int64
	o := mcp.HTTPOptions{
		URL:       app.MCP.URL,
		Headers:   app.MCP.Headers,
		UserAgent: d.UserAgent,
		TLS:       trust,
		Proxy:     d.Proxy,
		Dial:      d.Connect,
		Logger:    log,
		OnNoise: func(text []byte) {
			level := slog.LevelWarn
			if noise.Add(1) > noiseLogged {
				level = slog.LevelDebug
			}
			if log.Enabled(ctx, level) {
				log.Log(ctx, level, "App sent an event that is no message.", "event", short.Bytes(d.Redact.String(string(text)), noiseShown))
			}
		},
	}
	var t mcp.Transport
	switch app.MCP.Transport {
	case config.StreamableHTTP:
		t, err = mcp.NewStreamableHTTP(o)
	case config.SSE:
		t, err = mcp.NewLegacySSE(o)
	default:
		err = fmt.Errorf("the transport %q is not one over HTTP", app.MCP.Transport)
	}
	if err != nil {
		return nil, &Refusal{Reason: sentence(err.Error()), Err: err}
	}
	ready := make(chan struct{}) // there is nothing to spawn
	close(ready)
	link := &Link{Transport: t, FirstByte: ready}
	if r, ok := t.(interface{ Renewed() <-chan struct{} }); ok {
		link.Renewed = r.Renewed()
	}
	if d, ok := t.(interface{ Doubted() <-chan struct{} }); ok {
		link.Doubted = d.Doubted()
	}
	return link, nil
}

// trustOf reads the certificates of an app, each time it is dialed, because they
// are renewed. Nil: none is named.
func trustOf(files config.TLS) (*tls.Config, error) {
	if files == (config.TLS{}) {
		return nil, nil
	}
	c := &tls.Config{}
	if files.CA != "" {
		text, err := os.ReadFile(files.CA)
		if err != nil {
			return nil, fmt.Errorf("tls.ca: %w", err)
		}
		if c.RootCAs, err = x509.SystemCertPool(); err != nil {
			c.RootCAs = x509.NewCertPool()
		}
		if !c.RootCAs.AppendCertsFromPEM(text) {
			return nil, fmt.Errorf("tls.ca: %s holds no certificate", files.CA)
		}
	}
	if files.Cert != "" {
		pair, err := tls.LoadX509KeyPair(files.Cert, files.Key)
		if err != nil {
			return nil, fmt.Errorf("tls.cert: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}

// Dialers is a Dialer that gives local apps to one and remote apps to another.
type Dialers struct{ Local, Remote Dialer }

// Dial implements [Dialer].
func (d Dialers) Dial(ctx context.Context, app *config.App) (*Link, error) {
	if app.MCP.Transport == config.Stdio {
		return d.Local.Dial(ctx, app)
	}
	return d.Remote.Dial(ctx, app)
}

var _ Dialer = (*RemoteDialer)(nil)
var _ Dialer = Dialers{}

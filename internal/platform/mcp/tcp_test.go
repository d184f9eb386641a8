package mcp

import (
	"compress/gzip"
	"compress/zlib"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/aurorabot/aurora/internal/testkit"
)

// The tests of this file need a network, that of the machine itself.

// session connects over a transport and closes with the test.
func dialSession(t *testing.T, o HTTPOptions) (*Session, error) {
	t.Helper()
	tr, err := NewStreamableHTTP(o)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	s, err := Connect(ctx, tr, Options{})
	if err == nil {
		t.Cleanup(func() {
			s.Close(nil)
			s.Wait()
		})
	}
	return s, err
}

func echo(t *testing.T, s *Session) {
	t.Helper()
	r, err := s.CallTool(t.Context(), "echo", []byte(`{"a":1}`), nil)
	reply{r, err}.want(t, echoed)
}

// N01: a server that is restarted closes the connections that we keep. A call
// right after that takes another one.
func TestN01CallsRightAfterARestart(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("nobody can tell there whether a connection was closed")
	}
	server := testkit.ListenHTTP(t, testkit.Each(t, testkit.MustParse(t, scriptEcho)), testkit.MustParseHTTP(t, "strict"))
	s, err := dialSession(t, HTTPOptions{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	for range 50 {
		echo(t, s)
		server.Down()
		server.Up()
		echo(t, s)
	}
	equal(t, "calls", server.Count("tools/call"), 150) // one in three was refused
}

// A certificate for 127.0.0.1 and one of a client, of one authority.
func certificates(t *testing.T) (authority *x509.CertPool, server, client tls.Certificate) {
	t.Helper()
	root := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign}
	rootKey, rootDER := sign(t, root, root, nil)
	authority = x509.NewCertPool()
	parsed, err := x509.ParseCertificate(rootDER)
	if err != nil {
		t.Fatal(err)
	}
	authority.AddCert(parsed)
	leaf := func(n int64, usage x509.ExtKeyUsage) tls.Certificate {
		c := &x509.Certificate{
			SerialNumber: big.NewInt(n), NotAfter: time.Now().Add(time.Hour), KeyUsage: x509.KeyUsageDigitalSignature,
			ExtKeyUsage: []x509.ExtKeyUsage{usage}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		}
		key, der := sign(t, c, root, rootKey)
		return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
	}
	return authority, leaf(2, x509.ExtKeyUsageServerAuth), leaf(3, x509.ExtKeyUsageClientAuth)
}

func sign(t *testing.T, c, parent *x509.Certificate, parentKey *ecdsa.PrivateKey) (*ecdsa.PrivateKey, []byte) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	if parentKey == nil {
		parentKey = key
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, key.Public(), parentKey)
	if err != nil {
		t.Fatal(err)
	}
	return key, der
}

// Over TLS and HTTP/2 everything is as it is without; an authority of one's own
// and a certificate of ours count.
func TestCertificates(t *testing.T) {
	authority, cert, ours := certificates(t)
	how := testkit.MustParseHTTP(t, "answers sse\nstrict")
	handler := testkit.NewHTTP(t, testkit.Each(t, testkit.MustParse(t, scriptEcho)), how)
	var versions atomic.Int64
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		versions.Store(int64(r.ProtoMajor))
		handler.ServeHTTP(w, r)
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{cert}, ClientCAs: authority, ClientAuth: tls.RequireAndVerifyClientCert}
	server.EnableHTTP2 = true
	server.Config.ErrorLog = log.New(io.Discard, "", 0)
	server.StartTLS()
	t.Cleanup(server.Close)

	for _, tc := range []struct {
		name string
		tls  *tls.Config
		says string
	}{
		{"right", &tls.Config{RootCAs: authority, Certificates: []tls.Certificate{ours}}, ""},
		{"an authority that is not known", nil, "certificate signed by unknown authority"},
		// In TLS 1.3 the server says so only after our end of the handshake, when
		// the request is on its way: what is seen of it first varies.
		{"no certificate of ours", &tls.Config{RootCAs: authority}, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, err := dialSession(t, HTTPOptions{URL: server.URL + "/mcp", TLS: tc.tls})
			if tc.tls != nil && tc.tls.Certificates != nil {
				if err != nil {
					t.Fatal(err)
				}
				for range 3 {
					echo(t, s)
				}
				equal(t, "HTTP", versions.Load(), 2)
				return
			}
			if err == nil || !strings.Contains(err.Error(), tc.says) {
				t.Errorf("got %v, want %q", err, tc.says)
			}
			var cut *CallError
			if errors.As(err, &cut) && tc.tls == nil && cut.Delivered {
				t.Error("it was delivered")
			}
		})
	}
}

// Answers may be compressed; the limit is that of what comes out.
func TestCompressedAnswers(t *testing.T) {
	script := "tool echo\ntool big\non tools/call big\n  reply text ${fill:args.n}"
	handler := testkit.NewHTTP(t, testkit.Each(t, testkit.MustParse(t, script)), testkit.MustParseHTTP(t, "no stream"))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			handler.ServeHTTP(w, r)
			return
		}
		z := gzip.NewWriter(w)
		w.Header().Set("Content-Encoding", "gzip")
		handler.ServeHTTP(zipped{w, z}, r)
		z.Close()
	}))
	t.Cleanup(server.Close)
	s, err := dialSession(t, HTTPOptions{URL: server.URL, MaxMessage: 1 << 20})
	if err != nil {
		t.Fatal(err)
	}
	echo(t, s)
	r, err := s.CallTool(t.Context(), "big", []byte(`{"n":500000}`), nil)
	if err != nil || len(r.Raw) < 500_000 {
		t.Errorf("got %d bytes, %v", len(r.Raw), err)
	}
	_, err = s.CallTool(t.Context(), "big", []byte(`{"n":50000000}`), nil)
	wantKind(t, err, TooLarge, true)
	echo(t, s)
}

type zipped struct {
	http.ResponseWriter
	z *gzip.Writer
}

func (w zipped) Write(b []byte) (int, error) { return w.z.Write(b) }

// The variables HTTP_PROXY and NO_PROXY count, as for any program. Their reader
// looks at them once in a process, so it takes one of its own.
func TestProxyVariables(t *testing.T) {
	if target := os.Getenv("AURORA_MCP_TEST_PROXIED"); target != "" {
		s, err := dialSession(t, HTTPOptions{URL: target})
		if err != nil {
			t.Fatal(err)
		}
		echo(t, s)
		return
	}
	handler := testkit.NewHTTP(t, testkit.Each(t, testkit.MustParse(t, scriptEcho)), testkit.MustParseHTTP(t, "strict"))
	var asked atomic.Pointer[string]
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		text := r.Method + " " + r.RequestURI
		asked.Store(&text)
		if r.URL.Host == "mcp.example.test" {
			handler.ServeHTTP(w, r)
			return
		}
		w.WriteHeader(http.StatusBadGateway)
	}))
	t.Cleanup(proxy.Close)
	direct := testkit.ListenHTTP(t, testkit.Each(t, testkit.MustParse(t, scriptEcho)), testkit.MustParseHTTP(t, "strict"))
	for target, want := range map[string]string{
		"http://mcp.example.test/mcp":                      "http://mcp.example.test/mcp",
		"http://user:secret@mcp.example.test/mcp?tenant=1": "http://mcp.example.test/mcp?tenant=1",
		direct.URL: "", // a loopback address, never through a proxy
	} {
		asked.Store(nil)
		cmd := exec.Command(os.Args[0], "-test.run=^TestProxyVariables$")
		cmd.Env = append(os.Environ(), "AURORA_MCP_TEST_PROXIED="+target, "HTTP_PROXY="+proxy.URL, "http_proxy="+proxy.URL, "NO_PROXY=", "no_proxy=")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", target, err, out)
		}
		got := ""
		if p := asked.Load(); p != nil {
			_, got, _ = strings.Cut(*p, " ")
		}
		equal(t, target, got, want)
	}
}

// User and password of a URL are credentials, and stay with its origin.
func TestUserAndPasswordOfAURL(t *testing.T) {
	server := testkit.ListenHTTP(t, testkit.Each(t, testkit.MustParse(t, scriptEcho)), testkit.MustParseHTTP(t, "no stream"))
	u, err := url.Parse(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	u.User = url.UserPassword("me", "p@ss")
	s, err := dialSession(t, HTTPOptions{URL: u.String()})
	if err != nil {
		t.Fatal(err)
	}
	echo(t, s)
	for _, r := range server.Requests() {
		equal(t, "authorization", r.Header.Get("Authorization"), "Basic bWU6cEBzcw==")
	}
}

// Some gateways find the process that holds a session by a cookie.
func TestCookiesAreKept(t *testing.T) {
	handler := testkit.NewHTTP(t, testkit.Each(t, testkit.MustParse(t, scriptEcho)), testkit.MustParseHTTP(t, "no stream"))
	var missing atomic.Int64
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		if strings.Contains(string(body), `"initialize"`) {
			http.SetCookie(w, &http.Cookie{Name: "lb", Value: "node-7", Path: "/"})
		} else if c, err := r.Cookie("lb"); err != nil || c.Value != "node-7" {
			missing.Add(1)
		}
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	s, err := dialSession(t, HTTPOptions{URL: server.URL})
	if err != nil {
		t.Fatal(err)
	}
	echo(t, s)
	equal(t, "requests without their cookie", missing.Load(), 0)
}

// N01: a server closes connections after each answer without saying so, so that
// what was sent meanwhile is lost. That is found out with what may be sent twice,
// and then no call is lost.
func TestN01AServerThatClosesWithoutSayingSo(t *testing.T) {
	for _, legacy := range []bool{false, true} {
		how := "strict"
		if legacy {
			how = "answers legacy"
		}
		handler := testkit.NewHTTP(t, testkit.Each(t, testkit.MustParse(t, scriptEcho)), testkit.MustParseHTTP(t, how))
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if r.Method != http.MethodPost {
				handler.ServeHTTP(w, r)
				return
			}
			answer := httptest.NewRecorder()
			handler.ServeHTTP(answer, r)
			c, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			res := answer.Result()
			res.ContentLength = int64(answer.Body.Len())
			_ = res.Write(c)
			time.Sleep(20 * time.Millisecond)
			_ = c.Close()
		}))
		t.Cleanup(server.Close)
		o := HTTPOptions{URL: server.URL}
		dial := NewStreamableHTTP
		if legacy {
			dial = NewLegacySSE
		}
		tr, err := dial(o)
		if err != nil {
			t.Fatal(err)
		}
		s, err := Connect(t.Context(), tr, Options{})
		if err != nil {
			t.Fatal(err)
		}
		for range 5 { // as a host does at a start
			if _, err := s.ListTools(t.Context()); err != nil {
				t.Fatal(err)
			}
		}
		for range 10 {
			echo(t, s)
		}
		equal(t, "calls", handler.Count("tools/call"), 10)
		s.Close(nil)
		s.Wait()
	}
}

// N10: answers that are compressed in another way than was asked for.
func TestN10CompressedAnswers(t *testing.T) {
	pack := func(kind string, w io.Writer) io.WriteCloser {
		if kind == "deflate" {
			return zlib.NewWriter(w)
		}
		return gzip.NewWriter(w)
	}
	for _, kind := range []string{"gzip", "GZIP", "x-gzip", "deflate"} {
		for _, answers := range []string{"json", "sse", "elsewhere"} {
			handler := testkit.NewHTTP(t, testkit.Each(t, testkit.MustParse(t, scriptEcho)), testkit.MustParseHTTP(t, "answers "+answers))
			server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Encoding", kind)
				if r.Method == http.MethodDelete {
					handler.ServeHTTP(w, r)
					return
				}
				packed := pack(kind, w)
				handler.ServeHTTP(&packedWriter{w, packed}, r)
				_ = packed.Close()
			}))
			t.Cleanup(server.Close)
			s, err := dialSession(t, HTTPOptions{URL: server.URL})
			if err != nil {
				t.Fatalf("%s, %s: %v", kind, answers, err)
			}
			echo(t, s)
		}
	}
	handler := testkit.NewHTTP(t, testkit.Each(t, testkit.MustParse(t, scriptEcho)), testkit.MustParseHTTP(t, ""))
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Encoding", "br")
		handler.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	_, err := dialSession(t, HTTPOptions{URL: server.URL})
	contains(t, fmt.Sprint(err), "the answer (HTTP 200) is compressed as br, which was not asked for")
}

// A packedWriter compresses what is written, and sends it when it is flushed.
type packedWriter struct {
	http.ResponseWriter
	to io.WriteCloser
}

func (w *packedWriter) Write(b []byte) (int, error) { return w.to.Write(b) }

// Flush sends what was written.
func (w *packedWriter) Flush() {
	_ = w.to.(interface{ Flush() error }).Flush() // a client that is gone does not mind
	_ = http.NewResponseController(w.ResponseWriter).Flush()
}

// A proxy that refuses the way to a server is named, without the password for it.
func TestAProxyThatRefuses(t *testing.T) {
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }))
	t.Cleanup(proxy.Close)
	at, err := url.Parse(strings.Replace(proxy.URL, "http://", "http://me:secret@", 1))
	if err != nil {
		t.Fatal(err)
	}
	_, err = dialSession(t, HTTPOptions{URL: "https://peer.example/mcp", Proxy: http.ProxyURL(at)})
	wantKind(t, err, WriteFailed, false)
	var refused *ProxyError
	if !errors.As(err, &refused) || refused.Code != http.StatusForbidden {
		t.Fatalf("got %v", err)
	}
	contains(t, err.Error(), "the proxy "+at.Host+" answered HTTP 403 Forbidden")
	if strings.Contains(err.Error(), "secret") {
		t.Errorf("the password is shown: %v", err)
	}
}

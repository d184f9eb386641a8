package control_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/control"
)

func TestNoDaemon(t *testing.T) {
	t.Run("an empty run folder has none", func(t *testing.T) {
		if _, err := control.Dial(t.Context(), t.TempDir()); !errors.Is(err, control.ErrNoDaemon) {
			t.Errorf("Dial = %v", err)
		}
	})

	t.Run("neither has one whose daemon died, and the next start cleans up", func(t *testing.T) {
		// Given the address and the socket file of a daemon that was killed.
		dir := t.TempDir()
		sock := filepath.Join(dir, "aurora.sock")
		ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: sock})
		if err != nil {
			t.Fatal(err)
		}
		ln.SetUnlinkOnClose(false)
		ln.Close()
		write(t, filepath.Join(dir, "aurora.addr"), "unix:"+sock+"\n")

		// When a command looks for it, then there is none.
		if _, err := control.Dial(t.Context(), dir); !errors.Is(err, control.ErrNoDaemon) {
			t.Errorf("Dial = %v", err)
		}
		// And who holds the lock removes all of it.
		if err := control.Clean(dir); err != nil {
			t.Fatal(err)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("left behind: %v", left)
		}
	})

	t.Run("a broken address is told, not passed over", func(t *testing.T) {
		dir := t.TempDir()
		write(t, filepath.Join(dir, "aurora.addr"), "what?\n")
		var e *call.Error
		if _, err := control.Dial(t.Context(), dir); !errors.As(err, &e) || e.Code != call.DaemonUnreachable {
			t.Errorf("Dial = %v", err)
		}
	})
}

func TestSocketIsPrivate(t *testing.T) {
	dir := t.TempDir()
	s, err := control.Listen(dir, newFakeHouse(), control.ListenOptions{})
	if err != nil {
		t.Fatal(err)
	}
	path := strings.TrimPrefix(s.Address(), "unix:")
	if st, err := os.Stat(path); err != nil || st.Mode().Perm() != 0o600 {
		t.Errorf("socket: %v, %v", st.Mode(), err)
	}
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(dir); len(left) > 0 {
		t.Errorf("after Close there is still %v", left)
	}
}

func TestLongHomeGetsASocketElsewhere(t *testing.T) {
	// Given a run folder whose path is too long for a socket, and one too long
	// place before a good one.
	long := filepath.Join(t.TempDir(), strings.Repeat("我的 机器人/", 12))
	if err := os.MkdirAll(long, 0o700); err != nil {
		t.Fatal(err)
	}
	short, err := os.MkdirTemp("", "x")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(short) })

	// When a house is served from there, then it can be reached,
	s, err := control.Listen(long, newFakeHouse(), control.ListenOptions{SocketDirs: []string{"", long, short}})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.HasPrefix(s.Address(), "unix:"+short) {
		t.Errorf("the socket is at %s", s.Address())
	}
	c, err := control.Dial(t.Context(), long)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	// and nothing is left after its end.
	if err := s.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if left, _ := os.ReadDir(short); len(left) > 0 {
		t.Errorf("left behind: %v", left)
	}
}

func TestLoopbackRefusesStrangers(t *testing.T) {
	// Given a house on a TCP port.
	dir := t.TempDir()
	s, err := control.Listen(dir, newFakeHouse(), control.ListenOptions{Loopback: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close(context.Background()) })
	b, err := os.ReadFile(filepath.Join(dir, "aurora.token"))
	if err != nil {
		t.Fatal(err)
	}
	token := strings.TrimSpace(string(b))
	base := s.Address()
	own := strings.TrimPrefix(base, "http://")
	_, port, _ := net.SplitHostPort(own)
	if !strings.HasPrefix(own, "127.0.0.1:") {
		t.Errorf("it listens on %s", own)
	}

	for _, c := range []struct {
		name, host, origin, token string
		want                      int
	}{
		{"our own client", own, "", token, 200},
		{"localhost by name", "localhost:" + port, "", token, 200},
		{"our own origin", own, base, token, 200},
		{"no token", own, "", "", 401},
		{"a wrong token", own, "", token + "x", 401},
		{"a rebound name", "evil.example", "", token, 403},
		{"a rebound name with the port", "evil.example:" + port, "", token, 403},
		{"a name that begins like ours", "localhost.evil.example:" + port, "", token, 403},
		{"a foreign origin", own, "http://evil.example", token, 403},
		{"an origin that begins like ours", own, "http://localhost.evil.example:" + port, token, 403},
		{"another port's origin", own, "http://127.0.0.1:1", token, 403},
		{"the null origin", own, "null", token, 403},
		{"our origin by https", own, "https://" + own, token, 403},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, path := range []string{"/v1/version", "/v1/apps", "/nothing"} {
				req, _ := http.NewRequestWithContext(t.Context(), "GET", base+path, nil)
				req.Host = c.host
				if c.origin != "" {
					req.Header.Set("Origin", c.origin)
				}
				req.Header.Set("Authorization", "Bearer "+c.token)
				tr := &http.Transport{DisableKeepAlives: true}
				resp, err := tr.RoundTrip(req)
				if err != nil {
					t.Fatal(err)
				}
				resp.Body.Close()
				want := c.want
				if want == 200 && path == "/nothing" {
					want = 501
				}
				if resp.StatusCode != want {
					t.Errorf("%s: status %d, want %d", path, resp.StatusCode, want)
				}
			}
		})
	}
}

func TestVersionsThatDiffer(t *testing.T) {
	h := newFakeHouse()
	post := func(t *testing.T, path, body string) string {
		t.Helper()
		req, err := http.NewRequest("POST", path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		w := httptest.NewRecorder()
		control.Handler(h).ServeHTTP(w, req)
		return w.Body.String()
	}
	t.Run("a newer client's path", func(t *testing.T) {
		if got := post(t, "/v2/dream", `{}`); !strings.Contains(got, "VERSION_INCOMPATIBLE") || !strings.Contains(got, "/v2/dream") {
			t.Errorf("answer %s", got)
		}
	})
	t.Run("a newer client's field", func(t *testing.T) {
		got := post(t, "/v1/call", `{"name":"demo.exact","dry_run":true}`)
		if !strings.Contains(got, "VERSION_INCOMPATIBLE") || !strings.Contains(got, `dry_run`) {
			t.Errorf("answer %s", got)
		}
	})
	t.Run("no JSON, two documents", func(t *testing.T) {
		for _, body := range []string{``, `{`, `[]`, `{"name":"demo.exact"} {}`} {
			if got := post(t, "/v1/call", body); !strings.Contains(got, "USAGE_INVALID") {
				t.Errorf("%q is answered %s", body, got)
			}
		}
	})
	t.Run("a stranger at the address", func(t *testing.T) {
		dir := t.TempDir()
		ln, err := net.Listen("unix", filepath.Join(dir, "aurora.sock"))
		if err != nil {
			t.Fatal(err)
		}
		srv := &http.Server{Handler: http.NotFoundHandler()}
		done := make(chan struct{})
		go func() { defer close(done); srv.Serve(ln) }()
		t.Cleanup(func() { srv.Close(); <-done })
		write(t, filepath.Join(dir, "aurora.addr"), "unix:"+filepath.Join(dir, "aurora.sock"))
		var e *call.Error
		if _, err := control.Dial(t.Context(), dir); !errors.As(err, &e) || e.Code != call.VersionIncompatible {
			t.Errorf("Dial = %v", err)
		}
	})
}

func TestLostAnswer(t *testing.T) {
	// Given a daemon that dies between a call and its answer.
	dir := t.TempDir()
	ln, err := net.Listen("unix", filepath.Join(dir, "aurora.sock"))
	if err != nil {
		t.Fatal(err)
	}
	srv := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/version" {
			io.WriteString(w, `{"api":1,"pid":1}`)
			return
		}
		io.Copy(io.Discard, r.Body)
		panic(http.ErrAbortHandler)
	})}
	done := make(chan struct{})
	go func() { defer close(done); srv.Serve(ln) }()
	t.Cleanup(func() { srv.Close(); <-done })
	write(t, filepath.Join(dir, "aurora.addr"), "unix:"+filepath.Join(dir, "aurora.sock"))
	c, err := control.Dial(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)

	// Then the outcome is unknown, for it may have been done.
	if r := c.Call(t.Context(), control.CallRequest{Name: "demo.pay"}, nil); r.Outcome != call.Unknown || r.Error.Code != call.OutcomeUnknown || r.Tool != "demo.pay" {
		t.Errorf("reply %+v", r)
	}
	if a := c.Ask(t.Context(), control.AskRequest{Session: "main", Text: "hi"}, nil); a.Error == nil || a.Error.Code != call.DaemonUnreachable || a.Error.Retryable {
		t.Errorf("answer %+v", a)
	}
	// But once nobody listens, it surely was not.
	srv.Close()
	if a := c.Ask(t.Context(), control.AskRequest{Session: "main", Text: "hi"}, nil); a.Error == nil || a.Error.Code != call.DaemonUnreachable || !a.Error.Retryable {
		t.Errorf("answer %+v", a)
	}
	if r := c.Call(t.Context(), control.CallRequest{Name: "demo.pay"}, nil); r.Outcome != call.Unavailable || r.Error.Code != call.DaemonUnreachable {
		t.Errorf("reply %+v", r)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

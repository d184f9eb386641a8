package peers

import (
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aurorabot/aurora/internal/platform/host"
	"github.com/aurorabot/aurora/internal/platform/proc"
)

// A remote is a way to reach a server that somebody else keeps running.
type remote struct {
	transport string // as apps/config.yml says it
	path      string
}

// remotes are the ways to the remote peers, by key.
func remotes() map[string]*remote {
	return map[string]*remote{
		"everything-http": {"streamable-http", "/mcp"},
		"everything-sse":  {"sse", "/sse"},
		"fastmcp-http":    {"streamable-http", "/mcp"},
	}
}

// remotePeers are servers at an address. They do all that they do over stdio.
func remotePeers() []peer {
	local := map[string]peer{}
	for _, p := range peers() {
		local[p.key] = p
	}
	at := func(p peer, key, how string) peer {
		command := p.command
		p.key = key
		p.command = func(t *testing.T) []string { return append(command(t), how) }
		return p
	}
	return []peer{
		at(local["everything"], "everything-http", "streamableHttp"),
		at(local["everything"], "everything-sse", "sse"),
		at(local["fastmcp"], "fastmcp-http", "http"),
	}
}

// tapped, as first word of a command, has what a remote server says written to
// the file tap of the home.
const tapped = "tapped"

// A farServer is a server that runs by itself: the host knows its address only.
type farServer struct {
	s       *stage
	argv    []string
	port    string
	tap     *httptest.Server // nil: none
	process *proc.Process
}

// serve starts a server at an address of its own and returns how to reach it.
func (s *stage) serve(command []string) string {
	s.Helper()
	tap := command[0] == tapped
	if tap {
		command = command[1:]
	}
	f := &farServer{s: s, argv: command, port: freePort(s)}
	s.far = f
	s.Cleanup(f.end)
	f.start()
	address := "http://127.0.0.1:" + f.port
	if tap {
		address = f.record(address)
	}
	return "transport: " + s.facts.remote.transport + ", url: " + quoted(address+s.facts.remote.path)
}

func freePort(s *stage) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	s.must(err)
	defer l.Close()
	_, port, err := net.SplitHostPort(l.Addr().String())
	s.must(err)
	return port
}

// start starts the process and returns when it accepts connections.
func (f *farServer) start() {
	s := f.s
	s.Helper()
	env := []string{"PORT=" + f.port, "PYTHONUTF8=1", "AURORA_APP_DATA_DIR=" + s.home}
	for _, name := range []string{"PATH", "HOME"} {
		env = append(env, name+"="+os.Getenv(name))
	}
	ctx, cancel := s.limit()
	defer cancel()
	p, err := launcher.Start(ctx, proc.Spec{Name: s.key, Argv: f.argv, Dir: s.home, Env: env})
	s.must(err)
	f.process = p
	go io.Copy(io.Discard, p.Stdout()) // what it prints there is for people
	for {
		c, err := net.Dial("tcp", "127.0.0.1:"+f.port)
		if err == nil {
			c.Close()
			return
		}
		if exit, ended := p.Exit(); ended || ctx.Err() != nil {
			s.Fatalf("the server does not listen: %v %v\n%s", exit, err, strings.Join(p.StderrTail(20), "\n"))
		}
		time.Sleep(20 * time.Millisecond) // there is no bell
	}
}

// end ends the process, and the tap.
func (f *farServer) end() {
	if f == nil || f.process == nil {
		return
	}
	ctx, cancel := f.s.limit()
	defer cancel()
	f.process.Stop(ctx)
	f.process = nil
	if f.tap != nil {
		f.tap.Close()
	}
}

// record puts a proxy before the server that writes down what it says, and
// returns its address.
func (f *farServer) record(address string) string {
	u, err := url.Parse(address)
	f.s.must(err)
	file, err := os.Create(filepath.Join(f.s.home, "tap"))
	f.s.must(err)
	f.s.Cleanup(func() { file.Close() })
	var mu sync.Mutex // keeps lines of different answers apart
	proxy := &httputil.ReverseProxy{
		FlushInterval: -1,
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(u)
			r.Out.Header.Set("Accept-Encoding", "identity")
		},
		ModifyResponse: func(res *http.Response) error {
			res.Body = &tapBody{ReadCloser: res.Body, mu: &mu, w: file}
			return nil
		},
	}
	f.tap = httptest.NewServer(proxy)
	return f.tap.URL
}

// A tapBody writes whole what it read when it is closed.
type tapBody struct {
	io.ReadCloser
	mu   *sync.Mutex
	w    io.Writer
	text []byte
}

func (b *tapBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.text = append(b.text, p[:n]...)
	return n, err
}

func (b *tapBody) Close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.w.Write(append(b.text, '\n'))
	return b.ReadCloser.Close()
}

// restartFar kills the server and has its keeper start it again. The next call
// must find it, with the app as good as before.
func (s *stage) restartFar(name, args, want string) {
	s.Helper()
	since := s.now()
	s.far.process.Kill()
	s.far.end()
	s.far.start()
	s.ok(name, args, want)
	if status := s.status(); status.State != host.Ready {
		s.Errorf("%s: %s", status.State, status.Reason)
	}
	if s.facts.remote.transport == "sse" {
		s.await(since, host.SignalCrashed, "", "") // its stream was the session
	}
	s.facts.saw("restart", "yes")
}

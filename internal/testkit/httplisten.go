package testkit

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net"
	"net/http"
	"runtime"
	"sync"
	"testing"
)

// A network is where an [HTTPServer] is reached.
type network struct {
	mu     sync.Mutex // guards the following
	server *http.Server
	memory *memoryListener // nil on the real network, and while the server is down
	served chan struct{}
	listen func() (net.Listener, error)
}

// StartHTTP serves sessions in memory, so that a test in a testing/synctest bubble
// can use them: connect with [HTTPServer.Dial]. The server is stopped when the
// test ends.
func StartHTTP(t testing.TB, connect Connector, how *HTTP) *HTTPServer {
	t.Helper()
	s := NewHTTP(t, connect, how)
	s.URL = "http://peer.example/mcp"
	s.net.listen = func() (net.Listener, error) {
		l := &memoryListener{conns: make(chan net.Conn), done: make(chan struct{})}
		s.net.memory = l
		return l, nil
	}
	s.Up()
	t.Cleanup(s.Down)
	return s
}

// ListenHTTP serves sessions on a loopback port. On Linux, where there are
// millions of loopback addresses, it is on one of its own: nobody else takes the
// port while the server is down.
func ListenHTTP(t testing.TB, connect Connector, how *HTTP) *HTTPServer {
	t.Helper()
	s := NewHTTP(t, connect, how)
	address := "127.0.0.1:0"
	if runtime.GOOS == "linux" {
		address = fmt.Sprintf("127.%d.%d.%d:0", 1+rand.IntN(254), rand.IntN(256), 1+rand.IntN(254))
	}
	s.net.listen = func() (net.Listener, error) {
		l, err := net.Listen("tcp", address)
		if err == nil {
			address = l.Addr().String() // the same one after Down and Up
		}
		return l, err
	}
	s.Up()
	s.URL = "http://" + address + "/mcp"
	t.Cleanup(s.Down)
	return s
}

// Up serves it, again after [HTTPServer.Down].
func (s *HTTPServer) Up() {
	n := &s.net
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.server != nil {
		return
	}
	l, err := n.listen()
	if err != nil {
		s.t.Errorf("testkit: %v", err)
		return
	}
	server, served := &http.Server{Handler: s}, make(chan struct{})
	n.server, n.served = server, served
	go func() {
		defer close(served)
		_ = server.Serve(l) // it always ends with an error, which says that it was closed
	}()
}

// Down makes it refuse connections, and breaks those there are. It forgets its
// sessions.
func (s *HTTPServer) Down() {
	n := &s.net
	n.mu.Lock()
	server, served := n.server, n.served
	n.server, n.memory = nil, nil
	n.mu.Unlock()
	if server == nil {
		return
	}
	_ = server.Close() // its error is that of the listener, which does not matter any more
	<-served
	s.Forget()
}

// Dial connects to a server in memory, whatever the address.
func (s *HTTPServer) Dial(ctx context.Context, _, _ string) (net.Conn, error) {
	s.net.mu.Lock()
	l := s.net.memory
	s.net.mu.Unlock()
	if l == nil {
		return nil, errNobodyListens
	}
	ours, theirs := net.Pipe()
	err := errNobodyListens
	select {
	case l.conns <- theirs:
		return ours, nil
	case <-l.done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	_ = ours.Close() // a pipe in memory
	_ = theirs.Close()
	return nil, err
}

var errNobodyListens = errors.New("connect: connection refused")

// A memoryListener accepts connections in memory.
type memoryListener struct {
	conns chan net.Conn
	once  sync.Once
	done  chan struct{}
}

func (l *memoryListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *memoryListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (l *memoryListener) Addr() net.Addr { return &net.UnixAddr{Name: "memory"} }

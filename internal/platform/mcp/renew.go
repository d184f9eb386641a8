package mcp

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"time"
)

// renewTime bounds the handshake of a session that replaces a forgotten one.
const renewTime = 30 * time.Second

// A renewal is one attempt to begin a session that replaces a forgotten one.
// All requests that found out share it.
type renewal struct {
	done chan struct{}
	// next and err are set before done is closed.
	next *generation
	err  error
}

// renew returns the generation after old, which it begins if nobody has.
func (t *streamable) renew(ctx context.Context, old *generation) (*generation, error) {
	t.sessions.Lock()
	if current := t.sessions.current; current.number != old.number {
		t.sessions.Unlock()
		return current, nil
	}
	r := t.sessions.flight
	if r == nil {
		r = &renewal{done: make(chan struct{})}
		t.sessions.flight = r
		if !t.spawn(func() { t.restart(r, old) }) {
			t.sessions.Unlock()
			return nil, os.ErrClosed
		}
	}
	t.sessions.Unlock()
	select {
	case <-r.done:
		return r.next, r.err
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// restart carries out a renewal.
func (t *streamable) restart(r *renewal, old *generation) {
	defer close(r.done)
	t.log.Debug("The server has forgotten the session; another one is begun.")
	ctx, stop := context.WithTimeoutCause(t.life, renewTime, errors.New("the server did not begin another session in time"))
	defer stop()
	next, err := t.handshake(ctx, old)
	if err == nil {
		// It is current before the flight is over, or somebody who finds out in
		// between would begin one more.
		next = t.opened(next)
	}
	t.sessions.Lock()
	t.sessions.flight = nil
	t.sessions.Unlock()
	if err != nil {
		err = fmt.Errorf("the server had forgotten the session, and beginning another one failed: %w", err)
		r.err = err
		if final(err) {
			t.close(err, t.leave)
		}
		return
	}
	r.next = next
	t.tellRenewed()
}

// final tells whether no session can follow: the server refuses one, or it is
// another server now. A server that is not there, or overloaded, may come back.
func final(err error) bool {
	var status *StatusError
	if errors.As(err, &status) {
		return status.Code/100 != 5 && status.Code != 429
	}
	var redirect *RedirectError
	var refused *RPCError
	return errors.As(err, &redirect) || errors.As(err, &refused) || errors.Is(err, errChanged)
}

// errChanged ends a transport whose server is another one than in the
// handshake, so that whoever looked at its answer looks again.
var errChanged = errors.New("the server is not the same any more")

// handshake begins a session as the first one began.
func (t *streamable) handshake(ctx context.Context, old *generation) (*generation, error) {
	t.origin.settle(nil) // it may have moved
	id, _, _ := integer(idIn(old.hello))
	next := generation{number: old.number + 1, version: old.version, hello: old.hello}
	var refused *RPCError
	x := &exchange{t: t, method: methodInitialize, id: id, msg: old.hello}
	x.welcome = func(result []byte, session string) { next.id, next.welcome = session, result }
	x.take = func(m *Message) {
		n, _, ok := integer(m.ID)
		switch {
		case m.Method != nil || !ok || n != id:
			t.hand(m)
		case m.Error != nil:
			refused = parseRPCError(m.Error)
		}
	}
	blank := t.newGeneration(generation{})
	defer blank.cut()
	err := x.run(ctx, blank)
	switch {
	case err != nil:
		return nil, err
	case refused != nil:
		return nil, refused
	case !bytes.Equal(next.welcome, old.welcome):
		return nil, errChanged
	}
	g := t.newGeneration(next)
	if err := t.tell(ctx, t.origin.where(), g.ask, []byte(`{"jsonrpc":"2.0","method":"`+methodInitialized+`"}`+"\n")); err != nil {
		g.cut()
		return nil, err
	}
	return g, nil
}

// idIn returns the id of a message that we made.
func idIn(msg []byte) []byte {
	var s splitter
	s.scanner = scanner{b: msg}
	s.message()
	return s.m.ID
}

package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/aurorabot/aurora/internal/call"
)

// A Result is the answer to a request. The bytes are the caller's own.
type Result struct {
	Raw     json.RawMessage // the result member exactly as it was sent
	IsError bool            // its member isError is true: a tool failed
}

// A pending is a request that waits for its answer. It leaves the session's
// table exactly once, and whoever takes it out ends it: the reader, the alarm
// and Close by finish, the caller by going away. Ids are never used again, so
// that a late answer finds nobody.
type pending struct {
	id     int64
	method string
	done   chan struct{} // capacity 1; one token, sent by finish
	abort  func()        // ends the exchange of an exchanger; else nil
	sent   atomic.Bool   // the server has it, or may have it soon

	// The session's mu guards these until done has been received.
	began, hard, due time.Duration // since the session began
	soft             time.Duration // how long without progress
	onProgress       func(call.Progress)
	result           Result
	kind             Kind // empty: result holds the answer
	err              error
}

// finish ends a pending that was taken out of the table.
func (p *pending) finish(kind Kind, err error) {
	p.kind, p.err = kind, err
	abort := p.abort
	p.done <- struct{}{}
	if abort != nil {
		abort()
	}
}

// Request sends a request and waits for its end. params is any JSON, or empty
// for none; it is sent with the same tokens. With o.OnProgress a progress
// token is put into it if it is an object without _meta.
//
// The error is a *RPCError when the server answered with one, else a
// *CallError. When the caller's context ends, or a limit passes, or the session
// closes, the server is sent notifications/cancelled, unless nothing was
// delivered. A context with a deadline costs a timer for each call; prefer
// o.Whole.
func (s *Session) Request(ctx context.Context, method string, params []byte, o *RequestOptions) (Result, error) {
	params, err := wellFormed(params)
	if err != nil {
		return Result{}, &CallError{Kind: BadRequest, Method: method, Err: err}
	}
	tokened := o != nil && o.OnProgress != nil && takesToken(params)
	return s.roundTrip(ctx, method, len(params), o, func(b []byte, id int64) []byte {
		switch {
		case len(params) == 0:
			return b
		case !tokened:
			return appendLine(append(b, `,"params":`...), params)
		}
		b = append(b, `,"params":{"_meta":{"progressToken":`...)
		b = append(strconv.AppendInt(b, id, 10), `}`...)
		rest := bytes.TrimLeft(params[1:], " \t\r\n")
		if rest[0] != '}' {
			b = append(b, ',')
		}
		return appendLine(b, rest)
	})
}

// CallTool calls a tool by its upstream name and waits for its end, as Request
// does. args is a JSON object; empty and null become {}.
func (s *Session) CallTool(ctx context.Context, name string, args []byte, o *RequestOptions) (Result, error) {
	const method = "tools/call"
	if !s.info.Capabilities.Tools {
		return Result{}, &CapabilityError{method, "tools"}
	}
	args, err := wellFormed(args)
	if err != nil {
		return Result{}, &CallError{Kind: BadRequest, Method: method, Err: err}
	}
	if len(args) == 0 || args[0] == 'n' {
		args = []byte("{}")
	}
	return s.roundTrip(ctx, method, len(name)+len(args), o, func(b []byte, id int64) []byte {
		b = append(b, `,"params":{"name":`...)
		b = appendQuoted(b, name)
		b = append(b, `,"arguments":`...)
		b = appendLine(b, args)
		b = append(b, `,"_meta":{"progressToken":`...)
		b = strconv.AppendInt(b, id, 10)
		return append(b, `}}`...)
	})
}

// roundTrip is the one way of a request: register, write, wait. params appends
// the params member, if any; size is about how long it gets.
func (s *Session) roundTrip(ctx context.Context, method string, size int, o *RequestOptions, params func(b []byte, id int64) []byte) (Result, error) {
	if ctx.Err() != nil {
		return Result{}, contextError(ctx, method, false)
	}
	var abort context.CancelFunc
	waiting := ctx // for the answer
	if s.web != nil {
		waiting, abort = context.WithCancel(ctx)
		defer abort()
	}
	p, err := s.register(method, o, abort)
	if err != nil {
		return Result{}, err
	}
	defer s.recycle(p)

	box := s.pool.get(size + 256)
	msg := append(*box, `{"jsonrpc":"2.0","id":`...)
	msg = strconv.AppendInt(msg, p.id, 10)
	msg = append(msg, `,"method":`...)
	msg = appendQuoted(msg, method)
	msg = params(msg, p.id)
	msg = append(msg, "}\n"...)
	sending := bounded{Context: ctx, due: s.start.Add(p.due), begun: &p.sent}
	if s.web != nil {
		p.sent.Store(true)
		err = s.web.exchange(waiting, method, p.id, msg)
	} else {
		err = s.t.Send(&sending, msg)
		p.sent.Store(err == nil)
		sending.end()
	}
	*box = msg
	s.pool.put(box)
	if err != nil {
		return s.unsent(ctx, p, err)
	}

	if s.leader != nil {
		s.leader.lead(p.done, sending.due)
	}
	select {
	case <-p.done:
	case <-ctx.Done():
		if s.withdraw(p) {
			s.cancel(p, "cancelled by the caller")
			return Result{}, contextError(ctx, method, true)
		}
		<-p.done // the end came first, and it counts
	}
	return s.outcome(p, true)
}

// send writes a notification on the caller's goroutine.
func (s *Session) send(ctx context.Context, method string, params []byte) error {
	if ctx.Err() != nil {
		return contextError(ctx, method, false)
	}
	if reason := s.Err(); reason != nil {
		return &CallError{Kind: Closed, Method: method, Err: reason}
	}
	box := s.pool.get(len(params) + 128)
	msg := append(*box, `{"jsonrpc":"2.0","method":`...)
	msg = appendQuoted(msg, method)
	if len(params) > 0 {
		msg = appendLine(append(msg, `,"params":`...), params)
	}
	msg = append(msg, "}\n"...)
	sending := bounded{Context: ctx, due: time.Now().Add(s.o.SoftTimeout)}
	err := s.t.Send(&sending, msg)
	sending.end()
	*box = msg
	s.pool.put(box)
	if err != nil {
		return sendError(ctx, method, err)
	}
	return nil
}

// unsent ends a request whose Send or exchange failed.
func (s *Session) unsent(ctx context.Context, p *pending, err error) (Result, error) {
	end := sendError(ctx, p.method, err)
	if !s.withdraw(p) {
		<-p.done
		if p.kind == Timeout && !errors.Is(err, context.Canceled) { // else it is the timeout itself
			p.err = err // it says more than that there was no answer
		}
		return s.outcome(p, end.Delivered)
	}
	switch {
	case !end.Delivered, end.Kind == Refused, end.Kind == BadAnswer: // nothing runs there
	case end.Kind == Cancelled:
		s.cancel(p, "cancelled by the caller")
	case end.Kind == Lost:
		s.cancel(p, "its answer was lost")
	default:
		s.cancel(p, "not sent in time")
	}
	return Result{}, end
}

// sendError says why a Send or an exchange failed.
func sendError(ctx context.Context, method string, err error) *CallError {
	var not *NotDeliveredError
	e := &CallError{Kind: WriteFailed, Method: method, Delivered: !errors.As(err, &not), Err: err}
	if over, ok := err.(*exchangeError); ok {
		e.Kind, e.Delivered, e.Err = over.kind, over.delivered, over.err
	}
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		e.Kind = Cancelled
	case errors.Is(err, context.DeadlineExceeded):
		e.Kind = Timeout
	}
	return e
}

// outcome turns the end of a request into what its caller gets.
func (s *Session) outcome(p *pending, delivered bool) (Result, error) {
	if p.kind == "" {
		return p.result, p.err
	}
	s.awaitProgress(p)
	if p.kind == Timeout && delivered {
		s.cancel(p, "timeout")
	}
	return Result{}, &CallError{Kind: p.kind, Method: p.method, Delivered: delivered, Err: p.err}
}

// contextError is the end of a request whose caller gave up.
func contextError(ctx context.Context, method string, delivered bool) error {
	kind := Cancelled
	if errors.Is(ctx.Err(), context.DeadlineExceeded) {
		kind = Timeout
	}
	return &CallError{Kind: kind, Method: method, Delivered: delivered, Err: context.Cause(ctx)}
}

// register enters a new request into the table.
func (s *Session) register(method string, o *RequestOptions, abort func()) (*pending, error) {
	p, _ := s.free.Get().(*pending)
	if p == nil {
		p = &pending{done: make(chan struct{}, 1)}
	}
	p.method, p.abort = method, abort
	p.soft, p.hard = s.o.SoftTimeout, s.o.HardTimeout
	if o != nil {
		p.onProgress = o.OnProgress
		if o.Soft > 0 {
			p.soft = o.Soft
		}
		if o.Hard > 0 {
			p.hard = o.Hard
		}
		if o.Whole > 0 {
			p.soft, p.hard = o.Whole, o.Whole
		}
	}
	now := time.Since(s.start)
	p.began = now
	p.hard += now
	p.due = min(now+p.soft, p.hard)

	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reason != nil {
		return nil, &CallError{Kind: Closed, Method: method, Err: s.reason}
	}
	s.lastID++
	p.id = s.lastID
	s.pending[p.id] = p
	s.alarm(p.due, now)
	return p, nil
}

// recycle keeps p for another request. Nobody else knows it any more.
func (s *Session) recycle(p *pending) {
	*p = pending{done: p.done} // not sent
	s.free.Put(p)
}

// withdraw takes p out of the table for its caller. It returns false when
// somebody else did; then the token in p.done is there or about to be.
func (s *Session) withdraw(p *pending) bool {
	s.mu.Lock()
	_, mine := s.pending[p.id]
	delete(s.pending, p.id)
	s.mu.Unlock()
	s.awaitProgress(p)
	return mine
}

// awaitProgress returns when no callback of p runs any more. p has left the
// table, so none will begin.
func (s *Session) awaitProgress(p *pending) {
	if p.onProgress != nil {
		s.progressing.Lock()
		defer s.progressing.Unlock()
	}
}

// take takes the request with this id out of the table for its answer.
func (s *Session) take(id int64) *pending {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.pending[id]
	delete(s.pending, id)
	return p
}

// cancel tells the server that nobody waits for p any more (MCP 2025-11-25,
// basic/utilities/cancellation). It does not wait for the pipe. An initialize
// request is never cancelled.
func (s *Session) cancel(p *pending, reason string) {
	if p.method == methodInitialize {
		return
	}
	s.out.post(cancelled(p.id, reason))
}

func cancelled(id int64, reason string) []byte {
	b := append([]byte(nil), `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`...)
	b = strconv.AppendInt(b, id, 10)
	b = append(b, `,"reason":`...)
	b = appendQuoted(b, reason)
	return append(b, "}}\n"...)
}

func noAnswerWithin(d time.Duration) error {
	return fmt.Errorf("no answer within %v: %w", d.Round(time.Millisecond), context.DeadlineExceeded)
}

package mcp

import (
	"context"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync"
	"time"
)

const (
	listenWait = time.Second     // before the stream is opened again
	listenCap  = time.Minute     // and at most, unless the server says
	listenLeft = 5 * time.Minute // without an answer the GET is made again
	steadyTime = 30 * time.Second
	leastWait  = 100 * time.Millisecond // whatever the server says

	// placeTime is how long requests wait for the first answer to the GET. Some
	// servers keep it back until they have something to say.
	placeTime = 500 * time.Millisecond
)

// listen keeps the stream open on which a server speaks by itself (MCP
// 2025-11-25, basic/transports#listening-for-messages-from-the-server), as long
// as the generation lasts. Nothing that happens to it concerns requests.
func (t *streamable) listen(g *generation) {
	ctx := g.stream
	last, retry := "", time.Duration(-1)
	failures, opened := 0, false
	decided := sync.OnceFunc(func() { close(g.decided) })
	defer decided()
	for ctx.Err() == nil {
		res, err := t.open(ctx, g, last)
		wait := time.Duration(0)
		if err != nil || res.StatusCode != http.StatusOK || !isEventStream(res) {
			decided() // there is none
		}
		switch {
		case err != nil:
			failures++
			if _, ok := err.(*NotDeliveredError); ok && ctx.Err() == nil {
				tell(t.doubted)
			}
			t.log.Debug("The stream could not be opened.", "err", err)
		case res.StatusCode == http.StatusOK && isEventStream(res):
			if opened && last == "" {
				t.tellRenewed() // who knows what was said in the meantime
			}
			opened = true
			began, before := time.Now(), last
			spoke := false
			last, retry, spoke = t.hear(g, res, last, retry, decided)
			if spoke || last != before || time.Since(began) >= steadyTime {
				failures = 0
			} else {
				failures++
			}
			if retry >= 0 {
				wait = max(retry, leastWait)
				if failures > 0 { // nothing came of it, so asking more often brings no more
					wait = max(wait, min(listenPause(failures), resumeCap))
				}
			}
		default:
			e, body := newStatusError(res)
			t.log.Debug("The server opened no stream.", "err", e)
			switch {
			case opened && g.id != "" && forgotten(e, body):
				if _, err := t.renew(ctx, g); err == nil {
					return
				}
			case !offersStream(e.Code, opened):
				return
			}
			failures++
			if e.RetryAfter > 0 {
				wait = max(e.RetryAfter, listenWait)
			}
		}
		if wait == 0 {
			wait = listenPause(failures)
		}
		if !pause(ctx, wait) {
			return
		}
	}
}

// place waits until the stream is there on which the server may speak during a
// request, if there is to be one: servers drop what they have to say before, such
// as a question that their answer depends on. Lists need no such thing and keep
// the time short that others wait.
func (x *exchange) place(ctx context.Context) error {
	select {
	case <-x.g.decided:
		return nil
	default:
	}
	left := placeTime - time.Since(x.g.since)
	if !x.g.open || left <= 0 || x.method == "ping" || strings.HasSuffix(x.method, "/list") {
		return nil
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-x.g.decided:
	case <-timer.C:
	case <-ctx.Done():
		return &NotDeliveredError{context.Cause(ctx)}
	}
	return nil
}

// offersStream tells whether asking again may bring a stream. Once it was there
// it may come back; else only an overloaded server is asked again.
func offersStream(status int, opened bool) bool {
	switch {
	case status == http.StatusMethodNotAllowed, status == http.StatusNoContent, status/100 == 2:
		return false
	case status == http.StatusNotImplemented:
		return false
	case status == http.StatusTooManyRequests, status == http.StatusConflict, status/100 == 5:
		return true
	}
	return opened
}

// listenPause is the wait after so many failures in a row: growing, and a quarter
// more or less, so that a server that comes back is not stormed.
func listenPause(failures int) time.Duration {
	d := listenWait
	for range failures {
		if d *= 2; d >= listenCap {
			d = listenCap
			break
		}
	}
	return d*3/4 + rand.N(d/2)
}

// open asks for the stream. A server may keep back its headers until it has
// something to say, so that waiting for them is as good as listening.
func (t *streamable) open(ctx context.Context, g *generation, last string) (*http.Response, error) {
	ctx, cancel := context.WithCancel(ctx)
	timer := time.AfterFunc(listenLeft, cancel)
	res, err := t.get(ctx, g, last)
	if err != nil {
		timer.Stop()
		cancel()
		return nil, err
	}
	if !timer.Stop() {
		_ = res.Body.Close() // it came too late, and its context has ended
		cancel()
		return nil, context.Canceled
	}
	res.Body = &cancelBody{res.Body, cancel}
	return res, nil
}

// hear notes that there is a stream, delivers what it brings until it ends, and
// returns where it can be resumed, what the server asks for and whether it said
// anything.
func (t *streamable) hear(g *generation, res *http.Response, last string, retry time.Duration, decided func()) (string, time.Duration, bool) {
	defer res.Body.Close()
	g.listening.Store(true)
	defer g.listening.Store(false)
	decided()
	events := t.events(res)
	defer events.release()
	events.lastID, events.id, events.retry = last, last, retry
	spoke := false
	for {
		ev, err := events.next()
		if err != nil {
			return events.lastID, events.retry, spoke
		}
		spoke = true
		t.event(ev, t.hand)
	}
}

package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"sync"
)

// maxHandlers is how many granted requests of one server run at once.
const maxHandlers = 16

// asked answers a request of the server. What takes time runs elsewhere; the
// answer goes through the outbox, so that the reader never waits for the pipe.
func (s *Session) asked(m *Message) {
	method := string(m.Method)
	var handle Handler
	switch method {
	case "ping":
		s.out.post(answer(m.ID, []byte("{}")))
		return
	case "roots/list":
		if s.o.Grants.Roots != nil {
			s.out.post(answer(m.ID, rootList(s.o.Grants.Roots)))
			return
		}
	case "sampling/createMessage":
		handle = s.o.Grants.Sampling
	case "elicitation/create":
		handle = s.o.Grants.Elicitation
	}
	if handle != nil {
		s.handlers.serve(handle, m)
		return
	}
	s.count.refused.Add(1)
	s.log.Debug("refused a request of the server", "method", clipString(method))
	s.out.post(refusal(m.ID, &RPCError{Code: CodeMethodNotFound, Message: "Method not found: " + clipString(method)}))
	if s.o.OnRefused != nil {
		s.o.OnRefused(method)
	}
}

// handlers runs the handlers of granted requests.
type handlers struct {
	out    *outbox
	life   context.Context // ends with the session
	stop   context.CancelFunc
	served sync.WaitGroup

	mu sync.Mutex
	// mu guards the field below.
	running map[string]context.CancelFunc // by the server's raw id
}

func (h *handlers) init(out *outbox) {
	h.out = out
	h.life, h.stop = context.WithCancel(context.Background())
	h.running = map[string]context.CancelFunc{}
}

// serve runs handle for m on a goroutine of its own.
func (h *handlers) serve(handle Handler, m *Message) {
	id := string(m.ID)
	params := json.RawMessage(append([]byte(nil), m.Params...))
	ctx, stop := context.WithCancel(h.life)
	h.mu.Lock()
	defer h.mu.Unlock()
	if _, twice := h.running[id]; twice || len(h.running) == maxHandlers {
		stop()
		h.out.post(refusal(m.ID, &RPCError{Code: CodeInternalError, Message: "Too many requests at once"}))
		return
	}
	h.running[id] = stop
	h.served.Go(func() {
		result, err := handle(ctx, params)
		cancelled := ctx.Err() != nil
		h.mu.Lock()
		delete(h.running, id)
		h.mu.Unlock()
		stop()
		switch {
		case cancelled: // whoever cancels wants no answer
		case err != nil:
			h.out.post(refusal([]byte(id), rpcError(err)))
		default:
			if result, err = wellFormed(result); err != nil || len(result) == 0 {
				h.out.post(refusal([]byte(id), rpcError(errors.New("no JSON"))))
				return
			}
			h.out.post(answer([]byte(id), result))
		}
	})
}

// cancel ends the handler that notifications/cancelled names.
func (h *handlers) cancel(params []byte) {
	members(params, func(name, value []byte) {
		if string(name) == "requestId" {
			h.mu.Lock()
			defer h.mu.Unlock()
			if stop := h.running[string(value)]; stop != nil {
				stop()
			}
		}
	})
}

func (h *handlers) close() { h.stop() }
func (h *handlers) wait()  { h.served.Wait() }

func rpcError(err error) *RPCError {
	var e *RPCError
	if errors.As(err, &e) {
		return e
	}
	return &RPCError{Code: CodeInternalError, Message: "Internal error"}
}

// answer builds an answer with a result.
func answer(id, result []byte) []byte {
	b := append([]byte(nil), `{"jsonrpc":"2.0","id":`...)
	b = append(b, id...)
	b = append(b, `,"result":`...)
	b = appendLine(b, result)
	return append(b, "}\n"...)
}

// refusal builds an answer with an error.
func refusal(id []byte, e *RPCError) []byte {
	b := append([]byte(nil), `{"jsonrpc":"2.0","id":`...)
	b = append(b, id...)
	b = append(b, `,"error":{"code":`...)
	b = strconv.AppendInt(b, e.Code, 10)
	b = append(b, `,"message":`...)
	b = appendQuoted(b, e.Message)
	if data, err := wellFormed(e.Data); err == nil && len(data) > 0 {
		b = append(b, `,"data":`...)
		b = appendLine(b, data)
	}
	return append(b, "}}\n"...)
}

// rootList builds the result of roots/list.
func rootList(roots []Root) []byte {
	b := []byte(`{"roots":[`)
	for i, r := range roots {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, `{"uri":`...)
		b = appendQuoted(b, r.URI)
		if r.Name != "" {
			b = append(b, `,"name":`...)
			b = appendQuoted(b, r.Name)
		}
		b = append(b, '}')
	}
	return append(b, "]}"...)
}

func clipString(s string) string { return string(clip([]byte(s), noiseShown)) }

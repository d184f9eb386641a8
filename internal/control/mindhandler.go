package control

import (
	"net/http"
	"sync"

	"github.com/aurorabot/aurora/internal/call"
)

// A chatFrame is one line of the answers to POST /v1/mind/ask and
// /v1/mind/listen.
type chatFrame struct {
	News   *ChatNews   `json:"news,omitempty"`
	Answer *Answer     `json:"answer,omitempty"`
	Error  *call.Error `json:"error,omitempty"` // there will be no more
}

// handleMind offers the thinking part of a house.
func handleMind(mux *http.ServeMux, h Mind) {
	mux.HandleFunc("GET /v1/mind/topology", func(w http.ResponseWriter, r *http.Request) {
		t, err := h.Topology(r.Context())
		write(w, t, err)
	})
	mux.HandleFunc("POST /v1/mind/say", func(w http.ResponseWriter, r *http.Request) {
		var q SayRequest
		post(w, r, &q, func() (any, error) { return h.Say(r.Context(), q) })
	})
	mux.HandleFunc("POST /v1/mind/stop", func(w http.ResponseWriter, r *http.Request) {
		var q ListenRequest
		post(w, r, &q, func() (any, error) { return h.StopTurn(r.Context(), q.Session) })
	})
	mux.HandleFunc("POST /v1/mind/suggest", func(w http.ResponseWriter, r *http.Request) {
		var q SuggestRequest
		post(w, r, &q, func() (any, error) { return h.Suggest(r.Context(), q) })
	})
	mux.HandleFunc("POST /v1/mind/ask", func(w http.ResponseWriter, r *http.Request) { serveAsk(h, w, r) })
	mux.HandleFunc("POST /v1/mind/listen", func(w http.ResponseWriter, r *http.Request) { serveListen(h, w, r) })
}

// post reads a request into q, asks, and writes the answer.
func post(w http.ResponseWriter, r *http.Request, q any, ask func() (any, error)) {
	if err := readRequest(w, r, q); err != nil {
		writeError(w, err)
		return
	}
	v, err := ask()
	write(w, v, err)
}

func serveAsk(h Mind, w http.ResponseWriter, r *http.Request) {
	var q AskRequest
	if err := readRequest(w, r, &q); err != nil {
		writeError(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/jsonl")
	// Ask tells on a goroutine that must not block, and a client may be slow.
	news := newChatWriter(w)
	a := h.Ask(r.Context(), q, news.offer)
	news.close()
	writeLine(w, chatFrame{Answer: &a})
}

func serveListen(h Mind, w http.ResponseWriter, r *http.Request) {
	var q ListenRequest
	if err := readRequest(w, r, &q); err != nil {
		writeError(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/jsonl")
	out := http.NewResponseController(w)
	err := h.Listen(r.Context(), q, func(n ChatNews) error {
		b, err := Marshal(chatFrame{News: &n})
		if err != nil {
			return err
		}
		if _, err := w.Write(append(b, '\n')); err != nil {
			return err
		}
		return out.Flush() // fails when the client has gone
	})
	writeLine(w, chatFrame{Error: AsError(err)})
}

// maxChatNews is how much news of one question waits for a slow client.
const maxChatNews = 1024

// A chatWriter writes news on a goroutine of its own. News that a client is too
// slow for is dropped: the answer, which comes after it, says all that matters.
type chatWriter struct {
	w    http.ResponseWriter
	done chan struct{} // closed when the goroutine has ended

	mu     sync.Mutex // guards the sending side of news and closed
	news   chan ChatNews
	closed bool
}

// newChatWriter starts the goroutine; close ends it.
func newChatWriter(w http.ResponseWriter) *chatWriter {
	c := &chatWriter{w: w, done: make(chan struct{}), news: make(chan ChatNews, maxChatNews)}
	go func() {
		defer close(c.done)
		for n := range c.news {
			writeLine(c.w, chatFrame{News: &n})
			_ = http.NewResponseController(c.w).Flush() // fails only when the client has gone
		}
	}()
	return c
}

// offer never blocks. After close it does nothing.
func (c *chatWriter) offer(n ChatNews) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return
	}
	select {
	case c.news <- n:
	default:
	}
}

// close waits until what was offered is written.
func (c *chatWriter) close() {
	c.mu.Lock()
	c.closed = true
	close(c.news)
	c.mu.Unlock()
	<-c.done
}

package control

import (
	"net/http"

	"github.com/aurorabot/aurora/internal/call"
)

// A chatFrame is one line of the answer to POST /v1/mind/ask.
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
	mux.HandleFunc("POST /v1/mind/listen", func(w http.ResponseWriter, r *http.Request) { serveNews(w, r, h.Listen) })
}

func serveAsk(h Mind, w http.ResponseWriter, r *http.Request) {
	var q AskRequest
	if err := readRequest(w, r, &q); err != nil {
		writeError(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/jsonl")
	// Ask tells on a goroutine that must not block, and a client may be slow.
	lines := startLines[chatFrame](w, maxChatNews, false)
	a := h.Ask(r.Context(), q, func(n ChatNews) { lines.offer(chatFrame{News: &n}) })
	lines.close()
	writeLine(w, chatFrame{Answer: &a})
}

// maxChatNews is how much news of one question waits for a slow client.
const maxChatNews = 1024

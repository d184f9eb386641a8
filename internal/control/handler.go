package control

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"

	"github.com/aurorabot/aurora/internal/call"
)

// maxRequest bounds the body of a request, in bytes. The largest message of an
// app is 32 MiB; the rest is room for names and escapes.
const maxRequest = 64 << 20

// Handler offers a house over HTTP. It does not check who asks; the listener
// does (see [Listen]).
func Handler(h House) http.Handler {
	mux := http.NewServeMux()
	get := func(path string, answer func(r *http.Request) (any, error)) {
		mux.HandleFunc("GET /v1/"+path, func(w http.ResponseWriter, r *http.Request) {
			v, err := answer(r)
			write(w, v, err)
		})
	}
	get("version", func(r *http.Request) (any, error) { return h.Version(r.Context()) })
	get("apps", func(r *http.Request) (any, error) { return h.Apps(r.Context()) })
	get("tools", func(r *http.Request) (any, error) { return h.Tools(r.Context(), filter(r)) })
	get("tools/{dialect}", func(r *http.Request) (any, error) {
		return h.Export(r.Context(), r.PathValue("dialect"), filter(r))
	})
	get("resources", func(r *http.Request) (any, error) { return h.Resources(r.Context(), filter(r)) })
	get("prompts", func(r *http.Request) (any, error) { return h.Prompts(r.Context(), filter(r)) })

	mux.HandleFunc("POST /v1/apps/{key}/{action}", func(w http.ResponseWriter, r *http.Request) {
		a, err := h.AppAction(r.Context(), r.PathValue("key"), Action(r.PathValue("action")))
		write(w, a, err)
	})
	mux.HandleFunc("POST /v1/call", func(w http.ResponseWriter, r *http.Request) { serveCall(h, w, r) })
	mux.HandleFunc("POST /v1/read", func(w http.ResponseWriter, r *http.Request) {
		var q ReadRequest
		reply(w, r, &q, func() Reply { return h.Read(r.Context(), q) })
	})
	mux.HandleFunc("POST /v1/prompt", func(w http.ResponseWriter, r *http.Request) {
		var q PromptRequest
		reply(w, r, &q, func() Reply { return h.Prompt(r.Context(), q) })
	})
	mux.HandleFunc("POST /v1/complete", func(w http.ResponseWriter, r *http.Request) {
		var q CompleteRequest
		reply(w, r, &q, func() Reply { return h.Complete(r.Context(), q) })
	})
	get("events/flow", func(r *http.Request) (any, error) { return h.Flow(r.Context()) })
	mux.HandleFunc("POST /v1/events/follow", func(w http.ResponseWriter, r *http.Request) { serveNews(w, r, h.FollowEvents) })
	mux.HandleFunc("POST /v1/events/action", func(w http.ResponseWriter, r *http.Request) {
		var q EventActionRequest
		post(w, r, &q, func() (any, error) { return h.EventAction(r.Context(), q) })
	})
	handleMind(mux, h)
	handleKeeper(mux, h)
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		writeError(w, unknownRequest(r.Method+" "+r.URL.Path))
	})
	return mux
}

// unknownRequest is the answer to what this version does not know. Most often
// a newer client asks an older daemon.
func unknownRequest(what string) *call.Error {
	return Errorf(call.VersionIncompatible,
		"this daemon speaks control API v%d and does not know %s; restart it with the newer aurora", API, what)
}

func filter(r *http.Request) Filter { return Filter{Apps: r.URL.Query()["app"]} }

// reply reads a request into q, asks, and writes the reply. A reply has status
// 200 however it ended: its outcome says more than a status could.
func reply(w http.ResponseWriter, r *http.Request, q any, ask func() Reply) {
	if err := readRequest(w, r, q); err != nil {
		writeError(w, err)
		return
	}
	write(w, ask(), nil)
}

// readRequest decodes the whole body. Unknown fields are refused, for to
// ignore what a newer client asks would be to do something else.
func readRequest(w http.ResponseWriter, r *http.Request, q any) *call.Error {
	dec := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxRequest))
	dec.DisallowUnknownFields()
	err := dec.Decode(q)
	if err == nil {
		// The body must be read to its end: only then does the server notice
		// that the client has gone away.
		_, err = dec.Token()
		if err == nil {
			return Errorf(call.UsageInvalid, "more than one JSON document in the request")
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
	}
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return Errorf(call.MessageTooLarge, "the request is longer than %d MiB", maxRequest>>20)
	case strings.HasPrefix(err.Error(), "json: unknown field "):
		return unknownRequest("the field " + strings.TrimPrefix(err.Error(), "json: unknown field "))
	}
	return Errorf(call.UsageInvalid, "reading the request: %v", err)
}

// A frame is one line of the answer to POST /v1/call.
type frame struct {
	Progress *call.Progress `json:"progress,omitempty"`
	Reply    *Reply         `json:"reply,omitempty"`
	Error    *call.Error    `json:"error,omitempty"` // there will be no reply
}

func serveCall(h House, w http.ResponseWriter, r *http.Request) {
	var q CallRequest
	if err := readRequest(w, r, &q); err != nil {
		writeError(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/jsonl")
	// The newest report of progress says all that still matters.
	lines := startLines[frame](w, 16, true)
	rep := h.Call(r.Context(), q, func(p call.Progress) { lines.offer(frame{Progress: &p}) })
	lines.close()
	writeLine(w, frame{Reply: &rep})
}

// A newsFrame is one line of an answer that goes on as long as the house does:
// to POST /v1/events/follow and /v1/mind/listen. The last one is an error that
// says why there are no more.
type newsFrame[News any] struct {
	News  *News       `json:"news,omitempty"`
	Error *call.Error `json:"error,omitempty"`
}

func serveNews[Request, News any](w http.ResponseWriter, r *http.Request, follow func(context.Context, Request, func(News) error) error) {
	var q Request
	if err := readRequest(w, r, &q); err != nil {
		writeError(w, err)
		return
	}
	w.Header().Set("Content-Type", "application/jsonl")
	out := http.NewResponseController(w)
	err := follow(r.Context(), q, func(n News) error {
		b, err := Marshal(newsFrame[News]{News: &n})
		if err != nil {
			return err
		}
		if _, err := w.Write(append(b, '\n')); err != nil {
			return err
		}
		return out.Flush() // fails when the client has gone
	})
	writeLine(w, newsFrame[News]{Error: AsError(err)})
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

func write(w http.ResponseWriter, v any, err error) {
	if err != nil {
		writeError(w, AsError(err))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	writeLine(w, v)
}

func writeError(w http.ResponseWriter, e *call.Error) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status(e.Code))
	writeLine(w, Failure{Error: e})
}

// writeLine writes one document and a line break. A failed write means that
// the client has gone; there is nobody left to tell.
func writeLine(w io.Writer, v any) {
	b, err := Marshal(v)
	if err != nil {
		b, _ = Marshal(Failure{Error: Errorf(call.Internal, "encoding the answer: %v", err)})
	}
	_, _ = w.Write(append(b, '\n'))
}

func status(c call.Code) int {
	switch c {
	case call.AppUnknown, call.ToolUnknown, call.ResourceUnknown, call.PromptUnknown, call.EventUnknown:
		return http.StatusNotFound
	case call.UsageInvalid, call.ArgumentsInvalid, call.ToolAmbiguous:
		return http.StatusBadRequest
	case call.VersionIncompatible:
		return http.StatusNotImplemented
	case call.MessageTooLarge:
		return http.StatusRequestEntityTooLarge
	case call.PolicyDenied:
		return http.StatusForbidden
	case call.AppUnavailable, call.AppBusy, call.BrainUnavailable, call.EventBusy, call.ShuttingDown:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

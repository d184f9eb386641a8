package control

import "net/http"

// handleKeeper offers what changes a house.
func handleKeeper(mux *http.ServeMux, h Keeper) {
	mux.HandleFunc("GET /v1/reload", func(w http.ResponseWriter, r *http.Request) {
		last, err := h.LastReload(r.Context())
		write(w, last, err)
	})
	mux.HandleFunc("POST /v1/reload", func(w http.ResponseWriter, r *http.Request) {
		done, err := h.Reload(r.Context())
		write(w, done, err)
	})
	mux.HandleFunc("POST /v1/switch/app", func(w http.ResponseWriter, r *http.Request) {
		var q SwitchRequest
		if err := readRequest(w, r, &q); err != nil {
			writeError(w, err)
			return
		}
		app, err := h.SwitchApp(r.Context(), q.Name, q.On)
		write(w, app, err)
	})
	mux.HandleFunc("POST /v1/switch/tool", func(w http.ResponseWriter, r *http.Request) {
		var q SwitchRequest
		if err := readRequest(w, r, &q); err != nil {
			writeError(w, err)
			return
		}
		tool, err := h.SwitchTool(r.Context(), q.Name, q.On)
		write(w, tool, err)
	})
}

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
		post(w, r, &q, func() (any, error) { return h.SwitchApp(r.Context(), q.Name, q.On) })
	})
	mux.HandleFunc("POST /v1/switch/tool", func(w http.ResponseWriter, r *http.Request) {
		var q SwitchRequest
		post(w, r, &q, func() (any, error) { return h.SwitchTool(r.Context(), q.Name, q.On) })
	})
}

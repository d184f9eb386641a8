package config

import (
	"fmt"
	"maps"
	"slices"
	"time"
)

func sortedKeys[V any](m map[string]V) []string { return slices.Sorted(maps.Keys(m)) }

// connect fills in how to reach the app. What depends on this machine (programs,
// variables, folders) is a problem only if the app runs.
func (r *reader) connect(d *draft) {
	layers := d.layers()
	m := &d.app.MCP
	m.Protocol = pick(layers, "protocol", func(c *connection) string { return c.Protocol })
	m.HealthTimeout = pick(layers, "health_timeout_seconds", func(c *connection) time.Duration { return c.HealthTimeout })
	m.CallTimeout = pick(layers, "call_timeout_seconds", func(c *connection) time.Duration { return c.CallTimeout })
	m.CallMax = pick(layers, "call_max_seconds", func(c *connection) time.Duration { return c.CallMax })
	m.Insecure = pick(layers, "insecure", func(c *connection) bool { return c.Insecure })
	m.Restart = Restart{
		Enabled:     pick(layers, "restart.enabled", func(c *connection) bool { return c.Restart.Enabled }),
		MaxAttempts: pick(layers, "restart.max_attempts", func(c *connection) int { return c.Restart.MaxAttempts }),
		Backoff:     pick(layers, "restart.backoff_seconds", func(c *connection) time.Duration { return c.Restart.Backoff }),
	}
	if m.CallMax < m.CallTimeout {
		if l := first(layers, "call_max_seconds"); l != nil {
			l.src.problem(l.path("call_max_seconds"), fmt.Sprintf("is less than call_timeout_seconds, %v", m.CallTimeout), "")
		} else {
			m.CallMax = m.CallTimeout
		}
	}
	headers := r.headers(d, layers)
	transport, ok := r.transport(d, layers)
	if !ok {
		return
	}
	m.Transport = transport
	w := wiring{reader: r, draft: d, layers: layers}
	if !r.runs(d) {
		w.silent = true
	}
	if transport == Stdio {
		w.local()
	} else {
		w.remote(headers)
	}
}

// pick returns the value of a key from the strongest layer that sets it, or its
// default.
func pick[V any](layers []*layer, key string, of func(*connection) V) V {
	if l := first(layers, key); l != nil {
		return of(l.conn)
	}
	return of(layers[0].conn)
}

// A wiring works out what depends on this machine.
type wiring struct {
	*reader
	*draft
	layers []*layer
	// silent keeps problems to itself, because the app does not run.
	silent bool
}

func (w *wiring) problem(src *source, path, message, hint string) {
	if !w.silent {
		src.problem(path, message, hint)
	}
}

// faults reports what is wrong with the expansions of one field.
func (w *wiring) faults(src *source, path string, faults []fault) bool {
	for _, f := range faults {
		w.problem(src, path, f.message, f.hint)
	}
	return len(faults) > 0
}

// missing reports that the transport needs a key that nobody sets.
func (w *wiring) missing(key, hint string) {
	l := first(w.layers, "transport")
	l.src.report(l.src.place(l.path("transport")), l.path(key), "is missing", hint, false)
}

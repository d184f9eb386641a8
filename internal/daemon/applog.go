package daemon

import (
	"context"
	"log/slog"
)

// appLogger returns the logger for what apps print. What an app writes on
// stderr goes to the app's own file at any level, and to the common log too
// where that shows DEBUG.
func (b *logbook) appLogger() *slog.Logger {
	return slog.New(stderrHandler{book: b, next: b.Handler()})
}

// A stderrHandler takes the records of [host.StdioDialer] that hold a line of
// stderr, which have the message "stderr" and the attributes app and line.
type stderrHandler struct {
	book *logbook
	key  string // of the app, once With has said it
	next slog.Handler
}

func (h stderrHandler) Enabled(context.Context, slog.Level) bool { return true }

func (h stderrHandler) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == "stderr" {
		r.Attrs(func(a slog.Attr) bool {
			if a.Key == "line" {
				h.book.stderr(h.key, a.Value.String())
			}
			return true
		})
	}
	if !h.next.Enabled(ctx, r.Level) {
		return nil
	}
	return h.next.Handle(ctx, r)
}

func (h stderrHandler) WithAttrs(attrs []slog.Attr) slog.Handler {
	for _, a := range attrs {
		if a.Key == "app" {
			h.key = a.Value.String()
		}
	}
	h.next = h.next.WithAttrs(attrs)
	return h
}

func (h stderrHandler) WithGroup(name string) slog.Handler {
	h.next = h.next.WithGroup(name)
	return h
}

package daemon

import (
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/lmittmann/tint"

	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/redact"
)

// LogFile returns where the log of a home is, or with a key the log of what an
// app wrote on stderr. The file may not exist.
func LogFile(home config.Home, key string) string {
	if key == "" {
		return filepath.Join(home.LogDir(), "aurora.log")
	}
	return filepath.Join(home.LogDir(), "apps", fileName(key)+".log")
}

// fileName makes a key fit for a file name: path separators and what Windows
// forbids are replaced.
func fileName(key string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || strings.ContainsRune(`/\:*?"<>|`, r) {
			return '_'
		}
		return r
	}, key)
}

// A Terminal is where log lines for people go.
type Terminal struct {
	Writer io.Writer
	Color  bool
	// Level is the least level shown, if that is above the configured one.
	// Nil: the configured one.
	Level slog.Leveler
}

// A logbook is all logs of a house: its own file, the terminal, and one file
// per app for stderr. Every line passes the redactor as a whole, so nothing
// that a record holds can slip through.
type logbook struct {
	*slog.Logger
	level  *slog.LevelVar // the configured one
	home   config.Home
	redact *redact.Redactor
	file   *logFile

	mu   sync.Mutex // guards apps
	apps map[string]*logFile
}

func openLogbook(home config.Home, s config.Log, r *redact.Redactor, term *Terminal) *logbook {
	b := &logbook{level: new(slog.LevelVar), home: home, redact: r, apps: map[string]*logFile{}}
	b.file = newLogFile(LogFile(home, ""))
	b.level.Set(logLevel(s.Level))
	handlers := []slog.Handler{textOrJSON(redactWriter{b.file, r}, s.Format, b.level)}
	if term != nil {
		handlers = append(handlers, terminalHandler(*term, s.Format, b.level, r))
	}
	b.Logger = slog.New(slog.NewMultiHandler(handlers...))
	return b
}

func textOrJSON(w io.Writer, format string, level slog.Leveler) slog.Handler {
	o := &slog.HandlerOptions{Level: level}
	if format == "json" {
		return slog.NewJSONHandler(w, o)
	}
	return slog.NewTextHandler(w, o)
}

func terminalHandler(t Terminal, format string, level slog.Leveler, r *redact.Redactor) slog.Handler {
	l := level
	if t.Level != nil {
		l = atLeast{level, t.Level}
	}
	w := redactWriter{t.Writer, r}
	if format == "json" {
		return slog.NewJSONHandler(w, &slog.HandlerOptions{Level: l})
	}
	return tint.NewTextHandler(w, &tint.Options{Level: l, NoColor: !t.Color, TimeFormat: time.TimeOnly})
}

// atLeast is the higher of two levels.
type atLeast struct {
	floor slog.Leveler
	level slog.Leveler
}

func (l atLeast) Level() slog.Level { return max(l.floor.Level(), l.level.Level()) }

func logLevel(s string) slog.Level {
	var l slog.Level
	if err := l.UnmarshalText([]byte(s)); err != nil {
		return slog.LevelInfo
	}
	return l
}

// stderr writes a line that an app wrote on stderr to the app's own log.
// The line is redacted already. Errors of the disk are not worth an app.
func (b *logbook) stderr(key, line string) {
	b.mu.Lock()
	f := b.apps[key]
	if f == nil {
		f = newLogFile(LogFile(b.home, key))
		b.apps[key] = f
	}
	b.mu.Unlock()
	_, _ = f.Write([]byte(time.Now().Format(time.RFC3339) + " " + line + "\n"))
}

func (b *logbook) close() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	errs := []error{b.file.Close()}
	for _, f := range b.apps {
		errs = append(errs, f.Close())
	}
	return errors.Join(errs...)
}

// redactWriter masks secrets in what is written. Handlers write one whole
// record at a time.
type redactWriter struct {
	w io.Writer
	r *redact.Redactor
}

func (w redactWriter) Write(b []byte) (int, error) {
	if _, err := w.w.Write(w.r.Bytes(b)); err != nil {
		return 0, err
	}
	return len(b), nil
}

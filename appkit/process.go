package appkit

import (
	"io"
	"log/slog"
	"os"
)

// A Process is what an app uses of the process it runs in. The zero value is
// the process itself: its stdin, stdout, stderr and environment. Tests and
// hosts that run an app in their own process set the fields.
type Process struct {
	// Stdin is where requests come from; nil means os.Stdin. It is never
	// closed here. A read that blocks when serving ends goes on until the
	// owner of Stdin closes it; nothing is taken from it after that.
	Stdin io.Reader
	// Stdout is where answers go; nil means os.Stdout, which is then protected
	// while the app is served. Each message is one Write. It is never closed.
	Stdout io.Writer
	// Stderr is where the default logger writes; nil means os.Stderr.
	Stderr io.Writer
	// Environ holds the environment as KEY=value; nil means os.Environ().
	Environ []string
}

// Env returns what Aurora told the app through the environment.
func (p Process) Env() Env {
	if p.Environ == nil {
		return ReadEnv(os.Environ())
	}
	return ReadEnv(p.Environ)
}

// Logger returns a logger that writes text to the process's stderr, at INFO.
// Aurora keeps what an app says there with the app.
func (p Process) Logger() *slog.Logger {
	var stderr io.Writer = os.Stderr
	if p.Stderr != nil {
		stderr = p.Stderr
	}
	return slog.New(slog.NewTextHandler(stderr, nil))
}

// guardStdout returns the writer for messages and makes os.Stdout lead to
// stderr until restore is called. Only the process's own stdout is guarded;
// a Stdout that was handed in belongs to nobody else.
func (p Process) guardStdout() (messages io.Writer, restore func()) {
	if p.Stdout != nil {
		return p.Stdout, func() {}
	}
	stdout := os.Stdout
	os.Stdout = os.Stderr
	return stdout, func() { os.Stdout = stdout }
}

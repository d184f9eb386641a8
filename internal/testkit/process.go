package testkit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	// envScript names the script a child is to serve: FILE#NAME.
	envScript = "AURORA_TESTKIT_SCRIPT"
	// envBase is where a child keeps its record; see Put.
	envBase = "AURORA_TESTKIT_BASE"

	scriptSuffix = ".script" // beside a server made by Put: the script's name
	recordSuffix = ".record" // its events
	gateSuffix   = ".gate."  // + name: an open gate
	runSuffix    = ".run."   // + number: a process that was started

	// lifetime ends every process of the kit, whatever its script ignores.
	lifetime = 2 * time.Minute
)

// RunIfChild serves a script and exits if this process was started as a
// scripted server by [Put] or [Child]; else it does nothing. Call it first
// thing in TestMain, which makes the test binary its own fake server.
func RunIfChild() {
	runIfFork()
	if ref := os.Getenv(envScript); ref != "" {
		serveProcess(ref, os.Getenv(envBase))
	}
	self := os.Args[0]
	if !strings.ContainsRune(self, filepath.Separator) {
		if found, err := exec.LookPath(self); err == nil {
			self = found
		}
	}
	if ref, err := os.ReadFile(self + scriptSuffix); err == nil {
		serveProcess(strings.TrimSpace(string(ref)), self)
	}
}

// Main serves the script named by the first argument, FILE or FILE#NAME, and
// exits. It is for tests that offer a scripted server as a command of its own.
func Main() {
	RunIfChild()
	if len(os.Args) < 2 {
		fmt.Fprintf(os.Stderr, "usage: %s FILE[#NAME] [ARG…]\n", filepath.Base(os.Args[0]))
		os.Exit(2)
	}
	base := ""
	if path, name, ok := strings.Cut(os.Args[1], "#"); ok {
		base = path + "." + name
	} else {
		base = path
	}
	serveProcess(os.Args[1], base)
}

// Put makes an executable called name in dir that serves the script ref
// (FILE#NAME, or FILE for a plain script), and returns its path. The
// executable is this very binary, whose TestMain calls [RunIfChild]. The record
// of all its processes lies beside it; see [Events].
func Put(dir, name, ref string) (string, error) {
	if _, err := Open(ref); err != nil {
		return "", err
	}
	file, server, named := strings.Cut(ref, "#")
	file, err := filepath.Abs(file)
	if err != nil {
		return "", fmt.Errorf("testkit: %w", err)
	}
	if named {
		file += "#" + server
	}
	self, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("testkit: %w", err)
	}
	path := filepath.Join(dir, name)
	if err := os.Symlink(self, path); err != nil {
		return "", fmt.Errorf("testkit: %w", err)
	}
	if err := os.WriteFile(path+scriptSuffix, []byte(file), 0o600); err != nil {
		return "", fmt.Errorf("testkit: %w", err)
	}
	return path, nil
}

// Child returns the argv and the variables to add to the environment that make
// this binary serve the script ref. With base not empty, the record is kept
// there and [Events] and [Release] take base as path.
func Child(ref, base string) (argv, env []string, err error) {
	if _, err := Open(ref); err != nil {
		return nil, nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, nil, fmt.Errorf("testkit: %w", err)
	}
	return []string{self}, []string{envScript + "=" + ref, envBase + "=" + base}, nil
}

// Release opens a gate for `await release GATE` in all processes of the server
// at path, those that are still to come too.
func Release(path, gate string) error {
	return os.WriteFile(path+gateSuffix+gate, nil, 0o600)
}

// A process is the ground of a server that is a process of its own.
type process struct {
	base   string
	number int

	mu  sync.Mutex // guards log
	log *os.File   // nil without a base
}

func serveProcess(ref, base string) {
	time.AfterFunc(lifetime, func() { os.Exit(98) })
	ignorePipeSignal()
	script, err := Open(ref)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(99)
	}
	p := &process{base: base, number: 1}
	if base != "" {
		if err := p.open(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(99)
		}
	}
	p.record(Event{Kind: "start"})
	newServer(context.Background(), script, p, os.Stdin, os.Stdout, os.Stderr).serve()
	select {} // the script ended neither itself nor its reading; lifetime will
}

// open finds out how many processes came before this one and opens the record.
func (p *process) open() error {
	for {
		f, err := os.OpenFile(p.base+runSuffix+strconv.Itoa(p.number), os.O_CREATE|os.O_EXCL, 0o600)
		if err == nil {
			_ = f.Close()
			break
		}
		if !errors.Is(err, fs.ErrExist) {
			return fmt.Errorf("testkit: counting processes: %w", err)
		}
		p.number++
	}
	log, err := os.OpenFile(p.base+recordSuffix, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("testkit: opening the record: %w", err)
	}
	p.log = log
	return nil
}

func (p *process) run() int { return p.number }
func (p *process) pid() int { return os.Getpid() }

func (p *process) argv() []string { return slices.Clone(os.Args) }

func (p *process) cwd() string {
	dir, err := os.Getwd()
	if err != nil {
		return ""
	}
	return dir
}

func (p *process) environ() map[string]string {
	env := map[string]string{}
	for _, kv := range os.Environ() {
		if k, v, ok := strings.Cut(kv, "="); ok {
			env[k] = v
		}
	}
	return env
}

func (p *process) record(e Event) {
	if p.log == nil {
		return
	}
	if e.PID == 0 {
		e.PID = os.Getpid()
	}
	e.Run = p.number
	line, err := json.Marshal(e)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testkit: recording:", err)
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if _, err := p.log.Write(append(line, '\n')); err != nil {
		fmt.Fprintln(os.Stderr, "testkit: recording:", err)
	}
}

func (p *process) released(ctx context.Context, gate string) error {
	for {
		if _, err := os.Stat(p.base + gateSuffix + gate); err == nil {
			return nil
		}
		select {
		case <-time.After(2 * time.Millisecond): // files do not ring
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (p *process) close(stream string) error {
	return map[string]*os.File{"stdin": os.Stdin, "stdout": os.Stdout, "stderr": os.Stderr}[stream].Close()
}

func (p *process) signals(names []string) <-chan string {
	came := make(chan string)
	ch := make(chan os.Signal, 4)
	for _, name := range names {
		signal.Notify(ch, signalNumbers[name])
	}
	go func() {
		for sig := range ch {
			for _, name := range names {
				if signalNumbers[name] == sig {
					came <- name
				}
			}
		}
	}()
	return came
}

func exitEvent(code int) Event { return Event{Kind: "exit", Text: strconv.Itoa(code)} }

func (p *process) exit(code int) {
	p.record(exitEvent(code))
	// Not os.Exit, which in a binary with the race detector lingers for a
	// second: a script that says exit is about a server that is gone.
	syscall.Exit(code)
}

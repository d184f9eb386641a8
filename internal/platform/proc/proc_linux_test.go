package proc

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// graces long enough for a loaded machine to never cut a polite child short, and
// short ones for children that will not use them.
const (
	patient = time.Minute
	brief   = 20 * time.Millisecond
)

func launcher(t testing.TB, o Options) *Launcher {
	t.Helper()
	l, err := NewLauncher(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	})
	return l
}

// spec is a child that plays a part, and is stopped in brief steps.
func spec(part string) Spec {
	return Spec{
		Name:      "app-" + part,
		Argv:      []string{os.Args[0]},
		Env:       append(os.Environ(), "PROC_CHILD="+part, "GORACE=atexit_sleep_ms=0"),
		EOFGrace:  brief,
		TermGrace: brief,
	}
}

func start(t testing.TB, l *Launcher, s Spec) *Process {
	t.Helper()
	p, err := l.Start(context.Background(), s)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// word reads one line of a child's output.
func word(t testing.TB, r *bufio.Reader) string {
	t.Helper()
	line, err := r.ReadString('\n')
	if err != nil {
		t.Fatalf("reading stdout: %v", err)
	}
	return strings.TrimSpace(line)
}

func pidWord(t testing.TB, r *bufio.Reader) int {
	t.Helper()
	pid, err := strconv.Atoi(word(t, r))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func alive(pid int) bool {
	_, ok := lookup(pid)
	return ok
}

// eventually waits for a state of the kernel that nothing announces.
func eventually(t testing.TB, what string, reached func() bool) {
	t.Helper()
	for limit := time.Now().Add(20 * time.Second); !reached(); time.Sleep(time.Millisecond) {
		if time.Now().After(limit) {
			t.Fatalf("never: %s", what)
		}
	}
}

// zombies lists the dead that this process has not reaped.
func zombies(t testing.TB) (pids []int) {
	t.Helper()
	dirs, err := os.ReadDir("/proc")
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range dirs {
		if pid, err := strconv.Atoi(dir.Name()); err == nil {
			if e, dead, ok := readStat(pid); ok && dead && e.ppid == os.Getpid() {
				pids = append(pids, pid)
			}
		}
	}
	return pids
}

func openFiles(t testing.TB) int {
	t.Helper()
	fds, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Fatal(err)
	}
	return len(fds)
}

func TestPoliteChildTalksAndEndsWithItsInput(t *testing.T) {
	l := launcher(t, Options{})
	s := spec("polite")
	s.EOFGrace = patient
	p := start(t, l, s)
	out := bufio.NewReader(p.Stdout())
	if got := word(t, out); got != "ready" {
		t.Fatalf("first line %q", got)
	}
	select {
	case <-p.FirstOutput():
	default:
		t.Error("FirstOutput is not closed after the first byte")
	}
	if _, ended := p.Exit(); ended {
		t.Error("Exit says it has ended")
	}
	io.WriteString(p.Stdin(), "上海 🌧\n")
	if got := word(t, out); got != "上海 🌧" {
		t.Errorf("echo %q", got)
	}

	if got := p.Stop(context.Background()); got != (Exit{}) {
		t.Errorf("Stop = %+v, want exit code 0 and nothing else", got)
	}
	if got, ended := p.Exit(); !ended || got != (Exit{}) {
		t.Errorf("Exit = %+v, %v", got, ended)
	}
	if _, err := p.Stdin().Write([]byte("x")); !errors.Is(err, os.ErrClosed) {
		t.Errorf("writing to a stopped child: %v", err)
	}
	if _, err := out.ReadByte(); err != io.EOF {
		t.Errorf("reading from a stopped child: %v", err)
	}
	if got := p.Stop(context.Background()); got != (Exit{}) {
		t.Errorf("second Stop = %+v", got)
	}
}

func TestChildGetsExactlyWhatTheSpecSays(t *testing.T) {
	l := launcher(t, Options{})
	dir := filepath.Join(t.TempDir(), "我的 机器人")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	run := func(s Spec) string {
		t.Helper()
		s.EOFGrace = patient
		p := start(t, l, s)
		out, err := io.ReadAll(p.Stdout())
		if err != nil {
			t.Fatal(err)
		}
		if exit := p.Stop(context.Background()); exit != (Exit{}) {
			t.Fatalf("%v: %s, %v", s.Argv, exit, p.StderrTail(0))
		}
		return string(out)
	}
	path := []string{"PATH=/usr/bin:/bin", "A=1", CookieVar + "=of an outer Aurora"}

	t.Run("arguments without a shell", func(t *testing.T) {
		got := run(Spec{Argv: []string{"printf", "%s|", "a b", "$HOME", "*", `"`, "'", "", "\n"}, Env: path})
		if want := "a b|$HOME|*|\"|'||\n|"; got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	})
	t.Run("environment and nothing inherited", func(t *testing.T) {
		got := strings.Fields(run(Spec{Argv: []string{"env"}, Env: path}))
		want := []string{"PATH=/usr/bin:/bin", "A=1", CookieVar + "=" + l.run + "."}
		if len(got) != 3 || got[0] != want[0] || got[1] != want[1] || !strings.HasPrefix(got[2], want[2]) {
			t.Errorf("got %q, want %q and the number", got, want)
		}
	})
	t.Run("working directory", func(t *testing.T) {
		if got := run(Spec{Argv: []string{"pwd"}, Env: path, Dir: dir}); got != dir+"\n" {
			t.Errorf("got %q, want %q", got, dir)
		}
	})
	t.Run("three files and no more", func(t *testing.T) {
		// The fourth is the folder that ls reads.
		if got := strings.Fields(run(Spec{Argv: []string{"ls", "/proc/self/fd"}, Env: path})); len(got) != 4 {
			t.Errorf("open files %q", got)
		}
	})
	t.Run("files that block", func(t *testing.T) {
		if got, want := run(spec("modes")), "0 false\n1 false\n2 false\n"; got != want {
			t.Errorf("non-blocking: %q, want %q", got, want)
		}
	})
}

// Field fault P03.
func TestStopLadder(t *testing.T) {
	t.Run("a child that flushes after end of input is not signalled", func(t *testing.T) {
		l := launcher(t, Options{})
		s := spec("flushing")
		s.EOFGrace = patient
		p := start(t, l, s)
		out := bufio.NewReader(p.Stdout())
		word(t, out)
		last := make(chan string)
		go func() { rest, _ := io.ReadAll(out); last <- string(rest) }()
		exit := p.Stop(context.Background())
		if got := <-last; got != "flushed\n" || exit != (Exit{}) {
			t.Errorf("child said %q and ended with %s", got, exit)
		}
	})
	t.Run("TERM ends a child that ignores end of input", func(t *testing.T) {
		l := launcher(t, Options{})
		s := spec("deaf")
		s.TermGrace = patient
		p := start(t, l, s)
		word(t, bufio.NewReader(p.Stdout()))
		// A Go program without a handler dies of the signal.
		if got := p.Stop(context.Background()); got != (Exit{Code: -1, Signal: "SIGTERM"}) {
			t.Errorf("Stop = %+v", got)
		}
	})
	t.Run("KILL ends a child that ignores both", func(t *testing.T) {
		l := launcher(t, Options{})
		p := start(t, l, spec("stubborn"))
		word(t, bufio.NewReader(p.Stdout()))
		if got := p.Stop(context.Background()); got != (Exit{Code: -1, Signal: "SIGKILL"}) {
			t.Errorf("Stop = %+v", got)
		}
	})
	t.Run("an ended context skips the waits", func(t *testing.T) {
		l := launcher(t, Options{})
		s := spec("stubborn")
		s.EOFGrace, s.TermGrace = time.Hour, time.Hour
		p := start(t, l, s)
		word(t, bufio.NewReader(p.Stdout()))
		first := make(chan Exit)
		go func() { first <- p.Stop(context.Background()) }()
		eventually(t, "the first Stop climbs", p.stopping.Load)

		hurry, cancel := context.WithCancel(context.Background())
		cancel()
		want := Exit{Code: -1, Signal: "SIGKILL"}
		if got := p.Stop(hurry); got != want {
			t.Errorf("hurried Stop = %+v", got)
		}
		if got := <-first; got != want {
			t.Errorf("patient Stop = %+v", got)
		}
	})
	t.Run("a stopped child is killed", func(t *testing.T) {
		l := launcher(t, Options{})
		p := start(t, l, spec("polite"))
		word(t, bufio.NewReader(p.Stdout()))
		syscall.Kill(p.PID(), syscall.SIGSTOP)
		if got := p.Stop(context.Background()); got.Signal != "SIGKILL" {
			t.Errorf("Stop = %+v", got)
		}
	})
}

// Field fault S11.
func TestBlockedWriterTimesOutAndDoesNotHinderStop(t *testing.T) {
	l := launcher(t, Options{})
	p := start(t, l, spec("stubborn"))
	word(t, bufio.NewReader(p.Stdout()))
	big := make([]byte, 1<<20)
	p.Stdin().SetWriteDeadline(time.Now().Add(brief))
	n, err := p.Stdin().Write(big)
	if !errors.Is(err, os.ErrDeadlineExceeded) || n == 0 || n == len(big) {
		t.Fatalf("wrote %d, %v", n, err)
	}
	p.Stdin().SetWriteDeadline(time.Time{})
	blocked := make(chan error)
	go func() { _, err := p.Stdin().Write(big); blocked <- err }()
	p.Stop(context.Background())
	if err := <-blocked; !errors.Is(err, os.ErrClosed) {
		t.Errorf("the blocked write ended with %v", err)
	}
}

// Field fault P06.
func TestChildThatExitsAtOnceIsExplained(t *testing.T) {
	var heard []string
	l := launcher(t, Options{Redact: func(s string) string { return strings.ReplaceAll(s, "DEMO_TOKEN", "•••") }})
	s := spec("failing")
	s.OnStderr = func(line string) { heard = append(heard, line) }
	p := start(t, l, s)
	<-p.Done()
	exit, ended := p.Exit()
	if !ended || exit != (Exit{Code: 2}) || exit.String() != "exit code 2" {
		t.Errorf("Exit = %+v %q, %v", exit, exit, ended)
	}
	want := []string{"starting", "ERROR: ••• is not set"}
	if got := p.StderrTail(20); !slices.Equal(got, want) {
		t.Errorf("tail %q", got)
	}
	if !slices.Equal(heard, want) {
		t.Errorf("heard %q", heard)
	}
	if got := p.StderrTail(1); !slices.Equal(got, want[1:]) {
		t.Errorf("tail of one %q", got)
	}

	crash := start(t, l, Spec{Argv: []string{"/bin/sh", "-c", "kill -SEGV $$"}})
	<-crash.Done()
	if exit, _ := crash.Exit(); exit.String() != "killed by SIGSEGV" {
		t.Errorf("crash: %q", exit)
	}
}

// Who waits for an answer wants to know how the child ended, and not to wait for
// the end of what it has left behind.
func TestTheEndIsKnownBeforeTheFamilyIsGone(t *testing.T) {
	l := launcher(t, Options{})
	for _, c := range []struct {
		script string
		want   Exit
	}{{"exit 7", Exit{Code: 7}}, {"kill -SEGV $$", Exit{Code: -1, Signal: "SIGSEGV"}}} {
		p := start(t, l, Spec{Argv: []string{"/bin/sh", "-c", c.script}})
		<-p.exited
		if p.early == nil || *p.early != c.want {
			t.Errorf("%s: early %+v, want %+v", c.script, p.early, c.want)
		}
		if exit, ended := p.Exit(); !ended || exit != c.want {
			t.Errorf("%s: Exit = %+v, %v", c.script, exit, ended)
		}
		<-p.Done()
		if exit, ended := p.Exit(); !ended || exit != c.want {
			t.Errorf("%s: in the end Exit = %+v, %v", c.script, exit, ended)
		}
	}
}

// Field fault S09.
func TestStderrFloodDoesNotHoldTheChild(t *testing.T) {
	l := launcher(t, Options{})
	s := spec("loud")
	s.StderrKeep = 10 << 10
	p := start(t, l, s)
	if got := word(t, bufio.NewReader(p.Stdout())); got != "answer" {
		t.Errorf("stdout %q", got)
	}
	<-p.Done()
	if got := p.StderrTail(0); len(got) != 10 || len(got[0]) != 1023 {
		t.Errorf("kept %d lines", len(got))
	}
}

func TestGrandchildrenDoNotOutliveTheirApp(t *testing.T) {
	t.Run("one that holds stdout after the child has ended", func(t *testing.T) {
		l := launcher(t, Options{})
		p := start(t, l, spec("leaving"))
		out := bufio.NewReader(p.Stdout())
		grandchild := pidWord(t, out)
		<-p.Done() // the words are still in the pipe
		if exit, _ := p.Exit(); exit != (Exit{Code: 3, Leftovers: 1}) {
			t.Errorf("Exit = %+v", exit)
		}
		if alive(grandchild) {
			t.Error("the grandchild lives")
		}
		rest, err := io.ReadAll(out)
		if err != nil || string(rest) != strings.Repeat("last words ", 1000)+"\n" {
			t.Errorf("read %d bytes, %v", len(rest), err)
		}
	})
	t.Run("a server behind a shell, as npx and uvx start it", func(t *testing.T) {
		l := launcher(t, Options{})
		s := spec("stubborn")
		s.Argv = []string{"/bin/sh", "-c", `"$0" & echo $!; wait; true`, os.Args[0]}
		p := start(t, l, s)
		out := bufio.NewReader(p.Stdout())
		server := pidWord(t, out)
		word(t, out)
		if exit := p.Stop(context.Background()); exit.Stuck {
			t.Error("stuck")
		}
		if alive(server) {
			t.Error("the server lives")
		}
	})
	t.Run("but a server may settle after the shell before it is gone", func(t *testing.T) {
		l := launcher(t, Options{})
		file := filepath.Join(t.TempDir(), "data")
		s := spec("settling")
		s.Env = append(s.Env, "PROC_FILE="+file)
		s.Argv = []string{"/bin/sh", "-c", `"$0"; true`, os.Args[0]}
		s.TermGrace = patient
		p := start(t, l, s)
		word(t, bufio.NewReader(p.Stdout()))
		if got := p.Stop(context.Background()); got != (Exit{Code: -1, Signal: "SIGTERM"}) {
			t.Errorf("Stop = %+v", got)
		}
		if data, err := os.ReadFile(file); string(data) != "settled" {
			t.Errorf("it wrote %q, %v", data, err)
		}
	})
	t.Run("or is killed with it in a hurry", func(t *testing.T) {
		l := launcher(t, Options{})
		s := spec("escaping")
		s.TermGrace = time.Hour
		p := start(t, l, s)
		grandchild := pidWord(t, bufio.NewReader(p.Stdout()))
		go p.Stop(context.Background())
		<-p.exited // by TERM; the grandchild ignores it for an hour
		hurry, cancel := context.WithCancel(context.Background())
		cancel()
		if exit := p.Stop(hurry); exit.Leftovers != 1 || alive(grandchild) {
			t.Errorf("Stop = %+v", exit)
		}
	})
	for part, how := range map[string]string{
		"escaping":  "by its cookie, in a session of its own",
		"vanishing": "by its parent, in a session of its own and with a wiped environment",
	} {
		t.Run(how, func(t *testing.T) {
			l := launcher(t, Options{})
			p := start(t, l, spec(part))
			grandchild := pidWord(t, bufio.NewReader(p.Stdout()))
			if exit := p.Stop(context.Background()); exit.Leftovers != 1 {
				t.Errorf("Stop = %+v", exit)
			}
			if alive(grandchild) {
				t.Error("the grandchild lives")
			}
		})
	}
	t.Run("at Close, when nothing tells whose it was", func(t *testing.T) {
		l := launcher(t, Options{})
		p := start(t, l, spec("daemon"))
		grandchild := pidWord(t, bufio.NewReader(p.Stdout()))
		p.Stop(context.Background())
		if !alive(grandchild) {
			t.Error("Stop has killed an orphan that may be another app's")
		}
		l.Close()
		if alive(grandchild) {
			t.Error("the grandchild lives")
		}
	})
	if left := zombies(t); len(left) > 0 {
		t.Errorf("zombies: %v", left)
	}
}

func TestOrphansAreReapedAndOtherChildrenAreNot(t *testing.T) {
	l := launcher(t, Options{})
	p := start(t, l, spec("daemon"))
	orphan := pidWord(t, bufio.NewReader(p.Stdout()))

	// Given a dead child that its owner has not waited for yet
	other := exec.Command("/bin/sh", "-c", "exit 7")
	if err := other.Start(); err != nil {
		t.Fatal(err)
	}
	awaitExit(other.Process)
	// when an orphan dies
	syscall.Kill(orphan, syscall.SIGKILL)
	// then it is reaped, and only it.
	eventually(t, "the orphan is reaped", func() bool { _, _, ok := readStat(orphan); return !ok })
	var exit *exec.ExitError
	if err := other.Wait(); !errors.As(err, &exit) || exit.ExitCode() != 7 {
		t.Errorf("the other child's exit: %v", err)
	}
	p.Stop(context.Background())
}

// Field fault P05.
func TestFailedStartsLeaveNothing(t *testing.T) {
	l := launcher(t, Options{Dir: t.TempDir()})
	failing := func() {
		p := start(t, l, spec("failing"))
		<-p.Done()
		p.Stop(context.Background())
	}
	silent := func() {
		p := start(t, l, spec("stubborn"))
		p.Stop(context.Background())
	}
	missing := func() {
		if _, err := l.Start(context.Background(), Spec{Argv: []string{"no-such-launcher-zz"}}); err == nil {
			t.Error("started")
		}
	}
	unreadable := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(unreadable, []byte("no program\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	refused := func() { // fails after the fork
		if _, err := l.Start(context.Background(), Spec{Argv: []string{unreadable}}); err == nil {
			t.Error("started")
		}
	}
	cancelled := func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := l.Start(ctx, spec("polite")); !errors.Is(err, context.Canceled) {
			t.Errorf("start: %v", err)
		}
	}
	all := func() { failing(); silent(); missing(); refused(); cancelled() }

	all() // so that what is opened once is open
	files := openFiles(t)
	for range 20 {
		all()
	}
	// The reaper opens a file now and then, so look until it is done.
	eventually(t, "no more open files than before", func() bool { return openFiles(t) <= files })
	if left := zombies(t); len(left) > 0 {
		t.Errorf("zombies: %v", left)
	}
	if left, _ := os.ReadDir(l.dir); len(left) > 0 {
		t.Errorf("pid files: %v", left)
	}
	// Goroutines are checked in TestMain.
}

func TestKilledAuroraLeavesNothing(t *testing.T) {
	l := launcher(t, Options{}) // makes us the adopter of what the house leaves
	dir := t.TempDir()
	house := exec.Command(os.Args[0])
	house.Env = append(os.Environ(), "PROC_CHILD=house", "PROC_DIR="+dir)
	house.Stderr = os.Stderr
	stdout, err := house.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := house.Start(); err != nil {
		t.Fatal(err)
	}
	out := bufio.NewReader(stdout)
	var child, parent, grandchild int
	fmt.Sscanf(word(t, out), "%d ready", &child)
	fmt.Sscanf(word(t, out), "%d %d", &parent, &grandchild)
	for _, pid := range []int{child, parent, grandchild} {
		if !alive(pid) {
			t.Fatalf("%d is not alive", pid)
		}
	}

	// Given an Aurora that still runs, a sweep harms nothing.
	next := launcher(t, Options{Dir: dir})
	if left, err := next.Sweep(context.Background()); err != nil || len(left) > 0 {
		t.Fatalf("sweep under a running Aurora: %v, %v", left, err)
	}
	if !alive(child) {
		t.Fatal("the sweep has killed a child of a running Aurora")
	}

	// When it is killed, its children die with it,
	house.Process.Kill()
	house.Wait()
	eventually(t, "the children are gone", func() bool { return !alive(child) && !alive(parent) })
	if !alive(grandchild) {
		t.Fatal("the grandchild has died by itself: the test shows nothing")
	}
	// and the next start ends the rest.
	left, err := next.Sweep(context.Background())
	if err != nil || len(left) != 1 || left[0].PID != grandchild || left[0].App != "app-escaping" || left[0].Program == "" {
		t.Errorf("Sweep = %+v, %v", left, err)
	}
	if alive(grandchild) {
		t.Error("the grandchild lives")
	}
	if files, _ := os.ReadDir(dir); len(files) > 0 {
		t.Errorf("pid files left: %v", files)
	}
	l.parent.reap()
}

func TestSweepHitsNobodyElse(t *testing.T) {
	dir := t.TempDir()
	l := launcher(t, Options{Dir: dir})
	innocent := exec.Command(os.Args[0])
	innocent.Env = append(os.Environ(), "PROC_CHILD=stubborn")
	if err := innocent.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { innocent.Process.Kill(); innocent.Wait() }()
	now := identityOf(innocent.Process.Pid)
	dead := identity{PID: 1 << 22, Start: 1}

	write := func(name string, content any) {
		data, err := json.Marshal(content)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write("app-a.1.pid", record{Cookie: "a.1", Boot: l.boot, Parent: dead, Child: identity{now.PID, now.Start - 1}}) // its pid came again
	write("app-b.1.pid", record{Cookie: "b.1", Boot: "earlier", Parent: dead, Child: now})                           // the machine was started again
	write("app-c.1.pid", "torn")
	write("app-d.1.pid", record{Boot: l.boot, Parent: dead, Child: dead}) // no cookie, like most processes
	write("lock", "not ours")

	if left, err := l.Sweep(context.Background()); err != nil || len(left) > 0 {
		t.Errorf("Sweep = %v, %v", left, err)
	}
	if !alive(now.PID) {
		t.Error("an innocent process was killed")
	}
	files, _ := os.ReadDir(dir)
	if len(files) != 1 || files[0].Name() != "lock" {
		t.Errorf("files left: %v", files)
	}
}

func TestCloseStopsAllAtOnceAndStartsNoMore(t *testing.T) {
	l := launcher(t, Options{})
	var procs []*Process
	for range 5 {
		p := start(t, l, spec("stubborn"))
		word(t, bufio.NewReader(p.Stdout()))
		procs = append(procs, p)
	}
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	for _, p := range procs {
		if exit, ended := p.Exit(); !ended || exit.Signal != "SIGKILL" {
			t.Errorf("%d: %s, %v", p.PID(), exit, ended)
		}
	}
	if _, err := l.Start(context.Background(), spec("polite")); !errors.Is(err, ErrClosed) {
		t.Errorf("start after close: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Errorf("second close: %v", err)
	}
}

// The parent-death signal comes when the thread that forked dies, and threads
// die when a goroutine ends that is locked to one.
func TestChildrenSurviveTheThreadsOfTheirCallers(t *testing.T) {
	l := launcher(t, Options{})
	var procs []*Process
	for range 5 {
		started := make(chan *Process)
		go func() {
			runtime.LockOSThread()
			p, err := l.Start(context.Background(), spec("polite"))
			if err != nil {
				t.Error(err)
			}
			started <- p
		}()
		procs = append(procs, <-started)
	}
	for _, p := range procs {
		out := bufio.NewReader(p.Stdout())
		word(t, out)
		p.Stdin().Write([]byte("still here\n"))
		word(t, out)
	}
}

func TestLostFolderOfPidFilesHindersNobody(t *testing.T) {
	dir := t.TempDir()
	var log bytes.Buffer
	l := launcher(t, Options{Dir: dir, Logger: slog.New(slog.NewTextHandler(&log, nil))})
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	p := start(t, l, spec("polite"))
	p.Stop(context.Background())
	if !strings.Contains(log.String(), "cannot write the pid file") {
		t.Errorf("log: %s", &log)
	}
}

// Everything that may happen at once, for the race detector.
func TestManyAtOnce(t *testing.T) {
	l := launcher(t, Options{Dir: t.TempDir()})
	before := zombies(t)
	var all sync.WaitGroup
	for i := range 16 {
		all.Go(func() {
			p, err := l.Start(context.Background(), spec([]string{"polite", "failing", "leaving", "stubborn"}[i%4]))
			if err != nil {
				t.Error(err)
				return
			}
			var inner sync.WaitGroup
			inner.Go(func() { io.Copy(io.Discard, p.Stdout()) })
			inner.Go(func() { p.Stdin().Write([]byte("hello\n")) })
			inner.Go(func() { p.Exit(); p.StderrTail(5); <-p.Done(); p.StderrTail(5) })
			inner.Go(func() {
				ctx, cancel := context.WithTimeout(context.Background(), brief)
				defer cancel()
				p.Stop(ctx)
			})
			inner.Go(func() { p.Stop(context.Background()) })
			if i%8 == 0 {
				inner.Go(p.Kill)
			}
			inner.Wait()
			if exit, ended := p.Exit(); !ended || exit.Stuck {
				t.Errorf("after Stop: %s, %v", exit, ended)
			}
		})
	}
	all.Wait()
	if err := l.Close(); err != nil {
		t.Error(err)
	}
	if left := zombies(t); len(left) > len(before) {
		t.Errorf("zombies: %v", left)
	}
}

func TestChildHasNoTerminalAndItsOwnGroup(t *testing.T) {
	l := launcher(t, Options{})
	p := start(t, l, spec("polite"))
	e, ok := lookup(p.PID())
	if !ok || e.pgid != p.PID() || e.sid != p.PID() {
		t.Errorf("%+v, %v", e, ok)
	}
	if thread, _ := unix.Getpgid(0); e.pgid == thread {
		t.Error("the child is in our group")
	}
	p.Stop(context.Background())
}

func BenchmarkStartStop(b *testing.B) {
	cat := Spec{Argv: []string{"/bin/cat"}}
	b.Run("proc", func(b *testing.B) {
		l := launcher(b, Options{Dir: b.TempDir()})
		for b.Loop() {
			start(b, l, cat).Stop(context.Background())
		}
	})
	b.Run("os-exec", func(b *testing.B) { // the floor: no family, no pid file
		for b.Loop() {
			cmd := exec.Command("/bin/cat")
			stdin, _ := cmd.StdinPipe()
			cmd.StdoutPipe()
			if err := cmd.Start(); err != nil {
				b.Fatal(err)
			}
			stdin.Close()
			cmd.Wait()
		}
	})
}

//go:build unix

package testkit

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
)

// put makes an executable of the script in a fresh folder.
func put(t *testing.T, script string) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "script")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	path, err := Put(dir, "server", file)
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// A spawned is a scripted server as a process.
type spawned struct {
	t   *testing.T
	cmd *exec.Cmd
	in  io.WriteCloser
	out *bufio.Reader
	err bytes.Buffer
}

func spawn(t *testing.T, path string, args ...string) *spawned {
	t.Helper()
	s := &spawned{t: t, cmd: exec.Command(path, args...)}
	s.cmd.Stderr = &s.err
	in, err := s.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	s.in, s.out = in, bufio.NewReader(out)
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = s.cmd.Process.Kill()
		_ = s.cmd.Wait()
	})
	return s
}

func (s *spawned) ask(line string) string {
	s.t.Helper()
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		s.t.Fatal(err)
	}
	answer, err := s.out.ReadString('\n')
	if err != nil {
		s.t.Fatalf("no answer to %s: %v; stderr %s", line, err, s.err.String())
	}
	return strings.TrimSuffix(answer, "\n")
}

func kinds(t *testing.T, path string) []string {
	t.Helper()
	events, err := Events(path)
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, e := range events {
		list = append(list, strings.TrimSpace(e.Kind+" "+e.Text))
	}
	return list
}

func TestAServerKnowsItsArgumentsAndItsEnvironment(t *testing.T) {
	path := put(t, "on a\n  reply {\"argv\": ${argv}, \"run\": ${run}, \"cookie\": ${env.COOKIE}, \"cwd\": \"${cwd}\"}")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("COOKIE", `a "b"`)
	t.Chdir(dir)
	for run := range 2 {
		s := spawn(t, path, "a b", "", `{"k":1}`, "*", "$HOME")
		got := s.ask(`{"id":1,"method":"a"}`)
		want, _ := json.Marshal([]string{path, "a b", "", `{"k":1}`, "*", "$HOME"})
		if want := `{"jsonrpc":"2.0","id":1,"result":{"argv": ` + string(want) + `, "run": ` + strconv.Itoa(run+1) + `, "cookie": "a \"b\"", "cwd": "` + dir + `"}}`; got != want {
			t.Errorf("got  %s\n want %s", got, want)
		}
		_ = s.in.Close()
		if err := s.cmd.Wait(); err != nil {
			t.Errorf("after EOF: %v", err)
		}
	}
	if got := strings.Join(kinds(t, path), ","); got != "start,received,eof,exit 0,start,received,eof,exit 0" {
		t.Errorf("record %s", got)
	}
}

func TestAServerDiesTheWayItsScriptSays(t *testing.T) {
	exit := put(t, "start run 1\n  stderr ERROR: DEMO_TOKEN is not set\n  exit 2")
	s := spawn(t, exit)
	var status *exec.ExitError
	if err := s.cmd.Wait(); !errors.As(err, &status) || status.ExitCode() != 2 {
		t.Errorf("exit: %v, want 2", err)
	}
	if got := s.err.String(); got != "ERROR: DEMO_TOKEN is not set\n" {
		t.Errorf("stderr %q", got)
	}
	for name, sig := range map[string]syscall.Signal{"SEGV": syscall.SIGSEGV, "ABRT": syscall.SIGABRT, "KILL": syscall.SIGKILL, "TERM": syscall.SIGTERM} {
		s := spawn(t, put(t, "start\n  kill "+name))
		if err := s.cmd.Wait(); !errors.As(err, &status) || status.Sys().(syscall.WaitStatus).Signal() != sig {
			t.Errorf("kill %s: %v", name, err)
		}
	}
	broken := put(t, "on a\n  reply ${hex:zz}")
	s = spawn(t, broken)
	if _, err := io.WriteString(s.in, `{"id":1,"method":"a"}`+"\n"); err != nil {
		t.Fatal(err)
	}
	if err := s.cmd.Wait(); !errors.As(err, &status) || status.ExitCode() != 99 || !strings.Contains(s.err.String(), "script:2: ") {
		t.Errorf("a mistake: %v, stderr %s", err, s.err.String())
	}
}

func TestAServerCanIgnoreEOFAndTERM(t *testing.T) {
	path := put(t, "on eof\n  stderr eof\n  ignore\non signal TERM\n  exit 7\n")
	s := spawn(t, path)
	s.ask(`{"id":1,"method":"ping"}`)
	_ = s.in.Close()
	awaitKind(t, path, "eof")
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	var status *exec.ExitError
	if err := s.cmd.Wait(); !errors.As(err, &status) || status.ExitCode() != 7 {
		t.Errorf("after TERM: %v, want 7", err)
	}
}

// awaitKind reads the record until it holds such an event.
func awaitKind(t *testing.T, path, kind string) {
	t.Helper()
	for !slices.Contains(kinds(t, path), kind) {
		if t.Context().Err() != nil {
			t.Fatal("the test is over")
		}
	}
}

func TestForkedChildrenOutliveTheServer(t *testing.T) {
	path := put(t, `
on a
  fork hold stdout ignore TERM
  fork setsid
  fork daemon
  reply {}
`)
	s := spawn(t, path)
	s.ask(`{"id":1,"method":"a"}`)
	_ = s.in.Close()
	if _, err := s.cmd.Process.Wait(); err != nil {
		t.Fatal(err)
	}
	events, err := Events(path)
	if err != nil {
		t.Fatal(err)
	}
	forks := 0
	for _, e := range events {
		if e.Kind != "fork" {
			continue
		}
		forks++
		if err := syscall.Kill(e.PID, 0); err != nil {
			t.Errorf("child %d is gone: %v", e.PID, err)
		}
		pgid, err := syscall.Getpgid(e.PID)
		if forks == 2 != (pgid == e.PID) {
			t.Errorf("child %d of 3: pid %d, process group %d, %v", forks, e.PID, pgid, err)
		}
		if err := syscall.Kill(e.PID, syscall.SIGKILL); err != nil {
			t.Error(err)
		}
	}
	if forks != 3 {
		t.Errorf("%d children in the record, want 3", forks)
	}
}

func TestAGateIsOpenedFromOutside(t *testing.T) {
	path := put(t, "on a\n  background\n    await release go\n    reply {}\n")
	s := spawn(t, path)
	s.ask(`{"id":1,"method":"ping"}`)
	if err := Release(path, "go"); err != nil {
		t.Fatal(err)
	}
	s.ask(`{"id":1,"method":"a"}`)
}

func TestAChildNeedsOnlyItsEnvironment(t *testing.T) {
	file := filepath.Join(t.TempDir(), "x.txtar")
	if err := os.WriteFile(file, []byte("-- server: one --\ntool a\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	argv, env, err := Child(file+"#one", file)
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(argv[0])
	cmd.Env = append(os.Environ(), env...)
	cmd.Stdin = strings.NewReader(`{"id":1,"method":"ping"}` + "\n")
	out, err := cmd.Output()
	if err != nil || string(out) != "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n" {
		t.Errorf("%q, %v", out, err)
	}
	if got := strings.Join(kinds(t, file), ","); got != "start,received,eof,exit 0" {
		t.Errorf("record %s", got)
	}
	if _, _, err := Child(file+"#two", ""); err == nil {
		t.Error("a server that is not there was found")
	}
}

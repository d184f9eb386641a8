package cli

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.uber.org/goleak"

	"github.com/aurorabot/aurora/apps/weather/weathertest"
	"github.com/aurorabot/aurora/internal/testkit"
)

func TestMain(m *testing.M) {
	testscript.Main(leakChecked{m}, map[string]func(){
		"aurora": func() { os.Exit(Main()) },
		"peer":   testkit.Main, // a scripted MCP server: peer FILE
	})
}

// leakChecked is a test run that also fails when a goroutine is left.
type leakChecked struct{ m *testing.M }

func (l leakChecked) Run() int {
	code := l.m.Run()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// TestScripts runs the commands as people do, each script with a home of its
// own. Beside the commands of testscript there are
//
//	exits CODE PROGRAM…    run a program that must exit with this code
//	schema NAME            stdout is one JSON document that fits docs/schemas/NAME.json
//	schema-lines NAME      each line of stdout is one
//	up [FLAG…]             run `aurora up` and wait until it says that it is up;
//	                       up.stdout and up.stderr hold what it prints
//	signal NAME            send it INT, TERM, HUP or KILL
//	ended CODE             wait for its end, which must be with this exit code (-1:
//	                       by a signal)
//	down                   signal INT, and it has ended with 0
//	gone RECORD            no process of this record of a peer is alive
//	await FILE PATTERN     wait until a file has a line like this
//	untouched FILE         stdout and FILE, both of aurora apps --json, show the same
//	                       processes in the same states since the same time
//	await-events N TEXT    wait until N files in the inbox hold a text
//	work STATE ID [long-ago]   be the consumer of the inbox: bring an event to a
//	                       state, two days ago
//	follow [FLAG…]         run `aurora events --follow`; follow.stdout and
//	                       follow.stderr hold what it prints
//	unfollow               Ctrl-C, and it has ended with 0
//	once FILE PATTERN      exactly one line of a file is like this
//	weather                let the weather app of this home ask a recorded provider
//
// and $PEERS, a folder with the scripted servers of testdata/peers.
func TestScripts(t *testing.T) {
	schemas := compileSchemas(t)
	provider := weathertest.NewServer(t)
	testscript.Run(t, testscript.Params{
		Dir:                 "testdata/script",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setUp,
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){
			"exits": exits,
			"schema": func(ts *testscript.TestScript, neg bool, args []string) {
				fits(ts, schemas, args[0], ts.ReadFile("stdout"))
			},
			"schema-lines": func(ts *testscript.TestScript, neg bool, args []string) {
				for line := range strings.Lines(ts.ReadFile("stdout")) {
					fits(ts, schemas, args[0], line)
				}
			},
			"up":     up,
			"signal": sendSignal,
			"ended":  ended,
			"down": func(ts *testscript.TestScript, neg bool, args []string) {
				sendSignal(ts, neg, []string{"INT"})
				ended(ts, neg, []string{"0"})
			},
			"gone":         gone,
			"await":        await,
			"untouched":    untouched,
			"await-events": awaitEvents,
			"work":         work,
			"follow":       follow,
			"unfollow":     unfollow,
			"once":         once,
			"weather": func(ts *testscript.TestScript, neg bool, args []string) {
				ts.Check(os.MkdirAll(ts.MkAbs("apps"), 0o700))
				ts.Check(os.WriteFile(ts.MkAbs("apps/config.yml"), []byte("apps:\n  aurora-app-weather:\n    startup: {base_url: "+provider.URL+"}\n"), 0o600))
			},
		},
	})
}

func setUp(env *testscript.Env) error {
	peers := filepath.Join(env.WorkDir, ".peers")
	env.Setenv("PEERS", peers)
	env.Setenv("LANG", "C.UTF-8")
	env.Values[upKey{}] = new(upProcess)
	env.Values[followKey{}] = new(exec.Cmd)
	if err := os.CopyFS(peers, os.DirFS("testdata/peers")); err != nil {
		return err
	}
	demo, err := os.ReadFile("../control/controltest/demo.mcp")
	if err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(peers, "demo.mcp"), demo, 0o600)
}

func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARG…]")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	code := 0
	var exit *exec.ExitError
	if err := ts.Exec(args[1], args[2:]...); errors.As(err, &exit) {
		code = exit.ExitCode()
	} else if err != nil {
		ts.Fatalf("%v", err)
	}
	if code != want {
		ts.Fatalf("exit code %d, want %d", code, want)
	}
}

// compileSchemas compiles the schemas of documents that commands print.
func compileSchemas(t *testing.T) map[string]*jsonschema.Schema {
	t.Helper()
	files, err := filepath.Glob("../../docs/schemas/*.json")
	if err != nil || len(files) == 0 {
		t.Fatalf("no schemas: %v", err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	all := make(map[string]*jsonschema.Schema)
	for _, file := range files {
		s, err := c.Compile(file)
		if err != nil {
			t.Fatal(err)
		}
		all[strings.TrimSuffix(filepath.Base(file), ".json")] = s
	}
	return all
}

func fits(ts *testscript.TestScript, schemas map[string]*jsonschema.Schema, name, text string) {
	s := schemas[name]
	if s == nil {
		ts.Fatalf("there is no schema %q", name)
	}
	dec := json.NewDecoder(strings.NewReader(text))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		ts.Fatalf("stdout is no JSON: %v", err)
	}
	if _, err := dec.Token(); err != io.EOF {
		ts.Fatalf("stdout is more than one JSON document")
	}
	if err := s.Validate(v); err != nil {
		ts.Fatalf("stdout does not fit docs/schemas/%s.json: %v", name, err)
	}
}

type upKey struct{}

// An upProcess is `aurora up` in the background of a script.
type upProcess struct {
	cmd   *exec.Cmd
	ended chan struct{} // closed when it has ended
}

var isUp = regexp.MustCompile(`aurora is up|"pid":`)

func up(ts *testscript.TestScript, neg bool, args []string) {
	bin, err := exec.LookPath("aurora")
	ts.Check(err)
	cmd := exec.Command(bin, append([]string{"up"}, args...)...)
	cmd.Dir = ts.MkAbs(".")
	for _, key := range []string{"PATH", "HOME", "TMPDIR", "PEERS", "LANG", "AURORA_HOME"} {
		cmd.Env = append(cmd.Env, key+"="+ts.Getenv(key))
	}
	stdout, err := cmd.StdoutPipe()
	ts.Check(err)
	copied, err := os.Create(ts.MkAbs("up.stdout"))
	ts.Check(err)
	stderr, err := os.Create(ts.MkAbs("up.stderr"))
	ts.Check(err)
	cmd.Stderr = stderr
	ts.Check(cmd.Start())
	p := ts.Value(upKey{}).(*upProcess)
	*p = upProcess{cmd: cmd, ended: make(chan struct{})}
	ready := make(chan struct{})
	go func() {
		defer close(p.ended)
		r := bufio.NewReader(stdout)
		told := false
		for {
			line, err := r.ReadString('\n')
			copied.WriteString(line)
			if !told && isUp.MatchString(line) {
				told = true
				close(ready)
			}
			if err != nil {
				break
			}
		}
		cmd.Wait()
		copied.Close()
		stderr.Close()
	}()
	ts.Defer(func() {
		cmd.Process.Kill() // in vain when it has ended
		<-p.ended
	})
	select {
	case <-ready:
	case <-p.ended:
		ts.Fatalf("aurora up ended: %s%s", ts.ReadFile("up.stdout"), ts.ReadFile("up.stderr"))
	}
}

func sendSignal(ts *testscript.TestScript, neg bool, args []string) {
	sig := map[string]os.Signal{"INT": os.Interrupt, "TERM": syscall.SIGTERM, "HUP": syscall.SIGHUP, "KILL": os.Kill}[args[0]]
	ts.Check(ts.Value(upKey{}).(*upProcess).cmd.Process.Signal(sig))
}

func ended(ts *testscript.TestScript, neg bool, args []string) {
	p := ts.Value(upKey{}).(*upProcess)
	<-p.ended
	if code := strconv.Itoa(p.cmd.ProcessState.ExitCode()); code != args[0] {
		ts.Fatalf("aurora up exited with %s, want %s\n%s", code, args[0], ts.ReadFile("up.stderr"))
	}
}

// gone checks that no process of a scripted server is left.
func gone(ts *testscript.TestScript, neg bool, args []string) {
	events, err := testkit.Events(strings.TrimSuffix(ts.MkAbs(args[0]), ".record"))
	ts.Check(err)
	if len(events) == 0 {
		ts.Fatalf("%s holds no process", args[0])
	}
	for _, e := range events {
		if p, err := os.FindProcess(e.PID); err == nil && p.Signal(syscall.Signal(0)) == nil {
			ts.Fatalf("process %d is alive", e.PID)
		}
	}
}

// await looks again and again, since a file of another process does not ring.
func await(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: await FILE PATTERN")
	}
	re, err := regexp.Compile(`(?m)` + args[1])
	ts.Check(err)
	limit := time.After(time.Minute)
	for {
		b, err := os.ReadFile(ts.MkAbs(args[0]))
		if err == nil && re.Match(b) {
			return
		}
		select {
		case <-time.After(2 * time.Millisecond):
		case <-limit:
			ts.Fatalf("%s never had a line like %s:\n%s", args[0], args[1], b)
		}
	}
}

// awaitEvents looks again and again, as await does.
func awaitEvents(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: await-events N TEXT")
	}
	want, err := strconv.Atoi(args[0])
	ts.Check(err)
	limit := time.After(time.Minute)
	for {
		n := 0
		for _, file := range inboxFiles(ts) {
			if b, err := os.ReadFile(file); err == nil && strings.Contains(string(b), args[1]) {
				n++
			}
		}
		if n >= want {
			return
		}
		select {
		case <-time.After(2 * time.Millisecond):
		case <-limit:
			ts.Fatalf("only %d events hold %s", n, args[1])
		}
	}
}

func inboxFiles(ts *testscript.TestScript) []string {
	files, err := filepath.Glob(ts.MkAbs("data/kernel/inbox/*/event_*.json"))
	ts.Check(err)
	return slices.DeleteFunc(files, func(f string) bool { return filepath.Base(filepath.Dir(f)) == "notes" })
}

// work does with an event what a consumer does.
func work(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: work STATE ID [long-ago]")
	}
	for _, file := range inboxFiles(ts) {
		if strings.Contains(filepath.Base(file), "_"+args[1]+"-") {
			to := filepath.Join(ts.MkAbs("data/kernel/inbox"), args[0], filepath.Base(file))
			ts.Check(os.Rename(file, to))
			if len(args) > 2 {
				ts.Check(os.Chtimes(to, time.Time{}, time.Now().Add(-48*time.Hour)))
			}
			return
		}
	}
	ts.Fatalf("there is no event %s", args[1])
}

type followKey struct{}

func follow(ts *testscript.TestScript, neg bool, args []string) {
	bin, err := exec.LookPath("aurora")
	ts.Check(err)
	cmd := ts.Value(followKey{}).(*exec.Cmd)
	*cmd = *exec.Command(bin, append([]string{"events", "--follow"}, args...)...)
	cmd.Dir = ts.MkAbs(".")
	for _, key := range []string{"PATH", "HOME", "TMPDIR", "LANG", "PEERS"} {
		cmd.Env = append(cmd.Env, key+"="+ts.Getenv(key))
	}
	stdout, err := os.Create(ts.MkAbs("follow.stdout"))
	ts.Check(err)
	defer stdout.Close()
	stderr, err := os.Create(ts.MkAbs("follow.stderr"))
	ts.Check(err)
	defer stderr.Close()
	cmd.Stdout, cmd.Stderr = stdout, stderr
	ts.Check(cmd.Start())
	ts.Defer(func() {
		cmd.Process.Kill() // in vain when it has ended
		cmd.Wait()
	})
}

func unfollow(ts *testscript.TestScript, neg bool, args []string) {
	cmd := ts.Value(followKey{}).(*exec.Cmd)
	ts.Check(cmd.Process.Signal(os.Interrupt))
	ts.Check(cmd.Wait())
}

func once(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: once FILE PATTERN")
	}
	re, err := regexp.Compile(`(?m)^.*` + args[1])
	ts.Check(err)
	if n := len(re.FindAllString(ts.ReadFile(args[0]), -1)); n != 1 {
		ts.Fatalf("%d lines of %s are like %s, want 1", n, args[0], args[1])
	}
}

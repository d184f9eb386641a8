package faults

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/aurorabot/aurora/internal/testkit"
)

// The same scripted servers, connected by the command transport of the official
// SDK (go-sdk v1.8.0). Each of these rows is red there, which is why Aurora has
// a client of its own; when one turns green the SDK has been mended and the
// reason is gone.
var redRows = []struct {
	script, server, what string
	// red describes how the SDK fails; nil means that it did not.
	red func(*sdk) error
}{
	{"S01-banner", "banner", "a banner ends the handshake", (*sdk).cannotConnect},
	{"S01-banner", "midway", "a log line during a call ends the session", func(p *sdk) error { return p.sessionDies("echo", nil) }},
	{"S03-line-ends", "bom", "a byte order mark ends the handshake", (*sdk).cannotConnect},
	{"S05-long-lines", "big", "17 MiB end the session", func(p *sdk) error { return p.sessionDies("big", map[string]any{"n": "17MiB"}) }},
	{"S06-pieces", "shared", "two messages on a line end the session", func(p *sdk) error { return p.sessionDies("twice", nil) }},
	{"S09-stderr", "talker", "a stderr that nobody happens to read stops the server", (*sdk).stderrBlocks},
	{"S11-stopped-reading", "stuck", "a call to a server that does not read ignores its deadline", (*sdk).writeBlocks},
	{"S13-ids", "quoted", "an id given back as a string is never matched", (*sdk).connectHangs},
	{"S13-ids", "nobody", "an error without an id ends the session", (*sdk).cannotConnect},
	{"L01-silent", "silent", "the error of a server that never answers says nothing", (*sdk).silentSaysNothing},
	{"L03-versions", "strict", "a refusal that lists versions is not tried again", (*sdk).cannotConnect},
	{"P01-no-such-command", "", "a missing interpreter is not named", (*sdk).interpreterNotNamed},
	{"P03-stubborn", "family", "children outlive Close", (*sdk).childrenSurvive},
	{"P06-exits-at-once", "nokey", "neither exit code nor last words are told", (*sdk).endNotTold},
	{"P06-exits-at-once", "orphaning", "a child that holds stdout hides the end of the server", (*sdk).endHidden},
	{"C10-odd-definitions", "modern", "one malformed tool costs all the others", (*sdk).listFails},
	{"T07-pages", "circle", "a cursor that comes back is followed for ever", (*sdk).pagesForEver},
}

// core are the rows of the core set among them. The missing ones need more than
// a transport: a supervisor, a configuration, a catalog.
const core = 10

func TestTheSDKIsRed(t *testing.T) {
	rows := strings.Join(readRows(t), "\n")
	seen := map[string]bool{}
	for _, row := range redRows {
		if id := rowOf(row.script); strings.Contains(rows, " "+id+"★") {
			seen[id] = true
		}
		t.Run(row.script+"/"+row.what, func(t *testing.T) {
			t.Parallel()
			p := &sdk{t: t, dir: t.TempDir()}
			if row.server != "" {
				path, err := testkit.Put(p.dir, row.server, filepath.Join("testdata", row.script+".txtar")+"#"+row.server)
				if err != nil {
					t.Fatal(err)
				}
				p.cmd = exec.Command(path)
			}
			ended := make(chan error, 1)
			go func() { ended <- row.red(p) }()
			select {
			case err := <-ended:
				if err != nil {
					t.Errorf("the SDK does it right: %v", err)
				}
			case <-time.After(patience):
				panic(t.Name() + " hangs")
			}
			p.clear()
		})
	}
	if len(seen) < core {
		t.Errorf("%d rows of the core set, want %d", len(seen), core)
	}
}

// An sdk is one attempt to use a server through the SDK.
type sdk struct {
	t   *testing.T
	dir string
	cmd *exec.Cmd
}

// deadline bounds what the SDK is asked to do; grace is what it gets on top
// before it counts as not looking at deadlines.
const (
	deadline = time.Second
	grace    = 3 * time.Second
)

func (p *sdk) connect(limit time.Duration) (*mcp.ClientSession, error) {
	client := mcp.NewClient(&mcp.Implementation{Name: "sdk", Version: "1"}, nil)
	ctx, cancel := context.WithTimeout(context.Background(), limit)
	defer cancel()
	return client.Connect(ctx, &mcp.CommandTransport{Command: p.cmd, TerminateDuration: 200 * time.Millisecond},
		&mcp.ClientSessionOptions{ProtocolVersion: "2025-11-25"})
}

func callTool(s *mcp.ClientSession, name string, args any) error {
	ctx, cancel := context.WithTimeout(context.Background(), deadline)
	defer cancel()
	_, err := s.CallTool(ctx, &mcp.CallToolParams{Name: name, Arguments: args})
	return err
}

// cannotConnect is red if a server that works cannot be connected to.
func (p *sdk) cannotConnect() error {
	s, err := p.connect(10 * deadline)
	if err == nil {
		return errors.Join(errors.New("it connects"), s.Close())
	}
	if errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("it only times out: %w", err)
	}
	p.t.Logf("Connect: %v", err)
	return nil
}

// connectHangs is red if the answer is there and the handshake times out.
func (p *sdk) connectHangs() error {
	s, err := p.connect(deadline)
	if err == nil {
		return errors.Join(errors.New("it connects"), s.Close())
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("it fails otherwise: %w", err)
	}
	p.t.Logf("Connect: %v", err)
	return nil
}

// silentSaysNothing is red if the error of a handshake that timed out names
// neither what was waited for nor what the server said about itself.
func (p *sdk) silentSaysNothing() error {
	s, err := p.connect(deadline)
	if err == nil {
		return errors.Join(errors.New("it connects"), s.Close())
	}
	p.t.Logf("Connect: %v", err)
	if text := err.Error(); strings.Contains(text, "initialize") || strings.Contains(text, "database") {
		return fmt.Errorf("it says: %w", err)
	}
	return nil
}

// sessionDies is red if calls after this one fail, too.
func (p *sdk) sessionDies(tool string, args any) error {
	s, err := p.connect(10 * deadline)
	if err != nil {
		return err
	}
	defer s.Close()
	p.t.Logf("the call: %v", callTool(s, tool, args))
	err = s.Ping(context.Background(), nil)
	p.t.Logf("a ping after it: %v", err)
	if err == nil {
		return errors.New("the session is alive")
	}
	return nil
}

// stderrBlocks is red if a server stands still because its stderr, which was
// asked for, is read only when somebody wants to show it.
func (p *sdk) stderrBlocks() error {
	r, w, err := os.Pipe()
	if err != nil {
		return err
	}
	defer r.Close()
	p.cmd.Stderr = w
	s, err := p.connect(deadline)
	w.Close()
	if err == nil {
		return errors.Join(errors.New("it connects"), s.Close())
	}
	p.t.Logf("Connect: %v", err)
	return nil
}

// writeBlocks is red if a call outlives its deadline.
func (p *sdk) writeBlocks() error {
	s, err := p.connect(10 * deadline)
	if err != nil {
		return err
	}
	if _, err := s.ListTools(context.Background(), nil); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- callTool(s, "eat", map[string]any{"text": strings.Repeat("x", 1<<20)}) }()
	select {
	case err := <-ended:
		return fmt.Errorf("the call came back: %w", errors.Join(err, s.Close()))
	case <-time.After(deadline + grace):
		p.t.Logf("the call did not come back %v after its deadline of %v", grace, deadline)
	}
	if err := p.cmd.Process.Kill(); err != nil {
		return err
	}
	<-ended
	_ = s.Close() // says that the process was killed
	return nil
}

// interpreterNotNamed is red if the error is one about the script, which exists.
func (p *sdk) interpreterNotNamed() error {
	path := filepath.Join(p.dir, "shebang")
	if err := os.WriteFile(path, []byte("#!/opt/no-such-python3 -u\n"), 0o700); err != nil {
		return err
	}
	p.cmd = exec.Command(path)
	s, err := p.connect(10 * deadline)
	if err == nil {
		return errors.Join(errors.New("it connects"), s.Close())
	}
	p.t.Logf("Connect: %v", err)
	if strings.Contains(err.Error(), "no-such-python3") {
		return fmt.Errorf("it names the interpreter: %w", err)
	}
	return nil
}

// childrenSurvive is red if Close leaves processes of the server behind.
func (p *sdk) childrenSurvive() error {
	s, err := p.connect(10 * deadline)
	if err != nil {
		return err
	}
	p.t.Logf("Close: %v", s.Close())
	left := p.forks()
	p.t.Logf("%d processes are left", len(left))
	if len(left) == 0 {
		return errors.New("nothing is left")
	}
	return nil
}

// endNotTold is red if the error holds nothing by which a user could help himself.
func (p *sdk) endNotTold() error {
	s, err := p.connect(10 * deadline)
	if err == nil {
		return errors.Join(errors.New("it connects"), s.Close())
	}
	p.t.Logf("Connect: %v", err)
	if text := err.Error(); strings.Contains(text, "DEMO_TOKEN") || strings.Contains(text, "exit status 2") {
		return fmt.Errorf("it says: %w", err)
	}
	return nil
}

// endHidden is red if a call waits for its deadline though the server is gone.
func (p *sdk) endHidden() error {
	s, err := p.connect(10 * deadline)
	if err != nil {
		return err
	}
	err = callTool(s, "die", nil)
	p.t.Logf("the call: %v", err)
	for _, pid := range p.forks() {
		kill(pid) // so that Close comes to an end
	}
	_ = s.Close() // says how the process ended
	if !errors.Is(err, context.DeadlineExceeded) {
		return fmt.Errorf("the call ended before its deadline: %w", err)
	}
	return nil
}

// listFails is red if no tool at all comes out of the list.
func (p *sdk) listFails() error {
	s, err := p.connect(10 * deadline)
	if err != nil {
		return err
	}
	defer s.Close()
	list, err := s.ListTools(context.Background(), nil)
	if err == nil {
		return fmt.Errorf("it lists %d tools", len(list.Tools))
	}
	p.t.Logf("ListTools: %v", err)
	return nil
}

// pagesForEver is red if the iterator is still going after a thousand pages.
func (p *sdk) pagesForEver() error {
	s, err := p.connect(10 * deadline)
	if err != nil {
		return err
	}
	defer s.Close()
	pages := 0
	for _, err := range s.Tools(context.Background(), nil) {
		if err != nil {
			return err
		}
		if pages++; pages == 1000 {
			p.t.Logf("%d pages with one cursor", pages)
			return nil
		}
	}
	return fmt.Errorf("it stops after %d pages", pages)
}

// forks returns the children of the server that are still there.
func (p *sdk) forks() []int { return p.recorded("fork") }

// recorded returns the processes that the server's record names and that exist.
// The command itself is not asked: the SDK may still be waiting for it.
func (p *sdk) recorded(kind string) []int {
	if p.cmd == nil {
		return nil
	}
	events, err := testkit.Events(p.cmd.Path)
	if err != nil {
		p.t.Error(err)
	}
	var pids []int
	for _, e := range events {
		if e.Kind == kind && exists(e.PID) {
			pids = append(pids, e.PID)
		}
	}
	return pids
}

// clear ends what the SDK has left behind.
func (p *sdk) clear() {
	for _, pid := range p.forks() {
		kill(pid)
	}
	for _, pid := range p.recorded("start") {
		if proc, err := os.FindProcess(pid); err == nil {
			_ = proc.Kill() // whoever started it will reap it
			_ = proc.Release()
		}
	}
}

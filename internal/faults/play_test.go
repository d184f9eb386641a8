package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/platform/host"
	"github.com/aurorabot/aurora/internal/spool/spooltest"
	"github.com/aurorabot/aurora/internal/testkit"
)

// play plays one section of steps. how is that of newStage.
func play(t *testing.T, a *testkit.Archive, section, how string) {
	text, first, _ := a.Section(section)
	s := newStage(t, a, how)
	lines := strings.Split(text, "\n")
	for i := 0; i < len(lines); i++ {
		line := lines[i]
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		at := fmt.Sprintf("%s:%d: %s", filepath.Base(a.Path), first+i, line)
		if line == "config" {
			var block []string
			for i+1 < len(lines) && strings.HasPrefix(lines[i+1], "  ") {
				i++
				block = append(block, lines[i][2:])
			}
			s.must(os.WriteFile(s.file("apps/config.yml"), []byte(strings.Join(block, "\n")), 0o600))
			continue
		}
		if err := s.step(line); err != nil {
			t.Fatalf("%s\n%v", at, err)
		}
	}
}

// step does what one line says.
func (s *stage) step(line string) error {
	verb, rest, _ := strings.Cut(line, " ")
	ctx, cancel := context.WithTimeout(s.t.Context(), patience)
	defer cancel()
	switch verb {
	case "chmod":
		mode, name, _ := strings.Cut(rest, " ")
		bits, err := strconv.ParseUint(mode, 8, 32)
		if err != nil {
			return err
		}
		return os.Chmod(s.file(name), os.FileMode(bits))
	case "remove":
		return os.Remove(s.file(rest))
	case "check":
		s.check()
		return nil
	case "inbox":
		return s.setInbox(rest)
	case "up":
		if rest == "keep going" {
			return s.up(true)
		}
		return s.up(false, strings.Fields(rest)...)
	case "server":
		return s.serverStep(rest)
	case "keep":
		value, err := s.field(rest)
		s.kept[rest] = value
		return err
	case "expect", "await":
		return s.compare(verb == "await", rest)
	}
	if s.host == nil {
		return fmt.Errorf("the host is not up")
	}
	switch verb {
	case "down":
		s.down()
		return nil
	case "start":
		return s.host.StartApp(ctx, rest)
	case "stop":
		return s.host.StopApp(ctx, rest)
	case "restart":
		return s.restart(ctx, rest)
	case "release":
		app, gate, _ := strings.Cut(rest, " ")
		conf := s.conf.App(app)
		if conf == nil {
			return fmt.Errorf("no app %q", app)
		}
		if server := s.serverOf(conf); server != nil {
			server.release(gate)
			return nil
		}
		return testkit.Release(s.serverPath(conf), gate)
	case "call":
		c, err := s.parseCall(rest)
		if err != nil {
			return err
		}
		s.finish(s.begin(c))
		return nil
	case "begin":
		id, rest, _ := strings.Cut(rest, " ")
		c, err := s.parseCall(rest)
		if err != nil {
			return err
		}
		s.open[id] = s.begin(c)
		return nil
	case "cancel", "finish":
		o := s.open[rest]
		if o == nil {
			return fmt.Errorf("no call %q was begun", rest)
		}
		if verb == "cancel" {
			o.cancel()
			return nil
		}
		delete(s.open, rest)
		s.finish(o)
		return nil
	}
	return fmt.Errorf("unknown step %q", verb)
}

// setInbox does what an inbox step says.
func (s *stage) setInbox(rest string) error {
	switch {
	case rest == "" && s.host == nil:
		s.inbox = &inboxOf{disk: spooltest.New()}
	case rest == "jams" && s.inbox != nil:
		s.inbox.jam()
	case rest == "works" && s.inbox != nil:
		s.inbox.free()
	default:
		return fmt.Errorf("write inbox before up, then inbox jams or inbox works")
	}
	return nil
}

func (s *stage) restart(ctx context.Context, args string) error {
	words := strings.Fields(args)
	times := 1
	if len(words) == 3 && words[2] == "times" {
		var err error
		if times, err = strconv.Atoi(words[1]); err != nil {
			return err
		}
	}
	for i := range times {
		if err := s.host.RestartApp(ctx, words[0]); err != nil {
			return err
		}
		if i == times-1 {
			break
		}
		if err := s.host.Settled(ctx, words[0]); err != nil {
			return err
		}
	}
	return nil
}

var (
	withinForm = regexp.MustCompile(` within (\S+)$`)
	aliasForm  = regexp.MustCompile(`^alias\(([^)]*)\)`)
)

// parseCall reads `TOOL [JSON] [within 2s]`, where TOOL may be alias(NAME).
func (s *stage) parseCall(text string) (call.Call, error) {
	var c call.Call
	if m := withinForm.FindStringSubmatch(text); m != nil {
		d, err := time.ParseDuration(m[1])
		if err != nil {
			return c, err
		}
		c.Timeout = d
		text = strings.TrimSuffix(text, m[0])
	}
	if m := aliasForm.FindStringSubmatch(text); m != nil {
		alias, err := s.field(m[0])
		if err != nil {
			return c, err
		}
		text = alias + strings.TrimPrefix(text, m[0])
	}
	name, args, _ := strings.Cut(text, " ")
	args = strings.ReplaceAll(args, "${fill:1MiB}", strings.Repeat("x", 1<<20))
	if args != "" && !json.Valid([]byte(args)) {
		return c, fmt.Errorf("arguments are not JSON: %.200s", args)
	}
	c.Name, c.Args = name, json.RawMessage(args)
	return c, nil
}

var compareForm = regexp.MustCompile(`^(\w+\([^)]*\)|\S+) (is|has|lacks|matches|at least|at most)(?: (.*))?$`)

// compare looks whether a field is as it should be: once, or until it is.
func (s *stage) compare(wait bool, text string) error {
	m := compareForm.FindStringSubmatch(text)
	if m == nil {
		return fmt.Errorf("write FIELD is|has|lacks|matches|at least|at most VALUE")
	}
	name, op, want := m[1], m[2], m[3]
	switch {
	case want == "kept":
		want = s.kept[name]
	case strings.HasPrefix(want, `"`):
		if unquoted, err := strconv.Unquote(want); err == nil {
			want = unquoted
		}
	}
	giveUp := time.Now().Add(patience)
	for {
		reason := s.hopeless(name) // before looking: it may have come to pass since
		got, err := s.field(name)
		if err != nil {
			return err
		}
		ok, err := holds(got, op, want)
		if ok || err != nil {
			return err
		}
		err = fmt.Errorf("%s is %.2000q", name, got)
		if !wait {
			return err
		}
		if reason != "" || time.Now().After(giveUp) {
			return fmt.Errorf("%w and stays so: %s", err, reason)
		}
		time.Sleep(2 * time.Millisecond) // the host has no bell to listen to
	}
}

// hopeless says why a state will not change any more.
func (s *stage) hopeless(field string) string {
	key, ok := strings.CutSuffix(field, ".state")
	if !ok || s.host == nil {
		return ""
	}
	if st, ok := s.host.AppStatus(key); ok && st.State == host.Unavailable {
		return st.Reason
	}
	return ""
}

func holds(got, op, want string) (bool, error) {
	switch op {
	case "is":
		return got == want, nil
	case "has":
		return strings.Contains(got, want), nil
	case "lacks":
		return !strings.Contains(got, want), nil
	case "matches":
		return regexp.MatchString(want, got)
	}
	g, err := strconv.Atoi(got)
	if err != nil {
		return false, err
	}
	w, err := strconv.Atoi(want)
	if op == "at least" {
		return g >= w, err
	}
	return g <= w, err
}

// compact returns JSON without insignificant white space; numbers and escapes
// keep their text.
func compact(raw []byte) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}

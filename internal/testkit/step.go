package testkit

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// blockSteps are the steps that take steps of their own.
var blockSteps = []string{"repeat", "background", "if"}

func (p *parser) steps(lines []line) ([]step, error) {
	var steps []step
	indent := 0
	if len(lines) > 0 {
		indent = lines[0].indent
	}
	for len(lines) > 0 {
		if lines[0].indent < indent {
			return nil, lines[0].at.errorf("%q stands between two depths", lines[0].text)
		}
		head, body, rest := block(lines)
		verb, args, err := word(head.text)
		if err != nil {
			return nil, head.at.errorf("%v", err)
		}
		if slices.Contains(blockSteps, verb) == (len(body) == 0) {
			if len(body) == 0 {
				return nil, head.at.errorf("%q wants steps indented under it", head.text)
			}
			return nil, body[0].at.errorf("%q is indented under %q, which takes no steps", body[0].text, verb)
		}
		inner, err := p.steps(body)
		if err != nil {
			return nil, err
		}
		do, err := p.step(verb, args, inner)
		if err != nil {
			return nil, head.at.errorf("%v", err)
		}
		steps = append(steps, step{head.at, do})
		lines = rest
	}
	return steps, nil
}

// step returns what one line does.
func (p *parser) step(verb, args string, inner []step) (func(*turn) error, error) {
	switch verb {
	case "ignore":
		return func(*turn) error { return nil }, nil
	case "reply":
		return p.replyStep(args)
	case "send":
		return textStep(args, func(t *turn, text []byte) error { t.server.send(text); return nil })
	case "stdout":
		return textStep(args, func(t *turn, text []byte) error { t.server.write(append(text, '\n'), framing{}); return nil })
	case "raw":
		return textStep(args, func(t *turn, text []byte) error { t.server.write(text, framing{}); return nil })
	case "stderr":
		return stderrStep(args)
	case "mark":
		return textStep(args, func(t *turn, text []byte) error {
			t.server.ground.record(Event{Kind: "mark", Text: string(text)})
			return nil
		})
	case "notify":
		return messageStep("", args)
	case "request":
		id, rest, _ := strings.Cut(args, " ")
		if !json.Valid([]byte(id)) {
			return nil, fmt.Errorf("request wants an id in JSON, not %q", id)
		}
		return messageStep(id, rest)
	case "progress":
		return p.progressStep(args)
	case "sleep":
		d, err := parseDuration(args)
		return func(t *turn) error { t.server.sleep(d); return t.ended() }, err
	case "await":
		return p.awaitStep(args)
	case "repeat":
		return repeatStep(args, inner)
	case "background":
		return func(t *turn) error {
			bg := *t
			bg.main = false
			t.server.wg.Go(func() { t.server.do(&bg, inner) })
			return nil
		}, nil
	case "if":
		c, err := parseConditions(args)
		c.named = p.named
		return func(t *turn) error {
			if !t.server.holds(c, t.msg) {
				return nil
			}
			return t.run(inner)
		}, err
	case "add", "remove":
		return itemStep(verb, args)
	case "frame":
		if _, err := parseFraming(framing{}, args); err != nil {
			return nil, err
		}
		return func(t *turn) error {
			t.server.mu.Lock()
			defer t.server.mu.Unlock()
			var err error
			t.server.framing, err = parseFraming(t.server.framing, args)
			return err
		}, nil
	case "ids":
		style, err := parseIDs(args)
		return func(t *turn) error {
			t.server.mu.Lock()
			defer t.server.mu.Unlock()
			t.server.ids = style
			return nil
		}, err
	case "fork":
		o, err := parseFork(args)
		return func(t *turn) error { return t.server.ground.fork(o) }, err
	case "stop":
		if args != "reading" {
			return nil, fmt.Errorf(`write "stop reading"`)
		}
		return func(t *turn) error { t.server.deaf.Store(true); return nil }, nil
	case "close":
		if !slices.Contains([]string{"stdin", "stdout", "stderr"}, args) {
			return nil, fmt.Errorf("close what? stdin, stdout or stderr, not %q", args)
		}
		return func(t *turn) error { return t.server.ground.close(args) }, nil
	case "exit":
		code, err := strconv.Atoi(args)
		if err != nil || code < 0 || code > 255 {
			return nil, fmt.Errorf("exit wants a code from 0 to 255, not %q", args)
		}
		return func(t *turn) error { t.server.ground.exit(code); return errEnded }, nil
	case "kill":
		if !slices.Contains(deadlySignals, args) {
			return nil, fmt.Errorf("kill wants one of %s, not %q", strings.Join(deadlySignals, ", "), args)
		}
		return func(t *turn) error {
			if err := t.server.ground.kill(args); err != nil || args == "STOP" {
				return err // after STOP and CONT it goes on
			}
			return errEnded
		}, nil
	}
	return nil, fmt.Errorf("unknown step %q", verb)
}

var deadlySignals = []string{"SEGV", "KILL", "TERM", "ABRT", "HUP", "STOP"}

// run does a block inside a block.
func (t *turn) run(steps []step) error {
	for _, s := range steps {
		if err := t.ended(); err != nil {
			return err
		}
		if err := s.do(t); err != nil {
			if errors.Is(err, errEnded) || errors.Is(err, errStdinClosed) {
				return err
			}
			return s.at.place(err)
		}
	}
	return nil
}

func (t *turn) ended() error {
	if t.server.ctx.Err() != nil {
		return errEnded
	}
	return nil
}

func (p *parser) awaitStep(args string) (func(*turn) error, error) {
	what, rest, err := word(args)
	if err != nil {
		return nil, err
	}
	switch what {
	case "":
		return nil, errors.New("await what? METHOD, reply ID, cancel or release GATE")
	case "reply":
		if !json.Valid([]byte(rest)) {
			return nil, fmt.Errorf("await reply wants an id in JSON, not %q", rest)
		}
		return func(t *turn) error { return t.wait(func() bool { return t.server.replied[rest] }) }, nil
	case "cancel":
		if !p.inside {
			return nil, errors.New("await cancel stands in a block that handles a message")
		}
		return func(t *turn) error { return t.wait(func() bool { return t.server.cancelled[string(t.msg.ID)] }) }, nil
	case "release":
		if rest == "" || strings.ContainsAny(rest, `/\ `) {
			return nil, fmt.Errorf("await release wants the name of a gate, not %q", rest)
		}
		return func(t *turn) error {
			if t.server.ground.released(t.server.ctx, rest) != nil {
				return errEnded
			}
			return nil
		}, nil
	}
	key := what
	if !startsCondition(rest) {
		var name string
		if name, rest, err = word(rest); err != nil {
			return nil, err
		}
		key += "\x00" + name
	}
	c, err := parseConditions(rest)
	if err != nil || c.run != (span{}) || c.seen != nil || c.unseen != nil {
		return nil, errors.New("write await METHOD [NAME] [#N]")
	}
	n := max(c.nth.from, 1)
	return func(t *turn) error { return t.wait(func() bool { return t.server.counts[key] >= n }) }, nil
}

func repeatStep(args string, inner []step) (func(*turn) error, error) {
	words := strings.Fields(args)
	if len(words) != 1 && (len(words) != 3 || words[1] != "every") {
		return nil, errors.New("write repeat N|forever [every 10ms]")
	}
	times := -1
	if words[0] != "forever" {
		var err error
		if times, err = strconv.Atoi(words[0]); err != nil || times < 1 {
			return nil, fmt.Errorf("repeat wants a number or forever, not %q", words[0])
		}
	}
	var pause time.Duration
	if len(words) == 3 {
		var err error
		if pause, err = parseDuration(words[2]); err != nil {
			return nil, err
		}
	}
	return func(t *turn) error {
		loop := *t
		for loop.i = 1; times < 0 || loop.i <= times; loop.i++ {
			if pause > 0 {
				t.server.sleep(pause)
			}
			if err := loop.run(inner); err != nil {
				return err
			}
		}
		return t.ended()
	}, nil
}

func itemStep(verb, args string) (func(*turn) error, error) {
	kindWord, rest, _ := strings.Cut(args, " ")
	kind := itemKind(kindWord)
	if !slices.Contains([]itemKind{tools, resources, templates, prompts}, kind) {
		return nil, fmt.Errorf("%s what? tool, resource, template or prompt, not %q", verb, kindWord)
	}
	text, err := parseTemplate(rest, false)
	if err != nil {
		return nil, err
	}
	apply := func(server *server, what string) error {
		if verb == "remove" {
			name, err := literal(what)
			server.items[kind] = slices.DeleteFunc(server.items[kind], func(i item) bool { return i.name == name })
			return err
		}
		it, err := parseItem(kind, what)
		server.items[kind] = append(server.items[kind], it)
		return err
	}
	return func(t *turn) error {
		what, err := text.text(t)
		if err != nil {
			return err
		}
		t.server.mu.Lock()
		defer t.server.mu.Unlock()
		return apply(t.server, string(what))
	}, apply(&server{items: map[itemKind][]item{}}, string(text.sample()))
}

package faults

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/aurorabot/aurora/internal/platform/host"
	"github.com/aurorabot/aurora/internal/testkit"
	"github.com/aurorabot/aurora/internal/toolschema"
)

var ofTool = regexp.MustCompile(`^(alias|definition|title)\((.*)\)$`)

// field returns one thing that can be looked at.
func (s *stage) field(name string) (string, error) {
	if m := ofTool.FindStringSubmatch(name); m != nil {
		return s.toolField(m[1], m[2])
	}
	switch name {
	case "log":
		return s.log.String(), nil
	case "started":
		return yes(s.host != nil), nil
	case "problems":
		var lines []string
		for _, p := range s.conf.Problems {
			lines = append(lines, p.String())
		}
		return strings.Join(lines, "\n"), nil
	case "catalog", "aliases", "aliases.count", "aliases.invalid",
		"exported", "exported.left", "exported.left.count", "exported.valid", "exported.longest":
		if s.host == nil {
			return "", fmt.Errorf("the host is not up")
		}
		return s.catalogField(name), nil
	}
	key, what := name, ""
	if dot := strings.LastIndexByte(name, '.'); dot >= 0 {
		key, what = name[:dot], name[dot+1:]
	}
	switch key {
	case "call":
		return s.callField(what)
	case "inbox":
		return s.inbox.field(what)
	}
	return s.appField(key, what)
}

func yes(b bool) string {
	if b {
		return "yes"
	}
	return "no"
}

func (s *stage) toolField(what, name string) (string, error) {
	t, err := s.host.Catalog().Resolve(name)
	if err != nil {
		return "", err
	}
	switch what {
	case "alias":
		return t.Alias, nil
	case "title":
		return t.Title, nil
	}
	return compact(t.Definition), nil
}

// validAlias is what all providers take.
var validAlias = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`)

func (s *stage) catalogField(what string) string {
	var names, pairs, aliases, invalid []string
	var tools []toolschema.Tool
	for _, t := range s.host.Catalog().Tools() {
		if !validAlias.MatchString(t.Alias) || slices.Contains(aliases, t.Alias) {
			invalid = append(invalid, t.Alias)
		}
		names = append(names, t.Name)
		aliases = append(aliases, t.Alias)
		pairs = append(pairs, t.Name+"="+t.Alias)
		tools = append(tools, toolschema.Tool{
			Alias: t.Alias, Canonical: t.Name, App: t.App.Key,
			Title: t.Title, Description: t.Description, InputSchema: t.InputSchema,
		})
	}
	switch what {
	case "aliases":
		return strings.Join(pairs, ", ")
	case "aliases.count":
		return strconv.Itoa(len(aliases))
	case "aliases.invalid":
		return strings.Join(invalid, ", ")
	case "catalog":
		return strings.Join(names, ", ")
	}
	return exportField(what, tools)
}

// exportField returns what providers would get.
func exportField(what string, tools []toolschema.Tool) string {
	var counts, left []string
	valid, longest := true, 0
	for _, d := range toolschema.Dialects() {
		e := toolschema.Convert(d, tools, nil)
		counts = append(counts, fmt.Sprintf("%s %d", d, len(e.Names)))
		for _, item := range e.Tools {
			valid = valid && utf8.Valid(item) && json.Valid(item)
		}
		if d != toolschema.OpenAI {
			continue
		}
		for _, l := range e.Left {
			left = append(left, fmt.Sprintf("%s (%s)", l.Canonical, l.Reason))
		}
		for _, item := range e.Tools {
			var f struct{ Function struct{ Description string } }
			valid = valid && json.Unmarshal(item, &f) == nil
			longest = max(longest, utf8.RuneCountInString(f.Function.Description))
		}
	}
	switch what {
	case "exported.left":
		return strings.Join(left, ", ")
	case "exported.left.count":
		return strconv.Itoa(len(left))
	case "exported.valid":
		return yes(valid)
	case "exported.longest":
		return strconv.Itoa(longest)
	}
	return strings.Join(counts, ", ")
}

func (s *stage) callField(what string) (string, error) {
	if s.last == nil {
		return "", fmt.Errorf("no call has ended yet")
	}
	r := s.last.result
	switch what {
	case "tool":
		return r.Tool, nil
	case "outcome":
		return string(r.Outcome), nil
	case "code", "error", "retryable", "rpc", "data":
		if r.Err == nil {
			return "", nil
		}
		return map[string]string{
			"code": string(r.Err.Code), "error": r.Err.Message, "retryable": yes(r.Err.Retryable),
			"rpc": strconv.FormatInt(r.Err.RPC, 10), "data": compact(r.Err.Data),
		}[what], nil
	case "result":
		return compact(r.Raw), nil
	case "text":
		return firstText(r.Raw), nil
	case "length":
		return strconv.Itoa(len(firstText(r.Raw))), nil
	case "valid":
		return yes(utf8.Valid(r.Raw) && json.Valid(r.Raw)), nil
	case "progress":
		s.last.mu.Lock()
		defer s.last.mu.Unlock()
		return strings.Join(s.last.progress, ", "), nil
	}
	return "", fmt.Errorf("a call has no %q", what)
}

func firstText(raw []byte) string {
	var result struct{ Content []struct{ Text string } }
	if json.Unmarshal(raw, &result) != nil || len(result.Content) == 0 {
		return ""
	}
	return result.Content[0].Text
}

func (s *stage) appField(key, what string) (string, error) {
	if s.conf == nil || s.conf.App(key) == nil {
		return "", fmt.Errorf("there is no app %q and no field %q", key, what)
	}
	if value, ok := s.webField(key, what); ok {
		return value, nil
	}
	if value, ok := s.serverField(key, what); ok {
		return value, nil
	}
	if value, ok := s.signalField(key, what); ok {
		return value, nil
	}
	if value, ok := s.inbox.counts(s.conf.App(key), what); ok {
		return value, nil
	}
	switch what {
	case "transport":
		return string(s.conf.App(key).MCP.Transport), nil
	case "protocol":
		return s.conf.App(key).MCP.Protocol, nil
	}
	if s.host == nil {
		return "", fmt.Errorf("the host is not up")
	}
	st, ok := s.host.AppStatus(key)
	if !ok {
		return "", fmt.Errorf("the host has no app %q", key)
	}
	switch what {
	case "state":
		return string(st.State), nil
	case "settled":
		return yes(st.State != host.Starting && st.State != host.Restarting), nil
	case "reason":
		return st.Reason, nil
	case "noise":
		return strconv.FormatInt(st.NoiseLines, 10), nil
	case "tools":
		return strconv.Itoa(st.Tools), nil
	case "warnings":
		return strings.Join(st.Warnings, "\n"), nil
	case "stderr":
		return strings.Join(st.LastStderr, "\n"), nil
	case "version":
		return st.ProtocolVersion, nil
	case "restarts":
		return strconv.Itoa(st.Restarts), nil
	case "exit":
		switch {
		case st.Exit == nil:
			return "none", nil
		case st.Exit.Signal != "":
			return "killed by " + st.Exit.Signal, nil
		}
		return fmt.Sprintf("exit code %d", st.Exit.Code), nil
	}
	return "", fmt.Errorf("an app has no %q", what)
}

// serverField returns what the server of an app has recorded.
func (s *stage) serverField(key, what string) (string, bool) {
	app := s.conf.App(key)
	events := s.record(app)
	var methods, called, marks, record []string
	starts := 0
	for _, e := range events {
		switch e.Kind {
		case "received":
			method, tool := describe(e)
			methods = append(methods, method)
			if method == "tools/call" {
				called = append(called, tool)
			}
			continue
		case "start":
			starts++
		case "mark":
			marks = append(marks, e.Text)
		}
		record = append(record, strings.TrimSpace(e.Kind+" "+e.Text))
	}
	count := func(method string) string {
		n := 0
		for _, m := range methods {
			if m == method {
				n++
			}
		}
		return strconv.Itoa(n)
	}
	switch what {
	case "starts":
		return strconv.Itoa(starts), true
	case "requests":
		return strings.Join(methods, ", "), true
	case "lists":
		return count("tools/list"), true
	case "called":
		return strings.Join(called, ", "), true
	case "cancels":
		return count("notifications/cancelled"), true
	case "acks":
		return count("notifications/aurora/ack"), true
	case "marks":
		return strings.Join(marks, ", "), true
	case "record":
		return strings.Join(record, ", "), true
	case "alive":
		if len(app.MCP.Command) == 0 {
			return "0", true
		}
		return strconv.Itoa(len(s.leftovers(s.serverPath(app)))), true
	}
	return "", false
}

// describe returns the method of a received message and the tool it names;
// answers have no method and are called "answer".
func describe(e testkit.Event) (method, tool string) {
	var m struct {
		Method string
		Params struct{ Name string }
	}
	if json.Unmarshal(e.Message, &m) != nil {
		return "garbage", ""
	}
	if m.Method == "" {
		return "answer", ""
	}
	return m.Method, m.Params.Name
}

// signalField returns what an app let us observe.
func (s *stage) signalField(key, what string) (string, bool) {
	var kinds, methods, params []string
	s.mu.Lock()
	for _, o := range s.observed {
		if o.app != key {
			continue
		}
		kinds = append(kinds, o.kind)
		if o.kind == string(host.SignalNotified) {
			methods = append(methods, o.method)
			params = append(params, o.params)
		}
	}
	s.mu.Unlock()
	switch what {
	case "signals":
		return strings.Join(kinds, ", "), true
	case "notified":
		return strings.Join(methods, ", "), true
	case "params":
		return strings.Join(params, ", "), true
	}
	return "", false
}

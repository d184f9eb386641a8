package importer

import (
	"fmt"
	"strings"
)

// A found is one server as a client wrote it.
type found struct {
	name     string // empty: it has none
	at       place
	entry    *value
	project  string // the folder of the project that it belongs to; empty: none
	disabled bool   // it is switched off elsewhere in the file
	before   place  // where its name stands for the first time, and does not count
}

// wrappers are the names under which clients keep their servers.
var wrappers = []string{"mcpServers", "context_servers", "servers", "mcp_servers"}

// find returns the servers in a document, in its order, and the inputs that they
// may refer to.
func find(root *value) (servers []found, inputs *value, err error) {
	switch root.kind {
	case objectKind:
	case listKind:
		servers, err = findList(root)
		return servers, nil, err
	default:
		return nil, nil, &SyntaxError{Line: root.at.line, Column: root.at.column, Message: "the file holds " + root.kind.String() + ", not servers", Hint: nothingHint}
	}
	wrapped := false
	for _, m := range root.members {
		switch {
		case m.name == "projects":
			wrapped = wrapped || hasProjects(m.value)
			servers = append(servers, findProjects(m.value)...)
		case m.name == "inputs":
			inputs = m.value
		case isWrapper(m.name), m.name == "mcp" && m.value.kind == objectKind && looksLikeServers(m.value):
			wrapped = true
			more, err := findWrapped(m)
			if err != nil {
				return nil, nil, err
			}
			servers = append(servers, more...)
		case m.name == "mcp" && m.value.kind == objectKind:
			for _, inner := range m.value.members {
				if !isWrapper(inner.name) {
					continue
				}
				wrapped = true
				more, err := findWrapped(inner)
				if err != nil {
					return nil, nil, err
				}
				servers = append(servers, more...)
			}
			if v := m.value.get("inputs"); v != nil {
				inputs = v
			}
		}
	}
	switch {
	case wrapped:
		return servers, inputs, nil
	case looksLikeServer(root):
		return []found{{name: text(root.get("name")), at: root.at, entry: root}}, inputs, nil
	case looksLikeServers(root):
		return findMap(root, ""), inputs, nil
	}
	return nil, nil, &SyntaxError{Line: root.at.line, Column: root.at.column, Message: "there are no MCP servers in it", Hint: nothingHint}
}

const nothingHint = `they stand under "mcpServers", "servers" or "context_servers", or alone: {"NAME": {"command": …}} or {"NAME": {"url": …}}`

// isWrapper knows the names of wrappers, also with the name of a program before.
func isWrapper(name string) bool {
	for _, w := range wrappers {
		if name == w || strings.HasSuffix(name, "."+w) {
			return true
		}
	}
	return false
}

func findWrapped(m member) ([]found, error) {
	switch m.value.kind {
	case objectKind:
		return findMap(m.value, ""), nil
	case listKind:
		return findList(m.value)
	case nullKind:
		return nil, nil
	}
	return nil, &SyntaxError{Line: m.value.at.line, Column: m.value.at.column, Message: fmt.Sprintf("%q is %s, not servers by name", m.name, m.value.kind)}
}

// findMap returns servers that stand by name. Of a name that stands twice the last
// one counts, as it does for the client.
func findMap(servers *value, project string) []found {
	var list []found
	left, first := map[string]int{}, map[string]place{}
	for _, m := range servers.members {
		if left[m.name]++; left[m.name] == 1 {
			first[m.name] = m.at
		}
	}
	for _, m := range servers.members {
		if left[m.name]--; left[m.name] > 0 {
			continue
		}
		f := found{name: m.name, at: m.at, entry: m.value, project: project}
		if first[m.name] != m.at {
			f.before = first[m.name]
		}
		list = append(list, f)
	}
	return list
}

// findList returns servers that carry their names.
func findList(servers *value) ([]found, error) {
	var list []found
	for _, item := range servers.items {
		if item.kind != objectKind {
			return nil, &SyntaxError{Line: item.at.line, Column: item.at.column, Message: "this is " + item.kind.String() + ", not a server", Hint: nothingHint}
		}
		list = append(list, found{name: text(item.get("name")), at: item.at, entry: item})
	}
	return list, nil
}

func hasProjects(projects *value) bool {
	for _, m := range projects.members {
		if m.value.get("mcpServers") != nil {
			return true
		}
	}
	return false
}

// findProjects returns the servers of the projects that Claude Code remembers.
func findProjects(projects *value) []found {
	var list []found
	for _, m := range projects.members {
		servers := m.value.get("mcpServers")
		if servers == nil || servers.kind != objectKind {
			continue
		}
		off := map[string]bool{}
		if names := m.value.get("disabledMcpServers"); names != nil {
			for _, item := range names.items {
				off[item.text] = item.kind == stringKind
			}
		}
		for _, f := range findMap(servers, m.name) {
			f.disabled = off[f.name]
			list = append(list, f)
		}
	}
	return list
}

// urlNames are the names under which clients keep the address of a server.
var urlNames = []string{"url", "serverUrl", "httpUrl", "endpoint"}

func looksLikeServer(v *value) bool {
	if command := v.get("command"); command != nil && (command.kind == stringKind || command.kind == listKind || command.get("path") != nil) {
		return true
	}
	for _, name := range urlNames {
		if url := v.get(name); url != nil && url.kind == stringKind {
			return true
		}
	}
	return false
}

func looksLikeServers(v *value) bool {
	for _, m := range v.members {
		if looksLikeServer(m.value) {
			return true
		}
	}
	return false
}

// text returns a string, "" for anything else.
func text(v *value) string {
	if v == nil || v.kind != stringKind {
		return ""
	}
	return v.text
}

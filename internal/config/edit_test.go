package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
	"golang.org/x/tools/txtar"
)

// TestEdits edits the text of each testdata/edit/*.txtar. The section "edit" has
// one edit a line, "set a.b VALUE" or "add a.b ITEMS", in JSON; "before" is the
// text, "after" what comes of it, "error" why nothing does. -update rewrites the
// last two.
func TestEdits(t *testing.T) {
	files, err := filepath.Glob("testdata/edit/*.txtar")
	if err != nil || len(files) == 0 {
		t.Fatalf("no edits: %v", err)
	}
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(file)
			if err != nil {
				t.Fatal(err)
			}
			section := func(name string) string {
				for _, s := range archive.Files {
					if s.Name == name {
						return string(s.Data)
					}
				}
				return ""
			}
			text, err := []byte(section("before")), error(nil)
			for line := range strings.Lines(section("edit")) {
				old := text
				if text, err = editBy(t, text, strings.TrimSpace(line)); err != nil {
					break
				}
				checkEdit(t, old, text)
			}
			want, got := section("after"), string(text)
			name := "after"
			if err != nil {
				want, got, name = section("error"), err.Error()+"\n", "error"
			}
			if got == want {
				return
			}
			if *update {
				archive.Files = slices.DeleteFunc(archive.Files, func(f txtar.File) bool { return f.Name == "after" || f.Name == "error" })
				archive.Files = append(archive.Files, txtar.File{Name: name, Data: []byte(got)})
				if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			t.Errorf("--- want\n%s--- got\n%s", want, got)
		})
	}
}

func editBy(t *testing.T, text []byte, line string) ([]byte, error) {
	t.Helper()
	verb, rest, _ := strings.Cut(line, " ")
	dotted, value, _ := strings.Cut(rest, " ")
	var path []string
	if dotted != "." {
		path = strings.Split(dotted, ".")
	}
	if verb == "set" {
		var v any
		if err := json.Unmarshal([]byte(value), &v); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if f, ok := v.(float64); ok {
			v = int(f)
		}
		return SetAt(text, path, v)
	}
	return AddAt(text, path, itemsOf(t, value)...)
}

// itemsOf reads items from a JSON object.
func itemsOf(t *testing.T, text string) []Item {
	t.Helper()
	root, problem := parseTree([]byte(text))
	if problem != nil {
		t.Fatalf("%s: %v", text, problem)
	}
	return valueOf(root).([]Item)
}

func valueOf(n *node) any {
	switch {
	case n.kind == mapNode:
		items := []Item{}
		for _, e := range n.entries {
			items = append(items, Item{e.key, valueOf(e.value)})
		}
		return items
	case n.kind == listNode:
		texts := []string{}
		for _, item := range n.items {
			texts = append(texts, item.text)
		}
		return texts
	case n.plain && (isTrue(n.text) || isFalse(n.text)):
		return isTrue(n.text)
	}
	return n.text
}

// checkEdit checks without the help of the editor that every line of a text is
// still there after an edit, in order, but for at most one that was changed.
func checkEdit(t *testing.T, before, after []byte) {
	t.Helper()
	split := func(b []byte) []string {
		return strings.Split(strings.TrimSuffix(strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(string(b)), "\n"), "\n")
	}
	was, is := split(before), split(after)
	for len(was) > 0 && len(is) > 0 && was[0] == is[0] {
		was, is = was[1:], is[1:]
	}
	for len(was) > 0 && len(is) > 0 && was[len(was)-1] == is[len(is)-1] {
		was, is = was[:len(was)-1], is[:len(is)-1]
	}
	if len(was) > 0 && !strings.HasPrefix(strings.TrimSpace(was[0]), "#") {
		was = was[1:] // the one that was changed
	}
	for _, line := range was {
		i := slices.Index(is, line)
		if i < 0 {
			t.Errorf("the line %q is gone:\n%s", line, after)
			return
		}
		is = is[i+1:]
	}
}

// An edit of any file that people could write changes what it shall and nothing
// else, in the eyes of another reader of YAML than ours.
func TestEditsChangeExactlyWhatTheyShall(t *testing.T) {
	failed := 0
	for n := range 3000 {
		seed := rand.Uint64()
		r := rand.New(rand.NewPCG(seed, 3))
		text := randomFile(r)
		path := []string{"apps", fmt.Sprintf("app-%d", r.IntN(5)), []string{"enabled", "mcp", "permissions", "startup"}[r.IntN(4)]}
		switch path[2] {
		case "permissions":
			path = append(path, "tools", "a.b", "enabled")
		case "mcp":
			path = append(path, "enabled")
		case "startup":
			path = append(path, "x")
		}
		value := any(r.IntN(2) == 0)
		var after []byte
		var err error
		adding := r.IntN(3) == 0
		items := []Item{{fmt.Sprintf("new-%d", n), []Item{{"enabled", false}, {"mcp", []Item{{"command", []string{"npx", "-y", "@x/y", "a b"}}, {"env", []Item{{"KEY", "${KEY}"}}}}}}}, {"second", []Item{{"url", "https://x/y?z=1#a"}}}}
		if adding {
			after, err = AddAt([]byte(text), []string{"apps"}, items...)
		} else {
			after, err = SetAt([]byte(text), path, value)
		}
		if err != nil {
			failed++
			if testing.Verbose() {
				t.Logf("seed %d: %v\n%s", seed, err, text)
			}
			continue
		}
		before, now := decoded(t, text), decoded(t, string(after))
		if adding {
			apps, _ := before["apps"].(map[string]any)
			if apps == nil {
				apps = map[string]any{}
			}
			before["apps"] = apps
			for _, item := range items {
				apps[item.Key] = plainOf(item.Value)
			}
		} else {
			m := before
			for _, key := range path[:len(path)-1] {
				next, _ := m[key].(map[string]any)
				if next == nil {
					next = map[string]any{}
				}
				m[key] = next
				m = next
			}
			m[path[len(path)-1]] = value
		}
		if !reflect.DeepEqual(before, now) {
			t.Fatalf("seed %d: %s to %v\n--- before\n%s--- after\n%s--- is\n%v--- want\n%v", seed, strings.Join(path, "."), value, text, after, now, before)
		}
		checkEdit(t, []byte(text), after)
		// The same once more changes nothing.
		if !adding {
			if again, err := SetAt(after, path, value); err != nil || string(again) != string(after) {
				t.Fatalf("seed %d: the second time: %v\n%s", seed, err, again)
			}
		}
		if t.Failed() {
			t.Fatalf("seed %d\n--- before\n%s--- after\n%s", seed, text, after)
		}
	}
	if failed > 30 {
		t.Errorf("%d of 3000 files could not be edited", failed)
	}
}

func plainOf(value any) any {
	switch value := value.(type) {
	case []Item:
		m := map[string]any{}
		for _, item := range value {
			m[item.Key] = plainOf(item.Value)
		}
		return m
	case []string:
		list := []any{}
		for _, text := range value {
			list = append(list, text)
		}
		return list
	}
	return value
}

func decoded(t *testing.T, text string) map[string]any {
	t.Helper()
	var m map[string]any
	if err := yaml.Unmarshal([]byte(strings.TrimPrefix(text, "\uFEFF")+"\n"), &m); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if m == nil {
		m = map[string]any{}
	}
	return m
}

// randomFile writes a file as people write them, well or badly.
func randomFile(r *rand.Rand) string {
	pick := func(texts ...string) string { return texts[r.IntN(len(texts))] }
	var b strings.Builder
	comment := func(indent int) {
		if r.IntN(3) == 0 {
			b.WriteString(strings.Repeat(" ", indent) + pick("# a note", "#x: y", "# enabled: false", "#") + "\n")
		}
		if r.IntN(4) == 0 {
			b.WriteString("\n")
		}
	}
	tail := func() string { return pick("", "", "", " # why", "  # enabled: true") }
	comment(0)
	if r.IntN(20) == 0 {
		return b.String()
	}
	if r.IntN(6) == 0 {
		b.WriteString("---\n")
	}
	step := pick("  ", "  ", "    ", " ")
	n := r.IntN(5)
	if n == 0 {
		b.WriteString(pick("apps:", "apps: {}", "apps: ~", "apps:   ") + tail() + "\n")
		comment(0)
		comment(2)
		return b.String()
	}
	b.WriteString("apps:" + tail() + "\n")
	for i := range n {
		comment(len(step))
		key := fmt.Sprintf("app-%d", i)
		b.WriteString(step + pick(key, key, `"`+key+`"`, `'`+key+`'`) + ":")
		in := step + step
		switch r.IntN(9) {
		case 0:
			b.WriteString(tail() + "\n")
		case 1:
			b.WriteString(" {}" + tail() + "\n")
		case 2:
			b.WriteString(" {" + pick("enabled: true", "mcp: {command: [a, \"b # c\"]}", "'enabled': false, mcp: {url: \"x\"}", "startup: {}", "startup: {x: 1}, ") + "}" + tail() + "\n")
		case 3:
			b.WriteString(" {\n" + in + "enabled: true,\n" + in + "mcp: {command: [a]}" + pick("", ",") + tail() + "\n" + step + "}\n")
		default:
			b.WriteString(tail() + "\n")
			for _, part := range []int{0, 1, 2, 3, 4} {
				comment(len(in))
				switch {
				case r.IntN(3) == 0 && part != 1:
				case part == 0:
					b.WriteString(in + "enabled: " + pick("true", "false", "True") + tail() + "\n")
				case part == 1:
					b.WriteString(in + "mcp:" + pick(" {command: [a, b]}\n", "\n"+in+step+"command: [a]\n", "\n"+in+step+"command:\n"+in+step+"- a\n"+in+step+"- b # c\n"))
				case part == 2:
					b.WriteString(in + "permissions:" + pick("\n"+in+step+"tools:\n"+in+step+step+"a.b: {risk: low}\n", " {tools: {c.d: {enabled: false}}}\n", "\n", "\n"+in+step+"tools:\n"+in+step+step+"a.b:\n"+in+step+step+step+"enabled: true\n"))
				case part == 3:
					b.WriteString(in + "startup:" + pick("\n"+in+step+"text: |\n"+in+step+step+"one\n"+in+step+step+"# two\n", "\n"+in+step+"text: >-\n"+in+step+step+"one\n\n"+in+step+step+"two\n", "\n"+in+step+"x: 上海 🌧\n", "\n"+in+step+"x: 'it''s'"+tail()+"\n"))
				case part == 4:
					b.WriteString(in + "description: " + pick("a text", `"a: b"`, "'x # y'", "上海 # 说明", "a\n"+in+step+"b") + "\n")
				}
			}
		}
	}
	comment(len(step))
	comment(0)
	text := b.String()
	if r.IntN(8) == 0 {
		text = strings.TrimRight(text, "\n")
	}
	if r.IntN(8) == 0 {
		text = strings.ReplaceAll(text, "\n", "\r\n")
	}
	if r.IntN(12) == 0 {
		text = "\uFEFF" + text
	}
	return text
}

func TestAnEditThatIsNotPossibleSaysWhatToDo(t *testing.T) {
	_, err := SetAt([]byte("apps: [a]\n"), []string{"apps", "x", "enabled"}, false)
	var e *EditError
	if !errors.As(err, &e) || e.Line != 1 || !strings.Contains(e.Error(), "apps must be a mapping") {
		t.Errorf("%v", err)
	}
	_, err = AddAt([]byte("apps:\n  x: {}\n"), []string{"apps"}, Item{"x", "y"})
	if !errors.As(err, &e) || e.Line != 2 {
		t.Errorf("%v", err)
	}
	if text, err := AddAt([]byte("x"), nil); err != nil || string(text) != "x" {
		t.Errorf("%q, %v", text, err)
	}
}

// FuzzEdit looks for texts of which an edit makes something that it should not.
func FuzzEdit(f *testing.F) {
	for n := range 20 {
		f.Add([]byte(randomFile(rand.New(rand.NewPCG(uint64(n), 4)))), "app-1", "value")
	}
	f.Fuzz(func(t *testing.T, text []byte, key, value string) {
		after, err := AddAt(text, []string{"apps"}, Item{key, []Item{{"url", value}}})
		if err != nil {
			return
		}
		checkComments(t, text, after)
		again, err := SetAt(after, []string{"apps", key, "enabled"}, false)
		if err != nil {
			return
		}
		checkComments(t, after, again)
		same, err := SetAt(again, []string{"apps", key, "enabled"}, false)
		if err != nil || string(same) != string(again) {
			t.Errorf("the second time: %v", err)
		}
	})
}

// checkComments checks that every line that can only be a comment is still there.
func checkComments(t *testing.T, before, after []byte) {
	t.Helper()
	for line := range strings.Lines(strings.ReplaceAll(string(before), "\r", "\n")) {
		if line = strings.TrimRight(line, "\n"); strings.HasPrefix(line, "#") && !strings.Contains(string(after), line) {
			t.Errorf("the comment %q is gone:\n%q\n%q", line, before, after)
		}
	}
}

package config

import (
	"fmt"
	"maps"
	"strings"
)

// A Variable is one line NAME=value of a .env file.
type Variable struct{ Name, Value string }

// ParseEnv reads the text of a .env file, as [Load] does: lines NAME=value, with
// quotes where they are needed. What is wrong is in the problems, which have no
// file; the other lines are read all the same.
func ParseEnv(text []byte) (map[string]string, []Problem) {
	var problems []Problem
	values := parseEnv(text, &source{problems: &problems})
	return values, problems
}

// AddEnv returns the text of a .env file with variables added at its end, below a
// comment if that is not empty. Every other line stays as it is, byte by byte. The
// new text is read before it is returned: it says what the old one said and the
// variables besides, or else there is an error. A variable that is there already
// with the same value is left alone; with another value it is an error.
func AddEnv(text []byte, comment string, vars ...Variable) ([]byte, error) {
	before, problems := ParseEnv(text)
	if len(problems) > 0 {
		return nil, fmt.Errorf(".env cannot be added to: %s", problems[0])
	}
	want := maps.Clone(before)
	ending := "\n"
	if strings.Contains(string(text), "\r\n") {
		ending = "\r\n"
	}
	out := string(text)
	if out != "" && !strings.HasSuffix(out, "\n") {
		out += ending
	}
	var lines []string
	for _, v := range vars {
		if !isVariable(v.Name) {
			return nil, fmt.Errorf("%q is not the name of a variable", v.Name)
		}
		if old, there := want[v.Name]; there {
			if old != v.Value {
				return nil, fmt.Errorf("the variable %s has another value already", v.Name)
			}
			continue
		}
		want[v.Name] = v.Value
		lines = append(lines, v.Name+"="+envText(v.Value))
	}
	if len(lines) == 0 {
		return text, nil
	}
	if comment != "" {
		if out != "" {
			out += ending
		}
		out += "# " + comment + ending
	}
	out += strings.Join(lines, ending) + ending
	after, problems := ParseEnv([]byte(out))
	if len(problems) > 0 || !maps.Equal(after, want) {
		return nil, fmt.Errorf("a value cannot be written into .env: %s", strings.Join(namesOf(vars), ", "))
	}
	return []byte(out), nil
}

func namesOf(vars []Variable) []string {
	list := make([]string, len(vars))
	for i, v := range vars {
		list[i] = v.Name
	}
	return list
}

// envText writes a value as .env wants it.
func envText(value string) string {
	bare := !strings.ContainsFunc(value, func(c rune) bool {
		return !('a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.ContainsRune("_./:@+=,-", c))
	})
	switch {
	case bare:
		return value
	case !strings.ContainsAny(value, "'\n\r"):
		return "'" + value + "'"
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "$", `\$`, "\n", `\n`, "\r", `\r`, "\t", `\t`).Replace(value) + `"`
}

package commands

import (
	"slices"
	"strings"
	"unicode"

	"github.com/aurorabot/aurora/internal/brain"
	"github.com/aurorabot/aurora/internal/names"
	"github.com/aurorabot/aurora/internal/short"
)

// A Kind says what a command stands for.
type Kind string

// The kinds of commands.
const (
	KindBuiltin Kind = "builtin"
	KindTool    Kind = "tool"
	KindPrompt  Kind = "prompt"
)

// A Target is what a command stands for. The zero Target is nothing.
type Target struct {
	Kind Kind
	// Name is the name of a built-in command or the canonical one of a tool or
	// prompt.
	Name   string
	Tool   *brain.Tool   // set for a tool
	Prompt *brain.Prompt // set for a prompt
}

func (t Target) enabled() bool { return t.Tool == nil || t.Tool.Enabled }

func (t Target) title() string {
	switch {
	case t.Tool != nil:
		return t.Tool.Title
	case t.Prompt != nil:
		return t.Prompt.Title
	}
	return ""
}

// describe returns one line about it.
func (t Target) describe() string {
	text := t.title()
	if text == "" && t.Tool != nil {
		text = t.Tool.Description
	} else if text == "" && t.Prompt != nil {
		text = t.Prompt.Description
	}
	return firstLine(text)
}

// A Match is what a name means.
type Match struct {
	// Target is the one thing meant; zero when there is not exactly one.
	Target Target
	// Candidates are the things that may be meant, when there are several.
	Candidates []Target
	// Near are things with a similar name, when none is meant.
	Near []Target
}

// The ways in which a name can mean a tool or a prompt, the strictest first. A
// way is tried only if no stricter one finds anything.
const (
	byName    = iota // canonical name or alias
	byEnd            // the end of the canonical name, from a dot on
	byFold           // the same without regard to letter case and dashes
	byNoun           // the last segment without its verb: get_weather is weather
	byTitle          // the title
	ways      = byTitle + 1
	bySegment = ways // a segment within: the tools of an app
)

// An Index finds what a command means. Create it with [NewIndex].
type Index struct {
	all   []Target
	found [bySegment + 1]map[string][]Target
}

// NewIndex returns the index of tools and prompts.
func NewIndex(tools []brain.Tool, prompts []brain.Prompt) *Index {
	x := &Index{}
	for way := range x.found {
		x.found[way] = make(map[string][]Target)
	}
	for i := range tools {
		x.add(Target{Kind: KindTool, Name: tools[i].Canonical, Tool: &tools[i]}, tools[i].Alias)
	}
	for i := range prompts {
		x.add(Target{Kind: KindPrompt, Name: prompts[i].Canonical, Prompt: &prompts[i]}, names.Alias(prompts[i].Canonical))
	}
	return x
}

func (x *Index) add(t Target, alias string) {
	x.all = append(x.all, t)
	put := func(way int, key string) {
		if key != "" && !slices.Contains(x.found[way][key], t) {
			x.found[way][key] = append(x.found[way][key], t)
		}
	}
	put(byName, t.Name)
	put(byName, alias)
	put(byFold, fold(t.Name))
	put(byFold, fold(alias))
	segments := strings.Split(t.Name, ".")
	for i := 1; i < len(segments); i++ {
		end := strings.Join(segments[i:], ".")
		put(byEnd, end)
		put(byFold, fold(end))
		if i < len(segments)-1 {
			put(bySegment, fold(segments[i]))
		}
	}
	put(byNoun, fold(noun(segments[len(segments)-1])))
	put(byTitle, fold(strings.Join(strings.Fields(t.title()), "_")))
}

// verbs are what names of tools that only look begin with.
var verbs = []string{"get", "query", "list", "fetch", "search", "find", "read", "show", "lookup"}

// noun returns a name without the verb it begins with, if it has one:
// get_weather, get-weather and getWeather are all about weather.
func noun(name string) string {
	for _, verb := range verbs {
		if len(name) <= len(verb) || !strings.EqualFold(name[:len(verb)], verb) {
			continue
		}
		rest := name[len(verb):]
		if trimmed := strings.TrimLeft(rest, "_-"); trimmed != rest && trimmed != "" {
			return trimmed
		}
		if unicode.IsUpper(rune(rest[0])) && name[:len(verb)] == verb {
			return rest
		}
	}
	return name
}

// Resolve returns what a name means: a built-in command; else what is called so,
// by the strictest way that finds anything.
func (x *Index) Resolve(name string) Match {
	if b, ok := lookup(name); ok {
		return Match{Target: Target{Kind: KindBuiltin, Name: b.name}}
	}
	for way := range ways {
		key := name
		if way >= byFold {
			key = fold(name)
		}
		switch meant := likeliest(x.found[way][key]); len(meant) {
		case 0:
		case 1:
			return Match{Target: meant[0]}
		default:
			return Match{Candidates: meant}
		}
	}
	if meant := likeliest(x.found[bySegment][fold(name)]); len(meant) > 0 {
		return Match{Candidates: meant}
	}
	return Match{Near: x.near(name)}
}

// likeliest leaves out what is switched off, unless all is, and prompts that are
// called exactly like a tool, which no name could tell apart.
func likeliest(meant []Target) []Target {
	left := slices.DeleteFunc(slices.Clone(meant), func(t Target) bool {
		return t.Prompt != nil && slices.ContainsFunc(meant, func(o Target) bool { return o.Tool != nil && o.Name == t.Name })
	})
	on := slices.DeleteFunc(slices.Clone(left), func(t Target) bool { return !t.enabled() })
	if len(on) > 0 {
		return on
	}
	return left
}

// means reports whether a command can mean a target. A prompt that is called like
// a tool gives way to it.
func (x *Index) means(t Target) bool {
	return slices.Contains(likeliest(x.found[byName][t.Name]), t) || !t.enabled()
}

// maxNear is how many similar names are suggested.
const maxNear = 3

func (x *Index) near(name string) []Target {
	among := map[string]Target{}
	var all []string
	put := func(key string, t Target) {
		if _, known := among[key]; !known {
			among[key] = t
			all = append(all, key)
		}
	}
	for _, b := range builtins() {
		put(b.name, Target{Kind: KindBuiltin, Name: b.name})
	}
	for _, t := range x.all {
		if t.enabled() {
			put(fold(noun(last(t.Name))), t)
			put(t.Name, t)
		}
	}
	var near []Target
	for _, key := range names.Near(name, all, 2*maxNear) {
		if t := among[key]; !slices.Contains(near, t) && len(near) < maxNear {
			near = append(near, t)
		}
	}
	return near
}

func last(canonical string) string { return canonical[strings.LastIndexByte(canonical, '.')+1:] }

// Short returns the shortest command that means a target and nothing else, with
// its slash.
func (x *Index) Short(t Target) string {
	if t.Kind == KindBuiltin {
		return "/" + t.Name
	}
	forms := []string{noun(last(t.Name)), last(t.Name)}
	for at := strings.LastIndexByte(t.Name, '.'); at > 0; {
		at = strings.LastIndexByte(t.Name[:at], '.')
		forms = append(forms, t.Name[at+1:])
	}
	for _, form := range forms {
		if line, ok := ParseLine("/" + form); ok && line == (Line{Name: form}) && x.Resolve(form).Target == t {
			return "/" + form
		}
	}
	return "/" + names.Alias(t.Name) // which has no character that a command cannot
}

// A Reading is a message read as a command.
type Reading struct {
	Line
	Match
}

// Read reads a message as a command; false when it is none. A name that runs
// into Chinese text is taken apart where that makes sense of it.
func (x *Index) Read(text string) (Reading, bool) {
	line, ok := ParseLine(text)
	if !ok {
		return Reading{}, false
	}
	m := x.Resolve(line.Name)
	if m.Target == (Target{}) && m.Candidates == nil {
		if apart, ok := line.unglue(); ok {
			if other := x.Resolve(apart.Name); other.Near == nil && (other.Target != (Target{}) || other.Candidates != nil) {
				return Reading{apart, other}, true
			}
		}
	}
	return Reading{line, m}, true
}

// firstLine returns the first line of s, without more than 80 characters of it.
func firstLine(s string) string {
	s, _, _ = strings.Cut(strings.TrimSpace(s), "\n")
	return short.Runes(strings.TrimSpace(s), 80)
}

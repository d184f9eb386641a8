package toolschema

import (
	"fmt"
	"slices"
	"strings"

	"github.com/aurorabot/aurora/internal/names"
	"github.com/santhosh-tekuri/jsonschema/v6"
	kinds "github.com/santhosh-tekuri/jsonschema/v6/kind"
)

// An ArgumentsError says everything that is wrong with a set of arguments.
type ArgumentsError struct {
	Problems []Problem // at least one
}

// A Problem is one thing that is wrong, and where.
type Problem struct {
	// Path leads to the value, like "filter.tags[2]"; empty for the arguments
	// as a whole.
	Path string `json:"path"`
	// Message continues the path: "must be ≤ 7 (is 9)". It never holds the text
	// of an argument, save one that should be a word out of a list.
	Message string `json:"message"`
}

// String returns the problem as one line.
func (p Problem) String() string {
	if p.Path == "" {
		return p.Message
	}
	return p.Path + ": " + p.Message
}

// maxShown is how many problems an error message tells.
const maxShown = 10

// Error returns the problems in one line, the first ten of them.
func (e *ArgumentsError) Error() string {
	var lines []string
	for i, p := range e.Problems {
		if i == maxShown {
			lines = append(lines, fmt.Sprintf("and %d more", len(e.Problems)-maxShown))
			break
		}
		lines = append(lines, p.String())
	}
	return strings.Join(lines, "; ")
}

// A report turns the validator's tree of failures into problems.
type report struct {
	doc   *document
	args  *value
	cycle bool // the schema refers to itself on one value: it says nothing
}

// problems returns what is wrong below e.
func (r *report) problems(e *jsonschema.ValidationError) []Problem {
	at, is := r.locate(e.InstanceLocation)
	one := func(format string, args ...any) []Problem {
		return []Problem{{at, fmt.Sprintf(format, args...)}}
	}
	switch k := e.ErrorKind.(type) {
	case *kinds.RefCycle:
		r.cycle = true
		return nil
	case *kinds.AnyOf:
		return r.choice(e, at, is)
	case *kinds.OneOf:
		if len(k.Subschemas) > 0 {
			return one("fits several of the forms allowed here, and must fit one")
		}
		return r.choice(e, at, is)
	case *kinds.Required:
		return r.missing(e, k.Missing, at, is)
	case *kinds.AdditionalProperties:
		return r.unknown(e, k.Properties, at)
	case *kinds.FalseSchema:
		return one("is not allowed here")
	case *kinds.Type:
		return one("must be %s (is %s)", article(k.Want), kindOf(is, k.Want))
	case *kinds.Enum:
		return []Problem{{at, r.oneOf(k.Want, is)}}
	case *kinds.Const:
		return one("must be %s%s", shown(k.Want), word(is))
	case *kinds.Minimum:
		return one("must be ≥ %s (is %s)", r.bound(e, "minimum"), numberOf(is))
	case *kinds.Maximum:
		return one("must be ≤ %s (is %s)", r.bound(e, "maximum"), numberOf(is))
	case *kinds.ExclusiveMinimum:
		return one("must be > %s (is %s)", r.bound(e, "exclusiveMinimum"), numberOf(is))
	case *kinds.ExclusiveMaximum:
		return one("must be < %s (is %s)", r.bound(e, "exclusiveMaximum"), numberOf(is))
	case *kinds.MultipleOf:
		return one("must be a multiple of %s (is %s)", r.bound(e, "multipleOf"), numberOf(is))
	case *kinds.MinLength:
		return one("must have at least %s (has %d)", count(k.Want, "character"), k.Got)
	case *kinds.MaxLength:
		return one("must have at most %s (has %d)", count(k.Want, "character"), k.Got)
	case *kinds.MinItems:
		return one("must have at least %s (has %d)", count(k.Want, "item"), k.Got)
	case *kinds.MaxItems:
		return one("must have at most %s (has %d)", count(k.Want, "item"), k.Got)
	case *kinds.MinProperties:
		return one("must have at least %s (has %d)", count(k.Want, "key"), k.Got)
	case *kinds.MaxProperties:
		return one("must have at most %s (has %d)", count(k.Want, "key"), k.Got)
	case *kinds.AdditionalItems:
		return one("has %s too many", count(k.Count, "item"))
	case *kinds.UniqueItems:
		return one("items %d and %d are equal, and none may repeat", k.Duplicates[0], k.Duplicates[1])
	case *kinds.Pattern:
		return one("must match the pattern %s", clip(k.Want, 200))
	case *kinds.Dependency:
		return r.together(k.Prop, k.Missing, at)
	case *kinds.DependentRequired:
		return r.together(k.Prop, k.Missing, at)
	case *kinds.PropertyNames:
		return []Problem{{join(at, k.Property), "is not a name allowed here"}}
	case *kinds.Contains, *kinds.MinContains, *kinds.MaxContains:
		return one("does not hold the items it must")
	case *kinds.Not:
		return one("has a value that is ruled out")
	}
	// Group, Reference, AllOf and the like only hold others.
	var out []Problem
	for _, cause := range e.Causes {
		out = append(out, r.problems(cause)...)
	}
	if len(out) == 0 && !r.cycle {
		return one("is not valid")
	}
	return out
}

// choice reports a value that fits none of several forms: by what is wrong with
// the one form of its own type that it comes nearest to, if there is one, else
// by what there is to choose from.
func (r *report) choice(e *jsonschema.ValidationError, at string, is *value) []Problem {
	var (
		best  []Problem
		least int
		types []string // of the forms that want another type
		words []any    // of the forms that are nothing but a constant or a list
		other bool     // there are forms of other kinds
	)
	for _, cause := range e.Causes {
		if t, ok := r.refusedByType(cause, e.InstanceLocation); ok {
			types = append(types, t...)
			continue
		}
		if w := r.refusedByWord(cause, e.InstanceLocation); w != nil {
			words = append(words, w...)
			continue
		}
		other = true
		p := r.problems(cause)
		// A form whose constants do not match is meant for something else.
		cost := len(p) + 100*constants(cause)
		if best == nil || cost < least {
			best, least = p, cost
		}
	}
	switch {
	case best != nil:
		return best
	case len(words) > 0 && !other:
		return []Problem{{at, r.oneOf(words, is)}}
	case len(types) > 0 && !other:
		types = unique(types)
		return []Problem{{at, fmt.Sprintf("must be %s (is %s)", article(types), kindOf(is, types))}}
	}
	return []Problem{{at, fmt.Sprintf("fits none of the %d forms allowed here", len(e.Causes))}}
}

// refusedByWord returns the values that a form allows when the value itself is
// none of them, and nil when it was refused for another reason.
func (r *report) refusedByWord(e *jsonschema.ValidationError, at []string) []any {
	if len(e.InstanceLocation) == len(at) {
		switch k := e.ErrorKind.(type) {
		case *kinds.Const:
			return []any{k.Want}
		case *kinds.Enum:
			return k.Want
		case *kinds.Reference:
			if len(e.Causes) == 1 {
				return r.refusedByWord(e.Causes[0], at)
			}
		}
	}
	return nil
}

// constants counts the constants that did not match below e.
func constants(e *jsonschema.ValidationError) int {
	n := 0
	if _, ok := e.ErrorKind.(*kinds.Const); ok {
		n = 1
	}
	for _, cause := range e.Causes {
		n += constants(cause)
	}
	return n
}

// refusedByType reports whether a form was refused because the value itself is
// of another type, and which types it wanted.
func (r *report) refusedByType(e *jsonschema.ValidationError, at []string) ([]string, bool) {
	if len(e.InstanceLocation) != len(at) {
		return nil, false
	}
	switch k := e.ErrorKind.(type) {
	case *kinds.Type:
		return k.Want, true
	case *kinds.Group, *kinds.Reference, *kinds.AllOf, *kinds.Schema:
		for _, cause := range e.Causes {
			if types, ok := r.refusedByType(cause, at); ok {
				return types, true
			}
		}
	case *kinds.AnyOf, *kinds.OneOf:
		var all []string
		for _, cause := range e.Causes {
			types, ok := r.refusedByType(cause, at)
			if !ok {
				return nil, false
			}
			all = append(all, types...)
		}
		return all, len(all) > 0
	}
	return nil, false
}

// missing reports required properties that are not there; one that looks like
// a property that is there and unknown is probably a slip of the pen.
func (r *report) missing(e *jsonschema.ValidationError, want []string, at string, is *value) []Problem {
	known := r.known(e)
	var strange []string
	for _, m := range is.entries() {
		if !slices.Contains(known, m.name) {
			strange = append(strange, m.name)
		}
	}
	var out []Problem
	for _, name := range want {
		message := "is missing"
		if near := names.Near(name, strange, 1); len(near) > 0 {
			message += fmt.Sprintf(" (is %q meant for it?)", clip(near[0], 60))
		}
		out = append(out, Problem{join(at, name), message})
	}
	return out
}

// unknown reports properties that the schema does not allow.
func (r *report) unknown(e *jsonschema.ValidationError, given []string, at string) []Problem {
	known := r.known(e)
	var out []Problem
	for _, name := range given {
		message := "is not known here"
		if near := names.Near(name, known, 1); len(near) > 0 {
			message += fmt.Sprintf(" (did you mean %q?)", near[0])
		} else if 0 < len(known) && len(known) <= 8 {
			message += " (known: " + strings.Join(known, ", ") + ")"
		}
		out = append(out, Problem{join(at, name), message})
	}
	return out
}

func (r *report) together(name string, missing []string, at string) []Problem {
	var out []Problem
	for _, m := range missing {
		out = append(out, Problem{join(at, m), fmt.Sprintf("is missing, and %q needs it", name)})
	}
	return out
}

// known returns the names of the properties of the schema that failed.
func (r *report) known(e *jsonschema.ValidationError) []string {
	var out []string
	for _, m := range r.schema(e).get("properties").entries() {
		out = append(out, m.name)
	}
	return out
}

// schema returns the schema that failed, or nil.
func (r *report) schema(e *jsonschema.ValidationError) *value {
	_, fragment, _ := strings.Cut(e.SchemaURL, "#")
	return r.doc.resolve("#" + fragment)
}

// bound returns the number that a keyword has in the schema, as written there.
func (r *report) bound(e *jsonschema.ValidationError, keyword string) string {
	s := r.schema(e)
	v := s.get(keyword)
	if v == nil || v.kind != number { // draft-04: true beside minimum
		v = s.get(strings.ToLower(strings.TrimPrefix(keyword, "exclusive")))
	}
	if v == nil {
		return "the limit"
	}
	return clip(v.token, 40)
}

// oneOf says which values there are to choose from.
func (r *report) oneOf(want []any, is *value) string {
	var all, words []string
	for _, w := range want {
		all = append(all, shown(w))
		if s, ok := w.(string); ok {
			words = append(words, s)
		}
	}
	if len(all) == 1 {
		return "must be " + all[0] + word(is)
	}
	if len(all) > 12 {
		all = append(all[:12], fmt.Sprintf("… (%d in all)", len(want)))
	}
	message := "must be one of " + strings.Join(all, ", ") + word(is)
	if near := names.Near(is.str(), words, 1); len(near) > 0 {
		message += fmt.Sprintf("; did you mean %q?", near[0])
	}
	return message
}

// locate returns the path of a value in the arguments in readable form, and
// the value.
func (r *report) locate(location []string) (string, *value) {
	v, path := r.args, ""
	for _, step := range location {
		if v != nil && v.kind == array {
			path += "[" + step + "]"
			v = pointer(v, step)
			continue
		}
		path = join(path, step)
		v = v.get(step)
	}
	return path, v
}

// join appends the name of a property to a path.
func join(path, name string) string {
	name = clip(name, 60)
	if path == "" {
		return name
	}
	return path + "." + name
}

// article returns types as "a string or null".
func article(types []string) string {
	words := make([]string, len(types))
	for i, t := range types {
		words[i] = t
		switch {
		case t == "null":
		case strings.Contains("aeiou", t[:1]):
			words[i] = "an " + t
		default:
			words[i] = "a " + t
		}
	}
	if len(words) > 1 {
		return strings.Join(words[:len(words)-1], ", ") + " or " + words[len(words)-1]
	}
	return strings.Join(words, "")
}

// kindOf says what v is instead of one of the types wanted. It never shows
// text, which may be private.
func kindOf(v *value, want []string) string {
	if v == nil {
		return "something else"
	}
	switch {
	case v.kind == number && slices.Contains(want, "integer") || v.kind == boolean:
		return clip(v.token, 40)
	case v.kind == number:
		return "a number"
	}
	return article([]string{typeOf(v)})
}

// numberOf returns the text of a number.
func numberOf(v *value) string {
	if v == nil || v.kind != number {
		return "another"
	}
	return clip(v.token, 40)
}

// word returns " (is …)" for a short scalar and "" for anything else.
func word(v *value) string {
	if v == nil || v.kind&(null|boolean|number|text) == 0 || v.size > 60 {
		return ""
	}
	return " (is " + v.token + ")"
}

// shown returns a value of the schema in a few characters.
func shown(v any) string {
	switch v := v.(type) {
	case string:
		return encode(clip(v, 60))
	case nil:
		return "null"
	case []any:
		return "a certain array"
	case map[string]any:
		return "a certain object"
	default:
		return clip(fmt.Sprint(v), 60)
	}
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

package toolschema

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	kinds "github.com/santhosh-tekuri/jsonschema/v6/kind"
)

const (
	// resource is the name our schemas have inside the validator.
	resource = "aurora:///schema"
	// maxSubschemas bounds the time of Compile, which is quadratic in them.
	maxSubschemas = 5_000
	// maxVisits bounds the time of Check: how many subschemas may be tried on
	// one set of arguments in the worst case.
	maxVisits = 5_000_000
	// maxExponent is where numbers stop being computed with. The validator
	// works with exact fractions: 1e1000000 would cost it a million digits.
	maxExponent = 1000
	maxDigits   = 2000
)

// A Checker checks arguments against one input schema. It is safe for
// concurrent use. The zero value lets everything pass.
type Checker struct {
	schema *jsonschema.Schema // nil: everything passes
	shape  *shape             // what can be seen without the validator
	doc    *document          // what the validator was given
	weight weight
}

// Compile returns a Checker for the input schema of a tool: JSON Schema of the
// draft that its $schema names, from draft-04 to 2020-12; 2020-12 where it
// names none, and an older draft when it makes sense only as one of those.
//
// The Checker is never nil. When the schema cannot be used (it is broken, it
// points outside itself, it would take too long) the Checker lets everything
// pass, since the server judges its arguments anyhow, and the error says why:
// log it once.
//
// Formats are not asserted: servers differ in what they take for a uri or a
// date, and a call they would have taken must not fail with us. Neither are
// patterns that Go's regular expressions cannot express. Nothing is ever
// loaded from the network or from files.
func Compile(schema json.RawMessage) (c *Checker, err error) {
	c = &Checker{}
	root, reason := readSchema(schema)
	if reason != "" {
		return c, errors.New(reason)
	}
	drafts := draftsOf(root.get("$schema").str())
	n := 0
	root = forValidation(root, &n)
	if n > maxSubschemas {
		return c, fmt.Errorf("its input schema has over %d parts", maxSubschemas)
	}
	doc := newDocument(root)
	w := weigh(doc)
	if w.endless {
		return c, errors.New("its input schema refers to itself without end")
	}
	if w.here > maxVisits {
		return c, errors.New("its input schema would take too long to check")
	}
	plain := root.plain()
	for _, draft := range drafts {
		compiled, e := compile(plain, draft)
		if e == nil {
			return &Checker{schema: compiled, shape: shapeOf(root), doc: doc.shared(), weight: w}, nil
		}
		if err == nil {
			err = fmt.Errorf("its input schema cannot be used: %s", oneLine(e))
		}
	}
	return c, err
}

func compile(doc any, draft *jsonschema.Draft) (s *jsonschema.Schema, err error) {
	defer recoverAs(&err)
	c := jsonschema.NewCompiler()
	c.DefaultDraft(draft)
	c.UseLoader(refuse{})
	c.UseRegexpEngine(lenientRegexp)
	if err := c.AddResource(resource, doc); err != nil {
		return nil, err
	}
	return c.Compile(resource)
}

// recoverAs turns a panic of the validator into an error: a foreign library
// meets hostile schemas and arguments here, and must not end the daemon.
func recoverAs(err *error) {
	if r := recover(); r != nil {
		*err = fmt.Errorf("the validator failed: %v", r)
	}
}

// refuse is a loader that loads nothing.
type refuse struct{}

func (refuse) Load(string) (any, error) {
	return nil, errors.New("it is not part of the schema, and nothing is loaded from elsewhere")
}

// anything matches every text. It stands for patterns written for engines with
// more features than Go's, such as lookahead.
type anything string

func (anything) MatchString(string) bool { return true }
func (a anything) String() string        { return string(a) }

func lenientRegexp(s string) (jsonschema.Regexp, error) {
	re, err := regexp.Compile(s)
	if err != nil {
		return anything(s), nil
	}
	return re, nil
}

// draftsOf returns the drafts to try for a schema whose $schema is url.
func draftsOf(url string) []*jsonschema.Draft {
	for _, d := range []struct {
		mark  string
		draft *jsonschema.Draft
	}{
		{"json-schema.org/draft-04/", jsonschema.Draft4},
		{"json-schema.org/draft-06/", jsonschema.Draft6},
		{"json-schema.org/draft-07/", jsonschema.Draft7},
		{"json-schema.org/draft/2019-09/", jsonschema.Draft2019},
		{"json-schema.org/draft/2020-12/", jsonschema.Draft2020},
	} {
		if strings.Contains(url, d.mark) {
			return []*jsonschema.Draft{d.draft}
		}
	}
	return []*jsonschema.Draft{jsonschema.Draft2020, jsonschema.Draft7, jsonschema.Draft4}
}

// forValidation returns a schema without what must not be asserted or would
// stop the validator, and counts its subschemas in n.
func forValidation(v *value, n *int) *value {
	*n++
	if v.kind != object || *n > maxSubschemas {
		return v
	}
	var out []member
	for _, m := range tidy(v) {
		switch m.name {
		case "$schema", "$vocabulary", "format", "contentEncoding", "contentMediaType", "contentSchema":
			continue
		}
		if r, _ := keyword(m.name); r == data {
			m.value = computable(m.value)
		} else {
			m.value = eachSchema(m, func(v *value) *value { return forValidation(v, n) })
		}
		out = append(out, m)
	}
	return newObject(out)
}

// computable returns v with numbers that are too long to compute with replaced
// by one of the same sign beyond any sensible limit.
func computable(v *value) *value {
	switch v.kind {
	case number:
		if token := computableNumber(v.token); token != v.token {
			return &value{kind: number, token: token, size: len(token)}
		}
	case array:
		items := make([]*value, len(v.items))
		for i, item := range v.items {
			items[i] = computable(item)
		}
		return newArray(items)
	case object:
		members := make([]member, len(v.members))
		for i, m := range v.members {
			members[i] = member{m.name, computable(m.value)}
		}
		return newObject(members)
	}
	return v
}

func computableNumber(token string) string {
	mantissa, exponent := token, ""
	if i := strings.IndexAny(token, "eE"); i >= 0 {
		mantissa, exponent = token[:i], token[i+1:]
	}
	e, err := strconv.Atoi(cmp.Or(exponent, "0"))
	small := strings.HasPrefix(exponent, "-")
	switch {
	case err == nil && -maxExponent <= e && e <= maxExponent && len(mantissa) <= maxDigits:
		return token
	case strings.Trim(mantissa, "-0.") == "", small:
		return "0"
	case strings.HasPrefix(mantissa, "-"):
		return "-1e" + strconv.Itoa(maxExponent)
	}
	return "1e" + strconv.Itoa(maxExponent)
}

// Check returns nil when args fit the schema, else an *ArgumentsError with all
// that is wrong. No arguments at all, blank or null, count as {} (field fault
// Q01). Arguments that would take too long to check, or nest deeper than any
// schema speaks of, pass: the server judges.
// Arguments that fit a schema of types, names and enums are checked in one pass
// without an allocation.
func (c *Checker) Check(args []byte) error {
	if c == nil || c.schema == nil {
		return nil
	}
	if t := bytes.TrimSpace(args); len(t) == 0 || string(t) == "null" {
		args = []byte("{}")
	}
	if c.shape.fits(args) {
		return nil
	}
	v, err := parse(args)
	if errors.Is(err, errTooDeep) {
		return nil
	}
	if err != nil {
		return &ArgumentsError{[]Problem{{Message: "the arguments cannot be read: " + err.Error()}}}
	}
	if c.weight.visits(v) > maxVisits {
		return nil
	}
	failed, err := c.validate(computable(v).plain())
	if failed == nil || err != nil {
		return nil
	}
	r := report{doc: c.doc, args: v}
	problems := r.problems(failed)
	if r.cycle || len(problems) == 0 {
		return nil
	}
	slices.SortFunc(problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Message, b.Message))
	})
	return &ArgumentsError{slices.Compact(problems)}
}

func (c *Checker) validate(v any) (failed *jsonschema.ValidationError, err error) {
	defer recoverAs(&err)
	errors.As(c.schema.Validate(v), &failed)
	return failed, nil
}

// oneLine returns the message of a schema error, its innermost causes only.
func oneLine(err error) string {
	var invalid *jsonschema.SchemaValidationError
	if errors.As(err, &invalid) {
		var failed *jsonschema.ValidationError
		if errors.As(invalid.Err, &failed) {
			for len(failed.Causes) > 0 {
				failed = failed.Causes[0]
			}
			place := "/" + strings.Join(failed.InstanceLocation, "/")
			if t, ok := failed.ErrorKind.(*kinds.Type); ok {
				return fmt.Sprintf("at %s: is %s, must be %s", place, t.Got, strings.Join(t.Want, " or "))
			}
			return fmt.Sprintf("at %s: it is not valid JSON Schema", place)
		}
	}
	return strings.ReplaceAll(strings.ReplaceAll(err.Error(), resource, ""), "\n", " ")
}

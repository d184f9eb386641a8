package arguments

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/aurorabot/aurora/internal/toolschema"
)

// A MissingError names required arguments that were not given.
type MissingError struct{ Names []string }

// Error lists the names.
func (e *MissingError) Error() string { return "missing: " + strings.Join(e.Names, ", ") }

// An ExtraError holds words for which the tool has no argument.
type ExtraError struct{ Text string }

// Error returns the words.
func (e *ExtraError) Error() string { return fmt.Sprintf("no argument takes %q", e.Text) }

// FromWords returns the arguments that a person wrote behind a command:
//
//   - A JSON object is taken as it is.
//   - name=value gives one argument, name:=JSON gives it as JSON, name.inner=value
//     a property of an object. The name must be one of the tool's.
//   - Other words are given to the remaining arguments in the order of
//     [Properties], one each, as long as each fits its type.
//   - Where there are more words than arguments, or a word does not fit, the last
//     required argument that is text, or else the first, takes as many of them
//     as no other needs, exactly as written: "New York 3" is a city and a number.
//     A list takes any number of words.
//   - Quotes keep words together.
//
// Blanks and commas may be the full-width ones of Chinese text. Values are typed
// as by [toolschema.Arguments]. The error is a [*MissingError], an [*ExtraError],
// or says in English which argument is wrong; whether the object as a whole fits
// the schema is not checked here.
func FromWords(input json.RawMessage, line string) (json.RawMessage, error) {
	line = strings.TrimSpace(line)
	if strings.HasPrefix(line, "{") {
		return FromModel(input, line)
	}
	w := writing{input: input, line: line, properties: Properties(input)}
	w.sort(wordsOf(line))
	if err := w.place(); err != nil {
		return nil, err
	}
	pairs := make([]string, len(w.pairs))
	for i, p := range w.pairs {
		pairs[i] = p.name + "=" + p.value
	}
	args, err := toolschema.Arguments(input, pairs)
	if err != nil {
		return nil, err
	}
	if missing := w.missing(); missing != nil {
		return nil, &MissingError{missing}
	}
	return args, nil
}

// Usage returns how a command is written: its required arguments in angle
// brackets, the others in square ones.
func Usage(command string, properties []Property) string {
	parts := []string{command}
	for _, p := range properties {
		if p.Required {
			parts = append(parts, "<"+p.Name+">")
		} else {
			parts = append(parts, "["+p.Name+"]")
		}
	}
	return strings.Join(parts, " ")
}

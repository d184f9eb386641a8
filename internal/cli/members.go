package cli

import (
	"bytes"
	"encoding/json"
	"iter"
)

// members yields the members of a JSON object in their own order. Of anything
// but an object it yields nothing.
func members(object json.RawMessage) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		dec := json.NewDecoder(bytes.NewReader(object))
		if t, err := dec.Token(); err != nil || t != json.Delim('{') {
			return
		}
		for dec.More() {
			t, err := dec.Token()
			name, ok := t.(string)
			if err != nil || !ok {
				return
			}
			var value json.RawMessage
			if dec.Decode(&value) != nil || !yield(name, value) {
				return
			}
		}
	}
}

package control

import (
	"bytes"
	"encoding/json"
)

// Marshal encodes v as one JSON document without a line break at its end.
// HTML is not escaped, and [json.RawMessage] fields keep their own tokens, key
// order and number text; only white space between tokens goes.
func Marshal(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

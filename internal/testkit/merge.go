package testkit

import (
	"bytes"
	"encoding/json"
)

// merge applies a JSON merge patch (RFC 7396): objects are merged key by key,
// null removes a key, everything else replaces. Values that are not merged keep
// their own text.
func merge(target, patch json.RawMessage) (json.RawMessage, error) {
	patch = bytes.TrimSpace(patch)
	if len(patch) == 0 || patch[0] != '{' {
		return patch, nil
	}
	var changes map[string]json.RawMessage
	if err := json.Unmarshal(patch, &changes); err != nil {
		return nil, err
	}
	fields := map[string]json.RawMessage{}
	if t := bytes.TrimSpace(target); len(t) > 0 && t[0] == '{' {
		if err := json.Unmarshal(t, &fields); err != nil {
			return nil, err
		}
	}
	for key, change := range changes {
		if string(bytes.TrimSpace(change)) == "null" {
			delete(fields, key)
			continue
		}
		merged, err := merge(fields[key], change)
		if err != nil {
			return nil, err
		}
		fields[key] = merged
	}
	return encode(fields)
}

// encode is json.Marshal without HTML escaping and without a newline.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

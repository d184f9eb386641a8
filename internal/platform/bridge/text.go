package bridge

import (
	"bytes"
	"encoding/json"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/aurorabot/aurora/internal/short"
)

// maxSummary bounds the line for people, in bytes.
const maxSummary = 2000

// newID returns a UUIDv7. The source of randomness does not fail (crypto/rand
// ends the process first).
func newID() string { return uuid.Must(uuid.NewV7()).String() }

// now is the time of day with the precision that is written.
func now() time.Time { return time.Now().Truncate(time.Microsecond) }

// encode writes data as compact JSON, without escaping HTML.
func encode(data any) (json.RawMessage, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(data); err != nil {
		return nil, err
	}
	return bytes.TrimRight(b.Bytes(), "\n"), nil
}

// mask hides secrets in JSON.
func (b *Bridge) mask(raw json.RawMessage) json.RawMessage { return b.opt.Redact.Bytes(raw) }

// clip hides secrets in a line for people and bounds it.
func (b *Bridge) clip(s string) string { return short.Bytes(b.opt.Redact.String(s), maxSummary) }

// clean replaces lone surrogate escapes, which callers get as they are, by
// U+FFFD: files hold only text that every reader can decode.
func (b *Bridge) clean(raw json.RawMessage) json.RawMessage {
	if !bytes.Contains(raw, []byte(`\u`)) {
		return raw
	}
	out := make([]byte, 0, len(raw))
	for i := 0; i < len(raw); {
		if raw[i] != '\\' || i+1 == len(raw) {
			out = append(out, raw[i])
			i++
			continue
		}
		unit, ok := escape(raw[i:])
		switch {
		case !ok:
			out = append(out, raw[i], raw[i+1])
			i += 2
		case unit < 0xd800 || unit > 0xdfff:
			out = append(out, raw[i:i+6]...)
			i += 6
		default:
			low, paired := escape(raw[i+6:])
			if paired = paired && unit < 0xdc00 && low >= 0xdc00 && low <= 0xdfff; paired {
				out = append(out, raw[i:i+12]...)
				i += 12
				continue
			}
			out = append(out, `\ufffd`...)
			i += 6
		}
	}
	return out
}

// escape decodes a \uXXXX at the start of b.
func escape(b []byte) (unit uint16, ok bool) {
	if len(b) < 6 || b[0] != '\\' || b[1] != 'u' {
		return 0, false
	}
	for _, c := range b[2:6] {
		i := strings.IndexByte("0123456789abcdef", c|0x20)
		if c < 'A' { // digits have no case
			i = strings.IndexByte("0123456789", c)
		}
		if i < 0 {
			return 0, false
		}
		unit = unit<<4 | uint16(i)
	}
	return unit, true
}

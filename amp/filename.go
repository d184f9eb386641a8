package amp

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"
)

// maxFileName is the length of the longest event file name, in bytes. It is
// under the 255 of common file systems, with room for a suffix.
const maxFileName = 200

// maxTypePart leaves room for an id whatever the type.
const maxTypePart = 80

// FileName returns the name of the file an event lies in:
// event_<type>_<id>.json, in the alphabet [A-Za-z0-9.-], at most 200 bytes.
// Every other character becomes a dash, so nothing an app sends can leave the
// folder; an id that an app chose (own is false) gets a dash and 8 hex digits of
// a hash of package and id, so that two ids never share a name. Type and id
// stand intact inside the file. File names say nothing of order.
func (e *Envelope) FileName(own bool) string {
	suffix := ".json"
	if !own {
		sum := sha256.Sum256([]byte(e.Header.Source.App + "\x00" + e.Header.MessageID))
		suffix = "-" + hex.EncodeToString(sum[:4]) + suffix
	}
	name := "event_" + plain(e.Payload.Type, maxTypePart) + "_"
	return name + plain(e.Header.MessageID, maxFileName-len(name)-len(suffix)) + suffix
}

// IDInName returns a part that the name of every file of an event with this id
// has in it; it may be empty.
func IDInName(id string) string { return plain(id, maxFileName/4) }

// plain maps s to the file name alphabet and cuts it to at most n bytes.
func plain(s string, n int) string {
	var b strings.Builder
	for _, r := range s {
		if b.Len() == n {
			break
		}
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '.', r == '-':
			b.WriteRune(r)
		default:
			b.WriteByte('-')
		}
	}
	return b.String()
}

package names

import (
	"crypto/sha256"
	"encoding/base32"
	"strings"
)

const (
	maxAlias = 64 // OpenAI, Anthropic and Gemini all stop here
	maxHead  = maxAlias - len(hashMark) - hashLen
	hashMark = "_x"
	hashLen  = 10 // base32 characters, 50 bits of SHA-256
)

// lowerBase32 is RFC 4648 base32 in lower case: a form that survives models
// and providers that fold letter case.
var lowerBase32 = base32.NewEncoding("abcdefghijklmnopqrstuvwxyz234567").WithPadding(base32.NoPadding)

// Alias returns the form of a canonical name that every model provider
// accepts: it matches ^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$ whatever the name holds.
//
// There are two forms (DESIGN, section 6). The plain form writes "__" for each
// dot. It is used where it can be undone: the name is made of ASCII letters,
// digits, "_", "-" and dots, begins with a letter, has no empty segment, no
// "__" and no "_" beside a dot, and its alias is at most 64 bytes long and
// does not end like the second form.
//
// The hashed form is a readable head of at most 52 bytes, "_x", and the first
// 10 characters of the lower-case base32 of the SHA-256 of the name. The head
// is for people and models only: letters that cannot be written become "_",
// and of a long name the front segments are dropped, because the end is where
// the tool's own name stands.
//
// Two names share an alias only if 50 bits of their SHA-256 meet.
func Alias(canonical string) string {
	if plain, ok := plainForm(canonical); ok {
		return plain
	}
	sum := sha256.Sum256([]byte(canonical))
	return head(canonical) + hashMark + lowerBase32.EncodeToString(sum[:])[:hashLen]
}

// Unalias returns the canonical name of which alias is the plain form. It
// reports false for hashed forms and for anything Alias does not return. It is
// no way to route a call: that is the catalog's table.
func Unalias(alias string) (string, bool) {
	name := strings.ReplaceAll(alias, "__", ".")
	if plain, ok := plainForm(name); !ok || plain != alias {
		return "", false
	}
	return name, true
}

// plainForm returns name with "__" for each dot, and whether that is an alias
// from which the name can be read back.
func plainForm(name string) (string, bool) {
	if len(name) > maxAlias || name == "" || !letter(name[0]) {
		return "", false
	}
	for i := 0; i < len(name); i++ {
		c := name[i]
		if c != '.' && !plainByte(c) {
			return "", false
		}
		// Neither "__" nor "_." nor "._" nor "..": each would make the
		// underscores of the alias ambiguous.
		if c == '.' || c == '_' {
			if i > 0 && (name[i-1] == '.' || name[i-1] == '_') {
				return "", false
			}
		}
	}
	if name[len(name)-1] == '.' {
		return "", false
	}
	plain := strings.ReplaceAll(name, ".", "__")
	if len(plain) > maxAlias || endsHashed(plain) {
		return "", false
	}
	return plain, true
}

// endsHashed reports whether alias ends as every hashed form does. No plain
// form may: that keeps the two kinds of aliases apart.
func endsHashed(alias string) bool {
	at := len(alias) - hashLen - len(hashMark)
	if at < 0 || alias[at:at+len(hashMark)] != hashMark {
		return false
	}
	for i := at + len(hashMark); i < len(alias); i++ {
		if c := alias[i]; !('a' <= c && c <= 'z' || '2' <= c && c <= '7') {
			return false
		}
	}
	return true
}

// head returns the readable part of a hashed alias: 1 to maxHead bytes, first
// a letter or "_".
func head(name string) string {
	var segments []string
	for _, s := range strings.Split(name, ".") {
		if s = cleanSegment(s); s != "" {
			segments = append(segments, s)
		}
	}
	// From the end: the tool's own name is worth more than its package.
	h := ""
	for i := len(segments) - 1; i >= 0; i-- {
		longer := segments[i]
		if h != "" {
			longer += "__" + h
		}
		if len(longer) >= maxHead && h != "" {
			break
		}
		h = longer
	}
	if h == "" {
		h = "tool"
	}
	if !letter(h[0]) {
		h = "_" + h
	}
	if len(h) > maxHead {
		h = strings.TrimRight(h[:maxHead], "_-")
	}
	return h
}

// cleanSegment returns s with every run of characters that an alias cannot
// hold written as one "_", and without "_" and "-" at its ends.
func cleanSegment(s string) string {
	var b strings.Builder
	for i := 0; i < len(s) && b.Len() <= maxHead; i++ {
		c := s[i]
		if !plainByte(c) {
			c = '_'
		}
		if c == '_' && strings.HasSuffix(b.String(), "_") {
			continue
		}
		b.WriteByte(c)
	}
	return strings.Trim(b.String(), "_-")
}

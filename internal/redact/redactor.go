package redact

import (
	"bytes"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Mask stands where a secret was.
const Mask = "•••"

// minLength is the length in bytes below which a value is not treated as a
// secret: replacing "1" or "zh" everywhere would shred the text and hide nothing.
const minLength = 6

// A Redactor replaces known secrets, and text shaped like a well-known kind of
// token, by [Mask]. The zero value knows no secrets and masks token shapes only;
// so does a nil Redactor. A Redactor must not be copied after first use.
type Redactor struct {
	// mu guards the replacement of patterns; readers load it without a lock.
	mu       sync.Mutex
	patterns atomic.Pointer[[][]byte] // all written forms of all secrets, sorted, without repeats
}

// New returns a Redactor that knows the given secrets, as [Redactor.Add] takes them.
func New(secrets ...string) *Redactor {
	r := new(Redactor)
	r.Add(secrets...)
	return r
}

// Add makes the secrets known. Secrets shorter than 6 bytes are ignored. Of a
// secret of several lines (a private key, say) each long line is a secret too,
// because logs show it line by line.
func (r *Redactor) Add(secrets ...string) {
	var forms [][]byte
	for _, secret := range secrets {
		for _, part := range parts(secret) {
			for _, form := range written(part) {
				forms = append(forms, []byte(form))
			}
		}
	}
	if len(forms) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if old := r.patterns.Load(); old != nil {
		forms = append(forms, *old...)
	}
	slices.SortFunc(forms, bytes.Compare)
	forms = slices.CompactFunc(forms, bytes.Equal)
	r.patterns.Store(&forms)
}

// parts returns the secret itself and, if it has several lines, its long lines.
func parts(secret string) []string {
	secret = strings.TrimSpace(secret)
	if len(secret) < minLength {
		return nil
	}
	all := []string{secret}
	if strings.Contains(secret, "\n") {
		for line := range strings.Lines(secret) {
			line = strings.TrimSpace(line)
			if len(line) >= 12 && !strings.HasPrefix(line, "-----") {
				all = append(all, line)
			}
		}
	}
	return all
}

// String returns s with all secrets masked. On a nil Redactor it masks token
// shapes only.
func (r *Redactor) String(s string) string {
	b := []byte(s)
	spans := r.find(b)
	if len(spans) == 0 {
		return s
	}
	return string(replace(b, spans))
}

// Bytes returns b with all secrets masked. It never changes b; it returns b
// itself if nothing matched. If b is a valid JSON object or array, so is the
// result: a number that shows a secret becomes the string "•••".
func (r *Redactor) Bytes(b []byte) []byte {
	spans := r.find(b)
	if len(spans) == 0 {
		return b
	}
	return replace(b, spans)
}

// A span is the half-open range of bytes from start to end.
type span struct{ start, end int }

// find returns the spans of all secrets in b, sorted and without overlaps.
func (r *Redactor) find(b []byte) []span {
	spans := shapes(b)
	if r != nil {
		if patterns := r.patterns.Load(); patterns != nil {
			for _, pattern := range *patterns {
				spans = appendMatches(spans, b, pattern)
			}
		}
	}
	if len(spans) < 2 {
		return spans
	}
	slices.SortFunc(spans, func(x, y span) int { return x.start - y.start })
	merged := spans[:1]
	for _, next := range spans[1:] {
		last := &merged[len(merged)-1]
		if next.start > last.end {
			merged = append(merged, next)
		} else {
			last.end = max(last.end, next.end)
		}
	}
	return merged
}

// appendMatches appends the spans of pattern in b, widened to whole escapes.
func appendMatches(spans []span, b, pattern []byte) []span {
	own := len(spans)
	for from := 0; ; {
		i := bytes.Index(b[from:], pattern)
		if i < 0 {
			return spans
		}
		start := from + i
		found := widen(b, span{start, start + len(pattern)})
		// Occurrences may overlap: "abcabcabc" holds "abcabc" twice.
		if n := len(spans); n > own && found.start <= spans[n-1].end {
			spans[n-1].end = found.end
		} else {
			spans = append(spans, found)
		}
		from = start + 1
	}
}

// replace returns a copy of b in which every span is masked.
func replace(b []byte, spans []span) []byte {
	if isJSON(b) {
		return replaceJSON(b, spans)
	}
	out := make([]byte, 0, len(b)+len(Mask))
	from := 0
	for _, s := range spans {
		out = append(out, b[from:s.start]...)
		out = append(out, Mask...)
		from = s.end
	}
	return append(out, b[from:]...)
}

package redact

import (
	"bytes"
	"strings"
)

// A shape is a kind of token that shows itself by how it begins.
type shape struct {
	prefix string
	length int // of the rest, at least
}

// tokens are the prefixes that providers give to their keys. The rest consists of
// letters, digits, '-' and '_' and holds a digit, so that "sk-learn-utils" is not one.
var tokens = []shape{
	{"sk-", 8},          // OpenAI, Anthropic, DeepSeek and many more
	{"sk_live_", 8},     // Stripe
	{"rk_live_", 8},     //
	{"ghp_", 16},        // GitHub
	{"gho_", 16},        //
	{"ghu_", 16},        //
	{"ghs_", 16},        //
	{"ghr_", 16},        //
	{"github_pat_", 16}, //
	{"glpat-", 16},      // GitLab
	{"xoxb-", 10},       // Slack
	{"xoxp-", 10},       //
	{"xoxa-", 10},       //
	{"xoxs-", 10},       //
	{"xapp-", 10},       //
	{"hf_", 16},         // Hugging Face
	{"npm_", 20},        // npm
	{"pypi-", 20},       // PyPI
	{"AIza", 30},        // Google
	{"AKIA", 16},        // AWS
	{"ASIA", 16},        //
	{"tvly-", 16},       // Tavily
	{"gsk_", 16},        // Groq
	{"eyJ", 20},         // JSON Web Token: also takes its dots
}

// parameters are the names of URL parameters whose value is a secret.
var parameters = []string{
	"token", "access_token", "refresh_token", "id_token", "auth_token", "api_token",
	"key", "api_key", "apikey", "api-key", "access_key",
	"secret", "client_secret", "password", "passwd", "pwd", "auth", "sig", "signature",
}

// shapes returns the spans in b that look like a secret of a well-known kind.
func shapes(b []byte) []span {
	var spans []span
	var plain plains
	for i := 0; i < len(b); i++ {
		var found span
		switch b[i] {
		case 's', 'r', 'g', 'x', 'h', 'n', 'p', 'A', 't', 'e':
			found = plain.token(b, i)
		case 'B', 'b':
			found = scheme(b, i)
		case '?', '&':
			found = parameter(b, i)
		case '\\':
			if hasPrefix(b[i:], `\u0026`) { // '&' as Go's JSON encoder writes it
				found = parameter(b, i+len(`\u0026`)-1)
			}
		case ':':
			found = userinfo(b, i)
		}
		if found.end > found.start {
			spans = append(spans, widen(b, found))
			i = found.end - 1
		}
	}
	return spans
}

// plains remember where the last run without a digit ends, of words with and
// without dots: no token begins within it, and nobody reads it twice.
type plains struct{ dotted, undotted int }

// token returns the span of the token that begins at i, prefix included.
func (p *plains) token(b []byte, i int) span {
	if i > 0 && isWord(b[i-1]) && !afterEscape(b, i) {
		return span{}
	}
	for _, t := range tokens {
		if !hasPrefix(b[i:], t.prefix) {
			continue
		}
		dots, until := t.prefix == "eyJ", &p.undotted
		if dots {
			until = &p.dotted
		}
		if i < *until {
			continue
		}
		end := i + len(t.prefix)
		digits := false
		for end < len(b) && (isWord(b[end]) || b[end] == '-' || dots && b[end] == '.') {
			digits = digits || isDigit(b[end])
			end++
		}
		if !digits {
			*until = end
		}
		if digits && end-i-len(t.prefix) >= t.length {
			return span{i, end}
		}
	}
	return span{}
}

// scheme returns the span of the credentials after "Bearer " or "Basic " at i. A
// plain word is left alone: "bearer authentication failed" hides nothing.
func scheme(b []byte, i int) span {
	if i > 0 && isWord(b[i-1]) && !afterEscape(b, i) {
		return span{}
	}
	n := 0
	for _, name := range []string{"bearer", "basic"} {
		if len(b) > i+len(name) && strings.EqualFold(string(b[i:i+len(name)]), name) {
			n = len(name)
		}
	}
	if n == 0 {
		return span{}
	}
	start := i + n
	if b[start] == ' ' {
		start++
	} else if hasPrefix(b[start:], "%20") {
		start += 3
	} else {
		return span{}
	}
	end := start
	for end < len(b) && (isWord(b[end]) || bytes.IndexByte([]byte("-.~+/="), b[end]) >= 0) {
		end++
	}
	text := bytes.TrimRight(b[start:end], ".")
	if len(text) < minLength || allLetters(text) && len(text) < 20 {
		return span{}
	}
	if n == len("basic") && (len(text)%4 != 0 || bytes.ContainsAny(text, "-._~")) {
		return span{} // not base64
	}
	return span{start, start + len(text)}
}

// parameter returns the span of the value of the secret URL parameter that
// begins, with its '?' or '&' (or the last byte of how that is written), at i.
func parameter(b []byte, i int) span {
	rest := b[i+1:]
	if len(rest) > 32 {
		rest = rest[:32]
	}
	if b[i] == '&' && hasPrefix(rest, "amp;") { // as HTML writes it
		i += len("amp;")
		rest = rest[len("amp;"):]
	}
	eq := bytes.IndexByte(rest, '=')
	if eq <= 0 {
		return span{}
	}
	name := strings.ToLower(string(rest[:eq]))
	for _, p := range parameters {
		if name == p {
			start := i + 1 + eq + 1
			return span{start, valueEnd(b, start)}
		}
	}
	return span{}
}

// valueEnd returns where the value of a URL parameter that begins at i ends.
func valueEnd(b []byte, i int) int {
	for i < len(b) && b[i] > ' ' && bytes.IndexByte([]byte("&#\"'`<>\\,;)]}|"), b[i]) < 0 {
		i++
	}
	return i
}

// userinfo returns the span of the password in "://user:password@host", where
// "://" begins at i.
func userinfo(b []byte, i int) span {
	if !hasPrefix(b[i:], "://") {
		return span{}
	}
	start, at := 0, 0
	for j := i + 3; j < len(b) && j < i+1024; j++ {
		c := b[j]
		if c == '@' {
			at = j
		}
		if c == ':' && start == 0 {
			start = j + 1
		}
		if c <= ' ' || bytes.IndexByte([]byte("/?#\"'`<>\\"), c) >= 0 {
			break
		}
	}
	if start > 0 && at > start {
		return span{start, at}
	}
	return span{}
}

// afterEscape tells whether the letter before i belongs to a JSON escape such as
// `\n`, so that a word may begin at i.
func afterEscape(b []byte, i int) bool {
	_, end, ok := escapeAt(b, i-1)
	return ok && end == i
}

func hasPrefix(b []byte, prefix string) bool {
	return len(b) >= len(prefix) && string(b[:len(prefix)]) == prefix
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

func isWord(c byte) bool {
	return c == '_' || isDigit(c) || 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

func allLetters(b []byte) bool {
	for _, c := range b {
		if isDigit(c) || !isWord(c) {
			return false
		}
	}
	return true
}

package importer

import (
	"regexp"
	"strings"

	"github.com/aurorabot/aurora/internal/config"
)

// isSecret tells whether a value that stands under a name is a secret.
func isSecret(name, value string) bool {
	value = strings.TrimSpace(value)
	switch {
	case value == "", strings.Contains(value, "${"):
		return false
	case config.LooksSecret(value), looksRandom(value):
		return true
	case !config.SoundsSecret(name), harmless.MatchString(value):
		return false
	}
	// A short number is a limit or a switch unless its name says otherwise.
	return !shortNumber.MatchString(value) || strict.MatchString(name)
}

var (
	harmless    = regexp.MustCompile(`(?i)^(?:true|false|yes|no|on|off|none|null|auto|default|(?:~|\.{1,2}|[a-z]:)?[/\\][\w.@ \\/-]*[.\\/][\w.@ \\/-]*)$`)
	shortNumber = regexp.MustCompile(`^[0-9]{1,7}$`)
	strict      = regexp.MustCompile(`(?i)pass|pwd|pin$|secret`)
)

// looksRandom tells whether a value is long and without any sense, as only keys
// are. Names, paths, versions and ids of the form of a UUID are not.
func looksRandom(value string) bool {
	if len(value) < 24 || uuid.MatchString(value) || !randomForm.MatchString(value) {
		return false
	}
	digits, changes := 0, 0
	last := byte(0)
	for i := range len(value) {
		c := class(value[i])
		if c == '0' {
			digits++
		}
		if i > 0 && c != last {
			changes++
		}
		last = c
	}
	return digits >= 3 && changes >= len(value)/4
}

var (
	uuid       = regexp.MustCompile(`(?i)^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)
	randomForm = regexp.MustCompile(`^[A-Za-z0-9_+=-]+$`)
)

func class(c byte) byte {
	switch {
	case '0' <= c && c <= '9':
		return '0'
	case 'a' <= c && c <= 'z':
		return 'a'
	case 'A' <= c && c <= 'Z':
		return 'A'
	}
	return '-'
}

// placeholder finds what stands in examples instead of a secret.
var placeholder = regexp.MustCompile(`(?i)^<.*>$|^\{.*\}$|^\[.*\]$|your[-_ ]|[-_ ]here$|^x{3,}$|^\.{3}$|^…$|changeme|placeholder|^insert|^replace`)

// credentials returns the span of the secret in the value of a header: what
// follows a scheme such as "Bearer", or all of it.
func credentials(name, value string) span {
	if scheme, rest, ok := strings.Cut(value, " "); ok && strings.TrimSpace(rest) != "" && schemeForm.MatchString(scheme) {
		return span{len(scheme) + 1, len(value), "TOKEN"}
	}
	return span{0, len(value), screaming(name)}
}

var schemeForm = regexp.MustCompile(`^[A-Za-z][A-Za-z-]{2,15}$`)

// urlSecrets returns the spans of the secrets in a URL: a password, parameters
// that sound secret, parts of the path that are nothing but random.
func urlSecrets(url string) (spans []span) {
	begin := strings.Index(url, "://")
	if begin < 0 {
		return nil
	}
	begin += len("://")
	end := len(url)
	if i := strings.IndexAny(url[begin:], "/?#"); i >= 0 {
		end = begin + i
	}
	if at := strings.LastIndexByte(url[begin:end], '@'); at >= 0 {
		if colon := strings.IndexByte(url[begin:begin+at], ':'); colon >= 0 {
			spans = append(spans, span{begin + colon + 1, begin + at, "PASSWORD"})
		}
	}
	path, query, _ := strings.Cut(url[end:], "?")
	i := end
	for _, segment := range strings.SplitAfter(path, "/") {
		if bare := strings.TrimSuffix(segment, "/"); config.LooksSecret(bare) || looksRandom(bare) {
			spans = append(spans, span{i, i + len(bare), "TOKEN"})
		}
		i += len(segment)
	}
	i++ // the question mark
	for _, pair := range strings.SplitAfter(query, "&") {
		name, value, ok := strings.Cut(strings.TrimSuffix(pair, "&"), "=")
		value, _, _ = strings.Cut(value, "#")
		if ok && isSecret(name, value) {
			start := i + len(name) + 1
			spans = append(spans, span{start, start + len(value), screaming(name)})
		}
		i += len(pair)
	}
	return spans
}

// argumentSecrets returns the spans of the secrets in one argument of a command.
// before is the argument before it.
func argumentSecrets(before, arg string) []span {
	if spans := urlSecrets(arg); len(spans) > 0 {
		return spans
	}
	// --api-key=VALUE, NAME=VALUE, --env=NAME=VALUE
	if head, value, ok := cutLast(arg); ok {
		name := head[strings.LastIndexByte(head, '=')+1:]
		if isSecret(name, value) && nameForm.MatchString(name) {
			return []span{{len(head) + 1, len(arg), screaming(name)}}
		}
	}
	// --header "Authorization: Bearer VALUE"
	if name, value, ok := strings.Cut(arg, ":"); ok && headerFlag.MatchString(before) && isSecret(name, value) {
		start := len(arg) - len(strings.TrimLeft(value, " "))
		c := credentials(name, arg[start:])
		return []span{{start + c.start, len(arg), c.suggest}}
	}
	// --api-key VALUE
	if strings.HasPrefix(before, "-") && !strings.HasPrefix(arg, "-") && !strings.Contains(before, "=") && isSecret(before, arg) {
		return []span{{0, len(arg), screaming(before)}}
	}
	if config.LooksSecret(arg) || looksRandom(arg) {
		return []span{{0, len(arg), "TOKEN"}}
	}
	return nil
}

var (
	nameForm   = regexp.MustCompile(`^-{0,2}[A-Za-z_][A-Za-z0-9_.-]*$`)
	headerFlag = regexp.MustCompile(`^(?:--?headers?|-H)$`)
)

// cutLast cuts NAME=VALUE or --flag=NAME=VALUE before its value.
func cutLast(arg string) (head, value string, ok bool) {
	first, rest, ok := strings.Cut(arg, "=")
	if !ok {
		return "", "", false
	}
	if name, value, ok := strings.Cut(rest, "="); ok && strings.HasPrefix(first, "-") && variableName.MatchString(name) {
		return first + "=" + name, value, true
	}
	return first, rest, true
}

// screaming makes a text the name of a variable: "api-key" becomes API_KEY.
func screaming(text string) string {
	text = border.ReplaceAllString(text, "${1}_${2}")
	name := strings.ToUpper(strings.Trim(odd.ReplaceAllString(text, "_"), "_"))
	if name == "" {
		return "VALUE"
	}
	if '0' <= name[0] && name[0] <= '9' {
		return "_" + name
	}
	return name
}

var (
	border = regexp.MustCompile(`([a-z0-9])([A-Z])`)
	odd    = regexp.MustCompile(`[^A-Za-z0-9]+`)
)

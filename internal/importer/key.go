package importer

import (
	"crypto/sha256"
	"encoding/hex"
	"path/filepath"
	"regexp"
	"strings"
	"unicode"

	"github.com/aurorabot/aurora/internal/names"
)

// keyOf makes a name the key of an app: what can be a file name everywhere, and is
// easily typed. Letters of any script stay.
func keyOf(name string) string {
	name = strings.TrimSpace(name)
	if strings.Contains(name, "github.com/") || strings.Contains(name, "://") { // a marketplace names servers by address
		name = strings.TrimSuffix(strings.TrimRight(name, "/"), ".git")
		name = name[strings.LastIndexByte(name, '/')+1:]
	}
	key := dashed(name, func(c rune) bool { return unicode.IsLetter(c) || unicode.IsMark(c) || unicode.IsDigit(c) })
	for len(key) > 60 || len(key) > 0 && strings.HasSuffix(key, "-") {
		_, size := lastRune(key)
		key = key[:len(key)-size]
	}
	if reserved.MatchString(key) {
		key += "-app"
	}
	return key
}

// reserved are names that no file may have on Windows.
var reserved = regexp.MustCompile(`(?i)^(?:con|prn|aux|nul|com[0-9]|lpt[0-9])(?:\.|$)`)

func lastRune(text string) (rune, int) {
	runes := []rune(text)
	last := runes[len(runes)-1]
	return last, len(string(last))
}

// dashed keeps letters as wanted and what joins them, and puts a dash in place of
// anything else.
func dashed(name string, wanted func(rune) bool) string {
	var b strings.Builder
	for _, c := range name {
		if wanted(c) || c == '_' || c == '.' {
			b.WriteRune(c)
		} else {
			b.WriteByte('-')
		}
	}
	key := b.String()
	for _, twice := range []struct{ from, to string }{{"--", "-"}, {"..", "."}, {".-", "-"}, {"-.", "-"}} {
		for strings.Contains(key, twice.from) {
			key = strings.ReplaceAll(key, twice.from, twice.to)
		}
	}
	return strings.Trim(key, "-. ")
}

// packageOf makes a package for an app whose key is none.
func packageOf(s *server, key string) string {
	if names.ValidPackage(key) {
		return key
	}
	ascii := func(c rune) bool {
		return c < 0x80 && (unicode.IsLetter(c) || unicode.IsDigit(c))
	}
	for _, name := range []string{key, nameOf(s)} {
		if p := dashed(name, ascii); names.ValidPackage(p) && strings.ContainsFunc(p, unicode.IsLetter) {
			return p
		}
	}
	sum := sha256.Sum256([]byte(s.name + "\x00" + key))
	return "app-" + hex.EncodeToString(sum[:3])
}

// nameOf makes a name of what a server is: the package that a launcher runs, the
// host of a URL, the file or the program.
func nameOf(s *server) string {
	if len(s.url) > 0 {
		return hostName(s.url[0].literal)
	}
	var words []string
	for _, p := range s.command {
		word, _ := p.plain()
		words = append(words, word)
	}
	for i, word := range words {
		if i == 0 || word == "" || strings.HasPrefix(word, "-") || launcherWords[word] {
			continue
		}
		word = strings.ReplaceAll(word, `\`, "/")
		if at := strings.LastIndexByte(word, '@'); at > 0 {
			word = word[:at] // a version
		}
		word = strings.TrimRight(word, "/")
		word = word[strings.LastIndexByte(word, '/')+1:]
		for _, part := range []string{"mcp-server-", "server-", "mcp-"} {
			word = strings.TrimPrefix(word, part)
		}
		word = strings.TrimSuffix(word, filepath.Ext(word))
		if key := keyOf(word); key != "" {
			return key
		}
	}
	if len(words) > 0 {
		return keyOf(filepath.Base(strings.ReplaceAll(words[0], `\`, "/")))
	}
	return ""
}

// launcherWords are words of a command that say how to run, not what.
var launcherWords = map[string]bool{"run": true, "exec": true, "dlx": true, "x": true, "tool": true, "mcp": true, "serve": true, "start": true, "stdio": true}

// hostName returns the telling part of the host of a URL: notion of
// https://mcp.notion.com/mcp.
func hostName(url string) string {
	_, rest, _ := strings.Cut(url, "://")
	if i := strings.IndexAny(rest, "/?#:"); i >= 0 {
		rest = rest[:i]
	}
	labels := strings.Split(rest, ".")
	for len(labels) > 1 && (labels[0] == "mcp" || labels[0] == "api" || labels[0] == "www") {
		labels = labels[1:]
	}
	if len(labels) > 1 && strings.ContainsFunc(labels[len(labels)-1], unicode.IsLetter) {
		labels = labels[:len(labels)-1]
	}
	return keyOf(strings.Join(labels, "-"))
}

package config

import (
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/aurorabot/aurora/internal/redact"
)

// isSecretValue decides whether a value that came from a variable, or from a
// file, is to be hidden in logs and errors. A name that sounds secret decides for
// it, one that sounds harmless against it; otherwise it is hidden unless it looks
// like a path, a number, a place or a few words.
func isSecretValue(name, value string) bool {
	if SoundsSecret(name) {
		return !isExistingPath(value)
	}
	if soundsHarmless(name) {
		return false
	}
	return !looksHarmless(value)
}

// LooksSecret tells whether a value shows by itself that it is a secret, such as a
// key of a well-known provider or the credentials of an Authorization header.
func LooksSecret(value string) bool {
	var shapes *redact.Redactor // one that knows no secrets
	return shapes.String(value) != value
}

// SoundsSecret tells whether a variable, header or parameter of this name holds a
// secret: API_KEY, X-Auth-Token, dbPassword, but not KEYBOARD or AUTHOR.
func SoundsSecret(name string) bool {
	words := wordsOf(name)
	if len(words) == 0 {
		return false
	}
	switch words[len(words)-1] {
	case "FILE", "PATH", "DIR", "URL", "URI", "MODE", "TYPE", "NAME", "ID", "HOST", "PORT":
		return false
	}
	for _, word := range words {
		switch word {
		case "KEY", "KEYS", "AUTH", "AUTHORIZATION", "PASS", "PWD", "PIN", "PAT", "JWT", "CRED", "CREDS", "SIG", "SIGNATURE":
			return true
		}
		for _, part := range []string{"TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIAL", "COOKIE", "APIKEY", "ACCESSKEY", "SECRETKEY", "PRIVATEKEY"} {
			if strings.Contains(word, part) {
				return true
			}
		}
	}
	return false
}

// soundsHarmless tells whether a variable of this name holds what everybody may see.
func soundsHarmless(name string) bool {
	words := wordsOf(name)
	if len(words) == 0 {
		return false
	}
	switch words[len(words)-1] {
	case "PATH", "DIR", "FILE", "HOME", "ROOT", "HOST", "HOSTNAME", "PORT", "LANG", "LANGUAGE", "LOCALE", "TZ", "TIMEZONE",
		"USER", "USERNAME", "NAME", "MODEL", "LEVEL", "MODE", "TYPE", "REGION", "CITY", "VERSION", "SHELL", "TERM", "EDITOR":
		return true
	}
	return false
}

var wordBorder = regexp.MustCompile(`[^A-Za-z0-9]+|([a-z0-9])([A-Z])`)

// wordsOf splits a name at separators and at changes from small to capital
// letters, and returns the words in capitals.
func wordsOf(name string) []string {
	spaced := wordBorder.ReplaceAllString(name, "$1 $2")
	return strings.Fields(strings.ToUpper(spaced))
}

var harmlessForms = regexp.MustCompile(`^(?:` + strings.Join([]string{
	`[0-9]+(?:\.[0-9]+)*`,                              // a number, a version, an address
	`[A-Za-z]{1,20}(?:[ ._,/-][A-Za-z]{1,20})*`,        // words, names of zones
	`[a-z]{2,3}_[A-Z]{2}(?:\.[A-Za-z0-9-]+)?`,          // locales
	`[A-Za-z0-9-]{1,40}(?:\.[A-Za-z-]{1,20})+:?[0-9]*`, // hosts
	`[0-9]+(?:ms|s|m|h|d|[KMG]i?B)`,                    // times and sizes
}, "|") + `)$`)

// looksHarmless tells whether a value shows by itself that it is no secret.
func looksHarmless(value string) bool {
	if harmlessForms.MatchString(value) || isPathLike(value) {
		return true
	}
	u, err := url.Parse(value)
	return err == nil && u.Scheme != "" && u.Host != "" && u.User == nil && u.RawQuery == ""
}

func isPathLike(value string) bool {
	for _, start := range []string{"/", "./", "../", "~/"} {
		if strings.HasPrefix(value, start) {
			return true
		}
	}
	return filepath.IsAbs(value)
}

// isExistingPath tells whether the value is the path of something that exists. A
// key in base64 may begin with a slash; a key file is no secret by name.
func isExistingPath(value string) bool {
	if !filepath.IsAbs(value) {
		return false
	}
	_, err := os.Stat(value)
	return err == nil
}

// addArgumentSecrets makes known what stands after flags such as --api-key.
func addArgumentSecrets(r *redact.Redactor, args []string) {
	for i, arg := range args {
		if !strings.HasPrefix(arg, "-") {
			continue
		}
		name, value, joined := strings.Cut(arg, "=")
		if !joined && i+1 < len(args) && !strings.HasPrefix(args[i+1], "-") {
			value = args[i+1]
		}
		if SoundsSecret(name) && !isExistingPath(value) {
			r.Add(value)
		}
	}
}

// addURLSecrets makes known the password and the secret parameters of a URL.
func addURLSecrets(r *redact.Redactor, u *url.URL) {
	if password, set := u.User.Password(); set {
		r.Add(password)
	}
	for name, values := range u.Query() {
		if SoundsSecret(name) {
			r.Add(values...)
		}
	}
}

// addHeaderSecret makes known the value of a header whose name sounds secret, and
// what follows a scheme such as "Bearer" in it.
func addHeaderSecret(r *redact.Redactor, name, value string) {
	if !SoundsSecret(name) {
		return
	}
	if _, credentials, ok := strings.Cut(value, " "); ok {
		value = credentials
	}
	r.Add(strings.TrimSpace(value))
}

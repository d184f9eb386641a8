package names

import "strings"

// ValidPackage reports whether s is a package name: segments of ASCII letters,
// digits, "_" and "-", joined by single dots (DESIGN, section 1).
func ValidPackage(s string) bool {
	empty := true // no character since the start or the last dot
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '.':
			if empty {
				return false
			}
			empty = true
		case plainByte(c):
			empty = false
		default:
			return false
		}
	}
	return !empty
}

// Canonical returns the canonical name of the tool that the app with package
// pkg calls upstream: pkg + "." + upstream, or upstream itself when it already
// begins with exactly pkg + ".". The upstream name is taken as it is, whatever
// characters it has.
func Canonical(pkg, upstream string) string {
	if strings.HasPrefix(upstream, pkg) && strings.HasPrefix(upstream[len(pkg):], ".") {
		return upstream
	}
	return pkg + "." + upstream
}

// plainByte reports whether c may stand in a segment of a name and in an alias.
func plainByte(c byte) bool {
	return letter(c) || '0' <= c && c <= '9' || c == '_' || c == '-'
}

func letter(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z'
}

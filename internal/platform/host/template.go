package host

import (
	"regexp"
	"strings"
)

// maxTemplate bounds the templates that are matched against URIs.
const maxTemplate = 2 << 10

// templatePattern returns a pattern of the URIs that a URI template can make,
// or nil if it is too long or not well formed. {x} stands for at least one
// character that is not "/", as in RFC 6570, level 1; an expression of a higher
// level stands for anything. The pattern only serves to find the app to ask.
func templatePattern(template string) *regexp.Regexp {
	if len(template) > maxTemplate {
		return nil
	}
	var b strings.Builder
	b.WriteString(`\A(?s)`)
	for rest := template; rest != ""; {
		literal, expression, found := strings.Cut(rest, "{")
		b.WriteString(regexp.QuoteMeta(literal))
		if !found {
			break
		}
		name, after, closed := strings.Cut(expression, "}")
		if !closed || name == "" {
			return nil
		}
		if strings.ContainsAny(name, "+#./;?&*:,") {
			b.WriteString(`.*`)
		} else {
			b.WriteString(`[^/]+`)
		}
		rest = after
	}
	b.WriteString(`\z`)
	p, err := regexp.Compile(b.String())
	if err != nil {
		return nil
	}
	return p
}

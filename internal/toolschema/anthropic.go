package toolschema

import (
	"fmt"
	"regexp"
	"slices"
)

// anthropicKey is what the Messages API takes as the name of a property; for
// any other it refuses the whole request.
var anthropicKey = regexp.MustCompile(`^[a-zA-Z0-9_.-]{1,64}$`)

// acceptedKeys returns s without the properties that Anthropic refuses by
// their names. They are optional, so the tool can be called without them; where
// one is required inside, that object is shown with any shape. It returns nil
// when one is required at the top, and says what it did.
func acceptedKeys(s *value) (out *value, loss string) {
	var dropped string
	var clean func(v *value) *value
	clean = func(v *value) *value {
		if v.kind != object {
			return v
		}
		bad := map[string]bool{}
		required := setOf(v.get("required").texts())
		for _, m := range v.get("properties").entries() {
			if anthropicKey.MatchString(m.name) {
				continue
			}
			bad[m.name], dropped = true, m.name
			switch {
			case required[m.name] && v == s:
				return nil
			case required[m.name]:
				return newObject([]member{{"type", newString("object")}})
			}
		}
		members := make([]member, 0, len(v.members))
		for _, m := range v.members {
			if m.name == "properties" && len(bad) > 0 {
				m.value = newObject(slices.DeleteFunc(slices.Clone(m.value.members), func(p member) bool {
					return bad[p.name]
				}))
			}
			m.value = eachSchema(m, clean)
			members = append(members, m)
		}
		return newObject(members)
	}
	out = clean(s)
	switch {
	case out == nil:
		return nil, fmt.Sprintf("Anthropic takes no property called %q, and it is required", clip(dropped, 100))
	case dropped != "":
		return out, fmt.Sprintf("Anthropic takes no property called %q; the model does not see it", clip(dropped, 100))
	}
	return s, ""
}

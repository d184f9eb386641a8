package brain

import (
	"fmt"
	"strings"
)

// A Language is the user's: "zh" or "en", or a tag such as "zh-CN". Anything
// that is not Chinese is answered in English.
type Language string

// Pick returns the text in the language.
func (l Language) Pick(zh, en string) string {
	if s := strings.ToLower(string(l)); s == "zh" || strings.HasPrefix(s, "zh-") || strings.HasPrefix(s, "zh_") {
		return zh
	}
	return en
}

// Count returns a number with its English noun, in the plural where there must be
// one.
func Count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

package weather

import "strings"

// A Language is a language the app speaks.
type Language string

// The languages the app speaks.
const (
	Chinese Language = "zh"
	English Language = "en"
)

// languageOf returns the language for a user's tag, such as zh-CN or en_US:
// Chinese when there is none, and English for all others.
func languageOf(tag string) Language {
	tag = strings.ToLower(tag)
	if tag == "" || tag == "zh" || strings.HasPrefix(tag, "zh-") || strings.HasPrefix(tag, "zh_") {
		return Chinese
	}
	return English
}

// pick returns the text for a language.
func (l Language) pick(zh, en string) string {
	if l == Chinese {
		return zh
	}
	return en
}

package config

import (
	"bytes"
	"regexp"
	"unicode/utf8"
)

// cleanText returns the text of a file as the YAML library wants it: UTF-8
// without byte order mark, lines ended by \n. Columns do not move.
func cleanText(data []byte) ([]byte, *Problem) {
	if len(data) > maxFileBytes {
		return nil, &Problem{Message: "the file is larger than 1 MiB"}
	}
	if bytes.HasPrefix(data, []byte("\xFF\xFE")) || bytes.HasPrefix(data, []byte("\xFE\xFF")) {
		return nil, &Problem{Line: 1, Column: 1, Message: "the file is UTF-16", Hint: "save it as UTF-8"}
	}
	data = bytes.TrimPrefix(data, []byte("\xEF\xBB\xBF"))
	data = bytes.ReplaceAll(data, []byte("\r\n"), []byte("\n"))
	data = bytes.ReplaceAll(data, []byte("\r"), []byte("\n"))
	if !utf8.Valid(data) {
		at := placeOfInvalid(data)
		return nil, &Problem{Line: at.line, Column: at.column, Message: "the file is not UTF-8", Hint: "save it as UTF-8; it may be GBK now"}
	}
	if i := bytes.IndexByte(data, 0); i >= 0 {
		at := placeAt(data, i)
		return nil, &Problem{Line: at.line, Column: at.column, Message: "the file holds a zero byte", Hint: "it is not a text file"}
	}
	if at, deep := tooDeep(data); deep {
		return nil, &Problem{Line: at.line, Column: at.column, Message: "brackets or dashes are nested too deeply here"}
	}
	if len(data) > 0 && data[len(data)-1] != '\n' {
		data = append(bytes.Clone(data), '\n') // without it the library does not fold a last text after ">"
	}
	if trimmed := bytes.TrimLeft(data, " \t\n"); len(trimmed) > 0 && trimmed[0] == '{' {
		// Pasted JSON: tabs are blanks in it, also where YAML forbids them.
		data = bytes.ReplaceAll(data, []byte("\t"), []byte(" "))
		bare := jsonString.ReplaceAllFunc(data, func(s []byte) []byte { return bytes.Repeat([]byte("s"), len(s)) })
		if found := jsonComment.FindSubmatchIndex(bare); found != nil {
			at := placeAt(data, max(found[2], found[4]))
			return nil, &Problem{Line: at.line, Column: at.column, Message: "a comment in the manner of JavaScript", Hint: "begin comments with #"}
		}
	}
	return data, nil
}

// jsonString finds the strings of JSON.
var jsonString = regexp.MustCompile(`"(?:[^"\\\n]|\\.)*"`)

// jsonComment finds, outside of strings, // at the beginning of a line or after a
// comma or bracket, and /* after a blank or bracket.
var jsonComment = regexp.MustCompile(`(?m)(?:^|[,{\[]) *(//)|(?:^|[ ,{\[])(/\*).*\*/`)

func placeOfInvalid(data []byte) place {
	for i := 0; i < len(data); {
		r, size := utf8.DecodeRune(data[i:])
		if r == utf8.RuneError && size == 1 {
			return placeAt(data, i)
		}
		i += size
	}
	return place{1, 1}
}

// placeAt returns the position of byte i.
func placeAt(data []byte, i int) place {
	before := data[:i]
	start := bytes.LastIndexByte(before, '\n') + 1
	return place{bytes.Count(before, []byte("\n")) + 1, utf8.RuneCount(before[start:]) + 1}
}

// tooDeep tells whether the text opens so many brackets, or so many list dashes
// on one line, that the recursion of the YAML library would exhaust the stack.
// It counts brackets in strings and comments too, which balance in practice.
func tooDeep(data []byte) (place, bool) {
	open, lead, leading := 0, 0, true
	for i, c := range data {
		switch c {
		case '[', '{':
			open++
		case ']', '}':
			open = max(0, open-1)
		case '\n':
			lead, leading = 0, true
			continue
		}
		if leading {
			switch c {
			case '-', '?', ':', '&', '!', '*':
				lead++
			case ' ', '\t':
			default:
				leading = false
			}
		}
		if open > 10*maxDepth || lead > 10*maxDepth {
			return placeAt(data, i), true
		}
	}
	return place{}, false
}

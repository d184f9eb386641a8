package proc

import (
	"errors"
	"path/filepath"
	"slices"
	"strings"
)

// This file holds the rules of Windows that are plain text work. They live
// outside the Windows files so that their tests run everywhere.

// defaultPathExt is what Windows uses when PATHEXT is not set.
const defaultPathExt = ".COM;.EXE;.BAT;.CMD"

// withExtensions lists the files that name may mean under a PATHEXT. A name
// without a known extension is never tried bare: beside npx.cmd lies an npx that
// only a Unix shell can read.
func withExtensions(path, pathExt string) []string {
	if pathExt == "" {
		pathExt = defaultPathExt
	}
	var found []string
	extensions := strings.FieldsFunc(strings.ToLower(pathExt), func(r rune) bool { return r == ';' })
	if slices.Contains(extensions, strings.ToLower(filepath.Ext(path))) {
		found = append(found, path)
	}
	for _, ext := range extensions {
		found = append(found, path+ext)
	}
	return found
}

// isBatch says whether cmd.exe has to run the file.
func isBatch(path string) bool {
	switch strings.ToLower(filepath.Ext(path)) {
	case ".bat", ".cmd":
		return true
	}
	return false
}

var errBatchArgument = errors.New("an argument of a .bat or .cmd file cannot hold a line break or a NUL")

// batchCommandLine writes the command line by which cmd.exe runs a batch file so
// that the file sees exactly args. cmd.exe parses the line before the
// program does and by other rules, so the usual quoting lets an argument start
// commands of its own (CVE-2024-24576):
//
//   - /e:ON is needed for the percent trick below, /v:OFF keeps "!" plain,
//     /d skips AutoRun, and the outer quotes belong to /c;
//   - inside quotes "" is a quote to cmd.exe and to the C runtime alike, where
//     \" would end the quotes for cmd.exe;
//   - backslashes before a quote are doubled for the C runtime;
//   - % cannot be escaped on a command line. "%%cd:~,%" leaves the first percent
//     sign and then expands an empty part of a variable that always exists.
func batchCommandLine(shell, script string, args []string) (string, error) {
	var b strings.Builder
	b.WriteString(`"` + shell + `" /e:ON /v:OFF /d /c "`)
	for i, word := range append([]string{script}, args...) {
		if strings.ContainsAny(word, "\x00\r\n") {
			return "", errBatchArgument
		}
		if i > 0 {
			b.WriteByte(' ')
		}
		if i > 0 && plainForBatch(word) {
			b.WriteString(word)
		} else {
			quoteForBatch(&b, word)
		}
	}
	b.WriteByte('"')
	return b.String(), nil
}

// plainForBatch says whether a word means itself to cmd.exe without quotes. The
// list is short on purpose: quoting too much harms nobody.
func plainForBatch(word string) bool {
	for _, r := range word {
		switch {
		case 'a' <= r && r <= 'z', 'A' <= r && r <= 'Z', '0' <= r && r <= '9', strings.ContainsRune(`-_./:\@`, r):
		default:
			return false
		}
	}
	return word != "" && !strings.HasSuffix(word, `\`)
}

func quoteForBatch(b *strings.Builder, word string) {
	b.WriteByte('"')
	backslashes := 0
	for _, r := range word {
		switch r {
		case '"':
			b.WriteString(strings.Repeat(`\`, backslashes) + `""`)
		case '%':
			b.WriteString(`%%cd:~,%`)
		default:
			b.WriteRune(r)
		}
		if r == '\\' {
			backslashes++
		} else {
			backslashes = 0
		}
	}
	b.WriteString(strings.Repeat(`\`, backslashes) + `"`)
}

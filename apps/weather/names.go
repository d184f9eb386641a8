package weather

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

func runes(s string) int { return utf8.RuneCountInString(s) }

// isHan reports whether a text holds a Chinese character.
func isHan(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(unicode.Han, r) })
}

// isEastAsian reports whether a text is written without spaces between words,
// the large before the small.
func isEastAsian(s string) bool {
	return strings.ContainsFunc(s, func(r rune) bool {
		return unicode.In(r, unicode.Han, unicode.Hiragana, unicode.Katakana, unicode.Hangul)
	})
}

// fold makes spellings of one name comparable: Zürich and zurich, St. Louis
// and St Louis, 臺灣 and 台湾 as a province.
func fold(s string) string {
	var b strings.Builder
	space := false
	for _, r := range norm.NFKD.String(s) {
		switch {
		case unicode.Is(unicode.Mn, r), r == '.', r == '\'', r == '’', r == 'ʼ':
		case unicode.IsSpace(r), r == '-', r == '_':
			space = b.Len() > 0
		default:
			if space {
				b.WriteByte(' ')
				space = false
			}
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return simplified.Replace(norm.NFC.String(b.String()))
}

// A kind is the administrative word at the end of a name: 市, 区, city.
type kind string

// kinds lists the words that end a name without being part of it, longer ones
// first where one ends like another. 州 is not among them: it belongs to 兰州.
var kinds = []kind{
	"特别行政区", "维吾尔自治区", "壮族自治区", "回族自治区", "自治区", "自治州", "自治县", "自治旗",
	"地区", "新区", "街道", "省", "市", "区", "县", "旗", "盟", "镇", "乡",
	" municipality", " prefecture", " province", " district", " county", " city", " sheng", " xian", " shi", " qu",
}

// japaneseKinds end names in Japan: 東京都, 京都府. In Chinese names they do not
// mark a border, as in 花都区.
var japaneseKinds = []kind{"都", "府", "県"}

// stem cuts the administrative word off a folded name, if a name of at least
// two characters is left: 嵊泗县 is 嵊泗, but 泗县 is 泗县.
func stem(name string) (string, kind) {
	for _, k := range append(kinds[:len(kinds):len(kinds)], japaneseKinds...) {
		if rest, ok := strings.CutSuffix(name, string(k)); ok {
			if runes(rest) < 2 {
				break // nor a shorter word: 某地区 is not 某地 with 区
			}
			return rest, k
		}
	}
	return name, ""
}

// belowCity reports whether a kind is a part of a city or a place under one.
func (k kind) belowCity() bool {
	switch k {
	case "区", "新区", "县", "自治县", "旗", "自治旗", "镇", "乡", "街道", " district", " county", " qu", " xian":
		return true
	}
	return false
}

// A likeness says how much the name of a place is the name that was asked for.
type likeness int

const (
	unlike  likeness = iota // no resemblance: found under another of its names
	partial                 // one holds the other: 西湖区 and 东西湖区, 朝阳区 and 朝阳县
	variant                 // the same but for an administrative word: 上海 and 上海市
	equal
)

// compare compares the name that was asked for with the name of a place.
func compare(asked, name string) likeness {
	a, n := fold(asked), fold(name)
	if a == n {
		return equal
	}
	aStem, aKind := stem(a)
	nStem, nKind := stem(n)
	switch {
	case aStem == nStem && (aKind == "" || nKind == ""):
		return variant
	case aStem == nStem, n != "" && strings.Contains(a, n), a != "" && strings.Contains(n, a):
		return partial
	default:
		return unlike
	}
}

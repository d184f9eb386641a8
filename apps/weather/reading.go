package weather

import (
	"slices"
	"strings"
)

// A reading is one way to understand the words for a city: the name of a place
// and the areas it lies in.
type reading struct {
	name   string
	within []string // the larger first; all must hold the place
	// guess says that the words were split or turned round where nothing in
	// them said so.
	guess bool
}

// maxReadings bounds how many ways are tried.
const maxReadings = 8

// readings returns the ways to understand what somebody typed, the likeliest
// first. It accepts what people write:
//
//	上海   北京市朝阳区   江苏 南京   吉林省吉林市   兰州城关区   朝阳（辽宁）
//	Springfield, Illinois   Paris France   São Paulo   東京
//
// Text without any letter has no reading.
func readings(text string) []reading {
	parts := split(text)
	if len(parts) == 0 {
		return nil
	}
	var ways []reading
	if slices.ContainsFunc(parts, isEastAsian) {
		ways = largeFirst(parts)
	} else {
		ways = smallFirst(parts)
	}
	var distinct []reading
	for _, way := range ways {
		same := func(r reading) bool { return r.name == way.name && slices.Equal(r.within, way.within) }
		if len(distinct) < maxReadings && !slices.ContainsFunc(distinct, same) {
			distinct = append(distinct, way)
		}
	}
	return distinct
}

// split cuts a text at commas, brackets and the like, and East Asian text at
// blanks too: 江苏 南京 is two names, New York one.
func split(text string) []string {
	groups := strings.FieldsFunc(text, func(r rune) bool {
		return strings.ContainsRune(",，、;；/|()（）[]【】·・•:：", r)
	})
	var parts []string
	for _, group := range groups {
		words := strings.Fields(group)
		if !isEastAsian(group) {
			if name := strings.Join(words, " "); name != "" {
				parts = append(parts, name)
			}
			continue
		}
		foreign := false // whether the last part may be continued
		for _, word := range words {
			if foreign && !isEastAsian(word) {
				parts[len(parts)-1] += " " + word
				continue
			}
			parts = append(parts, word)
			foreign = !isEastAsian(word)
		}
	}
	return parts
}

// smallFirst reads names in the Western order: Springfield, Illinois.
func smallFirst(parts []string) []reading {
	name, areas := parts[0], slices.Clone(parts[1:])
	slices.Reverse(areas)
	ways := []reading{{name: name, within: areas}}
	words := strings.Fields(name)
	for n := 1; n <= 2 && len(words) > n; n++ { // Paris France, Paris United States
		cut := len(words) - n
		ways = append(ways, reading{
			name:   strings.Join(words[:cut], " "),
			within: append(slices.Clone(areas), strings.Join(words[cut:], " ")),
			guess:  true,
		})
	}
	return ways
}

// largeFirst reads names in the Chinese order: 江苏省南京市鼓楼区.
func largeFirst(parts []string) []reading {
	var areas []string
	sure := true // whether every cut was marked in the text
	for _, part := range parts {
		cut, marked := cutAreas(part)
		areas = append(areas, cut...)
		sure = sure && marked
	}
	ways := []reading{chain(leadProvinces(areas))}
	if len(parts) > 1 { // 南京 江苏 is understood too
		turned := slices.Clone(areas)
		slices.Reverse(turned)
		way := chain(turned)
		way.guess = true
		ways = append(ways, way)
	}
	if !sure { // 四川北路 need not be in 四川
		ways = append(ways, chain(slices.Clone(parts)))
	}
	return append(ways, guesses(ways[0])...)
}

// chain makes a reading of areas, the last of which is the place.
func chain(areas []string) reading {
	last := len(areas) - 1
	return reading{name: areas[last], within: areas[:last:last]}
}

// guesses splits a name such as 兰州城关区, in which nothing marks the border
// between the city and its part, behind the second, third and fourth character.
func guesses(way reading) []reading {
	name := []rune(way.name)
	var ways []reading
	for cut := 2; cut <= 4 && len(name)-cut >= 2 && isHan(way.name); cut++ {
		ways = append(ways, reading{
			name:   string(name[cut:]),
			within: append(slices.Clone(way.within), string(name[:cut])),
			guess:  true,
		})
	}
	return ways
}

// cutAreas cuts a Chinese address into its areas: 江苏省南京市鼓楼区 has three.
// marked is false if a cut was made behind a province's short name, as in
// 江苏南京, where no word marks it.
func cutAreas(text string) (areas []string, marked bool) {
	marked = true
	if !isHan(text) {
		return []string{text}, marked
	}
	rest := simplified.Replace(text)
	for _, country := range []string{"中华人民共和国", "中国"} {
		if tail, ok := strings.CutPrefix(rest, country); ok && runes(tail) >= 2 {
			areas, rest = append(areas, "中国"), tail
		}
	}
	if p, tail, long, ok := cutProvince(rest); ok {
		areas, rest = append(areas, p.short), tail
		if long {
			areas[len(areas)-1] = p.full
		}
		marked = long
	}
	for {
		head, tail := cutArea(rest)
		areas = append(areas, head)
		if tail == "" {
			return areas, marked
		}
		rest = tail
	}
}

// cutArea cuts behind the first administrative word that ends an area, if names
// of at least two characters stand on both sides: 沙市区 is one, 泗县 is one.
func cutArea(text string) (head, tail string) {
	all := []rune(text)
	for i := 2; i < len(all); i++ {
		for _, k := range kinds {
			word := []rune(k)
			end := i + len(word)
			if end+2 > len(all) || string(all[i:end]) != string(k) {
				continue
			}
			head, tail := string(all[:end]), string(all[end:])
			switch {
			case k == "市" && strings.HasPrefix(tail, "中区"): // 济南市中区: five cities have a 市中区
				return string(all[:i]), string(all[i:])
			case strings.HasPrefix(tail, "市中区"): // 乐山市市中区
			case strings.ContainsAny(firstRune(tail), "市县区州省镇乡旗盟"): // 景德镇市珠山区
				continue
			}
			return head, tail
		}
	}
	return text, ""
}

// leadProvinces moves provinces and China to the front: in 南京 江苏 the province
// is the area, whatever the order.
func leadProvinces(areas []string) []string {
	var lead, rest []string
	for _, area := range areas {
		if _, _, ok := provinceNamed(area); (ok || area == "中国") && len(areas) > 1 {
			lead = append(lead, area)
		} else {
			rest = append(rest, area)
		}
	}
	if len(rest) == 0 { // 吉林 吉林, 中国 上海
		return areas
	}
	return append(lead, rest...)
}

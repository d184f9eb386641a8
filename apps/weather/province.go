package weather

import (
	"slices"
	"strings"
)

// A province is a first-level division of China. People put its name before a
// city's, with or without a space, and now and then ask for its weather.
type province struct {
	short   string // 江苏
	full    string // 江苏省
	capital string // 南京
	city    bool   // it is a city itself: a municipality or a special region
}

var provinces = []province{
	{"北京", "北京市", "北京", true},
	{"天津", "天津市", "天津", true},
	{"上海", "上海市", "上海", true},
	{"重庆", "重庆市", "重庆", true},
	{"香港", "香港特别行政区", "香港", true},
	{"澳门", "澳门特别行政区", "澳门", true},
	{"河北", "河北省", "石家庄", false},
	{"山西", "山西省", "太原", false},
	{"内蒙古", "内蒙古自治区", "呼和浩特", false},
	{"辽宁", "辽宁省", "沈阳", false},
	{"吉林", "吉林省", "长春", false},
	{"黑龙江", "黑龙江省", "哈尔滨", false},
	{"江苏", "江苏省", "南京", false},
	{"浙江", "浙江省", "杭州", false},
	{"安徽", "安徽省", "合肥", false},
	{"福建", "福建省", "福州", false},
	{"江西", "江西省", "南昌", false},
	{"山东", "山东省", "济南", false},
	{"河南", "河南省", "郑州", false},
	{"湖北", "湖北省", "武汉", false},
	{"湖南", "湖南省", "长沙", false},
	{"广东", "广东省", "广州", false},
	{"广西", "广西壮族自治区", "南宁", false},
	{"海南", "海南省", "海口", false},
	{"四川", "四川省", "成都", false},
	{"贵州", "贵州省", "贵阳", false},
	{"云南", "云南省", "昆明", false},
	{"西藏", "西藏自治区", "拉萨", false},
	{"陕西", "陕西省", "西安", false},
	{"甘肃", "甘肃省", "兰州", false},
	{"青海", "青海省", "西宁", false},
	{"宁夏", "宁夏回族自治区", "银川", false},
	{"新疆", "新疆维吾尔自治区", "乌鲁木齐", false},
	{"台湾", "台湾省", "台北", false},
}

// simplified turns the traditional characters of province and country names
// and of administrative suffixes into simplified ones. Names of places
// themselves are left to the geocoder, which knows both.
var simplified = strings.NewReplacer(
	"廣東", "广东", "廣西", "广西", "雲南", "云南", "貴州", "贵州", "陝西", "陕西", "甘肅", "甘肃",
	"寧夏", "宁夏", "遼寧", "辽宁", "黑龍江", "黑龙江", "江蘇", "江苏", "內蒙古", "内蒙古",
	"臺灣", "台湾", "台灣", "台湾", "重慶", "重庆", "澳門", "澳门", "中國", "中国",
	"縣", "县", "區", "区", "鎮", "镇", "鄉", "乡",
)

// long returns the forms of a province's name that end in a word for what it is,
// the official one first: 广西壮族自治区, 广西自治区.
func (p province) long() []string {
	forms := []string{p.full}
	for _, tail := range []string{"自治区", "特别行政区"} {
		if strings.HasSuffix(p.full, tail) {
			forms = append(forms, p.short+tail)
		}
	}
	if strings.HasSuffix(p.full, "特别行政区") {
		forms = append(forms, p.short+"特区")
	}
	return forms
}

// provinceNamed returns the province that a text names, and whether by its
// long name.
func provinceNamed(text string) (p province, long, ok bool) {
	text = simplified.Replace(text)
	for _, p := range provinces {
		if slices.Contains(p.long(), text) {
			return p, true, true
		}
		if text == p.short {
			return p, false, true
		}
	}
	return province{}, false, false
}

// cutProvince cuts the name of a province off the front of a text, if the name
// of a place is left. 吉林市朝阳区 begins with a city of the same name, not with
// the province.
func cutProvince(text string) (p province, rest string, long, ok bool) {
	for _, p := range provinces {
		for _, name := range p.long() {
			if rest, cut := strings.CutPrefix(text, name); cut && runes(rest) >= 2 {
				return p, rest, true, true
			}
		}
		rest, cut := strings.CutPrefix(text, p.short)
		if cut && runes(rest) >= 2 && !strings.ContainsAny(firstRune(rest), "市县区州省自特旗") {
			return p, rest, false, true
		}
	}
	return province{}, "", false, false
}

func firstRune(s string) string {
	for i := range s {
		if i > 0 {
			return s[:i]
		}
	}
	return s
}

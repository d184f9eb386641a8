package weather

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

// written shows a reading as areas, larger first, and the place.
func (r reading) written() string {
	return strings.Join(append(append([]string(nil), r.within...), r.name), " > ")
}

func TestWordsForACityAreReadAsPeopleMeanThem(t *testing.T) {
	for _, c := range []struct{ words, want string }{
		{"上海", "上海"},
		{" 上海 市 ", "上海 > 市"}, // odd, but harmless: the second reading is the other way round
		{"上海市", "上海市"},
		{"泗县", "泗县"},
		{"嵊泗县", "嵊泗县"},
		{"东西湖区", "东西湖区"},
		{"沙市区", "沙市区"},
		{"景德镇市", "景德镇市"},
		{"石家庄", "石家庄"},
		{"北京市朝阳区", "北京市 > 朝阳区"},
		{"北京朝阳", "北京 > 朝阳"},
		{"吉林市", "吉林市"},
		{"吉林省吉林市", "吉林省 > 吉林市"},
		{"吉林吉林", "吉林 > 吉林"},
		{"吉林市船营区", "吉林市 > 船营区"},
		{"江苏 南京", "江苏 > 南京"},
		{"南京 江苏", "江苏 > 南京"},
		{"南京，江苏", "江苏 > 南京"},
		{"江苏南京", "江苏 > 南京"},
		{"江苏省南京市鼓楼区", "江苏省 > 南京市 > 鼓楼区"},
		{"朝阳（辽宁）", "辽宁 > 朝阳"},
		{"辽宁・朝阳", "辽宁 > 朝阳"},
		{"辽宁·朝阳", "辽宁 > 朝阳"},
		{"景德镇市珠山区", "景德镇市 > 珠山区"},
		{"荆州市沙市区", "荆州市 > 沙市区"},
		{"济南市中区", "济南 > 市中区"},
		{"乐山市市中区", "乐山市 > 市中区"},
		{"内蒙古自治区呼和浩特市新城区", "内蒙古自治区 > 呼和浩特市 > 新城区"},
		{"新疆维吾尔自治区喀什地区喀什市", "新疆维吾尔自治区 > 喀什地区 > 喀什市"},
		{"广西自治区南宁", "广西壮族自治区 > 南宁"},
		{"延边朝鲜族自治州延吉市", "延边朝鲜族自治州 > 延吉市"},
		{"海南州共和县", "海南州共和县"}, // not in the province 海南
		{"中国上海", "中国 > 上海"},
		{"中国浙江省杭州市西湖区", "中国 > 浙江省 > 杭州市 > 西湖区"},
		{"廣東 深圳", "广东 > 深圳"},
		{"臺北市", "臺北市"},
		{"青海湖", "青海湖"},
		{"New York", "New York"},
		{"Springfield, Illinois", "Illinois > Springfield"},
		{"Springfield,  Illinois , United  States", "United States > Illinois > Springfield"},
		{"Springfield 美国", "Springfield > 美国"},
		{"New York 美国", "New York > 美国"},
		{"São Paulo", "São Paulo"},
		{"東京", "東京"},
		{"서울", "서울"},
	} {
		ways := readings(c.words)
		if len(ways) == 0 || ways[0].written() != c.want {
			t.Errorf("%q is read as %v, want %s", c.words, ways, c.want)
		}
	}
}

func TestOtherReadingsComeAfterTheLikeliest(t *testing.T) {
	for _, c := range []struct {
		words string
		want  []string
	}{
		{"兰州城关区", []string{"兰州城关区", "兰州 > 城关区", "兰州城 > 关区"}},
		{"甘肃兰州城关区", []string{"甘肃 > 兰州城关区", "甘肃兰州城关区", "甘肃 > 兰州 > 城关区", "甘肃 > 兰州城 > 关区"}},
		{"四川北路", []string{"四川 > 北路", "四川北路"}},
		{"Springfield 美国", []string{"Springfield > 美国", "美国 > Springfield"}},
		{"Paris France", []string{"Paris France", "France > Paris"}},
		{"Paris United States", []string{"Paris United States", "States > Paris United", "United States > Paris"}},
		{"上海", []string{"上海"}},
	} {
		var got []string
		for _, way := range readings(c.words) {
			got = append(got, way.written())
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%q is read as %v, want %v", c.words, got, c.want)
		}
	}
}

func TestNothingIsReadOutOfNothing(t *testing.T) {
	for _, words := range []string{"", " ", "\u3000", ",，、", "()", "\t\n"} {
		if ways := readings(words); len(ways) > 0 {
			t.Errorf("%q is read as %v", words, ways)
		}
	}
}

func TestNamesAreComparedAsAWhole(t *testing.T) {
	for _, c := range []struct {
		asked, name string
		want        likeness
	}{
		{"上海", "上海", equal},
		{"上海", "上海市", variant},
		{"上海市", "上海", variant},
		{"朝阳区", "朝阳市", partial},
		{"西湖区", "东西湖区", partial},
		{"泗县", "嵊泗县", partial},
		{"泗县", "泗县", equal},
		{"吉林市", "吉林省", partial},
		{"鼓楼區", "鼓楼区", equal},
		{"上海", "北京", unlike},
		{"new york", "New York City", variant},
		{"Zurich", "Zürich", equal},
		{"São Paulo", "Sao Paulo", equal},
		{"St Louis", "St. Louis", equal},
		{"Xi'an", "Xi’an", equal},
		{"Spring", "Springfield", partial},
		{"Peking", "Beijing", unlike},
		{"上海", "", unlike},
	} {
		if got := compare(c.asked, c.name); got != c.want {
			t.Errorf("%q and %q: got %d, want %d", c.asked, c.name, got, c.want)
		}
	}
}

// FuzzReadings looks for words that break the splitter, or make readings
// without a name.
func FuzzReadings(f *testing.F) {
	for _, seed := range []string{
		"上海", "北京市朝阳区", "吉林省吉林市", "兰州城关区", "江苏 南京", "济南市中区", "乐山市市中区", "中国", "中国上海市",
		"广西壮族自治区", "自治区自治区", "市市市市市市", "Springfield, Illinois", "New York 美国 纽约", "東京", "서울", "()", "\xff\xfe", "区\u0301",
		"辽宁・朝阳", "臺灣台北", strings.Repeat("省市区县", 30),
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, words string) {
		ways := readings(words)
		if len(ways) > maxReadings {
			t.Errorf("%d readings", len(ways))
		}
		for _, way := range ways {
			for _, name := range append(way.within, way.name) {
				if strings.TrimSpace(name) == "" {
					t.Errorf("%q: a name is empty in %q", words, way.written())
				}
				if utf8.ValidString(words) && !utf8.ValidString(name) {
					t.Errorf("%q: %q is cut inside a character", words, name)
				}
				first, second := spellings(name)
				if len(first) == 0 || len(first)+len(second) > 4 {
					t.Errorf("%q: spellings %q %q", name, first, second)
				}
				compare(name, words)
			}
		}
	})
}

package weather

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/aurorabot/aurora/apps/weather/weathertest"
)

// newService returns a service that asks the provider played by the server.
func newService(t *testing.T, server *weathertest.Server, lang Language) *Service {
	t.Helper()
	s := NewService(Options{BaseURL: server.URL, Language: lang})
	t.Cleanup(s.Close)
	return s
}

// problemFrom returns the problem a service answers with.
func problemFrom(t *testing.T, err error) *Problem {
	t.Helper()
	var problem *Problem
	if !errors.As(err, &problem) {
		t.Fatalf("got the error %v, want a problem", err)
	}
	return problem
}

func TestThePlaceThatIsMeantIsFound(t *testing.T) {
	server := weathertest.NewServer(t)
	for _, c := range []struct{ city, place string }{
		{"上海", "上海（中国上海市）"},
		{"上海市", "上海（中国上海市）"}, // the gazetteer has it without 市
		{" 上海　", "上海（中国上海市）"},
		{"中国上海", "上海（中国上海市）"},
		{"北京", "北京市（中国）"},         // W01: the gazetteer finds two villages under 北京, the capital under 北京市
		{"南京", "南京（中国江苏南京市）"},     // W01: a village first in the answer
		{"江苏 南京", "南京（中国江苏南京市）"},  // province before
		{"南京，江苏省", "南京（中国江苏南京市）"}, // and behind
		{"江苏省南京市", "南京（中国江苏南京市）"},
		{"福建 南京", "南京（中国福建漳州市）"}, // the village, when it is asked for
		{"四川北京", "北京（中国四川成都市）"},
		{"东西湖区", "东西湖区（中国湖北武汉市）"}, // W02
		{"武汉 东西湖区", "东西湖区（中国湖北武汉市）"},
		{"杭州西湖区", "西湖区（中国浙江杭州市）"},
		{"浙江省杭州市西湖区", "西湖区（中国浙江杭州市）"},
		{"泗县", "泗县（中国安徽宿州市）"}, // W02: 嵊泗县 first in the answer
		{"嵊泗县", "嵊泗县（中国浙江舟山市）"},
		{"兰州城关区", "城关区（中国甘肃兰州市）"}, // W02: the hint decides
		{"兰州市城关区", "城关区（中国甘肃兰州市）"},
		{"甘肃 兰州 城关区", "城关区（中国甘肃兰州市）"},
		{"拉萨城关区", "城关区（中国西藏拉萨市）"},
		{"朝阳 辽宁", "朝阳（中国辽宁朝阳市）"},
		{"北京朝阳", "朝阳区（中国北京市）"},
		{"北京市朝阳区", "朝阳区（中国北京市）"},
		{"吉林省吉林市", "吉林市（中国吉林）"},
		{"吉林", "吉林市（中国吉林）"},    // a province and a city; the village of the name counts for nothing
		{"南京鼓楼区", "鼓楼区（中国江苏）"}, // the gazetteer does not say that it is in 南京, the map does
		{"济南市中区", "市中区（中国山东济南市）"},
		{"新加坡", "新加坡"}, // the city, not the country
		{"東京", "東京都（日本）"},
		{"Beijing", "北京市（中国）"},
		{"beijing", "北京市（中国）"},
		{"Peking", "北京市（中国）"}, // a name that the answer does not show
		{"London", "伦敦（英国，英格兰，大伦敦）"},
		{"London, Ontario", "伦敦（加拿大，安大略省）"},
		{"London 加拿大", "伦敦（加拿大，安大略省）"},
		{"Springfield, IL", "斯普林菲尔德（美国，伊利诺伊州，桑加蒙县）"},
		{"Springfield Illinois", "斯普林菲尔德（美国，伊利诺伊州，桑加蒙县）"},
		{"伊利诺伊州 Springfield", "斯普林菲尔德（美国，伊利诺伊州，桑加蒙县）"},
		{"New York", "New York City（United States，New York）"}, // not the hamlet of exactly that name
		{"Paris France", "Paris（France，Île-de-France）"},
		{"Paris, Texas, USA", "Paris（United States，Texas，Lamar）"},
		{"Zurich", "Zürich（Switzerland，Zurich，Zürich District）"},
	} {
		report, err := newService(t, server, Chinese).Weather(t.Context(), c.city, 1)
		if err != nil {
			t.Errorf("%q: %v", c.city, err)
			continue
		}
		if got := report.Place.describe(Chinese); got != c.place {
			t.Errorf("%q is taken for %s, want %s", c.city, got, c.place)
		}
		if report.Note != "" {
			t.Errorf("%q: unexpected note %q", c.city, report.Note)
		}
	}
}

func TestNamesOfSeveralPlacesAreAskedAbout(t *testing.T) {
	server := weathertest.NewServer(t)
	for _, c := range []struct {
		city  string
		lang  Language
		among []string // places that the candidates must lead to
	}{
		{"朝阳", Chinese, []string{"朝阳区（中国北京市）", "朝阳（中国辽宁朝阳市）"}},
		{"西湖区", Chinese, []string{"西湖区（中国浙江杭州市）", "西湖区（中国江西南昌市）"}},
		{"城关区", Chinese, []string{"城关区（中国甘肃兰州市）", "城关区（中国西藏拉萨市）"}},
		{"Springfield", English, []string{"Springfield (Sangamon, Illinois, United States)", "Springfield (Greene, Missouri, United States)",
			"Springfield (Hampden, Massachusetts, United States)"}},
	} {
		service := newService(t, server, c.lang)
		_, err := service.Weather(t.Context(), c.city, 1)
		problem := problemFrom(t, err)
		if problem.Code != CityAmbiguous || problem.Retryable || len(problem.Candidates) != len(c.among) {
			t.Errorf("%q: got %v with %v, want %d candidates", c.city, problem, problem.Candidates, len(c.among))
			continue
		}
		led := make(map[string]bool)
		for _, candidate := range problem.Candidates {
			report, err := service.Weather(t.Context(), candidate.Query, 1)
			if err != nil {
				t.Errorf("%q: the candidate's query %q: %v", c.city, candidate.Query, err)
				continue
			}
			if report.Place != candidate.Place {
				t.Errorf("%q: the query %q leads to %v, not to the candidate %v", c.city, candidate.Query, report.Place, candidate.Place)
			}
			led[candidate.describe(c.lang)] = true
			if !strings.Contains(problem.Message, candidate.describe(c.lang)) {
				t.Errorf("%q: the message does not name %s: %s", c.city, candidate.describe(c.lang), problem.Message)
			}
		}
		for _, place := range c.among {
			if !led[place] {
				t.Errorf("%q: %s is not among the candidates", c.city, place)
			}
		}
	}
}

func TestProvincesAndCountriesAreNoCities(t *testing.T) {
	server := weathertest.NewServer(t)
	for city, want := range map[string]string{
		"河南":    "“河南”是一个省级地区，请说出具体城市，例如郑州。", // villages are called so too
		"河南省":   "“河南省”是一个省级地区，请说出具体城市，例如郑州。",
		"内蒙古":   "“内蒙古”是一个省级地区，请说出具体城市，例如呼和浩特。",
		"廣東":    "“廣東”是一个省级地区，请说出具体城市，例如广州。",
		"日本":    "“日本”是一个国家，请说出具体城市。",
		"吉林省":   "“吉林省”是一个省级地区，请说出具体城市，例如长春。",
		"新疆自治区": "“新疆自治区”是一个省级地区，请说出具体城市，例如乌鲁木齐。",
	} {
		_, err := newService(t, server, Chinese).Weather(t.Context(), city, 1)
		if problem := problemFrom(t, err); problem.Code != CityAmbiguous || problem.Message != want {
			t.Errorf("%q: got %v, want %s", city, problem, want)
		}
	}
}

func TestAPartOfACityThatIsNotKnownIsTheCityAroundItWithANote(t *testing.T) {
	server := weathertest.NewServer(t)
	for _, c := range []struct{ city, note string }{
		{"兰州市安宁区", "没有找到“安宁区”，这是它所在的兰州的天气。"},
		{"兰州安宁区", "没有找到“安宁区”，这是它所在的兰州的天气。"},
		{"甘肃省兰州市安宁区", "没有找到“安宁区”，这是它所在的兰州的天气。"},
		{"安宁区 兰州", "没有找到“安宁区”，这是它所在的兰州的天气。"},
		{"上海 虹桥", "没有找到“虹桥”，这是它所在的上海的天气。"},
	} {
		report, err := newService(t, server, Chinese).Weather(t.Context(), c.city, 1)
		if err != nil {
			t.Errorf("%q: %v", c.city, err)
		} else if report.Note != c.note || !strings.HasPrefix(report.Text, c.note+"\n") {
			t.Errorf("%q: note is %q, want %q", c.city, report.Note, c.note)
		}
	}
	// What only begins with the name of a city is no part of it.
	if _, err := newService(t, server, Chinese).Weather(t.Context(), "兰州拉面", 1); err == nil {
		t.Error("兰州拉面 has a weather")
	}
}

func TestUnknownCitiesComeWithAHint(t *testing.T) {
	server := weathertest.NewServer(t)
	for _, c := range []struct {
		city string
		lang Language
		want string
	}{
		{"某某城", Chinese, "没有找到“某某城”。请检查写法，或者换成所在的城市，也可以用英文名或拼音。"},
		{"Nowhereville", English, "Found no “Nowhereville”. Check the spelling, or name the nearest larger city."},
		{"长名", Chinese, "长名镇（中国湖南张家界市）"}, // variant of a town: found
		{"广东 南京", Chinese, "在“广东”没有找到“南京”，找到的是：南京（中国江苏南京市）。"},
		{"Paris, Germany", English, "Found no “Paris” in “Germany”, but: Paris (Île-de-France, France)."},
		{"上", Chinese, "没有找到“上”。请检查写法，或者换成所在的城市，也可以用英文名或拼音。"},
	} {
		report, err := newService(t, server, c.lang).Weather(t.Context(), c.city, 1)
		if err == nil {
			if got := report.Place.describe(c.lang); got != c.want {
				t.Errorf("%q: got %s, want %s", c.city, got, c.want)
			}
			continue
		}
		if problem := problemFrom(t, err); problem.Code != CityUnknown || problem.Message != c.want || problem.Retryable {
			t.Errorf("%q: got %v, want %s", c.city, problem, c.want)
		}
	}
}

func TestSimilarNamesAreOfferedButNotTaken(t *testing.T) {
	server := weathertest.NewServer(t)
	_, err := newService(t, server, Chinese).Weather(t.Context(), "湖区", 1)
	problem := problemFrom(t, err)
	if problem.Code != CityUnknown || len(problem.Candidates) != 1 ||
		problem.Message != "没有找到“湖区”，相近的有：东西湖区（中国湖北武汉市）。" {
		t.Errorf("got %v", problem)
	}
	_, err = newService(t, server, Chinese).Weather(t.Context(), "西湖区", 1)
	for _, candidate := range problemFrom(t, err).Candidates {
		if candidate.Name == "东西湖区" {
			t.Error("东西湖区 is a candidate for 西湖区")
		}
	}
}

func TestNoCityIsAnInvalidArgument(t *testing.T) {
	server := weathertest.NewServer(t)
	for _, city := range []string{"", "  ", "，"} {
		_, err := newService(t, server, Chinese).Weather(t.Context(), city, 1)
		if problem := problemFrom(t, err); problem.Code != CityMissing || !strings.Contains(problem.Message, "上海") {
			t.Errorf("%q: got %v", city, problem)
		}
	}
	if asked := server.Requests(); len(asked) > 0 {
		t.Errorf("the provider was asked: %v", asked)
	}
}

func TestTheGeocoderIsAskedLittle(t *testing.T) {
	for _, c := range []struct {
		city string
		lang Language
		most int
	}{
		{"上海", Chinese, 2}, {"北京", Chinese, 2}, {"北京市", Chinese, 2}, {"London", English, 1}, {"London", Chinese, 2},
		{"朝阳", Chinese, 4}, {"兰州城关区", Chinese, 4},
		{"从来没有人听说过的地方", Chinese, 20}, {"A B C D E F G", English, 20},
	} {
		server := weathertest.NewServer(t)
		_, err := newService(t, server, c.lang).Weather(t.Context(), c.city, 1)
		searches := 0
		for _, asked := range server.Requests() {
			if strings.HasPrefix(asked, "search ") {
				searches++
			}
		}
		if searches > c.most {
			t.Errorf("%q took %d searches, want at most %d: %v, %v", c.city, searches, c.most, server.Requests(), err)
		}
	}
}

func TestTheUsersLanguageNamesThePlace(t *testing.T) {
	server := weathertest.NewServer(t)
	for _, c := range []struct {
		city string
		lang Language
		want string
	}{
		{"上海", English, "Shanghai (China)"}, {"London", English, "London (Greater London, England, United Kingdom)"},
		{"Beijing", English, "Beijing (China)"}, {"London", Chinese, "伦敦（英国，英格兰，大伦敦）"},
	} {
		report, err := newService(t, server, c.lang).Weather(t.Context(), c.city, 1)
		if err != nil {
			t.Errorf("%q: %v", c.city, err)
		} else if got := report.Place.describe(c.lang); got != c.want {
			t.Errorf("%q in %s is %s, want %s", c.city, c.lang, got, c.want)
		}
	}
}

func TestEntriesForOneSpotAreOnePlace(t *testing.T) {
	near := func(id int64, lat float64) *place {
		return &place{id: id, feature: "PPL", countryCode: "CN", latitude: lat, longitude: 110, labels: map[string]label{"zh": {name: "某地"}}}
	}
	if got := rivals([]*place{near(1, 30), near(2, 30.1), near(3, 30.2)}); len(got) != 1 {
		t.Errorf("got %d places, want 1", len(got))
	}
	if got := rivals([]*place{near(1, 30), near(2, 31)}); len(got) != 2 {
		t.Errorf("got %d places, want 2", len(got))
	}
	if got := rivals(nil); got != nil {
		t.Errorf("got %v", got)
	}
}

func TestManyCandidatesAreCutShort(t *testing.T) {
	var places []*place
	for i := range 9 {
		places = append(places, &place{id: int64(i), feature: "PPL", countryCode: "CN", latitude: float64(20 + i*2),
			labels: map[string]label{"zh": {name: "某地", country: "中国", areas: [4]string{fmt.Sprintf("省%d", i)}}}})
	}
	f := &finder{lang: Chinese}
	problem := f.ambiguous("某地", &finding{several: places})
	if len(problem.Candidates) != maxCandidates || !strings.HasPrefix(problem.Message, "有 9 个地方叫“某地”") || !strings.Contains(problem.Message, "…") {
		t.Errorf("got %d candidates, %s", len(problem.Candidates), problem.Message)
	}
}

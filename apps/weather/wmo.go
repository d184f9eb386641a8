package weather

import "fmt"

// A wmoText is a weather code of WMO table 4677, in the selection Open-Meteo
// uses (https://open-meteo.com/en/docs, "WMO Weather interpretation codes").
type wmoText struct{ zh, en string }

var wmoTexts = map[int]wmoText{
	0:  {"晴", "clear sky"},
	1:  {"大致晴朗", "mainly clear"},
	2:  {"少云", "partly cloudy"},
	3:  {"阴", "overcast"},
	45: {"雾", "fog"},
	48: {"雾凇", "rime fog"},
	51: {"小毛毛雨", "light drizzle"},
	53: {"毛毛雨", "drizzle"},
	55: {"大毛毛雨", "dense drizzle"},
	56: {"冻毛毛雨", "light freezing drizzle"},
	57: {"强冻毛毛雨", "freezing drizzle"},
	61: {"小雨", "light rain"},
	63: {"中雨", "rain"},
	65: {"大雨", "heavy rain"},
	66: {"冻雨", "light freezing rain"},
	67: {"强冻雨", "heavy freezing rain"},
	71: {"小雪", "light snow"},
	73: {"中雪", "snow"},
	75: {"大雪", "heavy snow"},
	77: {"米雪", "snow grains"},
	80: {"小阵雨", "light showers"},
	81: {"阵雨", "showers"},
	82: {"强阵雨", "violent showers"},
	85: {"小阵雪", "light snow showers"},
	86: {"大阵雪", "heavy snow showers"},
	95: {"雷暴", "thunderstorm"},
	96: {"雷暴伴小冰雹", "thunderstorm with light hail"},
	99: {"雷暴伴大冰雹", "thunderstorm with heavy hail"},
}

// sky names a weather code; a code nobody knows is shown as a number.
func sky(code int, lang Language) string {
	text, ok := wmoTexts[code]
	switch {
	case !ok && lang == Chinese:
		return fmt.Sprintf("未知(%d)", code)
	case !ok:
		return fmt.Sprintf("unknown (%d)", code)
	case lang == Chinese:
		return text.zh
	default:
		return text.en
	}
}

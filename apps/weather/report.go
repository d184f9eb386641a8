package weather

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// A Report is the weather of one place. Fields that the provider had no value
// for are null.
type Report struct {
	City    string   `json:"city" jsonschema:"name of the place, as in place.name"`
	Place   Place    `json:"place" jsonschema:"the place the report is about"`
	Note    string   `json:"note,omitempty" jsonschema:"what to know about the choice of the place"`
	Current *Current `json:"current" jsonschema:"the weather now"`
	Daily   []Day    `json:"daily" jsonschema:"one entry a day, beginning with today in the place's time zone"`
	Units   Units    `json:"units"`
	Text    string   `json:"report" jsonschema:"the report in words"`
	Source  Source   `json:"source" jsonschema:"whom to credit for the data"`
}

// A Place is a place on earth.
type Place struct {
	Name        string  `json:"name"`
	Admin1      string  `json:"admin1,omitempty" jsonschema:"province or state"`
	Admin2      string  `json:"admin2,omitempty" jsonschema:"prefecture or county"`
	Country     string  `json:"country,omitempty"`
	CountryCode string  `json:"country_code,omitempty" jsonschema:"ISO 3166-1 alpha-2"`
	Latitude    float64 `json:"latitude" jsonschema:"degrees north"`
	Longitude   float64 `json:"longitude" jsonschema:"degrees east"`
	TimeZone    string  `json:"time_zone,omitempty" jsonschema:"IANA name"`
}

// Current is the weather now.
type Current struct {
	Time          string   `json:"time" jsonschema:"RFC 3339, in the place's time zone"`
	Temperature   *float64 `json:"temperature"`
	FeelsLike     *float64 `json:"feels_like"`
	Humidity      *float64 `json:"humidity"`
	Precipitation *float64 `json:"precipitation"`
	WindSpeed     *float64 `json:"wind_speed"`
	WindDirection *float64 `json:"wind_direction" jsonschema:"degrees, where the wind comes from"`
	WeatherCode   *int     `json:"weather_code" jsonschema:"WMO code"`
	Weather       string   `json:"weather" jsonschema:"the weather code in words; empty if unknown"`
}

// A Day is the forecast of one day.
type Day struct {
	Date                     string   `json:"date" jsonschema:"YYYY-MM-DD, in the place's time zone"`
	TemperatureMax           *float64 `json:"temperature_max"`
	TemperatureMin           *float64 `json:"temperature_min"`
	PrecipitationSum         *float64 `json:"precipitation_sum"`
	PrecipitationProbability *float64 `json:"precipitation_probability"`
	WeatherCode              *int     `json:"weather_code" jsonschema:"WMO code"`
	Weather                  string   `json:"weather" jsonschema:"the weather code in words; empty if unknown"`
}

// Units are the units of the numbers in a report.
type Units struct {
	Temperature   string `json:"temperature"`
	Humidity      string `json:"humidity"`
	Precipitation string `json:"precipitation"`
	WindSpeed     string `json:"wind_speed"`
}

// A Source is whom to credit.
type Source struct {
	Name    string `json:"name"`
	URL     string `json:"url"`
	Licence string `json:"licence"`
}

var openMeteoSource = Source{Name: "Open-Meteo", URL: "https://open-meteo.com/", Licence: "CC BY 4.0"}

// describe writes a place with the areas around it: 朝阳区（中国北京市）, and
// Springfield (Illinois, United States).
func (p Place) describe(lang Language) string {
	var around []string
	for _, area := range []string{p.Country, p.Admin1, p.Admin2} {
		if area != "" && area != p.Name && !slices.Contains(around, area) {
			around = append(around, area)
		}
	}
	if len(around) == 0 {
		return p.Name
	}
	if lang == Chinese {
		separator := "，"
		if p.CountryCode == "CN" {
			separator = "" // as in an address
		}
		return p.Name + "（" + strings.Join(around, separator) + "）"
	}
	slices.Reverse(around)
	return p.Name + " (" + strings.Join(around, ", ") + ")"
}

// words writes a report for people.
func (r *Report) words(lang Language) string {
	var lines []string
	if r.Note != "" {
		lines = append(lines, r.Note)
	}
	head := r.Place.describe(lang) + lang.pick("：", ": ")
	if r.Current != nil {
		lines = append(lines, head+lang.pick("现在 ", "now ")+r.Current.words(r.Units, lang))
	} else {
		lines = append(lines, head+lang.pick("没有实况数据。", "no current data."))
	}
	for i, day := range r.Daily {
		lines = append(lines, day.words(i, r.Units, lang))
	}
	lines = append(lines, fmt.Sprintf(lang.pick("数据：%s（%s）", "Data: %s (%s)"), "Open-Meteo.com", r.Source.Licence))
	return strings.Join(lines, "\n")
}

// words writes the weather now: 12.3°C，小雨，体感 11.0°C，湿度 78%，风速 9.4 km/h。
func (c *Current) words(units Units, lang Language) string {
	facts := []string{
		measure("", c.Temperature, units.Temperature),
		c.Weather,
		measure(lang.pick("体感 ", "feels like "), c.FeelsLike, units.Temperature),
		measure(lang.pick("湿度 ", "humidity "), c.Humidity, units.Humidity),
		measure(lang.pick("风速 ", "wind "), c.WindSpeed, " "+units.WindSpeed),
	}
	return sentence(facts, lang)
}

// words writes the forecast of the day that comes i days after today.
func (d Day) words(i int, units Units, lang Language) string {
	name := d.Date
	if date, err := time.Parse(time.DateOnly, d.Date); err == nil {
		name = fmt.Sprintf("%d月%d日", date.Month(), date.Day())
		if lang == English {
			name = date.Format("Mon, 2 Jan")
		}
	}
	if relative := [][2]string{{"今天", "today"}, {"明天", "tomorrow"}, {"后天", ""}}; i < len(relative) {
		if word := lang.pick(relative[i][0], relative[i][1]); word != "" {
			name += lang.pick("（", " (") + word + lang.pick("）", ")")
		}
	}
	span := measure("", d.TemperatureMin, units.Temperature)
	if d.TemperatureMin != nil && d.TemperatureMax != nil {
		span = decimal(*d.TemperatureMin) + lang.pick("～", " to ") + decimal(*d.TemperatureMax) + units.Temperature
	} else if d.TemperatureMax != nil {
		span = measure(lang.pick("最高 ", "up to "), d.TemperatureMax, units.Temperature)
	}
	rain := ""
	if d.PrecipitationProbability != nil {
		rain = fmt.Sprintf("%s%.0f%%", lang.pick("降水概率 ", "chance of precipitation "), *d.PrecipitationProbability)
	}
	return name + lang.pick("：", ": ") + sentence([]string{d.Weather, span, rain}, lang)
}

// sentence joins the facts that there are.
func sentence(facts []string, lang Language) string {
	facts = slices.DeleteFunc(facts, func(fact string) bool { return fact == "" })
	if len(facts) == 0 {
		return lang.pick("没有数据。", "no data.")
	}
	return strings.Join(facts, lang.pick("，", ", ")) + lang.pick("。", ".")
}

// measure writes a value with its unit, and nothing for a missing one.
func measure(before string, value *float64, unit string) string {
	if value == nil {
		return ""
	}
	text := decimal(*value)
	if unit == "%" {
		text = strings.TrimSuffix(text, ".0")
	}
	return before + text + unit
}

func decimal(f float64) string {
	text := fmt.Sprintf("%.1f", f)
	if text == "-0.0" {
		return "0.0"
	}
	return text
}

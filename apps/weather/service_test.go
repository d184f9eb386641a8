package weather

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aurorabot/aurora/apps/weather/weathertest"
)

func TestReportReadsWellInChinese(t *testing.T) {
	service := newService(t, weathertest.NewServer(t), Chinese)
	report, err := service.Weather(t.Context(), "上海", 4)
	if err != nil {
		t.Fatal(err)
	}
	const want = `上海（中国上海市）：现在 12.3°C，小雨，体感 11.0°C，湿度 78%，风速 9.4 km/h。
11月30日（今天）：小雨，9.0～14.1°C，降水概率 80%。
12月1日（明天）：阴，8.1～15.0°C，降水概率 20%。
12月2日（后天）：晴，5.5～13.2°C。
12月3日：大致晴朗，4.9～12.8°C，降水概率 3%。
数据：Open-Meteo.com（CC BY 4.0）`
	if report.Text != want {
		t.Errorf("got\n%s\nwant\n%s", report.Text, want)
	}
}

func TestReportReadsWellInEnglish(t *testing.T) {
	service := newService(t, weathertest.NewServer(t), English)
	report, err := service.Weather(t.Context(), "Springfield, Illinois", 3)
	if err != nil {
		t.Fatal(err)
	}
	const want = `Springfield (Sangamon, Illinois, United States): now 2.5°C, overcast, feels like -1.0°C, humidity 66%, wind 14.0 km/h.
Sun, 29 Nov (today): overcast, -0.8 to 6.1°C, chance of precipitation 10%.
Mon, 30 Nov (tomorrow): snow, -5.0 to 1.2°C, chance of precipitation 75%.
Tue, 1 Dec: light snow, -8.1 to -2.0°C, chance of precipitation 40%.
Data: Open-Meteo.com (CC BY 4.0)`
	if report.Text != want {
		t.Errorf("got\n%s\nwant\n%s", report.Text, want)
	}
}

func TestReportHoldsPlaceNumbersUnitsAndSource(t *testing.T) {
	service := newService(t, weathertest.NewServer(t), Chinese)
	report, err := service.Weather(t.Context(), "上海", 1)
	if err != nil {
		t.Fatal(err)
	}
	got, err := json.MarshalIndent(report, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	const want = `{
  "city": "上海",
  "place": {
    "name": "上海",
    "admin1": "上海市",
    "admin2": "上海市",
    "country": "中国",
    "country_code": "CN",
    "latitude": 31.22222,
    "longitude": 121.45806,
    "time_zone": "Asia/Shanghai"
  },
  "current": {
    "time": "2026-11-30T10:15:00+08:00",
    "temperature": 12.3,
    "feels_like": 11,
    "humidity": 78,
    "precipitation": 0.4,
    "wind_speed": 9.4,
    "wind_direction": 80,
    "weather_code": 61,
    "weather": "小雨"
  },
  "daily": [
    {
      "date": "2026-11-30",
      "temperature_max": 14.1,
      "temperature_min": 9,
      "precipitation_sum": 3.2,
      "precipitation_probability": 80,
      "weather_code": 61,
      "weather": "小雨"
    }
  ],
  "units": {
    "temperature": "°C",
    "humidity": "%",
    "precipitation": "mm",
    "wind_speed": "km/h"
  },
  "report": "上海（中国上海市）：现在 12.3°C，小雨，体感 11.0°C，湿度 78%，风速 9.4 km/h。\n11月30日（今天）：小雨，9.0～14.1°C，降水概率 80%。\n数据：Open-Meteo.com（CC BY 4.0）",
  "source": {
    "name": "Open-Meteo",
    "url": "https://open-meteo.com/",
    "licence": "CC BY 4.0"
  }
}`
	if string(got) != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestMissingValuesAreLeftOut(t *testing.T) {
	service := newService(t, weathertest.NewServer(t), Chinese)
	report, err := service.Weather(t.Context(), "泗县", 7)
	if err != nil {
		t.Fatal(err)
	}
	const want = `泗县（中国安徽宿州市）：现在 未知(42)。
11月30日（今天）：没有数据。
12月1日（明天）：雷暴，最高 9.5°C。
12月2日（后天）：没有数据。
数据：Open-Meteo.com（CC BY 4.0）`
	if report.Text != want {
		t.Errorf("got\n%s\nwant\n%s", report.Text, want)
	}
	if report.Units.WindSpeed != "km/h" || report.Current.Temperature != nil || report.Daily[0].WeatherCode != nil {
		t.Errorf("got %+v", report)
	}
}

func TestAForecastWithoutCurrentWeatherIsStillOne(t *testing.T) {
	f := &forecast{Zone: "Asia/Shanghai", Offset: 28800}
	report := f.report(3, English)
	report.Place.Name = "X"
	if text := report.words(English); !strings.HasPrefix(text, "X: no current data.") {
		t.Errorf("got %s", text)
	}
	if report.Current != nil || len(report.Daily) != 0 || report.Daily == nil {
		t.Errorf("got %+v", report)
	}
	if got := f.moment("soon"); got != "soon" {
		t.Errorf("an odd time becomes %q", got)
	}
}

func TestASmallNegativeTemperatureIsNotMinusZero(t *testing.T) {
	report, err := newService(t, weathertest.NewServer(t), Chinese).Weather(t.Context(), "北京", 1)
	if err != nil || !strings.Contains(report.Text, "现在 0.0°C") {
		t.Errorf("got %v, %v", report, err)
	}
}

func TestDaysAreBroughtIntoRange(t *testing.T) {
	service := newService(t, weathertest.NewServer(t), Chinese)
	for days, want := range map[int]int{-1: 1, 0: 1, 1: 1, 7: 7, 100: 7} {
		report, err := service.Weather(t.Context(), "上海", days)
		if err != nil || len(report.Daily) != want {
			t.Errorf("%d days: got %v, %v, want %d", days, report, err, want)
		}
	}
}

func TestEachFaultOfTheProviderHasItsCode(t *testing.T) {
	for fault, want := range map[weathertest.Fault]struct {
		code      Code
		retryable bool
		cause     string
	}{
		weathertest.RateLimited: {RateLimited, true, "HTTP 429: Minutely API request limit exceeded"},
		weathertest.ServerError: {ProviderUnavailable, true, "HTTP 500"},
		weathertest.WebPage:     {ProviderUnavailable, true, "login page"},
		weathertest.Redirect:    {ProviderUnavailable, true, "redirect"},
		weathertest.Refused:     {ProviderUnavailable, false, "HTTP 400: Parameter 'latitude' is out of range."},
		weathertest.Garbage:     {ProviderUnavailable, true, "cannot be read"},
		weathertest.Huge:        {ProviderUnavailable, false, "longer than"},
		weathertest.CutOff:      {ProviderUnavailable, true, "EOF"},
		weathertest.Silent:      {ProviderTimeout, true, "deadline"},
	} {
		for _, stage := range []string{"search", "forecast"} {
			t.Run(stage+" "+string(fault), func(t *testing.T) {
				server := weathertest.NewServer(t)
				options := Options{BaseURL: server.URL + "/"}
				if fault == weathertest.Silent {
					options.Timeout = 100 * time.Millisecond
				}
				service := NewService(options)
				defer service.Close()
				server.Break(fault)
				if stage == "forecast" { // the two searches for 上海 go well
					server.BreakNext(weathertest.None, weathertest.None)
				}
				_, err := service.Weather(t.Context(), "上海", 1)
				problem := problemFrom(t, err)
				if problem.Code != want.code || problem.Retryable != want.retryable || len(problem.Message) == 0 {
					t.Errorf("got %v, want %v", problem, want)
				}
				if problem.Cause == nil || !strings.Contains(problem.Cause.Error(), want.cause) {
					t.Errorf("the cause is %v, want one with %q", problem.Cause, want.cause)
				}
				if strings.Contains(problem.Error(), server.URL) {
					t.Errorf("the address is in the error: %v", problem)
				}
			})
		}
	}
}

func TestAForecastWithoutDataIsNoForecast(t *testing.T) {
	server := weathertest.NewServer(t)
	server.BreakNext(weathertest.None, weathertest.None, weathertest.Empty)
	_, err := newService(t, server, Chinese).Weather(t.Context(), "上海", 1)
	if problem := problemFrom(t, err); problem.Code != ProviderUnavailable || !problem.Retryable {
		t.Errorf("got %v", problem)
	}
}

func TestAConnectionThatBreaksIsTriedOnceMore(t *testing.T) {
	server := weathertest.NewServer(t)
	service := newService(t, server, English)
	server.BreakNext(weathertest.CutOff)
	if _, err := service.Weather(t.Context(), "Zurich", 1); err != nil {
		t.Errorf("after one broken connection: %v", err)
	}
	before := len(server.Requests())
	server.BreakNext(weathertest.ServerError)
	if _, err := service.Weather(t.Context(), "Peking", 1); err == nil {
		t.Error("an answer that says no is asked for again")
	}
	if after := len(server.Requests()); after != before+1 {
		t.Errorf("a server error led to %d requests", after-before)
	}
}

func TestNobodyListening(t *testing.T) {
	server := weathertest.NewServer(t)
	server.Server.Close()
	_, err := newService(t, server, Chinese).Weather(t.Context(), "上海", 1)
	if problem := problemFrom(t, err); problem.Code != ProviderUnavailable || !problem.Retryable || !strings.Contains(problem.Message, "检查网络") {
		t.Errorf("got %v", problem)
	}
}

func TestACancelledCallIsCancelled(t *testing.T) {
	server := weathertest.NewServer(t)
	server.Break(weathertest.Silent)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := newService(t, server, Chinese).Weather(ctx, "上海", 1); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestAnswersAreKeptForTenMinutesButNotOverMidnight(t *testing.T) {
	server := weathertest.NewServer(t)
	var mu sync.Mutex
	now := time.Date(2026, 11, 30, 15, 30, 0, 0, time.UTC) // 23:30 in Shanghai
	service := NewService(Options{BaseURL: server.URL, Now: func() time.Time {
		mu.Lock()
		defer mu.Unlock()
		return now
	}})
	defer service.Close()
	forecasts := func() (n int) {
		for _, asked := range server.Requests() {
			if strings.HasPrefix(asked, "forecast") {
				n++
			}
		}
		return n
	}
	at := func(minutes int, wantForecasts int) {
		t.Helper()
		mu.Lock()
		now = time.Date(2026, 11, 30, 15, 30+minutes, 0, 0, time.UTC)
		mu.Unlock()
		if _, err := service.Weather(t.Context(), "上海", 1+minutes%7); err != nil {
			t.Fatal(err)
		}
		if got := forecasts(); got != wantForecasts {
			t.Errorf("at minute %d: %d forecasts were fetched, want %d", minutes, got, wantForecasts)
		}
	}
	at(0, 1)
	at(9, 1)  // kept
	at(10, 2) // expired
	at(25, 3) // 23:55, expired
	at(29, 3)
	at(30, 4) // a new day has begun in Shanghai
}

func TestManyCallersAtOnceAskTheProviderOnce(t *testing.T) {
	server := weathertest.NewServer(t)
	service := newService(t, server, English)
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			if _, err := service.Weather(t.Context(), "London", 2); err != nil {
				t.Error(err)
			}
		})
	}
	group.Wait()
	if asked := server.Requests(); len(asked) != 2 {
		t.Errorf("asked %v", asked)
	}
}

// A doerFunc is a Doer.
type doerFunc func(*http.Request) (*http.Response, error)

func (f doerFunc) Do(r *http.Request) (*http.Response, error) { return f(r) }

func TestWithoutABaseURLOpenMeteoIsAsked(t *testing.T) {
	var asked []string
	service := NewService(Options{Language: English, HTTP: doerFunc(func(r *http.Request) (*http.Response, error) {
		asked = append(asked, r.URL.Scheme+"://"+r.URL.Host+r.URL.Path)
		if !strings.HasPrefix(r.Header.Get("User-Agent"), "aurora-app-weather/") {
			t.Errorf("introduces itself as %q", r.Header.Get("User-Agent"))
		}
		answer := httptest.NewRecorder()
		answer.WriteString(`{"results":[{"id":1,"name":"Nome","latitude":64.5,"longitude":-165.4,"feature_code":"PPL","country_code":"US"}],
			"current":{"time":"2026-11-29T17:15","temperature_2m":-12}}`)
		return answer.Result(), nil
	})})
	defer service.Close()
	report, err := service.Weather(t.Context(), "Nome", 1)
	if err != nil || report.Text != "Nome: now -12.0°C.\nData: Open-Meteo.com (CC BY 4.0)" {
		t.Errorf("got %+v, %v", report, err)
	}
	want := "https://geocoding-api.open-meteo.com/v1/search https://api.open-meteo.com/v1/forecast"
	if got := strings.Join(asked, " "); got != want {
		t.Errorf("asked %s, want %s", got, want)
	}
}

func TestEveryWeatherCodeHasWords(t *testing.T) {
	for code := range wmoTexts {
		if sky(code, Chinese) == "" || sky(code, English) == "" {
			t.Errorf("code %d has no words", code)
		}
	}
	if len(wmoTexts) != 28 {
		t.Errorf("%d codes, the table of the provider has 28", len(wmoTexts))
	}
	if sky(42, Chinese) != "未知(42)" || sky(42, English) != "unknown (42)" {
		t.Errorf("an unknown code is %s, %s", sky(42, Chinese), sky(42, English))
	}
}

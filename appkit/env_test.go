package appkit_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aurorabot/aurora/appkit"
)

type settings struct {
	City    string   `json:"default_city"`
	Timeout float64  `json:"timeout_seconds"`
	Tags    []string `json:"tags"`
	Inner   struct {
		Deep int `json:"deep"`
	} `json:"inner"`
	hidden string
}

func TestEnvHoldsWhatAuroraTells(t *testing.T) {
	env := appkit.ReadEnv([]string{
		"PATH=/bin", "AURORA_APP_PACKAGE=org.example.a", "AURORA_APP_DATA_DIR=/data/a=b",
		"AURORA_APP_CONFIG=/c.json", "AURORA_USER_TZ=Asia/Shanghai", "AURORA_USER_LANG=en", "AURORA_USER_LANG=zh", "noequals",
	})
	if env.Package != "org.example.a" || env.DataDir != "/data/a=b" || env.ConfigFile != "/c.json" || env.Language != "zh" {
		t.Errorf("got %+v", env)
	}
	zone, err := env.Location()
	if err != nil || zone.String() != "Asia/Shanghai" {
		t.Errorf("zone is %v, %v", zone, err)
	}
}

func TestUserZoneDefaultsToTheMachinesAndAWrongOneIsNamed(t *testing.T) {
	if zone, err := (appkit.Env{}).Location(); err != nil || zone != time.Local {
		t.Errorf("without a zone: %v, %v", zone, err)
	}
	if _, err := (appkit.Env{TimeZone: "Mars/Olympus"}).Location(); err == nil || !strings.Contains(err.Error(), "AURORA_USER_TZ") {
		t.Errorf("with a wrong zone: %v", err)
	}
}

func startup(text string) appkit.Env { return appkit.ReadEnv([]string{"AURORA_APP_STARTUP=" + text}) }

func TestStartupKeepsDefaultsOfAbsentKeys(t *testing.T) {
	for _, text := range []string{"", "  ", "null", "{}"} {
		s := settings{City: "北京", Timeout: 8}
		if err := startup(text).Startup(&s); err != nil || s.City != "北京" || s.Timeout != 8 {
			t.Errorf("%q: %+v, %v", text, s, err)
		}
	}
	s := settings{City: "北京", Timeout: 8}
	if err := startup(`{"timeout_seconds":2.5,"tags":["a"],"inner":{"deep":1}}`).Startup(&s); err != nil {
		t.Fatal(err)
	}
	if s.City != "北京" || s.Timeout != 2.5 || len(s.Tags) != 1 || s.Inner.Deep != 1 {
		t.Errorf("got %+v", s)
	}
}

func TestStartupNamesEveryFault(t *testing.T) {
	var s settings
	err := startup(`{"defualt_city":"x","Default_City":"x","timeout_seconds":"soon","tags":"a","inner":{"deep":1.5},"hidden":"x"}`).Startup(&s)
	if err == nil {
		t.Fatal("accepted")
	}
	for _, want := range []string{
		"AURORA_APP_STARTUP: defualt_city: unknown key (known: default_city, inner, tags, timeout_seconds)",
		"AURORA_APP_STARTUP: Default_City: unknown key",
		"AURORA_APP_STARTUP: hidden: unknown key",
		"AURORA_APP_STARTUP: timeout_seconds: expected a number, got string",
		"AURORA_APP_STARTUP: tags: expected a list, got string",
		"AURORA_APP_STARTUP: inner: deep: expected a whole number, got number 1.5",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q:\n%v", want, err)
		}
	}
	if s.hidden != "" {
		t.Error("an unexported field was set")
	}
}

func TestStartupThatIsNoObjectIsRefusedWithItsPlace(t *testing.T) {
	for text, want := range map[string]string{
		"{\n \"tags\": [}": "line 2, column 11",
		`["a"]`:            "expected an object, got array",
	} {
		var s settings
		if err := startup(text).Startup(&s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", text, err, want)
		}
	}
	if err := startup("{}").Startup(settings{}); err == nil {
		t.Error("decoding into a struct that is no pointer succeeds")
	}
}

func TestConfigFileIsReadAsStrictly(t *testing.T) {
	file := filepath.Join(t.TempDir(), "配置.json")
	if err := os.WriteFile(file, []byte(`{"default_city":"上海","oops":1}`), 0o600); err != nil {
		t.Fatal(err)
	}
	var s settings
	err := appkit.Env{ConfigFile: file}.ReadConfig(&s)
	if err == nil || !strings.Contains(err.Error(), file+": oops: unknown key") {
		t.Errorf("got %v", err)
	}
	if s.City != "上海" {
		t.Errorf("the good key was not read: %+v", s)
	}
	if err := (appkit.Env{}).ReadConfig(&s); err != nil {
		t.Errorf("without a file: %v", err)
	}
	if err := (appkit.Env{ConfigFile: file + "x"}).ReadConfig(&s); err == nil || !strings.Contains(err.Error(), "AURORA_APP_CONFIG") {
		t.Errorf("with a missing file: %v", err)
	}
}

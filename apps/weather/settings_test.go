package weather

import (
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/aurorabot/aurora/appkit"
)

// env returns the environment of an app with startup parameters.
func env(startup, language string) []string {
	return []string{"AURORA_APP_STARTUP=" + startup, "AURORA_USER_LANG=" + language}
}

func TestSettingsHaveDefaults(t *testing.T) {
	for _, c := range []struct{ startup, user, want string }{
		{"", "", "{ zh  false 15}"},
		{"{}", "zh-CN", "{ zh  false 15}"},
		{"{}", "zh_TW", "{ zh  false 15}"},
		{"{}", "en_US.UTF-8", "{ en  false 15}"},
		{"{}", "de", "{ en  false 15}"},
		{`{"language":"zh"}`, "en", "{ zh  false 15}"},
		{`{"default_city":" 北京 ","base_url":"http://127.0.0.1:1/x","timeout_seconds":2.5}`, "zh", "{北京 zh http://127.0.0.1:1/x false 2.5}"},
	} {
		s, err := readSettings(appkit.ReadEnv(env(c.startup, c.user)))
		if err != nil || fmt.Sprint(s) != c.want {
			t.Errorf("%s, %s: got %v, %v, want %s", c.startup, c.user, s, err, c.want)
		}
	}
	if o := (Settings{Language: "en", TimeoutSeconds: 1.5}).options(); o.Timeout != 1500*time.Millisecond || o.Language != English {
		t.Errorf("options are %+v", o)
	}
}

func TestWrongSettingsAreAllNamedAndNothingIsServed(t *testing.T) {
	err := Run(t.Context(), appkit.Process{
		Stdin: strings.NewReader(""), Stdout: io.Discard, Stderr: io.Discard,
		Environ: env(`{"defualt_city":"x","language":"fr","base_url":"ftp://x","timeout_seconds":0}`, ""),
	})
	if err == nil {
		t.Fatal("served")
	}
	for _, want := range []string{
		"app im.polaris.weather:", "defualt_city: unknown key (known: base_url, default_city, emit_event, language, timeout_seconds)",
		`startup: language: must be zh or en, not "fr"`, "startup: base_url: must be", "startup: timeout_seconds: must be from 1 to 120, not 0",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the error lacks %q:\n%v", want, err)
		}
	}
	for _, address := range []string{"127.0.0.1:80", "http://", "http://x?y=1", "http://x#y", "://"} {
		if _, err := readSettings(appkit.ReadEnv(env(fmt.Sprintf(`{"base_url":%q}`, address), ""))); err == nil {
			t.Errorf("%s is accepted", address)
		}
	}
}

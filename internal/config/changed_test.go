package config

import (
	"slices"
	"testing"
)

func TestChangedSettingsAreNamed(t *testing.T) {
	read := func(text string) *Settings {
		return &load(t, write(t, map[string]string{"aurora.yml": text})).Settings
	}
	old := read("log: {level: info}\nuser: {time_zone: UTC}\n")
	if got := ChangedSettings(old, read("user: {time_zone: UTC}")); len(got) > 0 {
		t.Errorf("what did not change: %q", got)
	}
	got := ChangedSettings(old, read("log: {level: debug}\nuser: {time_zone: Asia/Shanghai}\namp: {spools: {mine: {include: ['*']}}}\nstartup: {concurrency: 3}\n"))
	if want := []string{"amp.spools", "log.level", "startup.concurrency", "user.time_zone"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

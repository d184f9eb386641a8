package config

import (
	"slices"
	"testing"
)

// What a child gets of our variables, on either kind of system.
func TestAChildGetsTheSafeVariables(t *testing.T) {
	ours := []string{
		"Path=/bin", "PATH=/usr/bin", "SystemRoot=C:\\Windows", "PathExt=.EXE;.CMD", "HOME=/home/me",
		"lc_all=C", "LC_TIME=zh_CN.UTF-8", "https_proxy=http://p:1", "DEEPSEEK_API_KEY=x", "=C:=C:\\Users", "TMPDIR=/tmp",
	}
	for _, c := range []struct {
		system string
		rules  *variableRules
		want   []string
	}{
		{"unix", &unixVariables, []string{"HOME=/home/me", "LC_TIME=zh_CN.UTF-8", "PATH=/usr/bin", "TMPDIR=/tmp", "https_proxy=http://p:1"}},
		{"windows", &windowsVariables, []string{
			"HOME=/home/me", "LC_TIME=zh_CN.UTF-8", "PATH=/usr/bin", "PathExt=.EXE;.CMD", "SystemRoot=C:\\Windows", "https_proxy=http://p:1", "lc_all=C",
		}},
	} {
		if got := environmentOf(c.rules, ours).safe().list(); !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %q\nwant %q", c.system, got, c.want)
		}
	}
}

func TestWindowsFindsAVariableInAnyLetterCase(t *testing.T) {
	e := environmentOf(&windowsVariables, []string{"Path=C:\\bin"})
	e.set("PATH", "C:\\other")
	if value, ok := e.lookup("path"); !ok || value != "C:\\other" || len(e.list()) != 1 {
		t.Errorf("%q", e.list())
	}
	if _, ok := environmentOf(&unixVariables, []string{"Path=/bin"}).lookup("PATH"); ok {
		t.Error("on Unix Path is not PATH")
	}
}

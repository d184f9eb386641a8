package config

import (
	"maps"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestVariablesAreAddedAndEverythingElseStays(t *testing.T) {
	text := "# mine\r\nexport OLD = 'a b' # why\r\nLAST=x"
	got, err := AddEnv([]byte(text), "new ones", Variable{"KEY", "sk-1"}, Variable{"LAST", "x"}, Variable{"MORE", "it's\n$5 \\ \"q\" # no"})
	want := text + "\r\n\r\n# new ones\r\nKEY=sk-1\r\n" + `MORE="it's\n\$5 \\ \"q\" # no"` + "\r\n"
	if err != nil || string(got) != want {
		t.Errorf("%v\n%q, want\n%q", err, got, want)
	}
	again, err := AddEnv(got, "new ones", Variable{"KEY", "sk-1"})
	if err != nil || string(again) != string(got) {
		t.Errorf("the second time: %v, %q", err, again)
	}
	for _, bad := range []struct {
		text string
		v    Variable
	}{
		{"KEY=a", Variable{"KEY", "b"}},
		{"", Variable{"a b", "c"}},
		{"A=\"", Variable{"B", "c"}},
	} {
		if got, err := AddEnv([]byte(bad.text), "", bad.v); err == nil {
			t.Errorf("%q: %q", bad, got)
		} else if strings.Contains(err.Error(), `"c"`) {
			t.Errorf("%q: the error tells the value: %v", bad, err)
		}
	}
}

func TestEveryValueComesBackFromEnv(t *testing.T) {
	r := rand.New(rand.NewPCG(rand.Uint64(), 5))
	alphabet := []rune("ab1 #'\"\\$${}=\n\r\t,;`!~上🌧\u2028")
	for range 5000 {
		value := make([]rune, r.IntN(8))
		for i := range value {
			value[i] = alphabet[r.IntN(len(alphabet))]
		}
		text, err := AddEnv([]byte("A=b\n"), "", Variable{"V", string(value)})
		if err != nil {
			t.Fatalf("%q: %v", string(value), err)
		}
		values, problems := ParseEnv(text)
		if len(problems) > 0 || !maps.Equal(values, map[string]string{"A": "b", "V": string(value)}) {
			t.Fatalf("%q was written as %q and read as %q", string(value), text, values)
		}
	}
}

func TestSecretsShowThemselves(t *testing.T) {
	for value, secret := range map[string]bool{
		"sk-proj-abcdefgh12345678": true, "ghp_0123456789abcdef0123": true, "Bearer abcdef012345": true,
		"https://u:pass@host/x": true, "https://h/x?token=abc": true,
		"hello": false, "/usr/bin": false, "https://host/mcp": false, "sk-learn": false,
	} {
		if LooksSecret(value) != secret {
			t.Errorf("%s: %t", value, !secret)
		}
	}
}

package names

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var update = flag.Bool("update", false, "write testdata/aliases.golden")

// accepted is what OpenAI, Anthropic and Gemini all take as a function name.
var accepted = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$`)

// hashed is how an alias that cannot be undone ends.
var hashed = regexp.MustCompile(`^[a-zA-Z_][a-zA-Z0-9_-]{0,51}_x[a-z2-7]{10}$`)

// fieldNames are names that real users met (field faults T01, T03, T05, T06)
// and the borders of the grammar.
var fieldNames = []string{
	// T01
	"im.polaris.weather.get_weather", "demo.files/read", "demo.a b", "demo.ping",
	// T03
	"im.polaris.enterprise.knowledge.assistant.search_documents_by_author_and_date",
	"im.polaris.enterprise.knowledge.assistant.search_documents_by_author_and_date_v2",
	// T05
	"a.b.c", "a.b..c", "a.zzz", ".c",
	// T06
	"demo.天气", "demo.天氣", "demo.7day", "7day", "demo.ns::run", "demo.Make Report", "demo.---", "demo.🌧", "天气", "---", "🌧", "",
	// underscores beside dots, doubled underscores, empty segments
	"a._b", "a_.b", "a__b", "a.b", "a.__b", "a___b", "a..b", ".a", "a.", "a_", "_a", "-a", "a-", "a.-b",
	// ends like a hashed form
	"a_xabcdefghij", "a.xabcdefghij", "a_xabcdefghi1", "a_xabcdefghi", "demo.get_xylophonist", "demo.get_xylophonists",
	// lengths
	strings.Repeat("a", 64), strings.Repeat("a", 65), "p." + strings.Repeat("b", 61), "p." + strings.Repeat("b", 62),
	"a.b." + strings.Repeat("c", 48), "a.b." + strings.Repeat("c", 60), strings.Repeat("气", 40), "p." + strings.Repeat("9", 80),
	// letter case, line ends, bytes that are not UTF-8
	"Demo.Ping", "demo.ping\n", "demo.\xb9\xe3", "demo.ping\x00",
}

func TestEveryAliasIsAcceptedByEveryProvider(t *testing.T) {
	for _, name := range fieldNames {
		if alias := Alias(name); !accepted.MatchString(alias) {
			t.Errorf("Alias(%q) = %q, which a provider refuses", name, alias)
		}
	}
}

func TestAliasesReadWell(t *testing.T) {
	for name, want := range map[string]string{
		"im.polaris.weather.get_weather": `^im__polaris__weather__get_weather$`,
		"demo.files/read":                `^demo__files_read_x`,
		"demo.Make Report":               `^demo__Make_Report_x`,
		"demo.ns::run":                   `^demo__ns_run_x`,
		"demo.7day":                      `^demo__7day$`,
		"7day":                           `^_7day_x`,
		"demo.天气":                        `^demo_x`,
		"天气":                             `^tool_x`,
		"im.polaris.enterprise.knowledge.assistant.search_documents_by_author_and_date":    `^assistant__search_documents_by_author_and_date_x`,
		"im.polaris.enterprise.knowledge.assistant.search_documents_by_author_and_date_v2": `^assistant__search_documents_by_author_and_date_v2_x`,
	} {
		if alias := Alias(name); !regexp.MustCompile(want).MatchString(alias) {
			t.Errorf("Alias(%q) = %q, want %s", name, alias, want)
		}
	}
}

func TestAliasesAreForEver(t *testing.T) {
	const file = "testdata/aliases.golden"
	var b strings.Builder
	for _, name := range fieldNames {
		fmt.Fprintf(&b, "%-66s %q\n", Alias(name), name)
	}
	if *update {
		if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(filepath.FromSlash(file))
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("aliases changed; stored histories and grants would break.\ngot:\n%s\nwant:\n%s", b.String(), want)
	}
}

// TestNoTwoNamesMeet walks through every name of up to five characters over an
// alphabet of the troublesome ones, and through a set of long ones.
func TestNoTwoNamesMeet(t *testing.T) {
	seen := map[string]string{}
	check := func(name string) {
		alias := Alias(name)
		if other, taken := seen[alias]; taken && other != name {
			t.Fatalf("%q and %q share the alias %q", name, other, alias)
		}
		seen[alias] = name
		back, plain := Unalias(alias)
		if plain && back != name {
			t.Fatalf("Unalias(Alias(%q)) = %q", name, back)
		}
		if plain == hashed.MatchString(alias) {
			t.Fatalf("Alias(%q) = %q: plain %v, ends like a hashed form %v", name, alias, plain, !plain)
		}
	}
	const alphabet = "aB7_-. 气"
	level := []string{""}
	for range 5 {
		var next []string
		for _, prefix := range level {
			for _, c := range alphabet {
				next = append(next, prefix+string(c))
			}
		}
		for _, name := range next {
			check(name)
		}
		level = next
	}
	for i := range 5_000 {
		check(fmt.Sprintf("im.polaris.enterprise.knowledge.assistant.search_documents_by_author_and_date_%d", i))
		check(fmt.Sprintf("a_xabcdefgh%c%c", 'a'+i%26, 'a'+i/26%26))
	}
	// A hashed form, used as a name, is another name.
	for _, name := range fieldNames {
		check(Alias(name))
	}
}

func TestPlainFormsAreUndone(t *testing.T) {
	for _, name := range []string{"im.polaris.weather.get_weather", "a.b.c", "demo.ping", "A-b.c_d.e9"} {
		if back, ok := Unalias(Alias(name)); !ok || back != name {
			t.Errorf("Unalias(Alias(%q)) = %q, %v", name, back, ok)
		}
	}
	for _, alias := range []string{"", "_a", "7a", "a___b", "a____b", "a_", "a__", "demo_xabcdefghij", "a.b", "a b", strings.Repeat("a", 65)} {
		back, ok := Unalias(alias)
		if ok && Alias(back) != alias {
			t.Errorf("Unalias(%q) = %q, whose alias is %q", alias, back, Alias(back))
		}
	}
	if _, ok := Unalias("demo_xabcdefghij"); ok {
		t.Error("a hashed form was undone")
	}
}

func TestCanonicalNeverDoublesThePackage(t *testing.T) {
	for _, c := range []struct{ pkg, upstream, want string }{
		{"im.polaris.weather", "get_weather", "im.polaris.weather.get_weather"},
		{"im.polaris.weather", "im.polaris.weather.get_weather", "im.polaris.weather.get_weather"},
		{"im.polaris.weather", "im.polaris.weatherx.get", "im.polaris.weather.im.polaris.weatherx.get"},
		{"im.polaris.weather", "im.polaris.weather", "im.polaris.weather.im.polaris.weather"},
		{"im.polaris.weather", "IM.polaris.weather.get", "im.polaris.weather.IM.polaris.weather.get"},
		{"a", "b.c", "a.b.c"}, {"a.b", "c", "a.b.c"},
		{"a", "天气", "a.天气"}, {"a", "", "a."}, {"a", ".b", "a..b"},
	} {
		if got := Canonical(c.pkg, c.upstream); got != c.want {
			t.Errorf("Canonical(%q, %q) = %q, want %q", c.pkg, c.upstream, got, c.want)
		}
	}
}

func TestValidPackage(t *testing.T) {
	for _, good := range []string{"a", "im.polaris.weather", "aurora-app-weather", "7.x_-", "_"} {
		if !ValidPackage(good) {
			t.Errorf("%q was refused", good)
		}
	}
	for _, bad := range []string{"", ".", "a.", ".a", "a..b", "a b", "天气", "a/b", "a\n"} {
		if ValidPackage(bad) {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestNearNames(t *testing.T) {
	all := []string{
		"im.polaris.weather.get_weather", "im.polaris.weather.get_alerts", "im.polaris.clock.set_alarm",
		"demo.read_file", "demo.Read_File", "demo.write_file", "demo.ping", "demo.天气", "days", "city",
	}
	for _, c := range []struct {
		name string
		max  int
		want []string
	}{
		{"IM.Polaris.Weather.Get_Weather", 3, []string{"im.polaris.weather.get_weather"}},
		{"get_wether", 1, []string{"im.polaris.weather.get_weather"}},
		{"im.polaris.wether.get_weather", 1, []string{"im.polaris.weather.get_weather"}},
		{"demo.READ_FILE", 3, []string{"demo.Read_File", "demo.read_file"}},
		{"demo.red_file", 2, []string{"demo.Read_File", "demo.read_file"}},
		{"dasy", 3, []string{"days"}},
		{"pnig", 3, []string{"demo.ping"}},
		{"天汽", 3, []string{"demo.天气"}},
		{"晴", 3, nil},
		{"completely_different", 3, nil},
		{"pnig", 0, nil},
		{"pnig", -1, nil},
		{"", 3, nil},
	} {
		if got := Near(c.name, all, c.max); !slices.Equal(got, c.want) {
			t.Errorf("Near(%q, %d) = %q, want %q", c.name, c.max, got, c.want)
		}
	}
	if got := Near("ping", []string{"ping", "Ping", "Ping"}, 5); !slices.Equal(got, []string{"Ping"}) {
		t.Errorf("the name itself or a double was suggested: %q", got)
	}
	if got := Near(strings.Repeat("x", 1<<20), []string{strings.Repeat("y", 1<<20)}, 5); got != nil {
		t.Errorf("huge names were compared: %d", len(got))
	}
}

func FuzzAlias(f *testing.F) {
	for _, name := range fieldNames {
		f.Add(name, "demo."+name)
	}
	f.Fuzz(func(t *testing.T, a, b string) {
		x, y := Alias(a), Alias(b)
		for _, p := range [][2]string{{a, x}, {b, y}} {
			name, alias := p[0], p[1]
			if !accepted.MatchString(alias) {
				t.Fatalf("Alias(%q) = %q, which a provider refuses", name, alias)
			}
			if Alias(name) != alias {
				t.Fatalf("Alias(%q) changed", name)
			}
			back, plain := Unalias(alias)
			if plain == hashed.MatchString(alias) {
				t.Fatalf("Alias(%q) = %q is neither plain nor hashed, or both", name, alias)
			}
			if plain && back != name {
				t.Fatalf("Unalias(Alias(%q)) = %q", name, back)
			}
		}
		if a != b && x == y {
			t.Fatalf("%q and %q share the alias %q", a, b, x)
		}
		if back, ok := Unalias(a); ok && Alias(back) != a {
			t.Fatalf("Unalias(%q) = %q, whose alias is %q", a, back, Alias(back))
		}
	})
}

func FuzzNear(f *testing.F) {
	f.Add("get_wether", "im.polaris.weather.get_weather\nping")
	f.Fuzz(func(t *testing.T, name, list string) {
		var among []string
		for s := bufio.NewScanner(strings.NewReader(list)); s.Scan() && len(among) < 20; {
			among = append(among, s.Text())
		}
		for _, got := range Near(name, among, 3) {
			if got == name || !slices.Contains(among, got) {
				t.Fatalf("Near(%q, %q) gave %q", name, among, got)
			}
		}
	})
}

func BenchmarkAlias(b *testing.B) {
	for _, name := range fieldNames[:6] {
		b.Run(Alias(name), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				Alias(name)
			}
		})
	}
}

func ExampleAlias() {
	fmt.Println(Alias("im.polaris.weather.get_weather"))
	// Output: im__polaris__weather__get_weather
}

package importer

import (
	"fmt"
	"strings"

	"github.com/aurorabot/aurora/internal/config"
)

// A wallet finds names for secrets and remembers what goes to .env.
type wallet struct {
	home *home
	// referred are names that texts refer to already. One without a value must not
	// get one by accident.
	referred map[string]bool
	given    map[string]string // in this import
	adds     []config.Variable // what .env does not have yet
}

func newWallet(h *home) *wallet {
	return &wallet{home: h, referred: map[string]bool{}, given: map[string]string{}}
}

// keep returns the name under which a secret of the app with this key is found.
func (w *wallet) keep(key, suggest, value string) string {
	long := longName(key, suggest)
	for i := 0; ; i++ {
		name := suggest
		switch {
		case i == 0 && bare[suggest]:
			continue // says too little by itself
		case i == 1:
			name = long
		case i > 1:
			name = fmt.Sprintf("%s_%d", long, i)
		}
		if w.free(name, value) {
			if _, done := w.given[name]; !done {
				if _, there := w.home.values[name]; !there {
					w.adds = append(w.adds, config.Variable{Name: name, Value: value})
				}
				w.given[name] = value
			}
			return name
		}
	}
}

// bare are names that say nothing without the name of an app.
var bare = map[string]bool{
	"TOKEN": true, "KEY": true, "API_KEY": true, "APIKEY": true, "SECRET": true, "PASSWORD": true, "AUTHORIZATION": true, "X_API_KEY": true,
	"VALUE": true, "TEXT": true, "AUTH": true, "ACCESS_TOKEN": true, "AUTH_TOKEN": true, "HEADER": true, "H": true, "E": true, "ENV": true,
	"PATH": true, "HOME": true, "USER": true,
}

// free tells whether a name may stand for a value: nobody has it, or it stands for
// this value already, whoever looks.
func (w *wallet) free(name, value string) bool {
	if given, ok := w.given[name]; ok {
		return given == value
	}
	outer, isOuter := w.home.outer[name]
	inFile, isInFile := w.home.values[name]
	if isOuter && outer != value || isInFile && inFile != value {
		return false
	}
	return isOuter || isInFile || !w.referred[name]
}

// longName puts the name of the app before a name, unless it says it already.
func longName(key, suggest string) string {
	app := screaming(key)
	if app == "VALUE" {
		app = "APP"
	}
	if suggest == app || strings.HasPrefix(suggest, app+"_") {
		return suggest
	}
	return app + "_" + suggest
}

// A namer gives names to what a phrase cannot say itself.
type namer struct {
	secret func(suggest, value string) string
	input  func(id, suggest string) string
}

// write returns a phrase as our files say it.
func (n *namer) write(p phrase) string {
	var b strings.Builder
	for _, part := range p {
		switch {
		case part.literal != "":
			b.WriteString(part.literal)
		case part.variable != "" && part.fallback != nil:
			fmt.Fprintf(&b, "${%s:-%s}", part.variable, n.write(part.fallback))
		case part.variable != "":
			fmt.Fprintf(&b, "${%s}", part.variable)
		case part.input != "" && part.fallback != nil:
			fmt.Fprintf(&b, "${%s:-%s}", n.input(part.input, part.suggest), n.write(part.fallback))
		case part.input != "":
			fmt.Fprintf(&b, "${%s}", n.input(part.input, part.suggest))
		case part.secret != "":
			fmt.Fprintf(&b, "${%s}", n.secret(part.suggest, part.secret))
		}
	}
	return b.String()
}

// eachVariable calls do for every variable that a server refers to.
func (s *server) eachVariable(do func(name string)) {
	var walk func(phrase)
	walk = func(p phrase) {
		for _, part := range p {
			if part.variable != "" {
				do(part.variable)
			}
			walk(part.fallback)
		}
	}
	for _, p := range s.command {
		walk(p)
	}
	walk(s.cwd)
	walk(s.url)
	for _, n := range s.env {
		walk(n.phrase)
	}
	for _, n := range s.headers {
		walk(n.phrase)
	}
}

// items returns the entry of a server in apps/config.yml, but for package and key.
func (s *server) items(n *namer) []config.Item {
	var mcp []config.Item
	add := func(key string, value any) { mcp = append(mcp, config.Item{Key: key, Value: value}) }
	if s.transport != "" {
		add("transport", s.transport)
	}
	if len(s.command) > 0 {
		words := make([]string, len(s.command))
		for i, p := range s.command {
			words[i] = n.write(p)
		}
		add("command", words)
	}
	if len(s.cwd) > 0 {
		add("cwd", n.write(s.cwd))
	}
	pairs := func(key string, list []named) {
		var items []config.Item
		for _, one := range list {
			items = append(items, config.Item{Key: one.name, Value: n.write(one.phrase)})
		}
		if len(items) > 0 {
			add(key, items)
		}
	}
	pairs("env", s.env)
	if len(s.url) > 0 {
		add("url", n.write(s.url))
	}
	pairs("headers", s.headers)
	if s.insecure {
		add("insecure", true)
	}
	if s.slowStart {
		add("health_timeout_seconds", slowStart)
	}
	if s.callTimeout > 0 {
		add("call_timeout_seconds", s.callTimeout)
	}
	items := []config.Item{{Key: "mcp", Value: mcp}}
	if s.description != "" {
		items = append([]config.Item{{Key: "description", Value: s.description}}, items...)
	}
	if len(s.toolsOff) > 0 {
		var tools []config.Item
		for _, name := range s.toolsOff {
			tools = append(tools, config.Item{Key: name, Value: []config.Item{{Key: "enabled", Value: false}}})
		}
		items = append(items, config.Item{Key: "permissions", Value: []config.Item{{Key: "tools", Value: tools}}})
	}
	return items
}

// slowStart is the time for a program that may have to be downloaded first.
const slowStart = 60

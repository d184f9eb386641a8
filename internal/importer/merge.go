package importer

import (
	"fmt"
	"hash/fnv"
	"maps"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"github.com/aurorabot/aurora/internal/config"
)

// A merge joins servers with a home.
type merge struct {
	home    *home
	options Options
	from    string // the name of the source, for a comment
	servers []server
	results []App
	added   []*addition
}

// An addition is a server that becomes an app.
type addition struct {
	*server
	result *App
	trial  string // the key under which it was tried
	key    string
	pkg    string // empty: the key
	items  []config.Item
	off    bool
	twins  []*App // servers of the source that mean the same
}

// plan works everything out.
func (m *merge) plan() (*Plan, error) {
	m.results = make([]App, len(m.servers))
	for i, s := range m.servers {
		m.results[i] = App{Name: s.name, Line: s.at.line, Column: s.at.column, Notes: append([]string{}, s.notes...), Secrets: []string{}}
		if s.refused != "" {
			m.results[i].Result, m.results[i].Reason = Refused, s.refused
		}
	}
	if err := m.match(); err != nil {
		return nil, err
	}
	p := &Plan{Apps: m.results, Secrets: []string{}}
	if len(m.added) == 0 {
		return p, nil
	}
	return p, m.compose(p)
}

// A draft is one way to write a server, under a key for the trial.
type draft struct {
	trial string
	items []config.Item
}

// match finds the servers that are there already. Each server is written in the
// ways that there are, and the home is loaded with all of them.
func (m *merge) match() error {
	w := m.wallet()
	t := m.home.taken()
	drafts := make([][]draft, len(m.servers))
	var all []config.Item
	for i := range m.servers {
		s := &m.servers[i]
		if s.refused != "" {
			continue
		}
		for _, style := range []style{{}, {long: true}, {blind: true}, {long: true, blind: true}} {
			n := m.namer(w, s, style)
			d := draft{fmt.Sprintf("import-%d-%d", i, len(drafts[i])), s.items(&n.namer)}
			if slices.ContainsFunc(drafts[i], func(other draft) bool { return reflect.DeepEqual(other.items, d.items) }) {
				continue
			}
			for t.hasKey(d.trial) {
				d.trial += "-"
			}
			drafts[i] = append(drafts[i], d)
			all = append(all, config.Item{Key: d.trial, Value: d.items})
		}
	}
	if len(all) == 0 {
		return nil
	}
	apps, env, err := m.texts(all, w)
	if err != nil {
		return err
	}
	expanded, err := m.home.try(apps, env)
	if err != nil {
		return &HomeError{err.Error()}
	}
	raw, err := m.home.unexpanded(apps, env)
	if err != nil {
		return &HomeError{err.Error()}
	}
	for i := range m.servers {
		if drafts[i] == nil {
			continue
		}
		s, result := &m.servers[i], &m.results[i]
		if twin := m.twin(drafts[i], expanded, raw); twin != nil {
			result.Result, result.Key, result.Package = Present, twin.Key, twin.Package
			result.Enabled = twin.Disabled == ""
			result.Notes = []string{}
			continue
		}
		if a := m.addedTwin(drafts[i], raw); a != nil {
			result.Result, result.Notes = Present, []string{}
			a.off = a.off && s.disabled
			a.twins = append(a.twins, result)
			continue
		}
		m.added = append(m.added, &addition{server: s, result: result, trial: drafts[i][0].trial, off: s.disabled})
	}
	return nil
}

// twin returns the app of the home that means the same as one of the drafts.
func (m *merge) twin(drafts []draft, expanded, raw *config.Config) *config.App {
	for _, d := range drafts {
		for _, app := range m.home.config.Apps {
			a, b := raw.App(app.Key), raw.App(d.trial)
			if a != nil && b != nil && sameConnection(a, b) {
				return app
			}
			// What is not set leaves holes that look alike.
			a, b = expanded.App(app.Key), expanded.App(d.trial)
			if a != nil && b != nil && a.Disabled == "" && !faulty(expanded, app.Key) && !faulty(expanded, d.trial) && sameConnection(a, b) {
				return app
			}
		}
	}
	return nil
}

// addedTwin returns the addition that means the same as one of the drafts.
func (m *merge) addedTwin(drafts []draft, raw *config.Config) *addition {
	for _, d := range drafts {
		for _, a := range m.added {
			if sameConnection(raw.App(a.trial), raw.App(d.trial)) {
				return a
			}
		}
	}
	return nil
}

func faulty(c *config.Config, key string) bool {
	return slices.ContainsFunc(c.AppProblems(key), func(p config.Problem) bool { return !p.Warning })
}

// sameConnection tells whether two apps are the same server, spoken to in the same
// way. Names, permissions and time limits are those of the app here.
func sameConnection(a, b *config.App) bool {
	own := func(env []string) []string {
		return slices.DeleteFunc(slices.Clone(env), func(pair string) bool { return strings.HasPrefix(pair, "AURORA_") })
	}
	return a.MCP.Transport == b.MCP.Transport && a.MCP.Transport != "" &&
		slices.Equal(a.MCP.Command, b.MCP.Command) && a.MCP.Dir == b.MCP.Dir &&
		slices.Equal(own(a.MCP.Env), own(b.MCP.Env)) &&
		a.MCP.URL == b.MCP.URL && maps.Equal(a.MCP.Headers, b.MCP.Headers)
}

var reference = regexp.MustCompile(`\$\{([A-Za-z_][A-Za-z0-9_]*)`)

// unexpanded loads the home as it would be with other texts, and every variable
// standing for nothing but itself: what is equal then is written in the same way.
func (h *home) unexpanded(apps, env []byte) (*config.Config, error) {
	o := h.options
	o.Env = slices.Clone(o.Env)
	for name, value := range h.outer {
		o.Env = append(o.Env, name+"="+value)
	}
	for _, found := range reference.FindAllSubmatch(apps, -1) {
		sum := fnv.New64a()
		sum.Write(found[1])
		o.Env = append(o.Env, fmt.Sprintf("%s=%d", found[1], sum.Sum64())) // digits can stand anywhere, even for a port
	}
	return (&home{options: o, config: h.config}).try(apps, env)
}

// texts returns the files of the home with apps added, and the secrets of a wallet.
func (m *merge) texts(apps []config.Item, w *wallet) (appsText, envText []byte, err error) {
	base := m.home.apps
	if base == nil {
		if base, err = m.fresh(); err != nil {
			return nil, nil, &HomeError{err.Error()}
		}
	}
	if appsText, err = config.AddAt(base, []string{"apps"}, apps...); err != nil {
		return nil, nil, &HomeError{"apps/config.yml: " + err.Error()}
	}
	comment := "Added by aurora import."
	if m.from != "" {
		comment = fmt.Sprintf("Added by aurora import %s.", strings.Map(printable, filepath.Base(m.from)))
	}
	if envText, err = config.AddEnv(m.home.env, comment, w.adds...); err != nil {
		return nil, nil, &HomeError{err.Error()}
	}
	return appsText, envText, nil
}

func printable(c rune) rune {
	if c < ' ' || c == 0x7f {
		return -1
	}
	return c
}

// fresh returns the apps/config.yml of a new home. A home without the file runs
// the bundled apps; with it they must stand in it to go on.
func (m *merge) fresh() ([]byte, error) {
	text := "# The apps of this home. Check your changes with \"aurora check\".\n# All keys: docs/configuration.md.\n"
	if m.options.Lang == "zh" {
		text = "# 这个家里的 App。修改后用 aurora check 检查。\n# 全部设置见 docs/configuration.md。\n"
	}
	var bundled []config.Item
	for _, app := range m.home.options.Bundled {
		if !app.Always && m.home.config.App(app.Key) != nil {
			bundled = append(bundled, config.Item{Key: app.Key, Value: []config.Item{}})
		}
	}
	return config.AddAt([]byte(text), []string{"apps"}, bundled...)
}

// wallet returns a wallet that knows what texts refer to.
func (m *merge) wallet() *wallet {
	w := newWallet(m.home)
	for i := range m.servers {
		m.servers[i].eachVariable(func(name string) { w.referred[name] = true })
	}
	settings, _ := readFile(m.home.config.Home.SettingsFile())
	for _, text := range [][]byte{m.home.apps, settings} {
		for _, found := range reference.FindAllSubmatch(text, -1) {
			w.referred[string(found[1])] = true
		}
	}
	return w
}

// A serverNamer names what one server needs.
type serverNamer struct {
	namer
	secrets []string // names that were given
}

// A style is a way to find names.
type style struct {
	// long puts the name of the app before the names of all inputs.
	long bool
	// blind names an example of a secret as if nobody had the name: somebody may
	// have put the secret itself in its place.
	blind bool
}

// namer returns the namer of a server.
func (m *merge) namer(w *wallet, s *server, how style) *serverNamer {
	n := &serverNamer{}
	short := func(suggest string) string {
		if bare[suggest] {
			return longName(base(s), suggest)
		}
		return suggest
	}
	n.secret = func(suggest, value string) string {
		if how.blind && placeholder.MatchString(value) {
			return short(suggest)
		}
		name := w.keep(base(s), suggest, value)
		if !slices.Contains(n.secrets, name) {
			n.secrets = append(n.secrets, name)
		}
		return name
	}
	n.input = func(_, suggest string) string {
		if how.long {
			return longName(base(s), suggest)
		}
		return short(suggest)
	}
	return n
}

// base returns the key that a server would have if all were free.
func base(s *server) string {
	for _, key := range []string{keyOf(s.name), nameOf(s)} {
		if key != "" {
			return key
		}
	}
	return "app"
}

// compose writes the additions and fills the plan. The home is loaded with them;
// what could not run is switched off, and what is wrong all the same is refused.
func (m *merge) compose(p *Plan) error {
	m.identify()
	var w *wallet
	var apps, env []byte
	for range len(m.added) + 2 {
		w = m.wallet()
		var items []config.Item
		for _, a := range m.added {
			m.write(a, w)
			items = append(items, config.Item{Key: a.key, Value: a.items})
		}
		if len(items) == 0 {
			return nil
		}
		var err error
		if apps, env, err = m.texts(items, w); err != nil {
			return err
		}
		now, err := m.home.try(apps, env)
		if err != nil {
			return &HomeError{err.Error()}
		}
		again, err := m.judge(now)
		if err != nil {
			return err
		}
		if again {
			continue
		}
		m.finish(p, w, now, items)
		before := m.home.env
		p.Files = nil
		if len(w.adds) > 0 { // first, so that nobody reads apps that refer to nothing
			p.Files = append(p.Files, config.Replacement{Path: m.home.config.Home.EnvFile(), Before: before, After: env, Private: true})
		}
		p.Files = append(p.Files, config.Replacement{Path: m.home.config.Home.AppsFile(), Before: m.home.apps, After: apps})
		return nil
	}
	return &HomeError{"the apps do not fit into this home"}
}

// identify finds keys and packages for the additions.
func (m *merge) identify() {
	t := m.home.taken()
	for _, a := range m.added {
		wanted := base(a.server)
		a.key = wanted
		for n := 2; t.hasKey(a.key) || m.home.hasManifest(a.key); n++ {
			a.key = fmt.Sprintf("%s-%d", wanted, n)
		}
		pkg := packageOf(a.server, a.key)
		unique := pkg
		for n := 2; slices.Contains(t.packages, unique); n++ {
			unique = fmt.Sprintf("%s-%d", pkg, n)
		}
		if a.pkg = unique; a.pkg == a.key {
			a.pkg = ""
		}
		t.keys, t.packages = append(t.keys, a.key), append(t.packages, unique)
		if a.key != wanted {
			a.result.Notes = append(a.result.Notes, fmt.Sprintf("there is another app %q, so it is called %s here", wanted, a.key))
		}
	}
}

// hasManifest tells whether there is a manifest that a new app would be joined to.
func (h *home) hasManifest(key string) bool {
	return config.Digest(h.config.Home.ManifestFile(key)) != ""
}

// write writes the entry of an addition.
func (m *merge) write(a *addition, w *wallet) {
	long := false
	plain := m.namer(w, a.server, style{})
	plain.input = func(_, suggest string) string { // is one of the names in use?
		_, outer := m.home.outer[suggest]
		_, inFile := m.home.values[suggest]
		_, given := w.given[suggest]
		long = long || outer || inFile || given || w.referred[suggest]
		return suggest
	}
	a.items = a.server.items(&plain.namer)
	n := m.namer(w, a.server, style{long: long})
	a.items = a.server.items(&n.namer)
	a.result.Secrets = nil
	for _, name := range n.secrets {
		if slices.ContainsFunc(w.adds, func(v config.Variable) bool { return v.Name == name }) {
			a.result.Secrets = append(a.result.Secrets, name)
		}
	}
	var head []config.Item
	if a.off {
		head = append(head, config.Item{Key: "enabled", Value: false})
	}
	if a.pkg != "" {
		head = append(head, config.Item{Key: "package", Value: a.pkg})
	}
	a.items = append(head, a.items...)
}

// judge looks at the home with the additions. It tells whether something was
// changed, so that the home must be tried again.
func (m *merge) judge(now *config.Config) (again bool, err error) {
	known := map[string]bool{}
	for _, p := range m.home.config.Errors() {
		known[p.App+"\x00"+p.Field+"\x00"+p.Message] = true
	}
	for _, app := range m.home.config.Apps {
		if !reflect.DeepEqual(app, now.App(app.Key)) {
			return false, &HomeError{fmt.Sprintf("the import would change what the app %q is", app.Key)}
		}
	}
	why := map[string][]string{}
	for _, p := range now.Errors() {
		switch {
		case slices.ContainsFunc(m.added, func(a *addition) bool { return a.key == p.App }):
			said := p.Message
			if p.Hint != "" {
				said += " (" + p.Hint + ")"
			}
			why[p.App] = append(why[p.App], said)
		case !known[p.App+"\x00"+p.Field+"\x00"+p.Message]:
			return false, &HomeError{"the import would make this mistake: " + p.String()}
		}
	}
	m.added = slices.DeleteFunc(m.added, func(a *addition) bool {
		reasons := why[a.key]
		if len(reasons) == 0 {
			return false
		}
		again = true
		a.result.Reason = strings.Join(reasons, "; ")
		if !a.off {
			a.off = true
			return false
		}
		a.result.Result, a.result.Notes = Refused, []string{}
		a.result.Key, a.result.Package, a.result.Secrets = "", "", []string{}
		for _, twin := range a.twins {
			twin.Result, twin.Reason = Refused, a.result.Reason
		}
		return true
	})
	return again, nil
}

// finish fills in what became of the additions.
func (m *merge) finish(p *Plan, w *wallet, now *config.Config, items []config.Item) {
	for _, a := range m.added {
		app := now.App(a.key)
		r := a.result
		r.Result, r.Key, r.Package, r.Enabled = Added, a.key, app.Package, !a.off
		if r.Secrets == nil {
			r.Secrets = []string{}
		}
		for _, twin := range a.twins {
			twin.Key, twin.Package, twin.Enabled = r.Key, r.Package, r.Enabled
		}
		for _, problem := range now.AppProblems(a.key) {
			r.Notes = append(r.Notes, problem.Message)
		}
	}
	for _, v := range w.adds {
		p.Secrets = append(p.Secrets, v.Name)
	}
	if text, err := config.AddAt(nil, []string{"apps"}, items...); err == nil {
		p.Entries = string(text)
	}
}

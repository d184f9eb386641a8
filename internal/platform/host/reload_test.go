package host

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
)

// edited returns a copy of an app's configuration with a change.
func edited(c *config.App, change func(*config.App)) *config.App {
	e := *c
	e.Tools = maps.Clone(c.Tools)
	e.MCP.Env = slices.Clone(c.MCP.Env)
	if change != nil {
		change(&e)
	}
	return &e
}

// reload reloads the house as if every app had been read anew, with the changes
// by key, and returns the effects as "key effect".
func (h *house) reload(changes map[string]func(*config.App), faults map[string]string) []string {
	h.t.Helper()
	for i, c := range h.apps {
		h.apps[i] = edited(c, changes[c.Key])
	}
	return h.reloadTo(faults, h.apps...)
}

func (h *house) reloadTo(faults map[string]string, apps ...*config.App) []string {
	h.t.Helper()
	h.apps = apps
	var got []string
	for _, a := range h.Reload(h.t.Context(), apps, faults).Apps {
		got = append(got, a.Key+" "+string(a.Effect))
	}
	synctest.Wait()
	return got
}

func wantEffects(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Errorf("the reload did %q, want %q", got, want)
	}
}

// running returns how many processes of an app run.
func (h *house) running(key string) int {
	n := 0
	for _, p := range h.all(key) {
		if p.running() {
			n++
		}
	}
	return n
}

const slow = `
tool echo
tool slow
on tools/call slow
  background
    sleep 20s
    reply text done
`

func TestAReloadLeavesAloneWhatDidNotChange(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("same", slow)
		h.app("other", slow)
		h.open()
		before := h.wantState("same", Ready)
		done := h.calling("same.slow", "")
		lost := h.calling("other.slow", "")
		h.pass(time.Second)

		wantEffects(t, h.reload(map[string]func(*config.App){
			"other": func(c *config.App) { c.MCP.Env = []string{"KEY=new"} },
		}, nil), "same unchanged", "other restarted")

		// The one goes on, process, session and call.
		h.pass(20 * time.Second)
		wantOK(t, <-done, "done")
		if s := h.wantState("same", Ready); s.PID != before.PID || s.Restarts != 0 || !s.Since.Equal(before.Since) {
			t.Errorf("the app that did not change was touched: %+v", s)
		}
		// The other's call is cut off, once, and told truly.
		wantEnd(t, <-lost, call.Unknown, call.OutcomeUnknown)
		if s := h.wantState("other", Ready); s.Restarts != 1 {
			t.Errorf("the app that changed was restarted %d times", s.Restarts)
		}
		if h.running("other") != 1 {
			t.Errorf("%d processes of the changed app run", h.running("other"))
		}
	})
}

func TestWhatOnlyWeLookAtAppliesWithoutARestart(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("demo", "tool read {\"annotations\": {\"readOnlyHint\": true}}\ntool never\non tools/call never\n  ignore")
		h.open()
		pid := h.wantState("demo", Ready).PID
		if got := h.Catalog().Tools()[1].Risk; got != "low" {
			t.Fatalf("risk %s", got)
		}
		old := h.calling("demo.never", "")
		h.pass(time.Second)
		wantEffects(t, h.reload(map[string]func(*config.App){"demo": func(c *config.App) {
			c.Trust = config.TrustLow
			c.MCP.CallTimeout, c.MCP.CallMax, c.MCP.HealthTimeout = 2*time.Second, 3*time.Second, time.Second
			c.MCP.Restart.MaxAttempts = 9
			c.Events, c.Reply, c.People = []string{"x"}, "never", true
		}}, nil), "demo adjusted")
		if got := h.Catalog().Tools()[1].Risk; got != "high" {
			t.Errorf("an app that is not believed any more has a tool of risk %s", got)
		}
		// The next call has the new limits, the one in flight its own.
		began := time.Now()
		wantEnd(t, h.call("demo.never", ""), call.Timeout, call.CallTimeout)
		if took := time.Since(began); took != 2*time.Second {
			t.Errorf("the call ended after %v", took)
		}
		h.pass(30 * time.Second)
		wantEnd(t, <-old, call.Timeout, call.CallTimeout, "30s")
		if s := h.wantState("demo", Ready); s.PID != pid || h.starts("demo") != 1 {
			t.Error("the app was restarted")
		}
	})
}

func TestASwitchedOffToolIsRefusedAtOnce(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("demo", slow)
		h.open()
		off := func(on bool) map[string]func(*config.App) {
			return map[string]func(*config.App){"demo": func(c *config.App) {
				c.Tools = map[string]config.ToolPermission{"demo.slow": {Enabled: &on}}
			}}
		}
		wantEffects(t, h.reload(off(false), nil), "demo adjusted")
		wantEnd(t, h.call("demo.slow", ""), call.Denied, call.PolicyDenied)
		wantOK(t, h.call("demo.echo", `{"a":1}`), `{\"a\":1}`)
		wantEffects(t, h.reload(nil, nil), "demo unchanged")
		wantEnd(t, h.call("demo.slow", ""), call.Denied, call.PolicyDenied)
		h.reload(off(true), nil)
		done := h.calling("demo.slow", "")
		h.pass(20 * time.Second)
		wantOK(t, <-done, "done")
	})
}

// A tool that is switched off while a call waits for its app is not called.
func TestACallThatWaitsIsJudgedAgain(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.appRuns("demo", func(run int) string {
			if run == 1 {
				return "tool echo\non tools/call echo\n  exit 1"
			}
			return "tool echo\non initialize\n  sleep 5s\n  reply default"
		})
		h.open()
		wantEnd(t, h.call("demo.echo", ""), call.Unknown, call.OutcomeUnknown)
		waiting := h.calling("demo.echo", "")
		h.pass(time.Second)
		h.reload(map[string]func(*config.App){"demo": func(c *config.App) {
			c.Tools = map[string]config.ToolPermission{"demo.echo": {Enabled: new(false)}}
		}}, nil)
		h.pass(10 * time.Second)
		wantEnd(t, <-waiting, call.Denied, call.PolicyDenied)
		if n := h.last("demo").received("tools/call"); n != 0 {
			t.Errorf("the tool was called %d times", n)
		}

		// The same when the app is another one by then.
		h.last("demo").kill()
		h.pass(0)
		waiting = h.calling("demo.echo", "")
		h.reload(map[string]func(*config.App){"demo": func(c *config.App) {
			c.Tools, c.Package = nil, "else"
		}}, nil)
		h.pass(10 * time.Second)
		if r := <-waiting; r.Outcome == call.OK {
			t.Error("a call reached an app of another name")
		}
		if n := h.last("demo").received("tools/call"); n != 0 {
			t.Errorf("the tool was called %d times", n)
		}
	})
}

func TestAppsComeGoAndChangePlaces(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		one, two := h.app("one", "tool a"), h.app("two", "tool b")
		three := h.app("three", "tool c")
		h.apps = []*config.App{one, two}
		h.open()
		h.wantTools("one.a", "two.b")

		wantEffects(t, h.reloadTo(nil, three, edited(two, nil)), "three added", "two unchanged", "one removed")
		h.wantTools("three.c", "two.b")
		if h.running("one") != 0 {
			t.Error("the app that left runs on")
		}
		if _, there := h.AppStatus("one"); there {
			t.Error("the app that left has a status")
		}
		wantEnd(t, h.call("one.a", ""), call.ProtocolError, call.ToolUnknown)
		if err := h.StartApp(t.Context(), "one"); err == nil {
			t.Error("the app that left was started")
		}

		wantEffects(t, h.reloadTo(nil, one, edited(three, nil), edited(two, nil)), "one added", "three unchanged", "two unchanged")
		h.wantTools("one.a", "three.c", "two.b")
		if h.starts("two") != 1 || h.starts("three") != 1 || h.starts("one") != 2 {
			t.Error("an app was started too often")
		}
		// Sessions of one key never have the same epoch.
		var epochs []uint64
		for _, s := range h.ofKind(SignalStarted) {
			if s.App.Key == "one" {
				epochs = append(epochs, s.Epoch)
			}
		}
		if !slices.Equal(epochs, []uint64{1, 2}) {
			t.Errorf("the sessions of one are %d", epochs)
		}
		wantEffects(t, h.reloadTo(nil), "one removed", "three removed", "two removed")
		h.wantTools()
		if n := len(h.Status()); n != 0 {
			t.Errorf("%d apps are left", n)
		}
	})
}

// An app that left and comes back waits for its own end.
func TestAnAppIsNeverThereTwice(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		c := h.app("demo", "tool a\non eof\n  sleep 10s\non signal TERM\n  ignore")
		h.open()
		go h.Reload(t.Context(), nil, nil)
		synctest.Wait()
		back := make(chan Diff, 1)
		go func() { back <- h.Reload(t.Context(), []*config.App{edited(c, nil)}, nil) }()
		synctest.Wait()
		h.wantState("demo", Starting)
		if h.starts("demo") != 1 {
			t.Error("it was started before it had ended")
		}
		h.pass(6 * time.Second)
		h.wantState("demo", Ready)
		if d := <-back; d.Apps[0].Effect != EffectAdded {
			t.Errorf("it was %s", d.Apps[0].Effect)
		}
		if h.running("demo") != 1 || h.starts("demo") != 2 {
			t.Errorf("%d of %d processes run", h.running("demo"), h.starts("demo"))
		}
	})
}

func TestAFaultyConfigurationEndsNothing(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		good := h.app("good", "tool a")
		bad := h.app("bad", "tool b")
		h.apps = []*config.App{good}
		h.open()
		pid := h.wantState("good", Ready).PID
		faults := map[string]string{
			"good": "apps/config.yml:3:5: mcp.comand: unknown key.",
			"bad":  `apps/config.yml:7:5: "nope" was not found in PATH.`,
		}
		broken := edited(good, func(c *config.App) { c.MCP.Command = nil; c.Package = "other" })
		wantEffects(t, h.reloadTo(faults, broken, bad), "good kept", "bad faulty")
		s := h.wantState("good", Ready)
		if s.PID != pid || !slices.ContainsFunc(s.Warnings, func(w string) bool { return strings.Contains(w, "mcp.comand") }) {
			t.Errorf("the app that ran: %+v", s)
		}
		wantOK(t, h.call("good.a", ""), "")
		h.wantState("bad", Unavailable)
		h.wantReason("bad", "not found in PATH")
		if err := h.StartApp(t.Context(), "bad"); err == nil {
			t.Error("a faulty app was started")
		}

		// Mended, the one comes in and the other has never been away.
		wantEffects(t, h.reloadTo(nil, edited(good, nil), edited(bad, nil)), "good unchanged", "bad started")
		h.wantState("bad", Ready)
		if s := h.wantState("good", Ready); s.PID != pid || len(s.Warnings) > 0 {
			t.Errorf("the app that ran: %+v", s)
		}

		// It ends as it began, when the faulty one is restarted by hand.
		wantEffects(t, h.reloadTo(faults, broken), "good kept", "bad removed")
		if err := h.RestartApp(t.Context(), "good"); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		h.wantState("good", Ready)
	})
}

func TestAReloadWakesWhoWasGivenUpButNotWhoWasStopped(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("gone", "tool a")
		h.app("stopped", "tool b")
		h.app("refused", "tool c")
		h.peers.refuseWith("gone", errTransient)
		h.peers.refuseWith("refused", &Refusal{State: AuthRequired, Reason: "It wants a sign-in."})
		h.open()
		if err := h.StopApp(t.Context(), "stopped"); err != nil {
			t.Fatal(err)
		}
		h.pass(5 * time.Minute)
		h.wantState("gone", Unavailable)
		h.wantState("refused", AuthRequired)
		h.peers.refuseWith("gone", nil)
		h.peers.refuseWith("refused", nil)
		wantEffects(t, h.reload(nil, nil), "gone started", "stopped unchanged", "refused started")
		h.wantState("gone", Ready)
		h.wantState("refused", Ready)
		h.wantState("stopped", Stopped)
		wantEffects(t, h.reload(map[string]func(*config.App){
			"stopped": func(c *config.App) { c.MCP.Env = []string{"A=b"} },
		}, nil), "gone unchanged", "stopped adjusted", "refused unchanged")
		h.wantState("stopped", Stopped)
	})
}

func TestAppsAreSwitchedOffAndOn(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("demo", "tool a")
		h.app("mute", silent)
		h.open()
		off := func(c *config.App) { c.Enabled, c.Disabled = false, "enabled: false" }
		on := func(c *config.App) { c.Enabled, c.Disabled = true, "" }
		for range 10 {
			wantEffects(t, h.reload(map[string]func(*config.App){"demo": off, "mute": off}, nil), "demo stopped", "mute stopped")
			h.wantState("demo", Disabled)
			h.wantState("mute", Disabled)
			h.wantTools()
			if h.running("demo")+h.running("mute") > 0 {
				t.Error("a process of an app that is off runs on")
			}
			wantEnd(t, h.call("demo.a", ""), call.Unavailable, call.AppUnavailable, "switched off")
			wantEffects(t, h.reload(nil, nil), "demo unchanged", "mute unchanged")
			wantEffects(t, h.reload(map[string]func(*config.App){"demo": on, "mute": on}, nil), "demo started", "mute started")
			h.wantState("demo", Ready)
			h.wantState("mute", Starting)
			h.wantTools("demo.a")
		}
	})
}

func TestPackagesAreSwapped(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("one", "tool a")
		h.app("two", "tool b")
		h.open()
		pack := func(p string) func(*config.App) { return func(c *config.App) { c.Package = p } }
		wantEffects(t, h.reload(map[string]func(*config.App){"one": pack("two"), "two": pack("one")}, nil), "one restarted", "two restarted")
		h.wantTools("two.a", "one.b")
		if r := h.call("one.b", ""); r.App != "two" || r.Outcome != call.OK {
			t.Errorf("one.b is of %s: %v", r.App, r.Err)
		}
	})
}

func TestAClashComesAndGoes(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("one", "tool x.run")
		h.app("two", "tool x.run\ntool more")
		h.open()
		pack := func(p string) func(*config.App) { return func(c *config.App) { c.Package = p } }
		h.reload(map[string]func(*config.App){"one": pack("x"), "two": pack("x")}, nil)
		h.wantTools("x.more")
		h.wantState("one", Degraded)
		h.reload(map[string]func(*config.App){"two": pack("y")}, nil)
		h.wantTools("x.run", "y.more", "y.x.run")
		h.wantState("one", Ready)
	})
}

// A change of what we look at reaches a start and a refresh that are under way.
func TestAnAdjustmentReachesListsThatAreBeingRead(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("demo", "tool a\non tools/list\n  sleep 3s\n  reply default\non notifications/poke\n  notify notifications/tools/list_changed")
		h.open()
		off := func(c *config.App) {
			c.Tools = map[string]config.ToolPermission{"demo.a": {Enabled: new(false)}}
		}
		h.pass(time.Second)
		wantEffects(t, h.reload(map[string]func(*config.App){"demo": off}, nil), "demo adjusted")
		h.pass(5 * time.Second)
		if tool := h.Catalog().Tools()[0]; tool.Enabled {
			t.Error("the tool is switched on after the start")
		}
		if err := h.roster.Load().byKey["demo"].snap.Load().live.session.Notify(t.Context(), "notifications/poke", nil); err != nil {
			t.Fatal(err)
		}
		h.pass(time.Second)
		wantEffects(t, h.reload(map[string]func(*config.App){"demo": func(c *config.App) { c.Tools = nil }}, nil), "demo adjusted")
		h.pass(5 * time.Second)
		if tool := h.Catalog().Tools()[0]; !tool.Enabled || tool.App != h.apps[0] {
			t.Error("the tool is switched off after the refresh")
		}
		if n := len(h.ofKind(SignalChanged)); n != 0 {
			t.Errorf("%d changes of lists are told that the server did not make", n)
		}
	})
}

func TestAClosingHostIsNotReloaded(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		c := h.app("demo", "tool a")
		h.open()
		if err := h.Close(context.Background()); err != nil {
			t.Fatal(err)
		}
		if d := h.Reload(t.Context(), []*config.App{c, appConfig("new")}, nil); len(d.Apps) != 0 {
			t.Errorf("a closed host did %v", d)
		}
	})
	// One that has not been started only takes note.
	inHouse(t, func(t *testing.T, h *house) {
		one, two := h.app("one", "tool a"), h.app("two", "tool b")
		h.Host = New(Options{Apps: []*config.App{one}, Dialer: h.peers})
		h.Reload(t.Context(), []*config.App{two}, nil)
		h.wantState("two", Stopped)
		h.Start(t.Context())
		synctest.Wait()
		h.wantTools("two.b")
	})
}

// Whatever is reloaded, no call of an app that did not change is disturbed, and
// each call ends exactly once.
func TestReloadsDisturbOnlyWhatChanges(t *testing.T) {
	for range 20 {
		seed := rand.Uint64()
		t.Run(fmt.Sprintf("seed %d", seed), func(t *testing.T) { reloadWildly(t, seed) })
		if t.Failed() {
			return
		}
	}
}

func reloadWildly(t *testing.T, seed uint64) {
	inHouse(t, func(t *testing.T, h *house) {
		r := rand.New(rand.NewPCG(seed, 2))
		calm := []string{"calm-1", "calm-2"}
		for _, key := range calm {
			h.app(key, slow)
		}
		wild := map[string]*config.App{}
		for _, key := range []string{"a", "b", "c", "d"} {
			wild[key] = h.app(key, restless)
			wild[key].MCP.CallTimeout, wild[key].MCP.CallMax = 20*time.Second, 40*time.Second
		}
		h.open()
		pids := map[string]int{}
		for _, key := range calm {
			pids[key] = h.wantState(key, Ready).PID
		}
		var quiet, others []<-chan call.Result
		reload := func() {
			faults := map[string]string{}
			apps := []*config.App{edited(h.apps[0], nil), edited(h.apps[1], nil)}
			for _, key := range slices.Sorted(maps.Keys(wild)) {
				switch r.IntN(8) {
				case 0:
					continue // left out
				case 1:
					faults[key] = "It is faulty."
				case 2:
					wild[key] = edited(wild[key], func(c *config.App) { c.MCP.Env = []string{fmt.Sprintf("N=%d", r.IntN(3))} })
				case 3:
					wild[key] = edited(wild[key], func(c *config.App) {
						c.Enabled = r.IntN(2) == 0
						c.Disabled = map[bool]string{false: "enabled: false"}[c.Enabled]
					})
				case 4:
					wild[key] = edited(wild[key], func(c *config.App) { c.Package = key + fmt.Sprint(r.IntN(2)) })
				case 5:
					wild[key] = edited(wild[key], func(c *config.App) {
						c.Tools = map[string]config.ToolPermission{c.Package + ".echo": {Enabled: new(r.IntN(2) == 0)}}
					})
				}
				apps = append(apps, edited(wild[key], nil))
			}
			r.Shuffle(len(apps), func(i, j int) { apps[i], apps[j] = apps[j], apps[i] })
			go h.Reload(context.Background(), apps, faults)
		}
		for n := range 150 {
			args := json.RawMessage(fmt.Sprintf(`{"nonce":"%d."}`, n))
			switch r.IntN(8) {
			case 0, 1:
				reload()
			case 2:
				h.pass(time.Duration(r.IntN(4000)) * time.Millisecond)
			case 3:
				key := calm[r.IntN(2)]
				quiet = append(quiet, h.callingAs(t.Context(), call.Call{Caller: cli, Name: key + ".slow", Args: args}))
			default:
				c := wild[[]string{"a", "b", "c", "d"}[r.IntN(4)]]
				tool := []string{"echo", "echo", "slow", "never", "crash", "grow", "storm"}[r.IntN(7)]
				others = append(others, h.callingAs(t.Context(), call.Call{Caller: cli, Name: c.Package + "." + tool, Args: args}))
			}
		}
		h.pass(3 * time.Minute)
		take := func(done <-chan call.Result) (r call.Result) {
			select {
			case r = <-done:
				if r.Outcome == "" || (r.Outcome == call.OK) != (r.Err == nil) {
					t.Errorf("seed %d: a call ended as %q with %v", seed, r.Outcome, r.Err)
				}
			default:
				t.Errorf("seed %d: a call has not ended", seed)
			}
			return r
		}
		for _, done := range quiet {
			if r := take(done); r.Outcome != call.OK {
				t.Errorf("seed %d: a call of an app that did not change ended as %s: %v", seed, r.Outcome, r.Err)
			}
		}
		for _, done := range others {
			take(done)
		}
		for _, key := range calm {
			if s := h.wantState(key, Ready); s.PID != pids[key] || s.Restarts != 0 {
				t.Errorf("seed %d: %s was touched: %+v", seed, key, s)
			}
		}
		if got, want := len(h.records), len(quiet)+len(others); got != want || len(h.ofKind(SignalCalled)) != want {
			t.Errorf("seed %d: %d calls made %d records and %d signals", seed, want, got, len(h.ofKind(SignalCalled)))
		}
		made := map[string]int{}
		for _, key := range slices.Concat(calm, slices.Sorted(maps.Keys(wild))) {
			if h.running(key) > 1 {
				t.Errorf("seed %d: %d processes of %s run", seed, h.running(key), key)
			}
			for _, p := range h.all(key) {
				for _, params := range p.params("tools/call") {
					_, nonce, _ := strings.Cut(params, `"nonce":"`)
					made[nonce[:strings.IndexByte(nonce, '.')]]++
				}
			}
		}
		for nonce, n := range made {
			if n > 1 {
				t.Errorf("seed %d: call %s was made %d times", seed, nonce, n)
			}
		}
	})
}

package policy

import (
	"testing"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
)

func TestRiskIsWhatIsSaidElseWhatIsBelieved(t *testing.T) {
	yes, no := new(true), new(false)
	for _, c := range []struct {
		name       string
		trust      config.Trust
		configured string
		hints      Hints
		want       Risk
	}{
		{"nothing is known", config.TrustNormal, "", Hints{}, High},
		{"the configuration wins", config.TrustNormal, "medium", Hints{ReadOnly: yes}, Medium},
		{"the configuration wins over no trust", config.TrustLow, "low", Hints{}, Low},
		{"nonsense in the configuration does not count", config.TrustNormal, "harmless", Hints{}, High},
		{"it reads", config.TrustNormal, "", Hints{ReadOnly: yes}, Low},
		{"it destroys nothing", config.TrustNormal, "", Hints{Destructive: no}, Medium},
		{"it destroys", config.TrustNormal, "", Hints{Destructive: yes}, High},
		{"it writes, more is not said", config.TrustNormal, "", Hints{ReadOnly: no}, High},
		{"it reads and destroys", config.TrustNormal, "", Hints{ReadOnly: yes, Destructive: yes}, High},
		{"it reads and destroys, and is trusted", config.TrustHigh, "", Hints{ReadOnly: yes, Destructive: yes}, Low},
		{"it is not believed", config.TrustLow, "", Hints{ReadOnly: yes}, High},
		{"it is not believed either", config.TrustLow, "", Hints{Destructive: no}, High},
	} {
		app := &config.App{Trust: c.trust, Tools: map[string]config.ToolPermission{"demo.x": {Risk: c.configured}}}
		if got := RiskOf(app, "demo.x", c.hints); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
	}
}

func TestPlainAllowsAllButNobodyAndWhatIsOff(t *testing.T) {
	app := &config.App{Key: "demo"}
	ask := func(kind call.CallerKind, enabled, held bool) Decision {
		return Plain{}.Decide(t.Context(), Request{Caller: call.Caller{Kind: kind}, Tool: "demo.x", App: app, Risk: Critical, Enabled: enabled, Held: held})
	}
	for _, kind := range []call.CallerKind{call.Brain, call.Gateway, call.CLI, call.Console} {
		if d := ask(kind, true, false); !d.Allowed {
			t.Errorf("%s is refused: %v", kind, d.Err)
		}
		for _, d := range []Decision{ask(kind, false, false), ask(kind, true, true)} {
			if d.Allowed || d.Outcome != call.Denied || d.Err.Code != call.PolicyDenied {
				t.Errorf("%s is allowed what is off: %+v", kind, d)
			}
		}
	}
	for _, kind := range []call.CallerKind{"", "somebody"} {
		if d := ask(kind, true, false); d.Allowed {
			t.Errorf("%q is allowed", kind)
		}
	}
	if (Decision{}).Allowed {
		t.Error("the zero decision allows")
	}
}

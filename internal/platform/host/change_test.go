package host

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

func TestAChangeSaysWhatDiffers(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		c := h.app("demo", `
tool stays
tool goes
tool turns {"description": "old"}
resource demo://a
template demo://{x}
prompt hello
on tools/call stays
  add tool comes
  remove tool goes
  remove tool turns
  add tool turns {"description": "new"}
  remove resource demo://a
  add template demo://{x}/{y}
  notify notifications/tools/list_changed
  notify notifications/resources/list_changed
  notify notifications/prompts/list_changed
  reply text done
`)
		c.Package = "im.demo"
		h.open()
		h.call("stays", "")
		h.pass(10 * time.Second)
		var got []Change
		for _, s := range h.ofKind(SignalChanged) {
			got = append(got, *s.Change)
		}
		want := []Change{
			{List: "resources", Added: []string{"demo://{x}/{y}"}, Removed: []string{"demo://a"}},
			{List: "tools", Added: []string{"im.demo.comes"}, Removed: []string{"im.demo.goes"}, Changed: []string{"im.demo.turns"}},
		} // the prompts did not change, whatever was said
		if !reflect.DeepEqual(got, want) {
			t.Errorf("changes\n got %+v\nwant %+v", got, want)
		}
	})
}

func TestAHugeChangeIsTold(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		var script strings.Builder
		script.WriteString("tool a\non tools/call a\n")
		for i := range 250 {
			fmt.Fprintf(&script, "  add tool t%03d\n", i)
		}
		script.WriteString("  notify notifications/tools/list_changed\n  reply text done\n")
		h.app("demo", script.String())
		h.open()
		h.call("demo.a", "")
		h.pass(10 * time.Second)
		changes := h.ofKind(SignalChanged)
		if len(changes) != 1 || len(changes[0].Change.Added) != maxNames || changes[0].Change.Omitted != 150 {
			t.Fatalf("changes: %+v", changes)
		}
	})
}

func TestLifeCycleSignalsSayWhatIsKnown(t *testing.T) {
	inHouse(t, func(t *testing.T, h *house) {
		h.app("demo", `
tool die
on initialize
  reply default {"serverInfo": {"name": "demo", "version": "1.50", "x": 1.0}}
on tools/call die
  stderr out of cheese
  exit 3
`)
		h.app("bad", "on initialize\n  stderr no key\n  exit 1")
		h.open()
		started := h.ofKind(SignalStarted)
		if len(started) != 1 || started[0].Protocol != "2025-11-25" || !strings.Contains(string(started[0].Server), `"x":1.0`) && !strings.Contains(string(started[0].Server), `"x": 1.0`) {
			t.Errorf("started: %+v %s", started, started[0].Server)
		}
		h.call("demo.die", "")
		h.pass(time.Second)
		if s := h.ofKind(SignalCrashed); len(s) != 1 || !reflect.DeepEqual(s[0].Stderr, []string{"out of cheese"}) || s[0].Exit == nil || s[0].Exit.Code != 3 {
			t.Errorf("crashed: %+v", s)
		}
		if s := h.ofKind(SignalFault); len(s) == 0 || !reflect.DeepEqual(s[0].Stderr, []string{"no key"}) {
			t.Errorf("fault: %+v", s)
		}
	})
}

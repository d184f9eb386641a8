package amp

import (
	"regexp"
	"strings"
	"testing"
)

var eventFile = regexp.MustCompile(`^event_[A-Za-z0-9.-]*_[A-Za-z0-9.-]*\.json$`)

func named(app, typ, id string) *Envelope {
	return &Envelope{Header: Header{MessageID: id, Source: Source{App: app}}, Payload: Payload{Type: typ}}
}

func TestFileNames(t *testing.T) {
	const uuid = "018f2f4c-7b2a-7b8a-9c31-2e9a0b9b2d11"
	if got, want := named("a", "message.received", uuid).FileName(true), "event_message.received_"+uuid+".json"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, id := range []string{"../../x", "a/b", `c:\x`, "", strings.Repeat("天", 400), "a\x00b", "con"} {
		got := named("a.b", "x.y/../z", id).FileName(false)
		if !eventFile.MatchString(got) || len(got) > maxFileName {
			t.Errorf("id %q gives %q (%d bytes)", id, got, len(got))
		}
	}
}

func TestTwoIdsNeverShareAName(t *testing.T) {
	a := named("im.polaris.a", "t", "x/y").FileName(false)
	for what, other := range map[string]*Envelope{
		"an id that looks alike": named("im.polaris.a", "t", "x-y"),
		"another app":            named("im.polaris.b", "t", "x/y"),
	} {
		if other.FileName(false) == a {
			t.Errorf("%s has the same name %s", what, a)
		}
	}
	if named("im.polaris.a", "t", "x/y").FileName(false) != a {
		t.Error("the same id has two names")
	}
}

func FuzzFileName(f *testing.F) {
	f.Add("a.b", "message.received", "../../x")
	f.Add("", "", "")
	f.Fuzz(func(t *testing.T, app, typ, id string) {
		for _, own := range []bool{false, true} {
			if got := named(app, typ, id).FileName(own); !eventFile.MatchString(got) || len(got) > maxFileName {
				t.Errorf("%q (%d bytes)", got, len(got))
			}
		}
	})
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(documentA))
	f.Add([]byte(documentC))
	f.Add([]byte(`{"type":"x","message_id":"1"}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _ = ParseEmission(data)
		e, err := Parse(data)
		if err != nil {
			return
		}
		out, err := e.MarshalJSON()
		if err != nil {
			t.Fatalf("accepted but cannot be written: %v", err)
		}
		if _, err := Parse(out); err != nil {
			t.Fatalf("wrote what it does not read: %v\n%s", err, out)
		}
	})
}

package daemon

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/control"
)

var noon = time.Date(2026, 6, 17, 12, 0, 0, 0, time.UTC)

// shelf makes a home whose inbox holds events of these minutes after noon, in
// the states in turn, and returns its configuration.
func shelf(t *testing.T, minutes ...int) *config.Config {
	t.Helper()
	home := makeHome(t, oneApp)
	states := []string{"pending", "done", "dead", "processing"}
	for i, m := range minutes {
		at := noon.Add(time.Duration(m) * time.Minute)
		e := &amp.Envelope{
			Header: amp.Header{
				Method: amp.MethodEvent, MessageID: fmt.Sprint("m-", m), Timestamp: at, Source: amp.Source{App: "demo"},
				Aurora: &amp.Aurora{Seq: uint64(at.UnixMicro()), ReceivedAt: at},
			},
			Payload: amp.Payload{Type: fmt.Sprint("demo.", []string{"even", "odd"}[m%2]), SessionID: fmt.Sprint("s", m%3)},
		}
		data, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(home, "data", "kernel", "inbox", states[i%len(states)], e.FileName(false))
		put(t, file, string(data))
		// What came to its end did so later.
		if err := os.Chtimes(file, at, at.Add(time.Duration(i%len(states))*time.Hour)); err != nil {
			t.Fatal(err)
		}
	}
	c, err := Load(Options{Home: home})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func ids(t *testing.T, files []control.EventFile) string {
	t.Helper()
	var all []string
	for _, f := range files {
		all = append(all, strings.TrimPrefix(messageID(f.Envelope), "m-"))
	}
	return strings.Join(all, " ")
}

func TestEventsAreListedInTheirOrder(t *testing.T) {
	c := shelf(t, 5, 3, 8, 1, 9, 2, 7, 4, 6, 0)
	for _, tt := range []struct {
		name   string
		filter control.EventFilter
		newest int
		want   string
		more   bool
	}{
		{"all", control.EventFilter{}, 0, "0 1 2 3 4 5 6 7 8 9", false},
		{"exactly all", control.EventFilter{}, 10, "0 1 2 3 4 5 6 7 8 9", false},
		{"the newest", control.EventFilter{}, 3, "7 8 9", true},
		{"a state", control.EventFilter{States: []string{"done"}}, 0, "0 2 3", false},
		{"two states", control.EventFilter{States: []string{"done", "dead"}}, 0, "0 2 3 7 8", false},
		{"a type", control.EventFilter{Types: []string{"demo.odd"}}, 0, "1 3 5 7 9", false},
		{"the newest of a type", control.EventFilter{Types: []string{"demo.odd"}}, 2, "7 9", true},
		{"a family", control.EventFilter{Types: []string{"demo.*", "x"}}, 1, "9", true},
		{"a session", control.EventFilter{Session: "s0"}, 0, "0 3 6 9", false},
		{"since", control.EventFilter{Since: noon.Add(8 * time.Minute)}, 0, "8 9", false},
		{"until", control.EventFilter{Until: noon.Add(2 * time.Minute)}, 0, "0 1", false},
		{"an app", control.EventFilter{Apps: []string{"demo"}}, 1, "9", true},
		{"another app", control.EventFilter{Apps: []string{"other"}}, 0, "", false},
		{"a spool", control.EventFilter{Spools: []string{"inbox"}}, 1, "9", true},
		{"another spool", control.EventFilter{Spools: []string{"other"}}, 0, "", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			files, more := listed(t, c, tt.filter, tt.newest)
			if got := ids(t, files); got != tt.want || more != tt.more {
				t.Errorf("got %q, more %v; want %q, more %v", got, more, tt.want, tt.more)
			}
		})
	}
}

// The newest are found without reading everything, and are the same ones.
func TestTheNewestAreTheSameHoweverManyThereAre(t *testing.T) {
	var minutes []int
	for m := range 300 {
		minutes = append(minutes, (m*7)%300)
	}
	c := shelf(t, minutes...)
	all, _ := listed(t, c, control.EventFilter{}, 0)
	for _, n := range []int{1, 10, 50, 299, 300} {
		some, more := listed(t, c, control.EventFilter{}, n)
		if got, want := ids(t, some), ids(t, all[300-n:]); got != want || more != (n < 300) {
			t.Errorf("the newest %d (more: %v)\n got %s\nwant %s", n, more, got, want)
		}
	}
}

func TestAFileThatIsNoEventIsShownAsSuch(t *testing.T) {
	c := shelf(t, 1)
	put(t, filepath.Join(c.Home.Dir, "data", "kernel", "inbox", "dead", "odd.json"), "{half")
	put(t, filepath.Join(c.Home.Dir, "data", "kernel", "inbox", "notes", "odd.json"), `{"attempts":2,"reason":"cannot be read","at":"2026-06-17T12:00:00Z"}`)
	put(t, filepath.Join(c.Home.Dir, "data", "kernel", "inbox", "pending", ".half.tmp"), "{")
	put(t, filepath.Join(c.Home.Dir, "data", "kernel", "inbox", "pending", "note.txt"), "{")
	if files, _ := listed(t, c, control.EventFilter{}, 0); len(files) != 2 || files[1].File != "odd.json" || files[1].Envelope != nil {
		t.Errorf("files %+v", files)
	}
	if files, _ := listed(t, c, control.EventFilter{Types: []string{"*"}}, 0); len(files) != 1 {
		t.Errorf("of a type: %+v", files)
	}
	places, err := Events(c).Find(t.Context(), "odd.json")
	if err != nil || len(places) != 1 || places[0].Attempts != 2 || places[0].Reason != "cannot be read" || places[0].Noted == nil || places[0].State != "dead" {
		t.Errorf("places %+v, %v", places, err)
	}
	var e *call.Error
	if _, err := Events(c).Find(t.Context(), "m-2"); !errors.As(err, &e) || e.Code != call.EventUnknown {
		t.Errorf("Find: %v", err)
	}
}

// An event is found by its id whatever its file is called.
func TestAnEventDroppedByHandIsFoundByItsID(t *testing.T) {
	c := shelf(t, 1, 2)
	put(t, filepath.Join(c.Home.Dir, "data", "kernel", "inbox", "pending", "mine.json"),
		`{"header":{"protocol":"amp/1.0","method":"aurora/event","message_id":"by hand","timestamp":"2026-06-17T12:01:30Z","source":{"app":"me"}},"payload":{"type":"x"}}`)
	for _, id := range []string{"by hand", "mine.json", "mine"} {
		places, err := Events(c).Find(t.Context(), id)
		if err != nil || len(places) != 1 || places[0].File != "mine.json" {
			t.Errorf("%q: %+v, %v", id, places, err)
		}
	}
	if files, _ := listed(t, c, control.EventFilter{}, 0); ids(t, files) != "1 by hand 2" {
		t.Errorf("order: %s", ids(t, files))
	}
}

func TestLookingEndsWithItsCaller(t *testing.T) {
	c := shelf(t, 1, 2)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := Events(c).List(ctx, control.EventFilter{}, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("List: %v", err)
	}
	if _, err := Events(c).Find(ctx, "m-1"); !errors.Is(err, context.Canceled) {
		t.Errorf("Find: %v", err)
	}
}

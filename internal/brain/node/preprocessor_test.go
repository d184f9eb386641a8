package node

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/brain/bus"
	"github.com/aurorabot/aurora/internal/brain/unit"
	"github.com/aurorabot/aurora/internal/spool"
	"github.com/aurorabot/aurora/internal/spool/spooltest"
)

func TestWhatASessionSaysBecomesOneUnitWhenItIsQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wake(t, spooltest.New(), usual(), "", "")
		w.put(said(1, "private:7", "hello"))
		pass(1500 * time.Millisecond)
		w.put(said(2, "private:7", "are you there?"), said(3, "private:8", "hi"))
		pass(1900 * time.Millisecond)
		same(t, "before it is quiet", w.texts())
		pass(100 * time.Millisecond)
		texts := w.texts()
		slices.Sort(texts)
		same(t, "turns", texts, "hello\nare you there?", "hi")
		same(t, "done", w.in("inbox/done"), eventName(said(1, "", "")), eventName(said(2, "", "")), eventName(said(3, "", "")))
		u := w.holding(said(1, "", ""))
		if u.ID != unit.ID(said(1, "", ""), time.Time{}) || u.TraceID != "t1" || u.Session != "private:7" || u.Sender != "im.polaris.qq:7" ||
			u.Source.App != "im.polaris.qq" || u.WokenBy != "message.received" || u.Seq != 1 || len(u.Events) != 2 || u.Trust != amp.TrustNormal {
			t.Errorf("unit %+v", u)
		}
		w.stop()
	})
}

func TestNobodyWaitsLongerThanTheLongest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wake(t, spooltest.New(), usual(), "", "")
		for n := range 9 { // never quiet for two seconds
			w.put(said(n+1, "s", fmt.Sprint(n)))
			pass(1200 * time.Millisecond)
		}
		same(t, "turns after 10.8 s", w.texts(), "0\n1\n2\n3\n4\n5\n6\n7\n8")
		w.stop()
	})
}

func TestWhoIsTypingKeepsNobodyFromAnswering(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wake(t, spooltest.New(), usual(), "", "")
		w.put(said(1, "s", "hello"))
		for n := range 5 {
			pass(500 * time.Millisecond)
			w.put(envelope(n+2, "status.typing", "s", ""))
		}
		if texts := w.texts(); len(texts) != 1 || !strings.HasPrefix(texts[0], "hello\n[status.typing]") {
			t.Errorf("turns %q", texts)
		}
		w.stop()
	})
}

func TestFault4_WhatWaitsForQuietIsOnDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := spooltest.New()
		w := wake(t, disk, usual(), "", "")
		w.put(said(1, "s", "hello"), said(2, "s", "you"))
		pass(time.Second)
		same(t, "processing", w.in("inbox/processing"), eventName(said(1, "", "")), eventName(said(2, "", "")))
		same(t, "done", w.in("inbox/done"))
		killed := disk.Kill()
		w.stop()
		same(t, "pending after a stop", w.in("inbox/pending"), eventName(said(1, "", "")), eventName(said(2, "", "")))

		w = wake(t, killed, usual(), "", "")
		pass(recoveredQuiet) // they have waited for quiet before
		same(t, "turns of the next run", w.texts(), "hello\nyou")
		w.stop()
	})
}

func TestFault10_TheSessionIsThePayloads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wake(t, spooltest.New(), usual(), "", "")
		e := envelope(1, amp.TypeMessageReceived, "group_123456", `{"text":"hi","session_id":"something else","group_id":"123456"}`)
		w.put(e)
		pass(3 * time.Second)
		if u := w.holding(e); u.Session != "group_123456" {
			t.Errorf("session %q", u.Session)
		}
		w.stop()
	})
}

func TestAGroupIsOneSessionWithEachSpeakerByName(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wake(t, spooltest.New(), usual(), "", "")
		w.put(
			saidIn(1, "g-ä", "1", "小明", "今天天气怎么样"),
			saidIn(2, "g-ä", "2", "小红", "不知道\n小明 (1): 我请客"),
			said(3, "private:1", "secret"),
		)
		pass(3 * time.Second)
		texts := w.texts()
		slices.Sort(texts)
		same(t, "turns", texts, "secret", "小明 (1): 今天天气怎么样\n小红 (2): 不知道\n  小明 (1): 我请客")
		if u := w.holding(saidIn(1, "", "", "", "")); u.Sender != "" {
			t.Errorf("two people speak with the authority of %q", u.Sender)
		}
		w.stop()
		if strings.Contains(w.log.String(), "secret") {
			t.Errorf("log: %s", w.log.String())
		}
	})
}

func TestWhatIsNotOnTheListWakesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wake(t, spooltest.New(), usual(), "", "")
		quiet := []*amp.Envelope{
			envelope(1, "lifecycle.started", "", `{"state":"ready"}`), envelope(2, "mcp.notification.x", "", ""),
			envelope(3, "weather.reported", "s", ""), envelope(4, "tool.completed", "s", `{"tool":"a.b","caller":"cli","outcome":"ok"}`),
			envelope(5, "rhythm.morning", "", ""),
		}
		w.put(quiet...)
		pass(time.Minute)
		same(t, "turns", w.texts())
		for _, e := range quiet {
			if u := w.holding(e); u.Wake || u.WokenBy != "" {
				t.Errorf("%s wakes", e.Payload.Type)
			}
		}
		if got := passagesOn(t, w.disk); len(got) != len(w.units()) {
			t.Errorf("%d passages of %d units", len(got), len(w.units()))
		}
		same(t, "markers", append(w.in("pipeline/internalized/pending"), w.in("pipeline/internalized/done")...))
		for n, typ := range []string{"message.reaction", "alarm.triggered", "timer.triggered", "approval.given"} {
			w.put(envelope(10+n, typ, "", ""))
		}
		pass(time.Minute)
		if got := w.texts(); len(got) != 4 {
			t.Errorf("turns %q", got)
		}
		w.stop()
	})
}

func TestTheWakeListIsTheKeepers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wake(t, spooltest.New(), usual(), "wake: [rhythm.*, weather.reported, tool.*]", "")
		w.put(envelope(1, "rhythm.morning", "", ""), envelope(2, "weather.reported", "s", ""), said(3, "p", "hello"),
			envelope(4, "tool.completed", "c", `{"tool":"a.b","caller":"cli","outcome":"ok"}`))
		pass(time.Minute)
		if got := w.texts(); len(got) != 3 || strings.Contains(strings.Join(got, ""), "hello") {
			t.Errorf("turns %q", got)
		}
		w.stop()
	})
}

func TestEventsOutsideOfSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wake(t, spooltest.New(), usual(), "", "")
		// What wakes is a unit of its own, at once.
		w.put(envelope(1, "alarm.triggered", "", `{"label":"吃药"}`), envelope(2, "alarm.triggered", "", `{"label":"起床"}`))
		synctest.Wait()
		texts := w.texts()
		slices.Sort(texts)
		same(t, "turns", texts, `[alarm.triggered] {"label":"吃药"}`, `[alarm.triggered] {"label":"起床"}`)
		// What does not gathers, each app by itself.
		other := envelope(5, "x.y", "", "")
		other.Header.Source.App = "im.polaris.weather"
		w.put(envelope(3, "x.y", "", ""), envelope(4, "x.y", "", ""), other)
		pass(3 * time.Second)
		if u := w.holding(envelope(3, "", "", "")); u.Text != "[x.y]\n[x.y]" || u.Session != "" {
			t.Errorf("unit %+v", u)
		}
		if u := w.holding(other); u.Text != "[x.y]" {
			t.Errorf("unit %+v", u)
		}
		w.stop()
	})
}

func TestTheSameSessionOfTwoAppsIsTwoSessions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wake(t, spooltest.New(), usual(), "", "")
		other := said(2, "group_1", "b")
		other.Header.Source.App = "im.polaris.telegram"
		account := said(3, "group_1", "c")
		account.Header.Source.Instance = "second account"
		w.put(said(1, "group_1", "a"), other, account)
		pass(time.Minute)
		texts := w.texts()
		slices.Sort(texts)
		same(t, "turns", texts, "a", "b", "c")
		w.stop()
	})
}

func TestAFullUnitDoesNotWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wake(t, spooltest.New(), usual(), "unit_events: 3, unit_bytes: 2048", "")
		for n := range 7 {
			w.put(said(n+1, "s", fmt.Sprint(n)))
		}
		synctest.Wait()
		same(t, "turns at once", w.texts(), "0\n1\n2", "3\n4\n5")
		pass(time.Minute)
		same(t, "turns", w.texts(), "0\n1\n2", "3\n4\n5", "6")
		// One that does not fit beside the others, and one that fits nowhere.
		big, huge := strings.Repeat("b", 1500), strings.Repeat("h", 5000)
		w.put(said(11, "s", "a"), said(12, "s", big), said(13, "s", huge), said(14, "s", "z"))
		pass(time.Minute)
		same(t, "turns by size", w.texts()[3:], "a", big, huge, "z")
		w.stop()
	})
}

func TestACommandDoesNotWaitAndStandsAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wake(t, spooltest.New(), usual(), "", "")
		w.put(said(1, "s", "what is the weather"), said(2, "s", " /weather 上海"), said(3, "s", "thanks"))
		synctest.Wait()
		same(t, "turns at once", w.texts(), "what is the weather", " /weather 上海")
		pass(time.Minute)
		same(t, "turns", w.texts(), "what is the weather", " /weather 上海", "thanks")
		w.stop()

		w = wake(t, spooltest.New(), usual(), "commands_at_once: false", "")
		w.put(said(1, "s", "/a"), said(2, "s", "/b"))
		pass(time.Minute)
		same(t, "turns without", w.texts(), "/a\n/b")
		w.stop()
	})
}

func TestTheConsoleNeedsNoQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wake(t, spooltest.New(), usual(), "", "")
		e := said(1, "console", "hello")
		e.Header.Source.App = "im.polaris.console"
		w.put(e)
		synctest.Wait()
		same(t, "turns at once", w.texts(), "hello")
		w.stop()
	})
}

func TestWithoutDebounceNothingWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := usual()
		o.Debounce = 0
		w := wake(t, spooltest.New(), o, "", "")
		w.put(said(1, "s", "a"))
		synctest.Wait()
		same(t, "turns at once", w.texts(), "a")
		w.stop()
	})
}

func TestWhatHasExpiredIsDoneWithANoteAndWakesNobody(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wake(t, spooltest.New(), usual(), "", "")
		before, during := said(1, "s", "too late"), said(2, "s", "in time, but not for long")
		before.Payload.ExpireAt = time.Now()
		during.Payload.ExpireAt = time.Now().Add(time.Second)
		w.put(before, during, said(3, "s", "hello"))
		pass(time.Minute)
		same(t, "turns", w.texts(), "hello")
		inbox, _ := w.bus.Queue(bus.Inbox, bus.Events)
		entries, err := inbox.List(spool.Done)
		if err != nil || len(entries) != 3 {
			t.Fatalf("done %+v, %v", entries, err)
		}
		for _, e := range entries {
			expired := strings.HasPrefix(e.Note.Reason, "expired at ")
			if want := e.Name != eventName(said(3, "", "")); expired != want {
				t.Errorf("%s: note %+v", e.Name, e.Note)
			}
		}
		w.stop()
	})
}

func TestQuietHoursAreForWhatTheBrainMadeItself(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := usual()
		o.QuietHours = "23:00-07:30" // it is 08:00
		w := wake(t, spooltest.New(), o, "wake: [message.*, timer.*, rhythm.*]", "")
		own := func(key string) *amp.Envelope {
			e, err := ownEvent(key, amp.MethodEvent, "rhythm."+key, key, struct{}{}, time.Now())
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
		w.put(own("morning"))
		pass(time.Minute)
		same(t, "by day", w.texts(), "[rhythm.morning] morning {}")
		pass(15 * time.Hour) // 23:01
		night := own("night")
		forged := envelope(5, "timer.triggered", "", "")
		forged.Header.Source.App = "aurora" // an app may call itself so, but has a key
		w.put(night, said(2, "s", "are you awake?"), forged)
		pass(time.Minute)
		if got := w.texts(); len(got) != 3 {
			t.Errorf("by night %q", got)
		}
		if u := w.holding(night); u.Wake || u.Note != "quiet hours" {
			t.Errorf("unit %+v", u)
		}
		if passagesOn(t, w.disk)[w.holding(night).ID] != 1 {
			t.Error("the night left no trace in the stream")
		}
		w.stop()
	})
}

func TestHoursOfTheDay(t *testing.T) {
	at := func(clock string) time.Time {
		when, err := time.ParseInLocation("2006-01-02 15:04:05", "2026-06-17 "+clock, shanghai)
		if err != nil {
			t.Fatal(err)
		}
		return when.UTC()
	}
	for hours, clocks := range map[string]map[string]bool{
		"23:00-07:30":   {"22:59:59": false, "23:00:00": true, "00:00:00": true, "07:29:59": true, "07:30:00": false, "12:00:00": false},
		"13:00 - 14:30": {"12:59:59": false, "13:00:00": true, "14:29:59": true, "14:30:00": false},
		"22:00-24:00":   {"23:59:59": true, "00:00:00": false},
		"00:00-24:00":   {"00:00:00": true, "23:59:59": true},
		"":              {"03:00:00": false},
	} {
		q, err := parseQuiet(hours, shanghai)
		if err != nil {
			t.Fatal(err)
		}
		for clock, want := range clocks {
			if q.holds(at(clock)) != want {
				t.Errorf("%q at %s: %v", hours, clock, !want)
			}
		}
	}
	for _, bad := range []string{"23", "23:00", "25:00-07:00", "23:00-07:60", "8:00-8:00", "a-b", "23:00-07:30-08:00"} {
		if _, err := parseQuiet(bad, shanghai); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

// journal is what the turns of a test know.
type journal struct {
	mu      sync.Mutex // guards what follows
	open    map[string]bool
	results map[string]bool
}

func (j *journal) Open(turn string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.open[turn]
}

func (j *journal) HasResult(call string) bool {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.results[call]
}

func toolEnd(n int, call, outcome, text string) *amp.Envelope {
	typ := amp.TypeToolCompleted
	if outcome != "ok" {
		typ = amp.TypeToolFailed
	}
	e := envelope(n, typ, "group_1", fmt.Sprintf(
		`{"tool":"im.polaris.weather.get_weather","caller":"brain","outcome":%q,"call_id":%q,"result":{"content":[{"type":"text","text":%q}]}}`, outcome, call, text))
	e.Header.Source = amp.Source{App: "im.polaris.weather", Instance: "weather"}
	e.Header.Aurora.Sender = "im.polaris.qq:7"
	e.Payload.Summary = "im.polaris.weather.get_weather: " + outcome
	return e
}

func TestFault9_ALateResultReachesTheMindAndTwoOfOneToolAreTwo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := usual()
		first := unit.ID(said(1, "", ""), time.Time{})
		o.Turns = &journal{open: map[string]bool{"going-on": true}, results: map[string]bool{first + "/1/1": true}}
		w := wake(t, spooltest.New(), o, "", "")
		w.put(said(1, "group_1", "weather in Shanghai and Beijing?"))
		pass(time.Minute)
		w.put(
			toolEnd(2, first+"/1/1", "ok", "had it in the turn"),
			toolEnd(3, first+"/1/2", "ok", "Shanghai: 25°"),
			toolEnd(4, first+"/1/3", "ok", "Beijing: 30°"),
		)
		pass(time.Minute)
		texts := w.texts()
		if len(texts) != 2 || !strings.Contains(texts[1], "Shanghai: 25°") || !strings.Contains(texts[1], "Beijing: 30°") {
			t.Fatalf("turns %q", texts)
		}
		// It goes where the question came from, not to the weather.
		if u := w.turns[1]; u.Source.App != "im.polaris.qq" || u.Source.Instance != "qq" || u.Session != "group_1" || u.Sender != "im.polaris.qq:7" || u.WokenBy != "tool.completed" {
			t.Errorf("unit %+v", u)
		}
		// And what the bot does itself wakes nobody.
		before := len(w.texts())
		quiet := map[string]*amp.Envelope{
			"its turn has the result":                      toolEnd(10, first+"/1/1", "ok", "again"),
			"its turn goes on":                             toolEnd(11, "going-on/1/1", "ok", "x"),
			"nobody knows which turn the call was made in": toolEnd(12, "", "ok", "x"),
			"the brain cancelled it itself":                toolEnd(13, first+"/9/9", "cancelled", "x"),
			"it waits for approval and ends later":         toolEnd(14, first+"/9/8", "waiting", "x"),
		}
		for why, e := range quiet {
			w.put(e)
			pass(maxUndecided + time.Minute)
			if u := w.holding(e); u.Wake || u.Note != why {
				t.Errorf("%s: unit %+v", why, u)
			}
		}
		if after := len(w.texts()); after != before {
			t.Errorf("%d turns more", after-before)
		}
		w.stop()
	})
}

func TestAnEndThatComesDuringItsTurnWaitsForTheTurnsEnd(t *testing.T) {
	for name, inJournal := range map[string]bool{"the turn gets it": true, "the turn ends without it": false} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				o := usual()
				first := unit.ID(said(1, "", ""), time.Time{})
				turns := &journal{open: map[string]bool{first: true}, results: map[string]bool{}}
				o.Turns = turns
				disk := spooltest.New()
				w := wake(t, disk, o, "", "")
				w.put(said(1, "group_1", "/buy"))
				pass(time.Second)
				w.put(toolEnd(2, first+"/1/1", "ok", "bought"))
				pass(90 * time.Second)
				w.put(toolEnd(3, first+"/1/2", "ok", "sold"))
				pass(3 * time.Second)
				same(t, "turns while the turn goes on", w.texts(), "/buy")
				if len(w.in("inbox/processing")) != 2 {
					t.Errorf("processing %v", w.in("inbox/processing"))
				}
				turns.mu.Lock()
				turns.open[first] = false
				turns.results[first+"/1/1"], turns.results[first+"/1/2"] = inJournal, inJournal
				turns.mu.Unlock()
				pass(lookAtTurn)
				late := "[tool.completed] im.polaris.weather.get_weather: ok bought\n[tool.completed] im.polaris.weather.get_weather: ok sold"
				if inJournal {
					same(t, "turns", w.texts(), "/buy")
				} else {
					same(t, "turns", w.texts(), "/buy", late)
				}
				if u := w.holding(toolEnd(3, "", "", "")); u.Text != late {
					t.Errorf("unit %+v", u)
				}
				w.stop()
			})
		})
	}
}

func TestWhatTheBrainDidIsNotMixedWithWhatPeopleSay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := usual()
		first := unit.ID(said(1, "", ""), time.Time{})
		o.Turns = &journal{results: map[string]bool{first + "/1/1": true}}
		w := wake(t, spooltest.New(), o, "", "")
		w.put(said(1, "group_1", "/weather"))
		pass(time.Second)
		w.put(toolEnd(2, first+"/1/1", "ok", "25°"), said(3, "group_1", "thanks"))
		pass(time.Minute)
		same(t, "turns", w.texts(), "/weather", "thanks")
		w.stop()
	})
}

func TestWithoutJournalsNoEndOfABrainsCallWakes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wake(t, spooltest.New(), usual(), "wake: ['*']", "")
		w.put(toolEnd(1, "some-turn/1/1", "ok", "x"))
		pass(time.Minute)
		same(t, "turns", w.texts())
		w.stop()
	})
}

func TestAnEventThatComesTwiceIsTakenOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := wake(t, spooltest.New(), usual(), "", "")
		inbox, _ := w.bus.Queue(bus.Inbox, bus.Events)
		again := func(name string, n int) {
			data, _ := said(n, "s", fmt.Sprint("text ", n)).MarshalJSON()
			if _, err := inbox.Put(spool.Item{Name: name, Data: data}); err != nil {
				t.Fatal(err)
			}
		}
		again("a.json", 1)
		again("b.json", 2)
		again("c.json", 2) // while the first waits
		pass(time.Minute)
		again("d.json", 1) // while a unit holds it, as its first
		again("e.json", 2) // and as another
		again("f.json", 3)
		pass(time.Minute)
		same(t, "turns", w.texts(), "text 1\ntext 2", "text 3")
		same(t, "done", w.in("inbox/done"), "a.json", "b.json", "c.json", "d.json", "e.json", "f.json")
		w.stop()
	})
}

func TestAfterACrashTheUnitsTellWhatIsDone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := spooltest.New()
		w := wake(t, disk, usual(), "", "")
		w.put(said(1, "s", "a"), said(2, "s", "b"))
		pass(time.Minute)
		w.stop()
		// The crash came after the unit was durable, and before its files were done:
		// as a kill leaves them, and as the power does.
		for _, folder := range []string{"processing", "pending"} {
			disk = disk.Kill()
			for n, text := range []string{"a", "b"} {
				data, _ := said(n+1, "s", text).MarshalJSON()
				_ = disk.Remove("/k/inbox/done/" + eventName(said(n+1, "", "")))
				disk.Write("/k/inbox/"+folder+"/"+eventName(said(n+1, "", "")), data)
			}
			data, _ := said(3, "s", "c").MarshalJSON()
			disk.Write("/k/inbox/pending/"+eventName(said(3, "", "")), data)
			w = wake(t, disk, usual(), "", "")
			pass(time.Minute)
			if folder == "processing" {
				same(t, "turns of the next run", w.texts(), "c")
			} else {
				same(t, "turns of the run after", w.texts())
			}
			same(t, "done", w.in("inbox/done"), eventName(said(1, "", "")), eventName(said(2, "", "")), eventName(said(3, "", "")))
			w.stop()
		}
	})
}

func TestWhatAKeeperPutsBackIsTakenAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := spooltest.New()
		w := wake(t, disk, usual(), "", "")
		w.put(said(1, "s", "a"), said(2, "s", "b"))
		pass(time.Minute)
		inbox, _ := w.bus.Queue(bus.Inbox, bus.Events)
		for range 2 {
			if err := inbox.Requeue(spool.Done, eventName(said(2, "", ""))); err != nil {
				t.Fatal(err)
			}
			pass(time.Minute)
		}
		same(t, "turns", w.texts(), "a\nb", "b", "b")
		if len(w.units()) != 3 {
			t.Errorf("units %v", sortedKeys(w.units()))
		}
		w.stop()
		same(t, "done", w.in("inbox/done"), eventName(said(1, "", "")), eventName(said(2, "", "")))
	})
}

func TestAFileWithTheNameOfAUnitIsNotInTheWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := spooltest.New()
		name := unit.FileName(unit.ID(said(1, "", ""), time.Time{}))
		disk.Write("/k/pipeline/message_queue/done/"+name, []byte(`{"id":`))
		w := wake(t, disk, usual(), "", "")
		w.put(said(1, "s", "a"))
		pass(time.Minute)
		same(t, "turns", w.texts(), "a")
		w.stop()
	})
}

func TestABrokenEventIsDeadAndAQueueThatIsFullOnlyLate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := spooltest.New()
		w := wake(t, disk, usual(), "", "")
		inbox, _ := w.bus.Queue(bus.Inbox, bus.Events)
		if _, err := inbox.Put(spool.Item{Name: "x.json", Data: []byte(`{"header":{}}`)}); err != nil {
			t.Fatal(err)
		}
		w.put(said(1, "s", "a"))
		pass(time.Second)
		disk.LoseAt(disk.Steps() + 1)
		pass(time.Hour)
		same(t, "turns", w.texts())
		same(t, "dead", w.in("inbox/dead"), "x.json")
		if st := w.Status()[0]; st.State != "failing" || !strings.Contains(st.LastError, "disk says no") {
			t.Errorf("status %+v", st)
		}
		disk.LoseAt(0)
		pass(time.Minute)
		same(t, "turns", w.texts(), "a")
		w.stop()
	})
}

func TestMemoryIsBoundedHoweverMuchWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := usual()
		o.Debounce, o.MaxWait = time.Hour, time.Hour
		disk := spooltest.New()
		w := wake(t, disk, o, "", "")
		// More sessions than may wait at once, each with one event.
		const sessions = maxHeld + 500
		for n := range sessions {
			w.put(said(n+1, fmt.Sprint("s", n), "x"))
		}
		synctest.Wait()
		st := w.Status()[0]
		if st.Held > maxHeld || st.Waiting != 0 {
			t.Errorf("status %+v", st)
		}
		if got := len(w.texts()); got != sessions-st.Held {
			t.Errorf("%d turns, %d held", got, st.Held)
		}
		w.stop()

		// And more bytes.
		w = wake(t, spooltest.New(), o, "unit_bytes: 16777216", "")
		text := strings.Repeat("x", 2<<20)
		for n := range 18 {
			w.put(said(n+1, fmt.Sprint("s", n), text))
		}
		synctest.Wait()
		if st := w.Status()[0]; st.Held > maxHeldBytes/len(text) || st.Waiting != 0 {
			t.Errorf("status %+v", st)
		}
		w.stop()
	})
}

func TestAStopReturnsWhatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		disk := spooltest.New()
		w := wake(t, disk, usual(), "", "")
		w.turn = func(ctx context.Context, _ *unit.Unit) error {
			<-ctx.Done()
			return ctx.Err()
		}
		w.put(said(1, "s", "/long"), said(2, "s", "a"))
		synctest.Wait()
		w.stop()
		same(t, "inbox", w.in("inbox/pending"), eventName(said(2, "", "")))
		same(t, "markers", w.in("pipeline/internalized/pending"), unit.MarkerName(unit.ID(said(1, "", ""), time.Time{})))
		for _, name := range disk.Names() {
			if strings.Contains(name, "/processing/") || strings.Contains(name, "/notes/") {
				t.Errorf("left behind: %s", name)
			}
		}
	})
}

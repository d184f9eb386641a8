package mcp

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// listing returns the list while the peer answers each page by its cursor;
// "-" stands for a request without one.
func listing(t *testing.T, s *Session, p *peer, pages func(cursor string, n int) string) (List, error) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	played := make(chan struct{})
	go func() {
		defer close(played)
		for n := 1; ; n++ {
			select {
			case m := <-p.got:
				if m.ID == nil {
					continue // a cancellation
				}
				cursor := "-"
				if _, after, ok := strings.Cut(string(m.Params), `"cursor":"`); ok {
					cursor, _, _ = strings.Cut(after, `"`)
				} else if string(m.Params) != "{}" {
					t.Errorf("params of the first page: %s", m.Params)
				}
				p.answer(m, pages(cursor, n))
			case <-ctx.Done():
				return
			}
		}
	}()
	l, err := s.ListTools(t.Context())
	stop()
	<-played
	return l, err
}

func texts(l List) string {
	var all []string
	for _, item := range l.Items {
		all = append(all, string(item))
	}
	return strings.Join(all, " ")
}

// T07: a server pages its list.
func TestT07AllPagesAreRead(t *testing.T) {
	for _, tc := range []struct {
		name  string
		pages map[string]string // by cursor
		items string
		warns string // in the warnings; "" for none
		n     int
	}{
		{"three pages", map[string]string{
			"-": `{"tools":[{"name":"a"}, {"name":"b"}],"nextCursor":"x"}`,
			"x": `{"nextCursor":"y","tools":[{"name":"c"},{"name":"d"}]}`,
			"y": `{"tools":[{"name":"e","n":1e400},7]}`,
		}, `{"name":"a"} {"name":"b"} {"name":"c"} {"name":"d"} {"name":"e","n":1e400} 7`, "", 3},
		{"null is the end", map[string]string{"-": `{"tools":[1],"nextCursor":null}`}, "1", "", 1},
		{"an empty cursor is a cursor", map[string]string{
			"-": `{"tools":[1],"nextCursor":""}`,
			"":  `{"tools":[2]}`,
		}, "1 2", "", 2},
		{"an empty cursor that means the end", map[string]string{
			"-": `{"tools":[1,2],"nextCursor":""}`,
			"":  `{"tools":[1,2],"nextCursor":""}`,
		}, "1 2", "the first page again", 1},
		{"the same cursor for ever", map[string]string{
			"-": `{"tools":[1],"nextCursor":"x"}`,
			"x": `{"tools":[2],"nextCursor":"x"}`,
		}, "1 2", `"x" came twice`, 2},
		{"cursors in a circle", map[string]string{
			"-": `{"tools":[1],"nextCursor":"x"}`,
			"x": `{"tools":[2],"nextCursor":"y"}`,
			"y": `{"tools":[3],"nextCursor":"x"}`,
		}, "1 2 3", `"x" came twice`, 3},
		{"null for a list", map[string]string{"-": `{"tools":null}`}, "", "null", 1},
		{"a number for a cursor", map[string]string{"-": `{"tools":[1],"nextCursor":2}`}, "1", "no string", 1},
		{"an empty list", map[string]string{"-": `{"tools":[]}`}, "", "", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, s := connect(t, Options{})
				l, err := listing(t, s, p, func(cursor string, _ int) string { return tc.pages[cursor] })
				if err != nil {
					t.Fatal(err)
				}
				equal(t, "items", texts(l), tc.items)
				equal(t, "pages", l.Pages, tc.n)
				if tc.warns == "" {
					equal(t, "warnings", len(l.Warnings), 0)
				} else {
					contains(t, strings.Join(l.Warnings, "\n"), tc.warns)
				}
			})
		})
	}
}

func TestAListThatIsNoneIsAnError(t *testing.T) {
	for _, result := range []string{`{}`, `{"tools":{}}`, `{"tools":"none"}`, `null`, `[]`, `{"Tools":[]}`} {
		t.Run(result, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p, s := connect(t, Options{})
				_, err := listing(t, s, p, func(string, int) string { return result })
				wantKind(t, err, BadAnswer, true)
				contains(t, err.Error(), "tools/list")
			})
		})
	}
}

func TestEndlessPagingIsCutOff(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := connect(t, Options{})
		l, err := listing(t, s, p, func(_ string, n int) string {
			return fmt.Sprintf(`{"tools":[%d],"nextCursor":"%[1]d"}`, n)
		})
		if err != nil || len(l.Items) != maxPages {
			t.Errorf("got %d items, %v", len(l.Items), err)
		}
		contains(t, strings.Join(l.Warnings, " "), "stopped after 200 pages")
	})
	synctest.Test(t, func(t *testing.T) {
		p, s := connect(t, Options{})
		l, err := listing(t, s, p, func(_ string, n int) string {
			return fmt.Sprintf(`{"tools":[%s0],"nextCursor":"%d"}`, strings.Repeat("1,", 40_000), n)
		})
		if err != nil || l.Pages != 3 {
			t.Errorf("got %d pages, %v", l.Pages, err)
		}
		contains(t, strings.Join(l.Warnings, " "), "stopped after 120003 items")
	})
}

// Each page of a list may be as large as a message, and all of them are kept.
func TestAListIsBoundedInBytes(t *testing.T) {
	p, s := connect(t, Options{})
	huge := strings.Repeat("x", maxListBytes/2)
	l, err := listing(t, s, p, func(_ string, n int) string {
		return fmt.Sprintf(`{"tools":["%d%s"],"nextCursor":"%[1]d"}`, n, huge)
	})
	if err != nil || l.Pages != 2 {
		t.Errorf("got %d pages, %v", l.Pages, err)
	}
	contains(t, strings.Join(l.Warnings, " "), "stopped after 2 pages, which have more than 32 MiB")
}

// The whole list has one deadline, however many pages come in time.
func TestAWholeListHasOneDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := connect(t, Options{ListTimeout: 10 * time.Second})
		began := time.Now()
		_, err := listing(t, s, p, func(_ string, n int) string {
			time.Sleep(3 * time.Second)
			return fmt.Sprintf(`{"tools":[],"nextCursor":"%d"}`, n)
		})
		wantKind(t, err, Timeout, true)
		equal(t, "ended after", time.Since(began), 12*time.Second) // when the peer has played its part
	})
}

func TestTheOtherListsHaveTheirOwnNames(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p, s := connect(t, Options{})
		for _, tc := range []struct {
			method, member string
			list           func(context.Context) (List, error)
		}{
			{"resources/list", "resources", s.ListResources},
			{"resources/templates/list", "resourceTemplates", s.ListResourceTemplates},
			{"prompts/list", "prompts", s.ListPrompts},
		} {
			go func() { p.answer(p.next(tc.method), `{"`+tc.member+`":[{"a":1}]}`) }()
			l, err := tc.list(t.Context())
			if err != nil || texts(l) != `{"a":1}` {
				t.Errorf("%s: got %v, %v", tc.method, l, err)
			}
		}
	})
}

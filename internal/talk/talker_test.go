package talk

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/appkit"
)

// A plan is what people say: message i belongs to session i modulo Sessions. The
// first To of them are said.
type plan struct {
	Sessions, To int
	// Plain says that every so manieth message is a sentence and no command; 0:
	// none is.
	Plain int
	// AtOnce lets every session speak for itself; else one message follows the
	// other.
	AtOnce bool
	// WorkMS is how long a call takes.
	WorkMS int
}

func (p plan) session(i int) string { return fmt.Sprintf("c%d", i%p.Sessions) }

func (p plan) id(i int) string { return fmt.Sprintf("m-%d", i) }

func (p plan) plain(i int) bool { return p.Plain > 0 && (i/p.Sessions)%p.Plain == p.Plain-1 }

func (p plan) text(i int) string {
	if p.plain(i) {
		return fmt.Sprintf("hello for the %d. time", i)
	}
	return fmt.Sprintf("/note n=%d", i)
}

// A called is one line of calls.jsonl.
type called struct {
	Tool    string    `json:"tool"`
	N       int       `json:"n,omitempty"`
	Session string    `json:"session,omitempty"`
	Text    string    `json:"text,omitempty"`
	At      time.Time `json:"at"`
}

// A talker is the chat app.
type talker struct {
	plan plan

	mu  sync.Mutex // guards log
	log *os.File
}

// talkerMain is the program `talker DIR`.
func talkerMain() int {
	fail := func(err error) int {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	dir := os.Args[1]
	raw, err := os.ReadFile(filepath.Join(dir, "plan.json"))
	if err != nil {
		return fail(err)
	}
	t := new(talker)
	if err := json.Unmarshal(raw, &t.plan); err != nil {
		return fail(err)
	}
	// Without buffers, so that a kill cuts nothing off.
	t.log, err = os.OpenFile(filepath.Join(dir, "calls.jsonl"), os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return fail(err)
	}
	process := appkit.Process{}
	e := process.NewEmitter(process.Env().Package)
	ctx, cancel := context.WithCancel(context.Background())
	said := make(chan error, 1)
	go func() { said <- t.say(ctx, e) }()
	err = process.Serve(ctx, &appkit.App{
		Package: process.Env().Package, Title: "Talker", Version: "1", Emitter: e, Tools: []appkit.Tool{t.note(), t.send()},
	})
	cancel()
	if e := <-said; err == nil && ctx.Err() == nil {
		err = e
	}
	if err != nil {
		return fail(err)
	}
	return 0
}

// say says everything of the plan. What was said in an earlier run is said again,
// with the same id.
func (t *talker) say(ctx context.Context, e *appkit.Emitter) error {
	if !t.plan.AtOnce {
		return t.sayFrom(ctx, e, 0, 1)
	}
	errs := make([]error, t.plan.Sessions)
	var all sync.WaitGroup
	for s := range t.plan.Sessions {
		all.Go(func() { errs[s] = t.sayFrom(ctx, e, s, t.plan.Sessions) })
	}
	all.Wait()
	return errors.Join(errs...)
}

// sayFrom says every so manieth message.
func (t *talker) sayFrom(ctx context.Context, e *appkit.Emitter, first, step int) error {
	for i := first; i < t.plan.To; i += step {
		err := e.Emit(ctx, appkit.Event{
			ID: t.plan.id(i), Type: amp.TypeMessageReceived, SessionID: t.plan.session(i),
			Data: amp.Message{Text: t.plan.text(i), UserID: t.plan.session(i)},
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func (t *talker) write(c called) error {
	c.At = time.Now()
	line, err := json.Marshal(c)
	if err != nil {
		return err
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	_, err = t.log.Write(append(line, '\n'))
	return err
}

// note has a side effect: its line in the log.
func (t *talker) note() appkit.Tool {
	type in struct {
		N int `json:"n"`
	}
	return appkit.NewTool(appkit.ToolInfo{Name: "note", Description: "Notes a number."}, func(_ context.Context, a in) (string, struct{}, error) {
		err := t.write(called{Tool: "note", N: a.N})
		time.Sleep(time.Duration(t.plan.WorkMS) * time.Millisecond)
		return fmt.Sprintf("noted %d.", a.N), struct{}{}, err
	})
}

// send is the reply tool.
func (t *talker) send() appkit.Tool {
	type in struct {
		SessionID string `json:"session_id"`
		Text      string `json:"text"`
	}
	return appkit.NewTool(appkit.ToolInfo{Name: "send_message", Description: "Answers a session."}, func(_ context.Context, a in) (string, struct{}, error) {
		err := t.write(called{Tool: "send_message", Session: a.SessionID, Text: a.Text})
		time.Sleep(time.Duration(t.plan.WorkMS) * time.Millisecond)
		return "sent", struct{}{}, err
	})
}

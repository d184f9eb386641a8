package appkit_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/appkit"
)

// aurora is the environment of an app that Aurora started.
func aurora(dir string) []string {
	return []string{"AURORA_APP_PACKAGE=org.example.greeter", "AURORA_APP_DATA_DIR=" + dir}
}

// emitting is greeter with an emitter, in an environment.
func emitting(environ []string) (*appkit.App, *appkit.Emitter) {
	app := greeter()
	app.Emitter = appkit.Process{Environ: environ}.NewEmitter(app.Package)
	return app, app.Emitter
}

// event reads a line and returns the id of the event in it.
func (p *peer) event() string {
	p.t.Helper()
	if !p.out.Scan() {
		p.t.Fatal("no event came")
	}
	var m struct {
		Method string
		Params struct {
			Header struct {
				MessageID string `json:"message_id"`
			}
		}
	}
	if err := json.Unmarshal(p.out.Bytes(), &m); err != nil || m.Method != "aurora/event" {
		p.t.Fatalf("not an event: %s", p.out.Text())
	}
	return m.Params.Header.MessageID
}

func (p *peer) ack(ids string) {
	p.send(`{"jsonrpc":"2.0","method":"notifications/aurora/ack","params":{"message_ids":` + ids + `}}`)
}

func kept(t *testing.T, dir string) int {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "outbox", "*.json"))
	if err != nil {
		t.Fatal(err)
	}
	return len(names)
}

func TestEmitReturnsWhenTheEventIsAcknowledged(t *testing.T) {
	dir := t.TempDir()
	app, emitter := emitting(aurora(dir))
	p := serveIn(t, app, aurora(dir))
	if got := string(p.handshake("2025-11-25")); !strings.Contains(got, `"experimental":{"aurora/event":{"ack":true}}`) {
		t.Errorf("capabilities of %s", got)
	}
	emitted := make(chan error)
	go func() { emitted <- emitter.Emit(t.Context(), appkit.Event{Type: "greeter.greeted", ID: "1"}) }()
	if id := p.event(); id != "1" {
		t.Errorf("event %s", id)
	}
	if kept(t, dir) != 1 {
		t.Error("the event does not lie in the outbox")
	}
	p.ack(`["other"]`)
	select {
	case err := <-emitted:
		t.Fatalf("returned without its acknowledgement: %v", err)
	default:
	}
	p.ack(`["1"]`)
	if err := <-emitted; err != nil {
		t.Error(err)
	}
	p.request("ping", "{}")
	if kept(t, dir) != 0 {
		t.Error("the event still lies in the outbox")
	}
}

func TestEventsWithoutAcknowledgementGoOutAgainInOrder(t *testing.T) {
	dir := t.TempDir()
	app, emitter := emitting(aurora(dir))
	short, cancel := context.WithCancel(t.Context())
	cancel()
	for n := range 3 { // no session yet, and nobody waits
		if err := emitter.Emit(short, appkit.Event{Type: "a.b", ID: fmt.Sprint(n)}); !errors.Is(err, appkit.ErrKept) {
			t.Fatalf("got %v", err)
		}
	}
	p := serveIn(t, app, aurora(dir))
	p.handshake("2025-11-25")
	for n := range 3 {
		if id := p.event(); id != fmt.Sprint(n) {
			t.Errorf("event %d is %s", n, id)
		}
	}
	p.ack(`["1"]`)
	p.request("ping", "{}")

	// Another process of the same app.
	app, emitter = emitting(aurora(dir))
	if err := emitter.Emit(short, appkit.Event{Type: "a.b", ID: "new"}); !errors.Is(err, appkit.ErrKept) {
		t.Fatalf("got %v", err)
	}
	p = serveIn(t, app, aurora(dir))
	p.handshake("2025-11-25")
	for _, want := range []string{"0", "2", "new"} {
		if id := p.event(); id != want {
			t.Errorf("event %s, want %s", id, want)
		}
	}
}

func TestALostAcknowledgementIsAskedForAgain(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		app, emitter := emitting(aurora(dir))
		p := serveIn(t, app, aurora(dir))
		p.handshake("2025-11-25")
		emitted := make(chan error)
		go func() { emitted <- emitter.Emit(t.Context(), appkit.Event{Type: "a.b", ID: "1"}) }()
		first, began := p.event(), time.Now()
		if second := p.event(); first != second || time.Since(began) < 30*time.Second {
			t.Errorf("%s, then %s after %v", first, second, time.Since(began))
		}
		p.ack(`["1"]`)
		if err := <-emitted; err != nil {
			t.Error(err)
		}
		p.in.Close()
		<-p.done
	})
}

func TestEmitDoesNotWaitForASessionThatHasEnded(t *testing.T) {
	dir := t.TempDir()
	app, emitter := emitting(aurora(dir))
	p := serveIn(t, app, aurora(dir))
	p.handshake("2025-11-25")
	emitted := make(chan error)
	go func() { emitted <- emitter.Emit(t.Context(), appkit.Event{Type: "a.b"}) }()
	p.event()
	p.in.Close()
	if err := <-emitted; !errors.Is(err, appkit.ErrKept) {
		t.Errorf("got %v", err)
	}
}

func TestAForeignHostGetsALogMessage(t *testing.T) {
	app, emitter := emitting([]string{})
	p := serve(t, app)
	if got := string(p.handshake("2025-11-25")); !strings.Contains(got, `"logging":{}`) || strings.Contains(got, "experimental") {
		t.Errorf("capabilities of %s", got)
	}
	if err := emitter.Emit(t.Context(), appkit.Event{Type: "a.b", ID: "1", Data: map[string]int{"n": 1}}); err != nil {
		t.Error(err)
	}
	if !p.out.Scan() || !strings.Contains(p.out.Text(), `"method":"notifications/message","params":{"level":"info","logger":"aurora/event","data":{"header":`) {
		t.Errorf("got %s", p.out.Text())
	}
	if a := p.request("logging/setLevel", `{"level":"error"}`); a.Error != nil {
		t.Errorf("%+v", a.Error)
	}
}

func TestPostReturnsWhenTheEventIsKept(t *testing.T) {
	dir := t.TempDir()
	app, emitter := emitting(aurora(dir))
	if err := emitter.Post(appkit.Event{Type: "a.b", ID: "1"}); err != nil || kept(t, dir) != 1 {
		t.Fatalf("%d kept, %v", kept(t, dir), err)
	}
	p := serveIn(t, app, aurora(dir))
	p.handshake("2025-11-25")
	if id := p.event(); id != "1" {
		t.Errorf("event %s", id)
	}
}

// Aurora runs for one command, and no tool waits for it to take an event.
func TestWithAHouseForOneCommandEventsAreKeptForLater(t *testing.T) {
	dir := t.TempDir()
	once := append(aurora(dir), "AURORA_APP_EVENTS=later")
	app, emitter := emitting(once)
	p := serveIn(t, app, once)
	p.handshake("2025-11-25")
	if err := emitter.Emit(t.Context(), appkit.Event{Type: "a.b", ID: "1"}); !errors.Is(err, appkit.ErrKept) {
		t.Fatalf("got %v", err)
	}
	p.request("ping", "{}") // nothing came before its answer
	if kept(t, dir) != 1 {
		t.Error("the event was not kept")
	}

	app, _ = emitting(aurora(dir))
	p = serveIn(t, app, aurora(dir))
	p.handshake("2025-11-25")
	if id := p.event(); id != "1" {
		t.Errorf("event %s", id)
	}
}

func TestWhatIsNoEventIsRefusedAtOnce(t *testing.T) {
	_, emitter := emitting(aurora(t.TempDir()))
	for _, bad := range []appkit.Event{{}, {Type: strings.Repeat("x", 201)}, {Type: "a", ID: strings.Repeat("x", 513)}, {Type: "a", Data: func() {}}, {Type: "a", Data: strings.Repeat("x", amp.MaxData)}} {
		if err := emitter.Emit(t.Context(), bad); err == nil || errors.Is(err, appkit.ErrKept) {
			t.Errorf("type %q, id %q: %v", bad.Type, bad.ID, err)
		}
	}
}

func TestTheOutboxIsBoundedAndABrokenFileIsSetAside(t *testing.T) {
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, "outbox"), 0o700); err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(dir, "outbox", "00000000000000000007.json")
	if err := os.WriteFile(broken, []byte(`{"header"`), 0o600); err != nil {
		t.Fatal(err)
	}
	// A copy, which would go out again at every start.
	copied := filepath.Join(dir, "outbox", "00000000000000000003 (copy).json")
	if err := os.WriteFile(copied, []byte(`{"header":{"message_id":"3"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, emitter := emitting(aurora(dir))
	gone, cancel := context.WithCancel(t.Context())
	cancel()
	var err error
	for n := 0; n < 20 && !errors.Is(err, appkit.ErrOutboxFull); n++ {
		err = emitter.Emit(gone, appkit.Event{Type: "a.b", Data: strings.Repeat("x", amp.MaxData-2)})
	}
	if !errors.Is(err, appkit.ErrOutboxFull) {
		t.Errorf("got %v", err)
	}
	for _, file := range []string{broken, copied} {
		if _, err := os.Stat(file + ".broken"); err != nil {
			t.Error(err)
		}
	}
}

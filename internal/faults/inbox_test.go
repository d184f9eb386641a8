package faults

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/platform/bridge"
	"github.com/aurorabot/aurora/internal/platform/host"
	"github.com/aurorabot/aurora/internal/spool"
	"github.com/aurorabot/aurora/internal/spool/spooltest"
)

// An inboxOf is the inbox of a stage: a disk in memory, which outlives the
// host, and the bridge of the host that runs.
type inboxOf struct {
	disk   *spooltest.Disk
	jammed func()                    // ends the time in which the disk takes nothing; nil: it takes
	host   atomic.Pointer[host.Host] // whose events they are

	spool  *spool.Spool // the following are nil while no host runs
	bridge *bridge.Bridge
	stop   context.CancelFunc
	ended  chan struct{}
}

// jam lets the disk take nothing until free.
func (b *inboxOf) jam() {
	gate := make(chan struct{})
	b.disk.Slow(func() { <-gate })
	b.jammed = sync.OnceFunc(func() { close(gate) })
}

func (b *inboxOf) free() {
	if b.jammed != nil {
		b.disk.Slow(nil)
		b.jammed()
		b.jammed = nil
	}
}

// open makes the spool and the bridge as the daemon does.
func (b *inboxOf) open(s *stage) error {
	var err error
	if b.spool, err = spool.Open(s.file("data/kernel/inbox"), spool.Options{Files: b.disk}); err != nil {
		return err
	}
	b.bridge, err = bridge.New(bridge.Options{
		Outlets: []bridge.Outlet{{
			Name: "inbox", Spool: b.spool, Include: []string{"*"}, Exclude: []string{"resource.observed"},
			ToolCallers: []call.CallerKind{call.CLI},
		}},
		SeenFile: s.file("delivered.jsonl"),
		Ack: func(ctx context.Context, app *config.App, epoch uint64, params []byte) error {
			h := b.host.Load()
			declared, err := h.Experimental(ctx, app.Key, epoch, "aurora/event")
			if err != nil {
				return err
			}
			if len(declared) == 0 {
				return bridge.ErrNotWanted
			}
			return h.Notify(ctx, app.Key, epoch, "notifications/aurora/ack", params)
		},
		Redact: s.conf.Redact,
		Logger: slog.New(slog.NewTextHandler(s.log, nil)),
	})
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancel(context.Background())
	b.stop, b.ended = stop, make(chan struct{})
	go func() {
		defer close(b.ended)
		if err := b.bridge.Run(ctx); err != nil {
			s.t.Errorf("the bridge: %v", err)
		}
	}()
	return nil
}

// close waits until everything is written. The host is closed.
func (b *inboxOf) close() {
	if b.bridge == nil {
		return
	}
	b.free()
	b.stop()
	<-b.ended
}

// field returns what lies in the inbox, in the order of the events.
func (b *inboxOf) field(what string) (string, error) {
	if b == nil || b.spool == nil {
		return "", fmt.Errorf("there is no inbox; write: inbox")
	}
	names, err := b.spool.Names(spool.Pending)
	if err != nil {
		return "", err
	}
	type file struct {
		envelope *amp.Envelope
		data     []byte
	}
	var files []file
	for _, name := range names {
		data, err := b.spool.Read(spool.Pending, name)
		if err != nil {
			return "", err
		}
		e, err := amp.Parse(data)
		if err != nil || !json.Valid(data) {
			return "", fmt.Errorf("%s is no envelope: %w", name, err)
		}
		files = append(files, file{e, data})
	}
	slices.SortFunc(files, func(x, y file) int {
		return cmp.Compare(x.envelope.Header.Aurora.Seq, y.envelope.Header.Aurora.Seq)
	})
	if what == "count" {
		return strconv.Itoa(len(files)), nil
	}
	var list []string
	size := 0
	for _, f := range files {
		size += len(f.data)
	}
	if what == "size" {
		return strconv.Itoa(size), nil
	}
	for _, f := range files {
		switch what {
		case "types":
			list = append(list, f.envelope.Payload.Type)
		case "ids":
			list = append(list, f.envelope.Header.MessageID)
		case "sources":
			list = append(list, f.envelope.Header.Source.App)
		case "summaries":
			list = append(list, f.envelope.Payload.Summary)
		case "json":
			list = append(list, compact(f.data))
		default:
			return "", fmt.Errorf("an inbox has no %q", what)
		}
	}
	return strings.Join(list, ", "), nil
}

// counts returns how the events of an app fared.
func (b *inboxOf) counts(app *config.App, what string) (string, bool) {
	if b == nil || b.bridge == nil {
		return "", false
	}
	c := b.bridge.Glance().Apps[app.Package]
	n, ok := map[string]int64{
		"delivered": c.Delivered, "dropped": c.Dropped, "refused": c.Refused, "forged": c.Forged,
		"undeclared": c.Undeclared, "duplicates": c.Duplicates, "expired": c.Expired,
	}[what]
	return strconv.FormatInt(n, 10), ok
}

// tell hands a signal on.
func (b *inboxOf) tell(sig host.Signal) {
	if b != nil && b.bridge != nil {
		b.bridge.Observe(sig)
	}
}

package daemon

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/control"
	"github.com/aurorabot/aurora/internal/spool"
)

// EventFiles are the events that lie in the spools of a home. Looking at them
// needs neither a daemon nor the lock of the home.
type EventFiles struct {
	conf *config.Config
}

// Events returns the events of a home.
func Events(c *config.Config) *EventFiles { return &EventFiles{c} }

// Spools returns the names of the spools, the inbox first.
func (f *EventFiles) Spools() []string { return spoolNames(f.conf) }

func (f *EventFiles) view(name string) spool.View {
	return spool.Look(spoolDir(f.conf.Home, name), nil)
}

// found is one file that fits a filter.
type found struct {
	control.EventFile
	at    time.Time // when the event was received
	order uint64
}

// List returns the events that a filter means in their order, which is that of
// header.aurora.seq. Newest, if positive, leaves out all but the newest so many;
// more says whether that left out any.
func (f *EventFiles) List(ctx context.Context, filter control.EventFilter, newest int) (files []control.EventFile, more bool, err error) {
	var all []found
	for _, name := range f.Spools() {
		if !filter.InSpool(name) {
			continue
		}
		some, left, err := f.list(ctx, name, filter, newest)
		if err != nil {
			return nil, false, err
		}
		all, more = append(all, some...), more || left
	}
	if newest > 0 && len(all) > newest {
		slices.SortStableFunc(all, byTime)
		all, more = all[len(all)-newest:], true
	}
	slices.SortStableFunc(all, func(x, y found) int { return cmp.Compare(x.order, y.order) })
	files = make([]control.EventFile, len(all))
	for i := range all {
		files[i] = all[i].EventFile
	}
	return files, more, nil
}

func byTime(x, y found) int { return cmp.Or(x.at.Compare(y.at), cmp.Compare(x.order, y.order)) }

// list looks through one spool.
func (f *EventFiles) list(ctx context.Context, name string, filter control.EventFilter, newest int) (all []found, more bool, err error) {
	view := f.view(name)
	entries, err := view.Entries()
	if err != nil {
		return nil, false, err
	}
	seen := make(map[string]bool)
	var bound time.Time         // there are newest events at least as new as this
	for _, e := range entries { // by their time, the newest first
		if err := ctx.Err(); err != nil {
			return nil, false, err
		}
		// A file is written after its event is received, and its time can only
		// become later: all that follow are older than this one's time says.
		if !filter.Since.IsZero() && e.Time.Before(filter.Since) {
			break
		}
		if !bound.IsZero() && !bound.Before(e.Time) {
			more = true
			break
		}
		if seen[e.Name] { // it moved while the folders were read
			continue
		}
		one, ok, err := f.look(view, name, e, filter)
		if err != nil {
			return nil, false, err
		}
		if !ok {
			continue
		}
		seen[e.Name] = true
		if all = append(all, one); newest > 0 && len(all) >= newest+newest/4+16 {
			all, more = trim(all, newest), true
			bound = all[0].at
		}
	}
	if newest > 0 && len(all) > newest {
		all, more = trim(all, newest), true
	}
	return all, more, nil
}

// trim keeps the newest n.
func trim(all []found, n int) []found {
	slices.SortStableFunc(all, byTime)
	return slices.Clone(all[len(all)-n:])
}

// look reads one file; ok is false if the filter does not mean it, or it is gone.
func (f *EventFiles) look(view spool.View, name string, e spool.Entry, filter control.EventFilter) (one found, ok bool, err error) {
	data, err := view.Read(e.State, e.Name)
	state := e.State
	if errors.Is(err, fs.ErrNotExist) { // it moved on
		data, state, err = view.Find(e.Name)
	}
	if errors.Is(err, fs.ErrNotExist) { // retention took it
		return one, false, nil
	}
	if err != nil {
		return one, false, err
	}
	if len(filter.States) > 0 && !slices.Contains(filter.States, string(state)) {
		return one, false, nil
	}
	one = found{EventFile: control.EventFile{Spool: name, State: string(state), File: e.Name}, at: e.Time, order: micros(e.Time)}
	env, err := amp.Parse(data)
	if err != nil {
		return one, filter.AnyEvent() && (filter.Until.IsZero() || e.Time.Before(filter.Until)), nil
	}
	one.Envelope = json.RawMessage(data)
	one.at = control.ReceivedAt(env)
	one.order = micros(one.at)
	if env.Header.Aurora != nil {
		one.order = env.Header.Aurora.Seq
	}
	return one, filter.Wants(env), nil
}

func micros(t time.Time) uint64 { return uint64(max(t.UnixMicro(), 0)) }

// maxShown bounds the places that Find returns.
const maxShown = 1000

// Find returns every place where an event lies that has this message id or file
// name, in the order of the spools. The error is EVENT_UNKNOWN if there is none.
func (f *EventFiles) Find(ctx context.Context, id string) ([]control.EventPlace, error) {
	// Most often the name of the file shows the id.
	for _, only := range []string{amp.IDInName(id), ""} {
		places, err := f.find(ctx, id, only)
		if err != nil || len(places) > 0 {
			return places, err
		}
	}
	return nil, eventUnknown(id)
}

// find looks at the files whose names hold part.
func (f *EventFiles) find(ctx context.Context, id, part string) ([]control.EventPlace, error) {
	var places []control.EventPlace
	for _, name := range f.Spools() {
		view := f.view(name)
		entries, err := view.Entries()
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			named := e.Name == id || strings.TrimSuffix(e.Name, ".json") == id
			if !named && !strings.Contains(e.Name, part) || len(places) == maxShown {
				continue
			}
			one, ok, err := f.look(view, name, e, control.EventFilter{})
			if err != nil {
				return nil, err
			}
			if !ok || !named && messageID(one.Envelope) != id {
				continue
			}
			if slices.ContainsFunc(places, func(p control.EventPlace) bool { return p.Spool == name && p.File == e.Name }) {
				continue
			}
			places = append(places, placeOf(view, one.EventFile, e))
		}
	}
	return places, nil
}

func placeOf(view spool.View, file control.EventFile, e spool.Entry) control.EventPlace {
	p := control.EventPlace{EventFile: file, Path: filepath.Join(view.Dir(), file.State, file.File), Written: e.Time, Bytes: e.Size}
	if note := view.Note(file.File); note != (spool.Note{}) {
		p.Attempts, p.Reason = note.Attempts, note.Reason
		if !note.At.IsZero() {
			p.Noted = &note.At
		}
	}
	return p
}

func messageID(envelope json.RawMessage) string {
	var e struct {
		Header struct {
			MessageID string `json:"message_id"`
		} `json:"header"`
	}
	_ = json.Unmarshal(envelope, &e) // of a file that is no event: none
	return e.Header.MessageID
}

func eventUnknown(id string) *call.Error {
	return control.Errorf(call.EventUnknown, "no spool holds an event %q", id)
}

// Act does something to the file of an event in a home without a daemon. It
// takes the lock of the home for it; the error is HOME_LOCKED if another process
// has it.
func (f *EventFiles) Act(ctx context.Context, r control.EventActionRequest) (done control.EventDone, err error) {
	if !slices.Contains(f.Spools(), r.Spool) {
		return done, eventUnknown(r.File)
	}
	home, err := openHome(f.conf.Home.Dir)
	if err != nil {
		return done, err
	}
	lock, err := acquire(ctx, home.RunDir(), -1)
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, lock.release()) }()
	s, err := openSpool(f.conf, r.Spool, slog.New(slog.DiscardHandler))
	if err != nil {
		return done, err
	}
	return actOnEvent(s, r)
}

// Flow says what lies in the spools of a home without a daemon.
func (f *EventFiles) Flow() (control.Flow, error) {
	out := control.Flow{State: control.FlowReady, Problems: []string{}, Warnings: []string{}, Spools: []control.SpoolFlow{}, Apps: []control.AppFlow{}}
	for _, name := range f.Spools() {
		view := f.view(name)
		entries, err := view.Entries()
		if err != nil {
			return out, err
		}
		s := control.SpoolFlow{Name: name, Dir: view.Dir(), MaxFiles: cmp.Or(f.conf.Settings.AMP.Spools[name].MaxFiles, spool.DefaultMaxFiles)}
		count := make(map[spool.State]int)
		for _, e := range entries {
			count[e.State]++
		}
		s.Pending, s.Processing, s.Done, s.Dead = count[spool.Pending], count[spool.Processing], count[spool.Done], count[spool.Dead]
		if s.Full = s.Pending+s.Processing >= s.MaxFiles; s.Full {
			out.State = control.FlowDegraded
			out.Problems = append(out.Problems, spoolProblem(s))
		}
		out.Spools = append(out.Spools, s)
	}
	return out, nil
}

// actOnEvent does something to a file of a spool that is ours.
func actOnEvent(s *spool.Spool, r control.EventActionRequest) (control.EventDone, error) {
	if r.Action != control.Requeue && r.Action != control.Drop {
		return control.EventDone{}, control.Errorf(call.UsageInvalid, "there is no action %q; there are requeue and drop", r.Action)
	}
	if strings.ContainsAny(r.File, `/\`) || filepath.Ext(r.File) != ".json" {
		return control.EventDone{}, eventUnknown(r.File)
	}
	_, was, err := s.Find(r.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return control.EventDone{}, eventUnknown(r.File)
	case err != nil:
		return control.EventDone{}, err
	case was == spool.Processing:
		return control.EventDone{}, &call.Error{
			Code: call.EventBusy, Retryable: true,
			Message: fmt.Sprintf("%s is being worked on; it can be requeued or dropped when that has ended", r.File),
		}
	case r.Action == control.Drop:
		err = s.Drop(was, r.File)
	case was != spool.Pending: // what waits already is as it should be
		err = s.Requeue(was, r.File)
	}
	if errors.Is(err, spool.ErrGone) || errors.Is(err, fs.ErrNotExist) {
		return control.EventDone{}, &call.Error{Code: call.EventBusy, Retryable: true, Message: fmt.Sprintf("%s has just been moved by its consumer", r.File)}
	}
	if err != nil {
		return control.EventDone{}, err
	}
	return control.EventDone{OK: true, Action: r.Action, Spool: r.Spool, File: r.File, Was: string(was)}, nil
}

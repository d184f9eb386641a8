package proc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// A record is the content of one pid file. There is one for each child, from
// its start until nothing of it is left.
type record struct {
	Name   string   `json:"name"`
	Cookie string   `json:"cookie"` // "<run>.<number>"
	Boot   string   `json:"boot,omitempty"`
	Child  identity `json:"child"`
	Parent identity `json:"parent"` // the Aurora that started it
}

// An identity is a process for as long as the machine runs: a pid comes again,
// with its start time it does not.
type identity struct {
	PID   int    `json:"pid"`
	Start uint64 `json:"start"` // clock ticks since boot on Linux, microseconds since 1970 on macOS
}

func identityOf(pid int) identity {
	e, _ := lookup(pid)
	return identity{PID: pid, Start: e.start}
}

// alive says whether the process still runs.
func (i identity) alive() bool { return entry{pid: i.PID, start: i.Start}.alive() }

// A pid file is named after the cookie, since a pid may come again.
const recordPrefix, recordSuffix = "app-", ".pid"

func (l *Launcher) recordFile(p *Process) string {
	return filepath.Join(l.dir, recordPrefix+p.cookie+recordSuffix)
}

// record writes the pid file of a child. A child without one is still a child:
// on a full disk it runs, and only a later Sweep would miss it.
func (l *Launcher) record(p *Process) {
	if l.dir == "" {
		return
	}
	data, err := json.Marshal(record{
		Name:   p.name,
		Cookie: p.cookie,
		Boot:   l.boot,
		Child:  identityOf(p.pid),
		Parent: l.self,
	})
	if err == nil {
		err = os.WriteFile(l.recordFile(p), append(data, '\n'), 0o600)
	}
	if err != nil {
		p.log.Warn("cannot write the pid file", "error", err)
	}
}

func (l *Launcher) erase(p *Process) {
	if l.dir == "" {
		return
	}
	if err := os.Remove(l.recordFile(p)); err != nil && !errors.Is(err, os.ErrNotExist) {
		p.log.Warn("cannot remove the pid file", "error", err)
	}
}

// A Leftover is a process of an earlier run that Sweep found alive.
type Leftover struct {
	PID     int
	App     string // name of the app it belonged to; empty when unknown
	Program string // short name of the program
}

// Sweep kills what an earlier run left behind, after a kill -9 or a crash of
// Aurora: the children named by pid files, whatever carries the cookie of such a
// run, and the descendants of both. It returns what it killed. Processes are
// told by pid and start time, so a pid that has come again is never hit, and
// runs whose Aurora still lives are left alone. Pid files are removed when
// nothing of their run is left.
//
// The error says that the folder could not be read, or that something was
// still alive when ctx ended.
func (l *Launcher) Sweep(ctx context.Context) ([]Leftover, error) {
	records, files, err := l.readRecords()
	if err != nil || len(files) == 0 {
		return nil, err
	}
	children := make(map[identity]string)
	names := make(map[string]string)
	runs := make(map[string]bool)
	for _, r := range records {
		children[r.Child] = r.Name
		names[r.Cookie] = r.Name
		runs[runOf(r.Cookie)] = true
	}
	killed, left := purge(ctx, func() []entry {
		return claim(processes(), func(e entry) (string, bool) {
			if name, ok := children[identity{e.pid, e.start}]; ok {
				return name, true
			}
			cookie := cookieOf(e.pid)
			return names[cookie], runs[runOf(cookie)]
		})
	})
	l.parent.reap() // in a container we may be the parent of all orphans
	leftovers := make([]Leftover, len(killed))
	for i, e := range killed {
		leftovers[i] = Leftover{PID: e.pid, App: e.owner, Program: e.comm}
	}
	if len(left) > 0 {
		return leftovers, fmt.Errorf("%d processes of an earlier run are still alive: %w", len(left), ctx.Err())
	}
	var errs []error
	for _, file := range files {
		if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return leftovers, errors.Join(errs...)
}

// readRecords returns the records of this boot whose Aurora is gone, and all
// files that are of no use after the sweep: theirs, those of another boot, and
// those that cannot be read, cut off by a crash.
func (l *Launcher) readRecords() (records []record, files []string, err error) {
	if l.dir == "" {
		return nil, nil, nil
	}
	all, err := os.ReadDir(l.dir)
	if err != nil {
		return nil, nil, fmt.Errorf("listing pid files: %w", err)
	}
	for _, f := range all {
		if !strings.HasPrefix(f.Name(), recordPrefix) || !strings.HasSuffix(f.Name(), recordSuffix) {
			continue
		}
		file := filepath.Join(l.dir, f.Name())
		data, err := os.ReadFile(file)
		if err != nil {
			return nil, nil, fmt.Errorf("reading pid files: %w", err)
		}
		var r record
		// A record without a run would lay claim to every process without a cookie.
		if json.Unmarshal(data, &r) != nil || runOf(r.Cookie) == "" || r.Boot != l.boot {
			files = append(files, file)
			continue
		}
		if r.Parent.alive() {
			continue
		}
		records = append(records, r)
		files = append(files, file)
	}
	return records, files, nil
}

// runOf returns the run of a cookie.
func runOf(cookie string) string {
	run, _, _ := strings.Cut(cookie, ".")
	return run
}

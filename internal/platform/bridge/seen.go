package bridge

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"log/slog"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"
)

// How long an id is remembered: a day, or the last so many of its app,
// whichever is more.
const (
	seenAge   = 24 * time.Hour
	seenCount = 100_000
)

// seenRetry is the least time between two tries to write what could not be
// written.
const seenRetry = 10 * time.Second

// seen remembers which ids apps gave their events. It is written behind the
// events themselves, without a sync: what a crash cuts off is found again in the
// spools.
type seen struct {
	path  string
	log   *slog.Logger
	apps  map[string]*memory
	seq   uint64 // the highest that is written down
	lines int    // in the file
	file  *os.File
	out   *bufio.Writer // nil: nothing can be written, or shall be
	tried time.Time     // the last try to mend that
	fault atomic.Pointer[string]
}

// A key stands for an id. Ids can be long and say things about people.
type key [16]byte

func keyOf(id string) key {
	sum := sha256.Sum256([]byte(id))
	return key(sum[:16])
}

// A memory is that of one app.
type memory struct {
	ids   map[key]bool // true: delivered; false: on its way
	order []moment     // oldest first
}

type moment struct {
	key key
	at  time.Time
}

// A line is one record of the file.
type line struct {
	App string `json:"app,omitempty"`
	Key string `json:"key,omitempty"`
	At  int64  `json:"at,omitempty"` // Unix seconds
	Seq uint64 `json:"seq,omitempty"`
}

func openSeen(path string, log *slog.Logger) *seen {
	s := &seen{path: path, log: log, apps: make(map[string]*memory)}
	if path == "" {
		return s
	}
	if err := s.read(); err != nil {
		s.told(fmt.Errorf("read delivered ids: %w", err))
	}
	s.mend(time.Now())
	return s
}

func (s *seen) read() error {
	data, err := os.ReadFile(s.path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for raw := range bytes.Lines(data) {
		var l line
		var k key
		if json.Unmarshal(raw, &l) != nil { // a line that a crash tore
			continue
		}
		s.seq = max(s.seq, l.Seq)
		if n, err := hex.Decode(k[:], []byte(l.Key)); err == nil && n == len(k) && l.App != "" {
			s.of(l.App).learn(k, time.Unix(l.At, 0), true)
		}
	}
	return nil
}

func (s *seen) of(app string) *memory {
	m := s.apps[app]
	if m == nil {
		m = &memory{ids: make(map[key]bool)}
		s.apps[app] = m
	}
	return m
}

func (m *memory) learn(k key, at time.Time, delivered bool) {
	if _, known := m.ids[k]; !known {
		m.order = append(m.order, moment{k, at})
	}
	m.ids[k] = delivered
	for len(m.order) > seenCount && at.Sub(m.order[0].at) > seenAge {
		delete(m.ids, m.order[0].key)
		m.order = m.order[1:]
	}
}

// expect notes an id as on its way; false: it is known already.
func (s *seen) expect(app, id string, at time.Time) bool {
	m, k := s.of(app), keyOf(id)
	if _, known := m.ids[k]; known {
		return false
	}
	m.learn(k, at, false)
	return true
}

// confirmed reports whether an id is delivered.
func (s *seen) confirmed(app, id string) bool { return s.of(app).ids[keyOf(id)] }

// confirm notes an id as delivered.
func (s *seen) confirm(app, id string) {
	m, k := s.of(app), keyOf(id)
	m.ids[k] = true
	s.write(line{App: app, Key: hex.EncodeToString(k[:]), At: time.Now().Unix()})
}

// forget takes back that an id is on its way.
func (s *seen) forget(app, id string) {
	m, k := s.of(app), keyOf(id)
	if delivered, known := m.ids[k]; !known || delivered {
		return
	}
	delete(m.ids, k)
	for i := len(m.order) - 1; i >= 0; i-- {
		if m.order[i].key == k {
			m.order = append(m.order[:i], m.order[i+1:]...)
			return
		}
	}
}

func (s *seen) write(l line) {
	if s.out == nil {
		return
	}
	data, err := json.Marshal(l)
	if err == nil {
		_, err = s.out.Write(append(data, '\n'))
	}
	s.lines++
	s.told(err)
}

// flush hands what was noted to the system, and starts the file anew when most
// of it is of no use any more, or when it could not be written before.
func (s *seen) flush(seq uint64) {
	if s.path == "" {
		return
	}
	now := time.Now()
	if s.out == nil {
		if now.Sub(s.tried) >= seenRetry {
			s.mend(now)
		}
		return
	}
	if seq > s.seq {
		s.seq = seq
		s.write(line{Seq: seq})
	}
	if s.out == nil { // that line did not go out
		return
	}
	s.told(s.out.Flush())
	live := 0
	for _, m := range s.apps {
		live += len(m.ids)
	}
	if s.out != nil && s.lines > 2*live+100_000 {
		s.mend(now)
	}
}

// mend starts the file anew.
func (s *seen) mend(now time.Time) {
	s.tried = now
	if err := s.rewrite(); err != nil {
		s.told(fmt.Errorf("write delivered ids: %w", err))
		return
	}
	if s.fault.Swap(nil) != nil {
		s.log.Info("delivered ids are written down again", "file", s.path)
	}
}

// told notes a failure and logs it, once: events still flow, and the spools
// themselves are the second guard. What is in memory is written when the file is
// mended.
func (s *seen) told(err error) {
	if err == nil {
		return
	}
	s.drop()
	text := err.Error()
	if s.fault.Swap(&text) == nil {
		s.log.Error("delivered ids cannot be written down", "file", s.path, "error", err)
	}
}

// drop lets go of the file. What was buffered is in memory, too.
func (s *seen) drop() {
	if s.file != nil {
		_ = s.file.Close() // whatever it says, the file is made anew
	}
	s.file, s.out = nil, nil
}

// trouble says why ids cannot be written down; empty: they can. It may be called
// from any goroutine.
func (s *seen) trouble() string {
	if text := s.fault.Load(); text != nil {
		return *text
	}
	return ""
}

// rewrite makes the file hold what is remembered and nothing else.
func (s *seen) rewrite() error {
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	temp := s.path + ".tmp"
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	out, lines := bufio.NewWriter(f), 0
	for l := range s.all() {
		data, err := json.Marshal(l)
		if err == nil {
			_, err = out.Write(append(data, '\n'))
		}
		if err != nil {
			return errors.Join(err, f.Close())
		}
		lines++
	}
	err = out.Flush()
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err != nil {
		return err
	}
	s.drop() // some systems do not replace a file that is open
	if err := os.Rename(temp, s.path); err != nil {
		return err
	}
	if f, err = os.OpenFile(s.path, os.O_WRONLY|os.O_APPEND, 0o600); err != nil {
		return err
	}
	s.file, s.out, s.lines = f, bufio.NewWriter(f), lines
	return nil
}

// all yields the lines of everything that is remembered.
func (s *seen) all() iter.Seq[line] {
	return func(yield func(line) bool) {
		if s.seq > 0 && !yield(line{Seq: s.seq}) {
			return
		}
		for app, m := range s.apps {
			for _, mo := range m.order {
				if m.ids[mo.key] && !yield(line{App: app, Key: hex.EncodeToString(mo.key[:]), At: mo.at.Unix()}) {
					return
				}
			}
		}
	}
}

func (s *seen) close() error {
	if s.file == nil {
		return nil
	}
	err := errors.Join(s.out.Flush(), s.file.Close())
	s.file, s.out = nil, nil
	return err
}

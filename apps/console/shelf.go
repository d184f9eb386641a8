package console

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// What is kept for sessions that nobody looks at.
const (
	maxTexts    = 200       // of a session
	maxBytes    = 512 << 10 // of a session
	maxSessions = 500       // the one touched longest ago goes first
)

// A shelf keeps texts on disk, a file of JSON lines for each session. Who calls
// it sees to it that one call at a time is about a session.
type shelf struct {
	dir string // empty: there is none, and nothing can be kept
	log *slog.Logger
}

// A slip is a line of a file: a text, or how many were pushed out before it.
type slip struct {
	Text
	Session string `json:"session"`
	Lost    int    `json:"lost,omitempty"`
}

// file returns the file of a session, whose name may be anything.
func (s *shelf) file(session string) string {
	sum := sha256.Sum256([]byte(session))
	return filepath.Join(s.dir, hex.EncodeToString(sum[:16])+".jsonl")
}

// put adds a text, durably.
func (s *shelf) put(session string, t Text) error {
	if s.dir == "" {
		return errors.New("the console has no data folder")
	}
	if err := os.MkdirAll(s.dir, 0o700); err != nil {
		return err
	}
	name := s.file(session)
	slips, err := s.read(name)
	if err != nil {
		return err
	}
	if len(slips) == 0 {
		s.makeRoom()
	}
	slips = trim(append(slips, slip{Text: t, Session: session}))
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, l := range slips {
		if err := enc.Encode(l); err != nil {
			return fmt.Errorf("encoding a text: %w", err)
		}
	}
	return replace(name, b.Bytes())
}

// trim pushes out the oldest texts of which there are too many.
func trim(slips []slip) []slip {
	size := 0
	for i := range slips {
		size += len(slips[i].Text.Text)
	}
	lost, from := 0, 0
	for from < len(slips)-1 && (len(slips)-from > maxTexts || size > maxBytes) {
		size -= len(slips[from].Text.Text)
		lost += 1 + slips[from].Lost
		from++
	}
	slips[from].Lost += lost
	return slips[from:]
}

// take shows the texts of a session and forgets those that were taken.
func (s *shelf) take(session string, show Show) (lost int, err error) {
	if s.dir == "" {
		return 0, nil
	}
	name := s.file(session)
	slips, err := s.read(name)
	if err != nil || len(slips) == 0 {
		return 0, err
	}
	for _, l := range slips {
		lost += l.Lost
		l.Kept = true
		if !show(l.Text) {
			return 0, errors.New("the screen takes nothing")
		}
	}
	if err := os.Remove(name); err != nil {
		return lost, err
	}
	return lost, nil
}

// read returns the lines of a file. A line that is none, which only a damaged
// disk leaves, is passed over.
func (s *shelf) read(name string) ([]slip, error) {
	data, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var slips []slip
	lines := bufio.NewReader(bytes.NewReader(data))
	for {
		line, err := lines.ReadBytes('\n')
		var l slip
		if json.Unmarshal(line, &l) == nil && l.Text.Text != "" {
			slips = append(slips, l)
		}
		if err != nil {
			return slips, nil
		}
	}
}

// makeRoom removes the files touched longest ago when there are too many. What
// cannot be removed stays.
func (s *shelf) makeRoom() {
	entries, err := os.ReadDir(s.dir)
	if err != nil || len(entries) < maxSessions {
		return
	}
	type file struct {
		name string
		at   time.Time
	}
	var files []file
	for _, e := range entries {
		if info, err := e.Info(); err == nil && strings.HasSuffix(e.Name(), ".jsonl") {
			files = append(files, file{e.Name(), info.ModTime()})
		}
	}
	slices.SortFunc(files, func(x, y file) int { return cmp.Or(x.at.Compare(y.at), cmp.Compare(x.name, y.name)) })
	for _, f := range files[:max(0, len(files)-maxSessions+1)] {
		if err := os.Remove(filepath.Join(s.dir, f.name)); err == nil {
			s.log.Warn("Texts for a session that nobody has looked at for long were dropped: too many sessions wait.", "last", f.at)
		}
	}
}

// replace writes a whole file, durably: a reader sees the old one or the new.
func replace(name string, data []byte) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".kept-*")
	if err != nil {
		return err
	}
	_, err = f.Write(data)
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		return errors.Join(err, os.Remove(f.Name()))
	}
	return syncDir(filepath.Dir(name))
}

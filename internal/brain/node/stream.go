package node

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/aurorabot/aurora/internal/brain/bus"
)

// Where the stream lies, relative to data/kernel.
const (
	streamFile    = "self/stream/now.md"
	streamArchive = "self/stream/archive"
)

// rememberedPassages is how many passages a stream remembers to have.
const rememberedPassages = 10_000

// A Stream is the stream of consciousness: self/stream/now.md, to which passages
// are only ever added. A stream that is large, or of another day, goes to
// self/stream/archive as it is; who reads it meanwhile reads on to its end.
//
// Every passage stands between two marks, comments that no reader of Markdown
// sees. A passage without its second mark was cut short, and is cut off before the
// next is written. All methods may be called from many goroutines.
type Stream struct {
	bus  *bus.Bus
	zone *time.Location
	most int

	mu     sync.Mutex // guards what follows; held over a writing
	known  bool       // what follows is what the disk has
	size   int
	day    string // of the last passage
	has    map[string]bool
	order  []string // what has holds, oldest first
	synced bool     // the name of the file is durable
	ragged bool     // the last line is not ended
}

// NewStream returns the stream of a brain, which goes to the archive at most
// bytes.
func NewStream(b *bus.Bus, zone *time.Location, most int) *Stream {
	return &Stream{bus: b, zone: zone, most: most, has: make(map[string]bool)}
}

const (
	beginMark = "<!-- unit "
	endMark   = "<!-- end "
	markTail  = " -->\n"
	heading   = "2006-01-02 15:04:05"
)

// Append writes the passage of a unit, durably and once: a unit that the stream
// has already is not written again.
func (s *Stream) Append(unitID string, at time.Time, text string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.append(unitID, at.In(s.zone), text)
	if err != nil {
		s.known = false // the disk knows better
		return fmt.Errorf("write the stream: %w", err)
	}
	return nil
}

func (s *Stream) append(unitID string, at time.Time, text string) error {
	if !s.known {
		if err := s.read(); err != nil {
			return err
		}
	}
	if s.has[unitID] {
		return s.secure()
	}
	text = strings.ReplaceAll(text, "<!--", "&lt;!--") // nobody else makes marks
	passage := fmt.Sprintf("%s%s%s## %s\n\n%s\n\n%s%s%s\n", beginMark, unitID, markTail, at.Format(heading), text, endMark, unitID, markTail)
	day := at.Format(time.DateOnly)
	if s.size > 0 && (s.day != day || s.size+len(passage) > s.most) {
		if err := s.archive(); err != nil {
			return err
		}
	}
	if s.ragged {
		passage = "\n\n" + passage
	}
	if err := s.write([]byte(passage)); err != nil {
		return err
	}
	s.size += len(passage)
	s.day, s.ragged = day, false
	s.learn(unitID)
	return nil
}

// write adds to the end of the file and makes it durable.
func (s *Stream) write(passage []byte) error {
	name := s.bus.File(streamFile)
	if err := s.bus.Files().MkdirAll(filepath.Dir(name)); err != nil {
		return err
	}
	f, err := s.bus.Files().Append(name)
	if err != nil {
		return err
	}
	if len(passage) > 0 {
		if _, err := f.Write(passage); err != nil {
			return errors.Join(err, f.Close())
		}
	}
	if err := f.Sync(); err != nil {
		return errors.Join(err, f.Close())
	}
	if err := f.Close(); err != nil {
		return err
	}
	if s.synced {
		return nil
	}
	if err := s.bus.Files().SyncDir(filepath.Dir(name)); err != nil {
		return err
	}
	s.synced = true
	return nil
}

// secure makes durable what an earlier try may have written without being told
// so.
func (s *Stream) secure() error {
	if s.synced || s.size == 0 {
		return nil // it is in the archive, whose names are durable
	}
	return s.write(nil)
}

// archive moves the file to the archive, under the day of its last passage.
func (s *Stream) archive() error {
	files := s.bus.Files()
	dir := s.bus.File(streamArchive)
	if err := files.MkdirAll(dir); err != nil {
		return err
	}
	target := ""
	for n := 1; ; n++ {
		target = filepath.Join(dir, archiveName(s.day, n))
		if _, err := files.Stat(target); errors.Is(err, fs.ErrNotExist) {
			break
		} else if err != nil {
			return err
		}
	}
	if err := s.write(nil); err != nil { // all of it is durable before it moves
		return err
	}
	if err := files.Rename(s.bus.File(streamFile), target); err != nil {
		return err
	}
	if err := files.SyncDir(dir); err != nil {
		return err
	}
	if err := files.SyncDir(filepath.Dir(s.bus.File(streamFile))); err != nil {
		return err
	}
	s.size, s.day, s.synced, s.ragged = 0, "", false, false
	return nil
}

func archiveName(day string, n int) string {
	if n == 1 {
		return day + ".md"
	}
	return fmt.Sprintf("%s-%d.md", day, n)
}

func (s *Stream) learn(unitID string) {
	if s.has[unitID] {
		return
	}
	s.has[unitID] = true
	s.order = append(s.order, unitID)
	if len(s.order) > rememberedPassages {
		delete(s.has, s.order[0])
		s.order = s.order[1:]
	}
}

var (
	endMarks = regexp.MustCompile(`(?m)^` + endMark + `([A-Za-z0-9-]{1,64}) -->$`)
	headings = regexp.MustCompile(`(?m)^` + beginMark + `[A-Za-z0-9-]{1,64} -->\n## (\d{4}-\d\d-\d\d) `)
)

// marks are the lines that are for us alone.
var marks = regexp.MustCompile(`(?m)^<!-- (?:unit|end) [A-Za-z0-9-]{1,64} -->\n?`)

// read learns what the stream and the last two files of the archive hold, and
// cuts off a passage that was cut short.
func (s *Stream) read() error {
	archived, err := s.archived()
	if err != nil {
		return err
	}
	for _, name := range archived[max(0, len(archived)-2):] {
		data, err := s.bus.Files().ReadFile(filepath.Join(s.bus.File(streamArchive), name))
		if err != nil {
			return err
		}
		s.learnAll(data)
	}
	if len(archived) > 0 { // an earlier try may not have come so far
		if err := s.bus.Files().SyncDir(s.bus.File(streamArchive)); err != nil {
			return err
		}
	}
	name := s.bus.File(streamFile)
	data, err := s.bus.Files().ReadFile(name)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if whole := wholeLength(data); whole < len(data) {
		if err := s.bus.Files().Truncate(name, int64(whole)); err != nil {
			return err
		}
		data = data[:whole]
	}
	s.learnAll(data)
	s.size, s.day, s.ragged = len(data), "", len(data) > 0 && data[len(data)-1] != '\n'
	if all := headings.FindAllSubmatch(data, -1); len(all) > 0 {
		s.day = string(all[len(all)-1][1])
	} else if len(data) > 0 {
		s.day = time.Now().In(s.zone).Format(time.DateOnly) // somebody else's words
	}
	s.synced, s.known = false, true
	return nil
}

func (s *Stream) learnAll(data []byte) {
	for _, m := range endMarks.FindAllSubmatch(data, -1) {
		s.learn(string(m[1]))
	}
}

// wholeLength returns where a passage begins that was cut short, or the length of
// data. What people wrote behind the last passage stays.
func wholeLength(data []byte) int {
	end := len(bytes.TrimRight(data, "\x00")) // a file may grow before its content comes
	text := data[:end]
	last := bytes.LastIndex(text, []byte(beginMark))
	if last >= 0 && (last == 0 || text[last-1] == '\n') {
		id, _, ok := strings.Cut(string(text[last+len(beginMark):min(end, last+len(beginMark)+80)]), " ")
		if !ok || !bytes.Contains(text[last:], []byte("\n"+endMark+id+" -->")) {
			return last
		}
	}
	// The beginning of a first mark, and no more of it.
	if tail := text[bytes.LastIndexByte(text, '\n')+1:]; len(tail) > 0 && strings.HasPrefix(beginMark, string(tail)) {
		return end - len(tail)
	}
	return end
}

var archiveFile = regexp.MustCompile(`^(\d{4}-\d\d-\d\d)(?:-(\d+))?\.md$`)

// archived returns the names of the archive's files, oldest first.
func (s *Stream) archived() ([]string, error) {
	entries, err := s.bus.Files().ReadDir(s.bus.File(streamArchive))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	var found []string
	for _, e := range entries {
		if archiveFile.MatchString(e.Name()) {
			found = append(found, e.Name())
		}
	}
	slices.SortFunc(found, func(a, b string) int {
		x, y := archiveFile.FindStringSubmatch(a), archiveFile.FindStringSubmatch(b)
		return cmp.Or(cmp.Compare(x[1], y[1]), cmp.Compare(len(x[2]), len(y[2])), cmp.Compare(x[2], y[2]))
	})
	return found, nil
}

// Tail returns the end of the stream, at most so many bytes, from the beginning
// of a passage on and without the marks. Where the stream is shorter, the end of the archive's last file
// comes before it.
func (s *Stream) Tail(most int) (string, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, err := s.bus.Files().ReadFile(s.bus.File(streamFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("read the stream: %w", err)
	}
	if len(text) < most {
		archived, err := s.archived()
		if err != nil {
			return "", fmt.Errorf("read the stream: %w", err)
		}
		if len(archived) > 0 {
			before, err := s.bus.Files().ReadFile(filepath.Join(s.bus.File(streamArchive), archived[len(archived)-1]))
			if err != nil {
				return "", fmt.Errorf("read the stream: %w", err)
			}
			text = append(before, text...)
		}
	}
	text = text[:wholeLength(text)]
	if len(text) > most {
		text = text[len(text)-most:]
		if begin := bytes.Index(text, []byte("\n"+beginMark)); begin >= 0 {
			text = text[begin+1:]
		}
	}
	return string(bytes.ToValidUTF8(marks.ReplaceAll(text, nil), nil)), nil
}

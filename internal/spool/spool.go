package spool

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// A State is where a file stands. It is also the name of its folder.
type State string

// The states of a file.
const (
	Pending    State = "pending"
	Processing State = "processing"
	Done       State = "done"
	Dead       State = "dead"
)

// States lists the states in the order a file passes them.
func States() []State { return []State{Pending, Processing, Done, Dead} }

var (
	// ErrFull says that a spool holds as many waiting files as it may.
	ErrFull = errors.New("spool is full")
	// ErrGone says that somebody else has moved the file meanwhile.
	ErrGone = errors.New("file is no longer there")
)

// DefaultMaxFiles is how many files a spool holds that is not told.
const DefaultMaxFiles = 100_000

// Options configure a [Spool]. The zero value is right for most.
type Options struct {
	// MaxFiles is how many files may wait or be worked on; 0: [DefaultMaxFiles].
	MaxFiles int
	// Inspect looks into a file that this process did not write: it returns the
	// place of the file, or an error if the file is not one a consumer can read.
	// nil accepts every file.
	Inspect func(data []byte) (Place, error)
	// Shared says that another program works on the files. What lies in
	// processing is its own then, and [Open] leaves it there.
	Shared bool
	// Exclusive lets a lane rest while a file of it is claimed: files of a lane
	// are worked on one after the other.
	Exclusive bool
	// KeepDone and KeepDead say what stays of the files at their end; the zero
	// Retention keeps everything.
	KeepDone, KeepDead Retention
	// Rescan is how often pending is looked through for files dropped by hand;
	// 0: every second.
	Rescan time.Duration
	// Files is the file system; nil: the real one.
	Files FileLayer
	// Logger is told what a keeper should know; nil: nobody is.
	Logger *slog.Logger
}

// A Place says where a file stands in the queue.
type Place struct {
	// Seq orders the files of a lane; 0: behind everything seen so far.
	Seq uint64
	// Lane names the files that keep their order among each other. Lanes take
	// turns.
	Lane string
}

// settle is how long a file that does not parse must stand still before it is
// taken for broken rather than half written.
const settle = 2 * time.Second

// A Spool is one queue. Create it with [Open].
type Spool struct {
	dir   string
	opt   Options
	files FileLayer
	log   *slog.Logger

	temp atomic.Uint64 // numbers temporary names

	mu    sync.Mutex // guards what follows; never held over I/O
	index index
	held  int           // files of ours in processing
	wake  chan struct{} // closed and replaced when a file comes
	full  bool          // the last Put met the limit
	fault error         // the last Put's failure; nil after a good one

	scanMu   sync.Mutex // guards what follows; held over a scan
	suspects map[string]suspect
	scanned  time.Time // modification time of pending at the last scan
}

// A suspect is a dropped file that does not parse, yet.
type suspect struct {
	size  int64
	mtime time.Time
	since time.Time
}

// Open makes the folders of a spool in dir where they are missing, removes
// temporary files of an earlier run of ours, returns what that run left in processing
// to pending (unless the spool is shared), and finds everything that waits. What
// lies in the spool is durable then.
func Open(dir string, o Options) (*Spool, error) {
	if o.MaxFiles == 0 {
		o.MaxFiles = DefaultMaxFiles
	}
	if o.Rescan == 0 {
		o.Rescan = time.Second
	}
	if o.Files == nil {
		o.Files = disk{}
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	s := &Spool{
		dir: dir, opt: o, files: o.Files, log: o.Logger.With("spool", filepath.Base(dir)),
		wake: make(chan struct{}), suspects: make(map[string]suspect),
		index: index{exclusive: o.Exclusive},
	}
	for _, sub := range []string{string(Pending), string(Processing), string(Done), string(Dead), notesDir} {
		if err := s.files.MkdirAll(filepath.Join(dir, sub)); err != nil {
			return nil, fmt.Errorf("open spool: %w", err)
		}
	}
	if err := s.recover(); err != nil {
		return nil, fmt.Errorf("open spool: %w", err)
	}
	if err := s.Scan(); err != nil {
		return nil, fmt.Errorf("open spool: %w", err)
	}
	// A run that was killed may have left renames that a power loss would undo.
	for _, state := range States() {
		if err := s.files.SyncDir(s.path(state, "")); err != nil {
			return nil, fmt.Errorf("open spool: %w", err)
		}
	}
	return s, nil
}

// Dir returns the folder of the spool.
func (s *Spool) Dir() string { return s.dir }

// recover undoes what a crash left half done.
func (s *Spool) recover() error {
	for _, state := range States() {
		if s.opt.Shared && state != Pending {
			break // what lies there is the other program's business
		}
		entries, err := s.files.ReadDir(filepath.Join(s.dir, string(state)))
		if err != nil {
			return err
		}
		for _, e := range entries {
			switch name := e.Name(); {
			case strings.HasPrefix(name, tempPrefix) && !e.IsDir():
				if err := s.files.Remove(s.path(state, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
			case state == Processing && isEntry(e):
				// The attempt that the crash cut short counts: a file that
				// kills its consumer must not do so for ever.
				// That it cannot be noted, on a full disk say, holds up nobody.
				if err := s.note(name, func(n *Note) { n.Attempts++ }); err != nil {
					s.log.Warn("an attempt cut short is not counted", "file", name, "error", err)
				}
				if err := s.files.Rename(s.path(Processing, name), s.path(Pending, name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
					return err
				}
			}
		}
	}
	return nil
}

// Stats are the figures of a spool.
type Stats struct {
	Pending, Processing, Done, Dead int
	// Full says that the last Put met the limit, and that it still stands.
	Full bool
	// Fault is why the last Put failed; nil after one that succeeded.
	Fault error
}

// Stats counts the files of each state. It reads the folders, because other
// programs may move files too.
func (s *Spool) Stats() (Stats, error) {
	var st Stats
	for state, n := range map[State]*int{Pending: &st.Pending, Processing: &st.Processing, Done: &st.Done, Dead: &st.Dead} {
		entries, err := s.files.ReadDir(filepath.Join(s.dir, string(state)))
		if err != nil {
			return st, fmt.Errorf("count spool: %w", err)
		}
		for _, e := range entries {
			if isEntry(e) {
				*n++
			}
		}
	}
	st.Full, st.Fault = s.Trouble()
	return st, nil
}

// Trouble says, without any I/O, whether files are refused because the spool is
// full, and why the last Put failed; nil after one that succeeded.
func (s *Spool) Trouble() (full bool, fault error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	full = s.full && s.index.len()+s.held >= s.opt.MaxFiles
	if s.full && !full {
		return false, nil // there is room again
	}
	return full, s.fault
}

// MaxFiles returns how many files may wait or be worked on.
func (s *Spool) MaxFiles() int { return s.opt.MaxFiles }

func (s *Spool) path(state State, name string) string {
	return filepath.Join(s.dir, string(state), name)
}

// tempPrefix begins the names of files that we are writing. Other programs have
// names of their own, which we leave alone.
const tempPrefix = ".aurora-"

// tempName returns the name of a file to be written.
func (s *Spool) tempName() string {
	return tempPrefix + strconv.FormatUint(s.temp.Add(1), 36) + ".tmp"
}

// isTemp tells names of files being written, by whomever, which no reader looks
// at.
func isTemp(name string) bool { return name[0] == '.' }

// isEntry tells the files that are part of the queue.
func isEntry(e fs.DirEntry) bool {
	return !e.IsDir() && !isTemp(e.Name()) && filepath.Ext(e.Name()) == ".json"
}

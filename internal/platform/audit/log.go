package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/aurorabot/aurora/internal/redact"
)

const (
	queueLen  = 1024     // records waiting for the disk
	queueArgs = 64 << 20 // bytes of their arguments
	flushSize = 64 << 10 // bytes gathered before a write even if more records wait
	tailSize  = 64 << 10 // bytes read from the end of a file to find its seq
	prefix    = "audit-"
	suffix    = ".jsonl"
)

// Options are the settings of a Log. The zero value is ready.
type Options struct {
	// Logger is told, once per trouble, when the disk does not take records.
	// Default: nothing is logged.
	Logger *slog.Logger
	// Redact masks known secrets in each line. Default: none are known.
	Redact *redact.Redactor
}

// A Log is an append-only record in a folder. All methods may be called from
// any number of goroutines.
type Log struct {
	dir    string
	logger *slog.Logger
	redact *redact.Redactor

	queue chan Record
	args  atomic.Int64 // bytes of the arguments in queue
	lost  atomic.Int64 // since the last line that said so
	stop  chan struct{}
	once  sync.Once
	done  chan struct{} // closed when the writer has ended
	err   error         // the writer's last error; read after done
}

// Open opens the log in dir, which is made if it is missing. The caller closes it.
func Open(dir string, o Options) (*Log, error) {
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("making the audit folder: %w", err)
	}
	seq, err := lastSeq(dir)
	if err != nil {
		return nil, fmt.Errorf("reading the end of the audit log: %w", err)
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	l := &Log{
		dir:    dir,
		logger: o.Logger,
		redact: o.Redact,
		queue:  make(chan Record, queueLen),
		stop:   make(chan struct{}),
		done:   make(chan struct{}),
	}
	go l.write(&file{dir: dir}, seq)
	return l, nil
}

// Append takes a record. It never blocks; a record that finds the queue full,
// or the log closed, is counted as lost.
func (l *Log) Append(r Record) {
	select {
	case <-l.stop:
		l.lost.Add(1)
		return
	default:
	}
	size := int64(len(r.Args))
	if before := l.args.Add(size) - size; before == 0 || before+size <= queueArgs {
		select {
		case l.queue <- r:
			return
		default:
		}
	}
	l.args.Add(-size)
	l.lost.Add(1)
}

// Close writes what was taken, waits until it is on the disk and returns the
// last error of the disk, if the trouble has not passed since.
func (l *Log) Close() error {
	l.once.Do(func() { close(l.stop) })
	<-l.done
	return l.err
}

// write is the writer: the one goroutine that touches the files.
func (l *Log) write(f *file, seq uint64) {
	defer close(l.done)
	var (
		buf     []byte
		day     string
		pending int64 // records in buf
	)
	flush := func() {
		if len(buf) == 0 {
			return
		}
		err := f.append(day, buf)
		switch {
		case err != nil && l.err == nil:
			l.logger.Error("The audit log cannot be written; records are being lost.", "dir", l.dir, "err", err)
		case err == nil && l.err != nil:
			l.logger.Info("The audit log is written again.", "dir", l.dir)
		}
		if err != nil {
			l.lost.Add(pending)
		}
		l.err = err
		buf, pending = buf[:0], 0
	}
	take := func(r Record) {
		defer l.args.Add(-int64(len(r.Args)))
		d := r.Time.UTC().Format(time.DateOnly)
		if d != day || len(buf) >= flushSize {
			flush()
			day = d
		}
		lost := l.lost.Swap(0)
		b, err := encode(r, seq+1, lost)
		if err != nil { // cannot happen: all fields are plain
			l.lost.Add(lost + 1)
			return
		}
		seq++
		pending += 1 + lost
		buf = append(buf, l.redact.Bytes(b)...)
	}
	for {
		select {
		case r := <-l.queue:
			take(r)
			continue
		default:
		}
		flush()
		select {
		case r := <-l.queue:
			take(r)
		case <-l.stop:
			for {
				select {
				case r := <-l.queue:
					take(r)
					continue
				default:
				}
				break
			}
			flush()
			l.err = errors.Join(l.err, f.close())
			return
		}
	}
}

// A file is the open file of one day.
type file struct {
	dir string
	day string
	f   *os.File
}

func (w *file) append(day string, b []byte) error {
	if w.f != nil && w.day != day {
		if err := w.close(); err != nil {
			return err
		}
	}
	if w.f == nil {
		f, err := os.OpenFile(filepath.Join(w.dir, prefix+day+suffix), os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o600)
		if err != nil {
			return err
		}
		w.f, w.day = f, day
		if err := endLine(f); err != nil {
			return errors.Join(err, w.close())
		}
	}
	n, err := w.f.Write(b)
	if err != nil && n > 0 {
		// Part of a batch was written: the next batch must not continue its
		// last line. Opening again sees to that.
		return errors.Join(err, w.close())
	}
	return err
}

func (w *file) close() error {
	if w.f == nil {
		return nil
	}
	err := errors.Join(w.f.Sync(), w.f.Close())
	w.f = nil
	return err
}

// endLine ends a line that a crash has torn.
func endLine(f *os.File) error {
	st, err := f.Stat()
	if err != nil || st.Size() == 0 {
		return err
	}
	var last [1]byte
	if _, err := f.ReadAt(last[:], st.Size()-1); err != nil {
		return err
	}
	if last[0] != '\n' {
		_, err = f.Write([]byte{'\n'})
	}
	return err
}

// lastSeq returns the highest sequence number at the end of any file; 0 when
// there is none. The last one written need not be in the newest file: a call
// counts to the day on which it came in.
func lastSeq(dir string) (uint64, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return 0, err
	}
	var last uint64
	for _, e := range entries {
		if !strings.HasPrefix(e.Name(), prefix) || !strings.HasSuffix(e.Name(), suffix) {
			continue
		}
		seq, err := tailSeq(filepath.Join(dir, e.Name()))
		if err != nil {
			return 0, err
		}
		last = max(last, seq)
	}
	return last, nil
}

func tailSeq(path string) (uint64, error) {
	f, err := os.Open(path)
	if err != nil {
		return 0, err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return 0, err
	}
	tail := make([]byte, min(st.Size(), tailSize))
	if _, err := f.ReadAt(tail, st.Size()-int64(len(tail))); err != nil && err != io.EOF {
		return 0, err
	}
	var seq uint64
	for b := range bytes.Lines(tail) {
		var l struct{ Seq uint64 }
		if json.Unmarshal(b, &l) == nil { // torn lines at either end do not parse
			seq = max(seq, l.Seq)
		}
	}
	return seq, nil
}

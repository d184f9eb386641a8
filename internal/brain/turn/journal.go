package turn

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"sync"

	"github.com/aurorabot/aurora/internal/spool"
)

// A journal is the file of one turn, open for writing.
type journal struct {
	files FileLayer
	dir   string
	path  string
	tell  func(Record) // told of each record, once it is written

	mu     sync.Mutex // guards what follows, and the order of writes
	file   spool.File
	named  bool  // the name is durable
	broken error // why nothing more can be written
}

// FileName returns the name of the journal of a turn.
func FileName(id string) string { return id + ".jsonl" }

// openJournal opens the journal of a turn, cuts off what a crash left half
// written, and returns what is in it.
func openJournal(files FileLayer, dir, id string, tell func(Record)) (j *journal, records []Record, whole bool, err error) {
	j = &journal{files: files, dir: dir, path: filepath.Join(dir, FileName(id)), tell: tell}
	data, err := files.ReadFile(j.path)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, nil, false, fmt.Errorf("read journal: %w", err)
	}
	records, size, whole := parse(data)
	if j.file, err = files.Append(j.path, size); err != nil {
		return nil, nil, false, fmt.Errorf("open journal: %w", err)
	}
	return j, records, whole, nil
}

// add writes a record. It survives a crash of the process, and that of the
// machine after the next [journal.sync].
func (j *journal) add(r Record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.write(r)
}

// commit writes a record and makes it, and all before it, durable.
func (j *journal) commit(r Record) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.write(r); err != nil {
		return err
	}
	return j.settle()
}

// sync makes all records durable.
func (j *journal) sync() error {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.settle()
}

// write writes one record. j.mu is held.
func (j *journal) write(r Record) error {
	if j.broken != nil {
		return j.broken
	}
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("write journal: %w", err)
	}
	if _, err := j.file.Write(b.Bytes()); err != nil {
		// Half a line may be there. Nothing may come behind it; whoever opens the
		// journal next cuts it off.
		j.broken = fmt.Errorf("write journal: %w", err)
		return j.broken
	}
	if j.tell != nil {
		j.tell(r)
	}
	return nil
}

// settle makes what was written durable. j.mu is held.
func (j *journal) settle() error {
	if j.broken != nil {
		return j.broken
	}
	err := j.file.Sync()
	if err == nil && !j.named {
		err = j.files.SyncDir(j.dir)
		j.named = err == nil
	}
	if err != nil {
		j.broken = fmt.Errorf("sync journal: %w", err)
	}
	return j.broken
}

func (j *journal) close() error {
	if err := j.file.Close(); err != nil {
		return fmt.Errorf("close journal: %w", err)
	}
	return nil
}

// Read returns the records of a turn, as far as they can be read. dir is the
// folder of journals. The error is fs.ErrNotExist when the turn never began.
func Read(dir, id string) ([]Record, error) {
	data, err := spool.Disk().ReadFile(filepath.Join(dir, FileName(id)))
	if err != nil {
		return nil, fmt.Errorf("read journal: %w", err)
	}
	records, _, _ := parse(data)
	return records, nil
}

// Command consumer-go consumes a spool of Aurora: one line of OUT for each
// event, exactly once.
//
//	go run ./examples/consumer-go [-drain] data/kernel/archive out.jsonl
//
// With -drain it ends when nothing waits; without, it looks again every second.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/aurorabot/aurora/amp"
)

func main() {
	drain := flag.Bool("drain", false, "end when nothing waits")
	flag.Parse()
	if flag.NArg() != 2 {
		fmt.Fprintln(os.Stderr, "usage: consumer-go [-drain] SPOOL OUT")
		os.Exit(2)
	}
	if err := consume(flag.Arg(0), flag.Arg(1), *drain); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func consume(spool, out string, drain bool) error {
	in := func(state, name string) string { return filepath.Join(spool, state, name) }

	// What lies here died in the hands of an earlier run of ours.
	left, err := os.ReadDir(in("processing", ""))
	if err != nil {
		return err
	}
	for _, e := range left {
		if err := os.Rename(in("processing", e.Name()), in("pending", e.Name())); err != nil {
			return err
		}
	}

	journal, err := openJournal(out)
	if err != nil {
		return err
	}
	defer journal.file.Close()
	for {
		name, err := first(in("pending", ""))
		if err != nil {
			return err
		}
		if name == "" {
			if drain {
				return nil
			}
			time.Sleep(time.Second)
			continue
		}
		err = os.Rename(in("pending", name), in("processing", name))
		if errors.Is(err, fs.ErrNotExist) {
			continue // somebody else took it
		}
		if err != nil {
			return err
		}
		data, err := os.ReadFile(in("processing", name))
		if err != nil {
			return err
		}
		to := "done"
		if event, err := amp.Parse(data); err != nil {
			fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
			to = "dead"
		} else if err := journal.write(event); err != nil {
			return err
		}
		// Only now is the effect durable.
		if err := os.Rename(in("processing", name), in(to, name)); err != nil {
			return err
		}
	}
}

// first returns the waiting file with the lowest number, or "".
func first(pending string) (string, error) {
	entries, err := os.ReadDir(pending)
	if err != nil {
		return "", err
	}
	best, lowest := "", uint64(math.MaxUint64)
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), ".") || filepath.Ext(e.Name()) != ".json" {
			continue // being written, or not an event
		}
		data, err := os.ReadFile(filepath.Join(pending, e.Name()))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return "", err
		}
		seq := uint64(math.MaxUint64) // no order: last, where it will be set aside
		if event, err := amp.Parse(data); err == nil && event.Header.Aurora != nil {
			seq = event.Header.Aurora.Seq
		}
		if best == "" || seq < lowest {
			best, lowest = e.Name(), seq
		}
	}
	return best, nil
}

// A journal is OUT and what is in it.
type journal struct {
	file  *os.File
	known map[record]bool
}

type record struct {
	App string `json:"app"`
	ID  string `json:"id"`
}

func openJournal(path string) (*journal, error) {
	file, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	j := &journal{file: file, known: make(map[record]bool)}
	var whole int64
	for r := bufio.NewReader(file); ; {
		line, err := r.ReadBytes('\n')
		if err == io.EOF {
			return j, file.Truncate(whole) // a last line without an end was torn by a crash
		}
		if err != nil {
			return nil, err
		}
		var rec record
		if err := json.Unmarshal(line, &rec); err != nil {
			return nil, err
		}
		j.known[rec] = true
		whole += int64(len(line))
	}
}

// write appends one line for an event, durably, unless there is one.
func (j *journal) write(e *amp.Envelope) error {
	rec := record{e.Header.Source.App, e.Header.MessageID}
	if j.known[rec] {
		return nil
	}
	line, err := json.Marshal(struct {
		record
		Type    string `json:"type"`
		Summary string `json:"summary"`
	}{rec, e.Payload.Type, e.Payload.Summary})
	if err != nil {
		return err
	}
	if _, err := j.file.Write(append(line, '\n')); err != nil {
		return err
	}
	if err := j.file.Sync(); err != nil {
		return err
	}
	j.known[rec] = true
	return nil
}

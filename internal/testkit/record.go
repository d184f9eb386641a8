package testkit

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
)

// An Event is one line of the record of a scripted server.
type Event struct {
	// Kind is start, received, garbage (a line that was no JSON), fork, eof,
	// signal, mark, exit or error (the script is wrong).
	Kind string `json:"kind"`
	PID  int    `json:"pid,omitempty"` // of the server; of the child for fork
	Run  int    `json:"run,omitempty"` // which process of this server it was, from 1
	// Message is what was received. Params of more than 64 KiB are left out.
	Message json.RawMessage `json:"message,omitempty"`
	Text    string          `json:"text,omitempty"` // name of the signal, text of a mark, exit code, error
}

const recordedMessage = 64 << 10

// brief returns the message, without its params when they are very long.
func brief(data []byte, m *message) json.RawMessage {
	if len(data) <= recordedMessage {
		return data
	}
	short, err := encode(struct {
		ID     json.RawMessage `json:"id,omitempty"`
		Method string          `json:"method,omitempty"`
		Bytes  int             `json:"bytes"`
	}{m.ID, m.Method, len(data)})
	if err != nil {
		return nil
	}
	return short
}

func clip(s string) string {
	if len(s) > 200 {
		return s[:200] + "…"
	}
	return s
}

// Events returns what the server at path, made by [Put], received and did in
// all its runs, in the order in which it was written. There may be none yet.
func Events(path string) ([]Event, error) { return readEvents(path + recordSuffix) }

func readEvents(file string) ([]Event, error) {
	f, err := os.Open(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("testkit: reading a record: %w", err)
	}
	defer f.Close()
	var events []Event
	r := bufio.NewReader(f)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return events, nil // a line without its end is still being written
		}
		var e Event
		if err := json.Unmarshal(line, &e); err != nil {
			return events, fmt.Errorf("testkit: reading record %s: %w", file, err)
		}
		events = append(events, e)
	}
}

package cli

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maxHistory is how many lines are remembered.
const maxHistory = 1000

// A chatHistory is what a person has said, over all chats of a home. It lies in
// data/chat_history, a line each, which only its owner may read. A line that
// begins with a blank is not remembered.
type chatHistory struct {
	file  string
	lines []string // the oldest first
}

// openHistory reads the history. One that cannot be read is empty: that is no
// reason not to talk.
func openHistory(file string) *chatHistory {
	h := &chatHistory{file: file}
	data, err := os.ReadFile(file)
	if err != nil {
		return h
	}
	for line := range strings.Lines(string(data)) { // a line that was pasted may be long
		if line = strings.TrimSuffix(line, "\n"); line != "" {
			h.lines = append(h.lines, line)
		}
	}
	h.trim()
	return h
}

func (h *chatHistory) trim() {
	h.lines = slices.Clone(h.lines[max(0, len(h.lines)-maxHistory):])
}

// Add remembers a line, unless it is the last one again. It is part of the
// interface of the line editor.
func (h *chatHistory) Add(line string) {
	line = strings.TrimRight(strings.ReplaceAll(line, "\n", " "), " ")
	if line == "" || strings.HasPrefix(line, " ") || len(h.lines) > 0 && h.lines[len(h.lines)-1] == line {
		return
	}
	h.lines = append(h.lines, line)
	if len(h.lines) <= 2*maxHistory && h.add(line) == nil {
		return
	}
	h.trim()
	_ = h.write() // a full disk is no reason not to talk
}

func (h *chatHistory) add(line string) error {
	f, err := os.OpenFile(h.file, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(line + "\n")
	if e := f.Close(); err == nil {
		err = e
	}
	return err
}

func (h *chatHistory) write() error {
	f, err := os.CreateTemp(filepath.Dir(h.file), ".chat_history-*")
	if err != nil {
		return err
	}
	_, err = f.WriteString(strings.Join(h.lines, "\n") + "\n")
	if e := f.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(f.Name(), h.file)
	}
	if err != nil {
		_ = os.Remove(f.Name())
	}
	return err
}

// Len is part of the interface of the line editor.
func (h *chatHistory) Len() int { return len(h.lines) }

// At returns a line, the newest first. It is part of the interface of the line
// editor.
func (h *chatHistory) At(back int) string { return h.lines[len(h.lines)-1-back] }

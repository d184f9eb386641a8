package turn

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"time"

	"github.com/aurorabot/aurora/internal/brain/llm"
)

// A History says how much of a session the model is reminded of. Turns are kept
// whole, or without their tool calls, or not at all.
type History struct {
	// Turns is how many turns; 0: 20.
	Turns int
	// Messages is how many messages; 0: 200.
	Messages int
	// Bytes is how long they may be together; 0: 64 KiB.
	Bytes int
}

// A group is what is remembered of one turn: one line of a session's file.
type group struct {
	Turn string    `json:"turn"`
	At   time.Time `json:"at"`
	// Fresh says that nothing before it counts any more.
	Fresh    bool          `json:"fresh,omitempty"`
	Messages []llm.Message `json:"messages,omitempty"`
}

// A history is what is remembered of a session, durable. It is one turn's. The
// zero history remembers nothing: it is that of what belongs to no session.
type history struct {
	files  FileLayer
	dir    string
	path   string
	groups []group // repaired; the newest last
	size   int64   // of what is good in the file
	lines  int     // in the file
	named  bool    // its name is durable
	own    string  // the turn that is under way
}

// openHistory reads what is remembered of a session. A file that is missing is
// one of a new session; lines that cannot be read are left out.
func openHistory(files FileLayer, dir, lane string) (*history, error) {
	h := &history{files: files, dir: dir, path: filepath.Join(dir, sessionName(lane)+".jsonl")}
	data, err := files.ReadFile(h.path)
	if errors.Is(err, fs.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read history: %w", err)
	}
	for line := range lines(data) {
		var g group
		if line[len(line)-1] != '\n' {
			break // torn
		}
		h.size += int64(len(line))
		h.lines++
		if json.Unmarshal(line, &g) == nil {
			h.groups = append(h.groups, g)
		}
	}
	h.groups = repair(h.groups)
	return h, nil
}

// leaveOut says which turn the model is not reminded of: its own.
func (h *history) leaveOut(turn string) { h.own = turn }

// has reports whether a turn is there already.
func (h *history) has(turn string, fresh bool) bool {
	return slices.ContainsFunc(h.groups, func(g group) bool { return g.Turn == turn && g.Fresh == fresh })
}

// add remembers a turn, once.
func (h *history) add(turn string, at time.Time, messages []llm.Message) error {
	if h.path == "" {
		return nil
	}
	if h.has(turn, false) {
		return h.write(nil) // whoever wrote it may not have made it durable
	}
	return h.append(group{Turn: turn, At: at, Messages: messages})
}

// fresh forgets what is remembered, once for a turn.
func (h *history) fresh(turn string, at time.Time) error {
	if h.path == "" {
		return nil
	}
	if h.has(turn, true) {
		return h.write(nil)
	}
	return h.append(group{Turn: turn, At: at, Fresh: true})
}

// The file of a session is written anew when it has so many lines or bytes more
// than are of use.
const (
	maxLines = 200
	maxBytes = 4 << 20
	keep     = 50 // lines then
)

func (h *history) append(g group) error {
	line, err := encodeLine(g)
	if err != nil {
		return err
	}
	if g.Fresh {
		h.groups = nil
	}
	h.groups = append(h.groups, g)
	if h.lines >= maxLines || h.size+int64(len(line)) > maxBytes {
		return h.rewrite()
	}
	if err := h.write(line); err != nil {
		return err
	}
	h.lines++
	return nil
}

// write writes a line at the end of the file and makes all of it durable.
func (h *history) write(line []byte) error {
	f, err := h.files.Append(h.path, h.size)
	if err != nil {
		return fmt.Errorf("write history: %w", err)
	}
	_, err = f.Write(line)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil && !h.named {
		err = h.files.SyncDir(h.dir)
		h.named = err == nil
	}
	if err != nil {
		return fmt.Errorf("write history: %w", err)
	}
	h.size += int64(len(line))
	return nil
}

// rewrite writes the file anew, with what is still of use.
func (h *history) rewrite() error {
	h.groups = h.groups[max(0, len(h.groups)-keep):]
	var b bytes.Buffer
	for b.Reset(); ; h.groups = h.groups[1:] {
		b.Reset()
		for _, g := range h.groups {
			line, err := encodeLine(g)
			if err != nil {
				return err
			}
			b.Write(line)
		}
		if b.Len() <= maxBytes/2 || len(h.groups) <= 1 {
			break
		}
	}
	temp := filepath.Join(h.dir, "."+filepath.Base(h.path)+".tmp")
	_ = h.files.Remove(temp) // an earlier run's
	f, err := h.files.Create(temp)
	if err != nil {
		return fmt.Errorf("write history: %w", err)
	}
	_, err = f.Write(b.Bytes())
	if err == nil {
		err = f.Sync()
	}
	if err = errors.Join(err, f.Close()); err == nil {
		err = h.files.Rename(temp, h.path)
	}
	if err == nil {
		err = h.files.SyncDir(h.dir)
	}
	if err != nil {
		return fmt.Errorf("write history: %w", err)
	}
	h.size, h.lines, h.named = int64(b.Len()), len(h.groups), true
	return nil
}

func encodeLine(g group) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(g); err != nil {
		return nil, fmt.Errorf("write history: %w", err)
	}
	return b.Bytes(), nil
}

// turns returns how many turns are remembered.
func (h *history) turns() int {
	n := 0
	for _, g := range h.groups {
		if !g.Fresh {
			n++
		}
	}
	return n
}

// messages returns what the model is reminded of, the newest turns that fit.
// A turn that does not fit is shown without its tool calls; calls are never
// parted from their results (field fault Q08).
func (h *history) messages(limit History) []llm.Message {
	var chosen [][]llm.Message
	count, size := 0, 0
	for _, g := range slices.Backward(h.groups) {
		if g.Fresh || len(chosen) == limit.Turns {
			break
		}
		if g.Turn == h.own {
			continue
		}
		fits := func(messages []llm.Message) bool {
			return count+len(messages) <= limit.Messages && size+weight(messages) <= limit.Bytes
		}
		messages := g.Messages
		if !fits(messages) {
			if messages = spoken(messages); !fits(messages) {
				break
			}
		}
		count, size = count+len(messages), size+weight(messages)
		chosen = append(chosen, messages)
	}
	slices.Reverse(chosen)
	return slices.Concat(chosen...)
}

// weight returns how long messages are, in bytes.
func weight(messages []llm.Message) int {
	n := 0
	for _, m := range messages {
		n += len(m.Content)
		for _, c := range m.ToolCalls {
			n += len(c.Name) + len(c.Arguments)
		}
	}
	return n
}

// spoken returns what was said in a turn, without tool calls and results.
func spoken(messages []llm.Message) []llm.Message {
	var out []llm.Message
	for _, m := range messages {
		if m.Role == llm.User || m.Role == llm.Assistant && len(m.ToolCalls) == 0 {
			out = append(out, m)
		}
	}
	return out
}

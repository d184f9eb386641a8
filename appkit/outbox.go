package appkit

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// An outbox keeps events on disk until they are acknowledged, one file each. A
// file's name is its place in the order. The zero outbox keeps nothing.
type outbox struct{ dir string }

// path names the file of the event with a number.
func (o outbox) path(seq uint64) string { return filepath.Join(o.dir, fmt.Sprintf("%020d.json", seq)) }

// put makes an event durable.
func (o outbox) put(seq uint64, params []byte) error {
	if o.dir == "" {
		return nil
	}
	if err := os.MkdirAll(o.dir, 0o700); err != nil {
		return fmt.Errorf("keep event: %w", err)
	}
	temp := filepath.Join(o.dir, ".new")
	f, err := os.OpenFile(temp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("keep event: %w", err)
	}
	_, err = f.Write(params)
	err = errors.Join(err, f.Sync(), f.Close())
	if err == nil {
		err = os.Rename(temp, o.path(seq))
	}
	if err == nil {
		err = syncDir(o.dir)
	}
	if err != nil {
		return fmt.Errorf("keep event: %w", err)
	}
	return nil
}

// drop lets go of an event.
func (o outbox) drop(seq uint64) error {
	if o.dir == "" {
		return nil
	}
	err := os.Remove(o.path(seq))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// A keptEvent is one that an earlier run left.
type keptEvent struct {
	seq    uint64
	id     string
	params []byte
}

// load returns what an earlier run left, in order. A file that is no event is
// set aside, not lost.
func (o outbox) load(logger *slog.Logger) ([]keptEvent, error) {
	if o.dir == "" {
		return nil, nil
	}
	entries, err := os.ReadDir(o.dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("read kept events: %w", err)
	}
	var kept []keptEvent
	for _, e := range entries { // sorted by name
		number, isEvent := strings.CutSuffix(e.Name(), ".json")
		if !isEvent {
			continue
		}
		k := keptEvent{}
		params, err := os.ReadFile(filepath.Join(o.dir, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read kept events: %w", err)
		}
		var header struct {
			Header struct {
				MessageID string `json:"message_id"`
			} `json:"header"`
		}
		// A copy that somebody made has no number of its own, and could not be dropped.
		k.seq, _ = strconv.ParseUint(number, 10, 64)
		if o.path(k.seq) != filepath.Join(o.dir, e.Name()) || json.Unmarshal(params, &header) != nil || header.Header.MessageID == "" {
			aside := filepath.Join(o.dir, e.Name()+".broken")
			logger.Warn("a kept event is broken and was set aside", "file", aside)
			if err := os.Rename(filepath.Join(o.dir, e.Name()), aside); err != nil {
				return nil, fmt.Errorf("set a broken event aside: %w", err)
			}
			continue
		}
		k.id, k.params = header.Header.MessageID, params
		kept = append(kept, k)
	}
	return kept, nil
}

package daemon

import (
	"slices"
	"sync"

	"github.com/aurorabot/aurora/amp"
)

// maxWithdrawn is how many questions are remembered whose turn has not begun.
const maxWithdrawn = 1000

// withdrawn are the questions that nobody waits for any more and whose turn has
// not begun: it is stopped when it does.
type withdrawn struct {
	mu  sync.Mutex // guards ids
	ids []string   // of messages, the oldest first
}

func (w *withdrawn) add(id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.ids = append(w.ids[max(0, len(w.ids)-maxWithdrawn+1):], id)
}

// take reports whether all of these messages were withdrawn, and forgets them.
func (w *withdrawn) take(events []*amp.Envelope) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	all := len(events) > 0
	for _, id := range messages(events) {
		at := slices.Index(w.ids, id)
		if at < 0 {
			all = false
			continue
		}
		w.ids = slices.Delete(w.ids, at, at+1)
	}
	return all
}

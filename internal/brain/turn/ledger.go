package turn

import (
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"
)

// A ledger counts what the day cost, in the user's zone. It is as durable as the
// journals: it is read out of them.
type ledger struct {
	zone *time.Location

	mu        sync.Mutex // guards what follows
	read      bool
	day       string
	spent     int
	uncertain int
}

const dayLayout = "2006-01-02"

// open reads what the journals of today say, once. It is called before any turn
// of this process writes to one.
func (l *ledger) open(files FileLayer, dir string, now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.read {
		return nil
	}
	entries, err := files.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("count the tokens of today: %w", err)
	}
	// What was counted since an earlier try that failed stands in the journals too.
	l.day, l.spent, l.uncertain = now.In(l.zone).Format(dayLayout), 0, 0
	local := now.In(l.zone)
	midnight := time.Date(local.Year(), local.Month(), local.Day(), 0, 0, 0, 0, l.zone)
	var failed []error
	for _, e := range entries {
		if e.IsDir() || !strings.HasSuffix(e.Name(), ".jsonl") {
			continue
		}
		// A journal is young if anything of today can be in it. An hour of grace
		// is for clocks that were set.
		if info, err := e.Info(); err == nil && info.ModTime().Before(midnight.Add(-time.Hour)) {
			continue
		}
		data, err := files.ReadFile(filepath.Join(dir, e.Name()))
		if err != nil {
			failed = append(failed, fmt.Errorf("count the tokens of today: %w", err))
			continue
		}
		records, _, _ := parse(data)
		for _, r := range records {
			if r.At.In(l.zone).Format(dayLayout) != l.day {
				continue
			}
			if r.Kind == KindAnswer && r.Usage != nil {
				l.spent += r.Usage.Total()
			}
			if r.Kind == KindEnd && Ending(r.Outcome) == Uncertain {
				l.uncertain++
			}
		}
	}
	l.read = true
	return errors.Join(failed...)
}

// today turns the page when a new day has begun. l.mu is held.
func (l *ledger) today(now time.Time) {
	if day := now.In(l.zone).Format(dayLayout); day != l.day {
		l.day, l.spent, l.uncertain = day, 0, 0
	}
}

func (l *ledger) spend(now time.Time, tokens int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.today(now)
	l.spent += tokens
}

func (l *ledger) ended(now time.Time, e Ending) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.today(now)
	if e == Uncertain {
		l.uncertain++
	}
}

// tokens returns how many tokens today has cost.
func (l *ledger) tokens(now time.Time) int {
	spent, _ := l.figures(now)
	return spent
}

func (l *ledger) figures(now time.Time) (spent, uncertain int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.today(now)
	return l.spent, l.uncertain
}

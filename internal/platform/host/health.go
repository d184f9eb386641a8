package host

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"time"
)

// healthEvery is the least time between two writes of the health file.
const healthEvery = 250 * time.Millisecond

// Health is what the health file holds.
type Health struct {
	// Clean is true when the host was closed in order. A file without it was
	// left by a process that was killed or crashed.
	Clean   bool      `json:"clean"`
	PID     int       `json:"pid"` // of the process that wrote it
	Written time.Time `json:"written"`
	// House is what the house says of itself beyond its apps; see Options.House.
	House json.RawMessage `json:"house,omitempty"`
	Apps  []Status        `json:"apps"`
}

// ReadHealth reads a health file, which may be one of an earlier run.
func ReadHealth(path string) (Health, error) {
	var h Health
	b, err := os.ReadFile(path)
	if err != nil {
		return h, err
	}
	if err := json.Unmarshal(b, &h); err != nil {
		return h, fmt.Errorf("reading %s: %w", path, err)
	}
	return h, nil
}

// A healthFile keeps a file up to date with the status of all apps. Its
// goroutine, run, is owned by the host, which closes it last.
type healthFile struct {
	host  *Host
	path  string
	dirty chan struct{} // cap 1
	quit  chan struct{}
	done  chan struct{}
}

func newHealthFile(h *Host, path string) *healthFile {
	return &healthFile{host: h, path: path, dirty: make(chan struct{}, 1), quit: make(chan struct{}), done: make(chan struct{})}
}

// HouseChanged says that Options.House has something new to say, and has the
// health file written soon. It never blocks.
func (h *Host) HouseChanged() { h.health.poke() }

// poke says that something changed. It never blocks; a nil healthFile ignores it.
func (f *healthFile) poke() {
	if f == nil {
		return
	}
	select {
	case f.dirty <- struct{}{}:
	default:
	}
}

func (f *healthFile) run() {
	defer close(f.done)
	failing := false
	write := func(clean bool) {
		err := f.write(clean)
		if err != nil && !failing {
			f.host.logger.Error("The health file cannot be written.", "err", err)
		}
		failing = err != nil
	}
	for {
		select {
		case <-f.dirty:
			write(false)
		case <-f.quit:
			write(true)
			return
		}
		select { // changes come in bursts
		case <-time.After(healthEvery):
		case <-f.quit:
			write(true)
			return
		}
	}
}

// close writes the file a last time and waits for the goroutine.
func (f *healthFile) close() {
	close(f.quit)
	<-f.done
}

// write replaces the file as a whole, so that readers never see half of it.
func (f *healthFile) write(clean bool) error {
	h := Health{Clean: clean, PID: os.Getpid(), Written: time.Now(), Apps: f.host.Status()}
	if house := f.host.opt.House; house != nil {
		h.House = house()
	}
	b, err := json.MarshalIndent(h, "", "  ")
	if err != nil {
		return err
	}
	dir := filepath.Dir(f.path)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	// One name, so that runs which are killed here leave one file behind.
	tmp := filepath.Join(dir, ".health.tmp")
	out, err := os.OpenFile(tmp, os.O_CREATE|os.O_TRUNC|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = out.Write(append(b, '\n'))
	if err == nil && clean {
		err = out.Sync()
	}
	if e := out.Close(); err == nil {
		err = e
	}
	if err == nil {
		err = os.Rename(tmp, f.path)
	}
	if err != nil {
		_ = os.Remove(tmp)
	}
	return err
}

package events

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/aurorabot/aurora/appkit"
)

// emitterWorkers is how many goroutines of an emitter emit at once.
const emitterWorkers = 3

// An emitter is an app that does nothing but emit. Its log has a line for every
// event before it is emitted ("try ID") and one when it was acknowledged
// ("ack ID") or is known to be kept ("kept ID"). It is written without buffers,
// so that a kill cuts nothing off.
type emitter struct {
	*appkit.Emitter
	stop string // a file: once it is there nothing new is emitted

	mu  sync.Mutex // guards log
	log *os.File
}

// emitterMain is the program `emitter LOG STOP`.
func emitterMain() int {
	if len(os.Args) != 3 {
		fmt.Fprintln(os.Stderr, "usage: emitter LOG STOP")
		return 2
	}
	process := appkit.Process{}
	e := &emitter{Emitter: process.NewEmitter(process.Env().Package), stop: os.Args[2]}
	open, err := unsettled(os.Args[1])
	if err == nil {
		e.log, err = os.OpenFile(os.Args[1], os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	ctx, cancel := context.WithCancel(context.Background())
	var workers sync.WaitGroup
	for w := range emitterWorkers {
		workers.Go(func() { e.work(ctx, w, open[w]) })
	}
	go func() {
		workers.Wait()
		e.settle(ctx, filepath.Join(process.Env().DataDir, "outbox"))
	}()
	err = process.Serve(ctx, &appkit.App{Package: process.Env().Package, Title: "Emitter", Version: "1", Emitter: e.Emitter})
	cancel()
	workers.Wait()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return 0
}

// A last is how far a worker came in an earlier process.
type last struct {
	number int
	open   bool // the event of this number was tried, and it is not known how it ended
}

// unsettled reads a log of earlier processes.
func unsettled(log string) (open [emitterWorkers]last, err error) {
	f, err := os.Open(log)
	if errors.Is(err, os.ErrNotExist) {
		return open, nil
	}
	if err != nil {
		return open, err
	}
	defer f.Close()
	for lines := bufio.NewScanner(f); lines.Scan(); {
		word, id, _ := strings.Cut(lines.Text(), " ")
		var worker, number int
		if _, err := fmt.Sscanf(id, "w%d-%d", &worker, &number); err != nil || worker >= emitterWorkers {
			continue
		}
		open[worker] = last{number, word == "try"}
	}
	return open, nil
}

func (e *emitter) say(word, id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if _, err := fmt.Fprintf(e.log, "%s %s\n", word, id); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// work emits one event after the other. What was tried before a kill is tried
// again with the same id.
func (e *emitter) work(ctx context.Context, worker int, at last) {
	for ctx.Err() == nil {
		if !at.open {
			if _, err := os.Stat(e.stop); err == nil {
				return
			}
			at.number++
		}
		id := fmt.Sprintf("w%d-%06d", worker, at.number)
		e.say("try", id)
		err := e.Emit(ctx, appkit.Event{Type: "load.tick", ID: id, Summary: "tick", Data: map[string]int{"n": at.number}})
		switch {
		case err == nil:
			e.say("ack", id)
			at.open = false
		case errors.Is(err, appkit.ErrKept):
			e.say("kept", id)
			at.open = false
		default: // not taken: the outbox is full, say
			fmt.Fprintln(os.Stderr, err)
			at.open = true
			time.Sleep(10 * time.Millisecond)
		}
	}
}

// settle waits until nothing is left to be acknowledged, and says so.
func (e *emitter) settle(ctx context.Context, outbox string) {
	for ctx.Err() == nil {
		left, err := filepath.Glob(filepath.Join(outbox, "*.json"))
		if err == nil && len(left) == 0 {
			e.say("settled", fmt.Sprint(os.Getpid()))
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

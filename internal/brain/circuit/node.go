package circuit

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"sync"
	"time"

	"github.com/aurorabot/aurora/internal/spool"
)

// A Node does one thing with the files that it is given.
type Node interface {
	// Handle does the work of one job. nil means that the effect is durable; an
	// error, that the job is to be tried again, some times or until it succeeds
	// (see [Permanent], [Temporary] and [ErrHeld]). It may
	// be called for a job whose effect is there already. Several calls may run at
	// once, never two for files of one session.
	Handle(ctx context.Context, job *Job) error
}

// An Agent is a node that asks a model.
type Agent interface {
	Node
	// Model names the model, for people.
	Model() string
}

// A Router is a node that asks no model: what it does, it does by rule.
type Router interface{ Node }

// A Runner is a node that has a life beside the files it is given: it acts by
// the clock.
type Runner interface {
	Node
	// Run acts until ctx ends. When it fails earlier it is run again, after 1 s,
	// 2 s, 4 s … at most 30 s.
	Run(ctx context.Context) error
}

// ErrHeld says that the node keeps a job for a while and ends it itself, with
// [Job.Done], [Job.Dead] or [Job.Return]. What it has not ended when the circuit
// stops is returned.
var ErrHeld = errors.New("held")

// Permanent marks an error that trying again cannot cure: the file is dead.
func Permanent(err error) error { return permanent{err} }

type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

// Temporary marks an error that says nothing of the file: it is tried again until
// it succeeds, and never dead for it. Errors of the file system, and of a queue
// that is full, are temporary without a mark.
func Temporary(err error) error { return temporary{err} }

type temporary struct{ error }

func (t temporary) Unwrap() error { return t.error }

// passes tells errors that are not the file's own.
func passes(err error) bool {
	var marked temporary
	var path *fs.PathError
	var link *os.LinkError
	return errors.As(err, &marked) || errors.As(err, &path) || errors.As(err, &link) || errors.Is(err, spool.ErrFull)
}

// A Job is one file that a node is woken by.
type Job struct {
	// Path is that of the queue, or of the state file, which is told of and not
	// taken.
	Path string
	// Name is the file's name in its queue; empty for a state file.
	Name string
	// Data is the content.
	Data []byte
	// Place is where the file stood in the queue.
	Place spool.Place
	// Attempts counts the times that the process died over the file.
	Attempts int
	// Requeued is when a keeper put the file back after its end; zero: nobody did.
	Requeued time.Time

	claim *spool.Claim // nil for a state file
	crew  *crew
	ended sync.Once
}

// Done ends a held job well. A note says why there was nothing to do; it stays
// with the file. An end that the disk refuses is tried again until it succeeds.
func (j *Job) Done(note string) {
	j.crew.letGo(j)
	j.crew.done(j, note)
}

// Dead ends a held job for good: its file cannot be worked on, for this reason.
func (j *Job) Dead(reason string) {
	j.crew.letGo(j)
	j.crew.dead(j, reason)
}

// Return ends a held job as if it had not been claimed.
func (j *Job) Return() {
	j.crew.letGo(j)
	j.crew.giveBack(j)
}

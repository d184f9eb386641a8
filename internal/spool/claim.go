package spool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// A Claim is a file that its holder works on. It ends with exactly one of
// [Claim.Done], [Claim.DoneBecause], [Claim.Dead], [Claim.Retry] and
// [Claim.Return]. An end that failed did not happen, and may be tried again: the
// file is still the holder's, and its lane rests. A claim that never ends is
// pending again after the next [Open].
type Claim struct {
	Name string
	Data []byte
	// Place is where the file stood in the queue.
	Place Place
	// Attempts counts the earlier tries that did not end well.
	Attempts int
	// Requeued is when a keeper put the file back after its end, to have it worked
	// on once more; zero: nobody did.
	Requeued time.Time

	s     *Spool
	aside bool // taken out of turn: its lane does not wait for it
	ended bool // guarded by s.mu
}

// Next claims the first file that waits, and waits for one until ctx ends.
func (s *Spool) Next(ctx context.Context) (*Claim, error) {
	for {
		s.mu.Lock()
		wake := s.wake
		s.mu.Unlock()
		c, err := s.TryNext()
		if c != nil || err != nil {
			return c, err
		}
		select {
		case <-wake:
		case <-ctx.Done():
			return nil, ctx.Err()
		}
	}
}

// TryNext claims the first file that waits, or returns nil when there is none.
func (s *Spool) TryNext() (*Claim, error) {
	for {
		s.mu.Lock()
		first := s.index.take()
		if first != nil {
			s.held++
		}
		s.mu.Unlock()
		if first == nil {
			return nil, nil
		}
		c, err := s.claim(first.name)
		if errors.Is(err, ErrGone) {
			s.release(first.lane.key)
			continue
		}
		if err != nil {
			s.announce([]Item{{Name: first.name, Place: first.place()}})
			s.release(first.lane.key)
			return nil, err
		}
		c.Place = first.place()
		return c, nil
	}
}

// Take claims a file by its name, out of turn and without regard to its lane.
// The error is [ErrGone] when the file does not wait.
func (s *Spool) Take(name string) (*Claim, error) {
	if !plainName(name) {
		return nil, fmt.Errorf("%q is not a file name", name)
	}
	s.mu.Lock()
	known := s.index.where[name]
	s.index.drop(name)
	s.held++
	s.mu.Unlock()
	c, err := s.claim(name)
	if err != nil {
		s.mu.Lock()
		s.held--
		if known != nil && !errors.Is(err, ErrGone) {
			s.index.add(name, known.lane.key, known.order)
			s.stir()
		}
		s.mu.Unlock()
		return nil, err
	}
	if known != nil {
		c.Place = known.place()
	}
	c.aside = true
	return c, nil
}

// claim moves a file to processing and reads it.
func (s *Spool) claim(name string) (*Claim, error) {
	if err := s.move(name, Pending, Processing); err != nil {
		return nil, err
	}
	data, err := s.files.ReadFile(s.path(Processing, name))
	if err != nil {
		return nil, errors.Join(fmt.Errorf("claim: %w", err), s.move(name, Processing, Pending))
	}
	note, err := s.readNote(name)
	if err != nil {
		return nil, errors.Join(err, s.move(name, Processing, Pending))
	}
	c := &Claim{Name: name, Data: data, Attempts: note.Attempts, s: s}
	if note.Reason == requeued {
		c.Requeued = note.At
	}
	return c, nil
}

// release says that a file of a lane is not ours any more.
func (s *Spool) release(lane string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.letGo(lane)
}

// letGo is release for whoever holds s.mu.
func (s *Spool) letGo(lane string) {
	s.held--
	s.index.release(lane)
	if s.opt.Exclusive {
		s.stir()
	}
}

// Done ends the claim well. It is called when the effect of the file is durable.
func (c *Claim) Done() error {
	if err := c.end(Done); err != nil {
		return err
	}
	if err := c.s.removeNote(c.Name); err != nil { // retention takes it with the file
		c.s.log.Warn("cannot remove the note of a file that is done", "file", c.Name, "error", err)
	}
	return nil
}

// DoneBecause is [Claim.Done] for a file that needed no work: the reason stays
// in the file's note.
func (c *Claim) DoneBecause(reason string) error {
	if err := c.s.note(c.Name, func(n *Note) { n.Reason = reason; n.At = time.Now() }); err != nil {
		return err
	}
	return c.end(Done)
}

// Dead ends the claim for good: the file cannot be worked on, for this reason.
func (c *Claim) Dead(reason string) error {
	// The attempts are set, not raised, for this may be tried again.
	err := c.s.note(c.Name, func(n *Note) { n.Attempts = c.Attempts + 1; n.Reason = reason; n.At = time.Now() })
	if err != nil {
		return err
	}
	return c.end(Dead)
}

// Retry gives the file back, to be claimed again, with one more attempt noted.
// It goes to the end of the queue: who needs order holds the claim instead.
func (c *Claim) Retry(reason string) error {
	err := c.s.note(c.Name, func(n *Note) {
		n.Attempts = c.Attempts + 1
		if c.Requeued.IsZero() {
			n.Reason, n.At = reason, time.Now()
		}
	})
	if err != nil {
		return err
	}
	return c.back(Place{Lane: c.Place.Lane})
}

// Return gives the file back to its place in the queue, as if it had not been
// claimed.
func (c *Claim) Return() error { return c.back(c.Place) }

// back moves the file to pending again, at a place in the queue.
func (c *Claim) back(at Place) error {
	err := c.s.move(c.Name, Processing, Pending)
	if err != nil && !errors.Is(err, ErrGone) {
		return err
	}
	if err == nil {
		c.s.announce([]Item{{Name: c.Name, Place: at}})
	}
	c.over()
	return err
}

// end moves the file to its last folder, stamped with the time it came there.
func (c *Claim) end(to State) error {
	// The stamp is what retention goes by. It comes first: a file must not lie
	// in its last folder with an old stamp, where a sweep would remove it.
	if err := c.s.files.Touch(c.s.path(Processing, c.Name), time.Now()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("end of claim: %w", err)
	}
	err := c.s.move(c.Name, Processing, to)
	if err == nil || errors.Is(err, ErrGone) {
		c.over()
	}
	return err
}

// over says that the file is no longer the holder's. Only the first time counts:
// afterwards the lane may be somebody else's.
func (c *Claim) over() {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	switch {
	case c.ended:
	case c.aside:
		c.s.held--
	default:
		c.s.letGo(c.Place.Lane)
	}
	c.ended = true
}

// move renames a file from one state to another.
func (s *Spool) move(name string, from, to State) error {
	err := s.files.Rename(s.path(from, name), s.path(to, name))
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is not %s: %w", name, from, ErrGone)
	}
	if err != nil {
		return fmt.Errorf("move to %s: %w", to, err)
	}
	return nil
}

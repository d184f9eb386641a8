package spool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"time"
)

// A Claim is a file that its holder works on. It ends with exactly one of
// [Claim.Done], [Claim.Dead] and [Claim.Retry]; a claim that never ends is
// pending again after the next [Open].
type Claim struct {
	Name string
	Data []byte
	// Attempts counts the earlier tries that did not end well.
	Attempts int

	s    *Spool
	lane string
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
			s.announce([]Item{{Name: first.name, Place: Place{first.order, first.lane.key}}})
			s.release(first.lane.key)
			return nil, err
		}
		c.lane = first.lane.key
		return c, nil
	}
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
	return &Claim{Name: name, Data: data, Attempts: note.Attempts, s: s}, nil
}

// release says that a claim of ours has ended.
func (s *Spool) release(lane string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.held--
	s.index.release(lane)
	if s.opt.Exclusive {
		s.stir()
	}
}

// Done ends the claim well. It is called when the effect of the file is durable.
func (c *Claim) Done() error {
	return c.end(Done, func() error { return c.s.removeNote(c.Name) })
}

// Dead ends the claim for good: the file cannot be worked on, for this reason.
func (c *Claim) Dead(reason string) error {
	note := func() error {
		return c.s.note(c.Name, func(n *Note) { n.Attempts++; n.Reason = reason; n.At = time.Now() })
	}
	if err := note(); err != nil {
		return err
	}
	return c.end(Dead, nil)
}

// Retry gives the file back, to be claimed again, with one more attempt noted.
// It goes to the end of the queue: who needs order holds the claim instead.
func (c *Claim) Retry(reason string) error {
	if err := c.s.note(c.Name, func(n *Note) { n.Attempts++; n.Reason = reason; n.At = time.Now() }); err != nil {
		return err
	}
	defer c.s.release(c.lane)
	if err := c.s.move(c.Name, Processing, Pending); err != nil {
		return err
	}
	c.s.announce([]Item{{Name: c.Name, Place: Place{Lane: c.lane}}})
	return nil
}

// end moves the file to its last folder, stamped with the time it came there.
func (c *Claim) end(to State, after func() error) error {
	defer c.s.release(c.lane)
	// The stamp is what retention goes by. It comes first: a file must not lie
	// in its last folder with an old stamp, where a sweep would remove it.
	if err := c.s.files.Touch(c.s.path(Processing, c.Name), time.Now()); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("end of claim: %w", err)
	}
	if err := c.s.move(c.Name, Processing, to); err != nil {
		return err
	}
	if after != nil {
		return after()
	}
	return nil
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

package bridge

import "github.com/aurorabot/aurora/amp"

// A Follower sees events as they happen, also those that no spool wants.
type Follower struct {
	// C delivers sightings until Close. One that is not read in time is lost
	// and counted in the next.
	C <-chan Sighting

	b    *Bridge
	c    chan Sighting
	lost int // guarded by b.mu
}

// A Sighting is an event that a follower sees. The envelope must not be changed.
type Sighting struct {
	Envelope *amp.Envelope
	// Spools names the outlets it goes to; empty: none wants it.
	Spools []string
	// Lost counts the events before this one that the follower missed.
	Lost int
}

// Follow starts following.
func (b *Bridge) Follow() *Follower {
	c := make(chan Sighting, 256)
	f := &Follower{C: c, b: b, c: c}
	b.mu.Lock()
	b.followers[f] = struct{}{}
	b.mu.Unlock()
	return f
}

// Close ends following. C is closed.
func (f *Follower) Close() {
	f.b.mu.Lock()
	defer f.b.mu.Unlock()
	if _, open := f.b.followers[f]; open {
		delete(f.b.followers, f)
		close(f.c)
	}
}

func (b *Bridge) followed() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.followers) > 0
}

// tell shows an event to all followers.
func (b *Bridge) tell(e *event) {
	if !b.followed() {
		return
	}
	s := Sighting{Envelope: e.envelope}
	for _, r := range b.routes {
		if r.wants(e.envelope.Payload.Type, e.caller) {
			s.Spools = append(s.Spools, r.Name)
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for f := range b.followers {
		s.Lost = f.lost
		select {
		case f.c <- s:
			f.lost = 0
		default:
			f.lost++
		}
	}
}

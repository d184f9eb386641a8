package bridge

import "github.com/aurorabot/aurora/amp"

// A Follower sees events as they happen, also those that no spool wants.
type Follower struct {
	// C delivers sightings until Close, or until the bridge has ended; then it
	// is closed. One that is not read in time is lost and counted in the next.
	C <-chan Sighting

	b *Bridge
	c chan Sighting

	// b.mu guards what follows.
	lost  int
	sizes []int // of the sightings in c, and perhaps of some that have left it
	bytes int   // of them
}

// A Sighting is an event that a follower sees once it is where it belongs. The
// envelope must not be changed.
type Sighting struct {
	Envelope *amp.Envelope
	// File is the name of its file, and Spools names the outlets it lies in;
	// empty: none wants it, or has room.
	File   string
	Spools []string
	// Refused names the outlets that want it and could not take it.
	Refused []string
	// Lost counts the events before this one that the follower missed.
	Lost int
}

// How many sightings may wait for a follower, and about how large all of them may
// be, in bytes.
const (
	followRoom  = 1024
	followBytes = 16 << 20
)

// Follow starts following.
func (b *Bridge) Follow() *Follower {
	c := make(chan Sighting, followRoom)
	f := &Follower{C: c, b: b, c: c}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended {
		close(c)
		return f
	}
	b.followers[f] = struct{}{}
	b.following.Add(1)
	return f
}

// Close ends following. C is closed.
func (f *Follower) Close() {
	f.b.mu.Lock()
	defer f.b.mu.Unlock()
	f.b.unfollow(f)
}

// unfollow ends one follower. b.mu is held.
func (b *Bridge) unfollow(f *Follower) {
	if _, open := b.followers[f]; open {
		delete(b.followers, f)
		b.following.Add(-1)
		close(f.c)
	}
}

// endFollowing ends all followers.
func (b *Bridge) endFollowing() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	for f := range b.followers {
		b.unfollow(f)
	}
}

func (b *Bridge) followed() bool { return b.following.Load() > 0 }

// tell shows an event to all followers.
func (b *Bridge) tell(e *event) {
	if !b.followed() {
		return
	}
	s := Sighting{Envelope: e.envelope, File: e.name, Spools: e.in, Refused: e.refusedBy}
	b.mu.Lock()
	defer b.mu.Unlock()
	for f := range b.followers {
		s.Lost = f.lost
		if f.offer(s) {
			f.lost = 0
		} else {
			f.lost++
		}
	}
}

// offer hands a sighting over, if there is room. b.mu is held.
func (f *Follower) offer(s Sighting) bool {
	for len(f.sizes) > len(f.c) {
		f.bytes -= f.sizes[0]
		f.sizes = f.sizes[1:]
	}
	size := 1<<10 + len(s.Envelope.Payload.Data)
	if len(f.c) == cap(f.c) || f.bytes > 0 && f.bytes+size > followBytes {
		return false
	}
	f.c <- s // there is room, and nobody else sends
	f.sizes, f.bytes = append(f.sizes, size), f.bytes+size
	return true
}

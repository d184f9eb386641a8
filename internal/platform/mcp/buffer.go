package mcp

import "sync"

// Buffers come in sizes that grow eightfold. keepSize is the largest that a
// session holds on to while it is idle.
const (
	baseSize  = 32 << 10
	keepSize  = 256 << 10
	largeSize = 2 << 20
)

// buffers hands out byte slices by size and takes them back. What is larger
// than largeSize is left to the garbage collector, which also empties the
// rest when nobody asks for it.
type buffers struct {
	small, base, keep, large sync.Pool // of *[]byte
}

// get returns an empty slice with room for at least n bytes.
func (p *buffers) get(n int) *[]byte {
	pool, size := p.class(n)
	if pool != nil {
		if b, ok := pool.Get().(*[]byte); ok {
			return b
		}
	}
	b := make([]byte, 0, max(n, size))
	return &b
}

// put takes b back; its bytes must not be used any more.
func (p *buffers) put(b *[]byte) {
	// A slice that has grown belongs where its room suffices.
	switch c := cap(*b); {
	case c < baseSize:
		if c >= smallSize {
			*b = (*b)[:0]
			p.small.Put(b)
		}
	case c > largeSize:
	default:
		pool := &p.base
		if c >= largeSize {
			pool = &p.large
		} else if c >= keepSize {
			pool = &p.keep
		}
		*b = (*b)[:0]
		pool.Put(b)
	}
}

const smallSize = 2 << 10

func (p *buffers) class(n int) (*sync.Pool, int) {
	switch {
	case n <= smallSize:
		return &p.small, smallSize
	case n <= baseSize:
		return &p.base, baseSize
	case n <= keepSize:
		return &p.keep, keepSize
	case n <= largeSize:
		return &p.large, largeSize
	}
	return nil, 0
}

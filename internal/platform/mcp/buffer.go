package mcp

import "sync"

// bufferSizes are the sizes that buffers come in, in bytes.
var bufferSizes = [...]int{smallSize, baseSize, keepSize, largeSize}

const (
	smallSize = 2 << 10
	baseSize  = 32 << 10  // what a reader begins with
	keepSize  = 256 << 10 // the most that an idle reader holds on to
	largeSize = 2 << 20   // the most that is kept for others
)

// buffers hands out byte slices by size and takes them back. What is larger
// than the largest size is left to the garbage collector, which also empties
// the rest when nobody asks for it. Each transport and session has its own.
type buffers struct {
	pools [len(bufferSizes)]sync.Pool // of *[]byte
}

// get returns an empty slice with room for at least n bytes.
func (p *buffers) get(n int) *[]byte {
	for i, size := range bufferSizes {
		if n > size {
			continue
		}
		if b, ok := p.pools[i].Get().(*[]byte); ok {
			return b
		}
		n = size
		break
	}
	b := make([]byte, 0, n)
	return &b
}

// put takes b back; its bytes must not be used any more. A slice that has grown
// goes where its room suffices.
func (p *buffers) put(b *[]byte) {
	if cap(*b) > largeSize {
		return
	}
	for i := len(bufferSizes) - 1; i >= 0; i-- {
		if cap(*b) >= bufferSizes[i] {
			*b = (*b)[:0]
			p.pools[i].Put(b)
			return
		}
	}
}

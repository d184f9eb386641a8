package mcp

import (
	"bytes"
	"io"
	"sync/atomic"
	"time"
)

const (
	headSize = 64 << 10 // of an oversized line, kept to find its id
	tailSize = 256
	readSize = 4 << 10 // no read is given less room than this

	// A source that never pauses must not keep a core busy: once it has sent
	// floodFree bytes and twice the longest line and nothing of use, it is read
	// a slice at a time with pauses between, which makes it wait.
	floodFree  = 1 << 20
	floodSlice = 256 << 10
	floodPause = 10 * time.Millisecond
)

// lines reads lines of any split from a source, with bounded memory.
type lines struct {
	r    io.Reader
	max  int // longest line, in bytes without its end
	pool *buffers

	box              *[]byte // where buf comes from and goes back to
	buf              []byte
	start, seen, end int   // unread bytes are buf[start:end]; up to seen there is no line feed
	useless          int   // bytes read since its owner last set it to 0 for something of use
	err              error // of r, once it has ended
	cut              bool  // the line returned last is the last one, and has no line feed
	// open is how many bytes of a line were there when it was read on last;
	// anybody may look.
	open atomic.Int64
}

// A longLine is what is kept of a line beyond the limit.
type longLine struct {
	head, tail []byte
	size       int64
}

// next returns the next line without its line feed, valid until the call
// after. The bytes after the last line feed are a line too. A line beyond the
// limit is read to its end but returned as long.
func (l *lines) next() (line []byte, long *longLine, err error) {
	for {
		if line, ok := l.find(); ok {
			l.drop(line)
			return l.limited(line)
		}
		switch {
		case l.end-l.start > l.max:
			return nil, l.skip(), nil
		case l.err != nil && l.start < l.end:
			line = l.buf[l.start:l.end]
			l.start, l.cut = l.end, true
			return l.limited(line)
		case l.err != nil:
			l.release()
			return nil, nil, l.err
		}
		l.fill()
	}
}

// find returns the next line if all of it is in the buffer, and leaves it there.
func (l *lines) find() (line []byte, ok bool) {
	k := bytes.IndexByte(l.buf[l.seen:l.end], '\n')
	if k < 0 {
		l.seen = l.end
		return nil, false
	}
	l.seen += k
	return l.buf[l.start:l.seen], true
}

// drop takes the line that find returned out of the buffer.
func (l *lines) drop(line []byte) {
	l.start += len(line) + 1
	l.seen = l.start
}

func (l *lines) limited(line []byte) ([]byte, *longLine, error) {
	if len(line) <= l.max {
		return line, nil, nil
	}
	long := &longLine{size: int64(len(line))}
	long.head = line[:min(len(line), headSize)]
	long.tail = line[max(0, len(line)-tailSize):]
	return nil, long, nil
}

// fill makes room and reads once.
func (l *lines) fill() {
	if l.start == l.end {
		l.start, l.seen, l.end = 0, 0, 0
		if len(l.buf) > keepSize {
			l.release()
		}
	}
	if len(l.buf)-l.end < readSize {
		l.room()
	}
	l.open.Store(int64(l.end - l.start))
	for range 100 {
		n, err := l.r.Read(l.buf[l.end:])
		l.end += n
		l.err = err
		if l.useless += n; l.useless > floodFree+2*l.max {
			time.Sleep(floodPause)
			l.useless -= floodSlice
		}
		if n > 0 || err != nil {
			return
		}
	}
	l.err = io.ErrNoProgress
}

// room moves the unread bytes to the front, into a larger buffer when they
// fill this one.
func (l *lines) room() {
	unread := l.end - l.start
	if l.start > 0 && len(l.buf)-unread >= readSize {
		copy(l.buf, l.buf[l.start:l.end])
	} else {
		size := baseSize
		if len(l.buf) > 0 {
			size = min(len(l.buf)*8, max(keepSize, len(l.buf)*2))
			size = max(min(size, l.max+baseSize), len(l.buf)+readSize)
		}
		box := l.pool.get(size)
		buf := (*box)[:cap(*box)]
		copy(buf, l.buf[l.start:l.end])
		l.release()
		l.box, l.buf = box, buf
	}
	l.start, l.seen, l.end = 0, l.seen-l.start, unread
}

// release gives the buffer back; unread bytes are lost.
func (l *lines) release() {
	if l.box != nil {
		l.pool.put(l.box)
	}
	l.box, l.buf = nil, nil
}

// skip reads to the end of a line that is too long. It keeps the head and the
// tail of it, and what follows the line.
func (l *lines) skip() *longLine {
	long := &longLine{}
	for {
		chunk := l.buf[l.start:l.end]
		k := bytes.IndexByte(chunk, '\n')
		if k >= 0 {
			chunk = chunk[:k]
		}
		long.size += int64(len(chunk))
		long.head = append(long.head, chunk[:min(len(chunk), headSize-len(long.head))]...)
		if len(chunk) >= tailSize {
			long.tail = long.tail[:0]
		} else if over := len(long.tail) + len(chunk) - tailSize; over > 0 {
			long.tail = long.tail[:copy(long.tail, long.tail[over:])]
		}
		long.tail = append(long.tail, chunk[max(0, len(chunk)-tailSize):]...)
		if k >= 0 {
			l.start += k + 1
			l.seen = l.start
			return long
		}
		l.start = l.end
		l.seen = l.end
		if l.err != nil {
			return long
		}
		l.fill()
	}
}

package mcp

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"time"
)

const (
	maxEventID = 4 << 10   // longer ids are not kept
	maxRetry   = time.Hour // longer waits are not believed
)

// An eventReader reads a text/event-stream of any framing, with bounded memory
// (HTML Living Standard, 9.2 server-sent events): lines end with LF, CRLF or
// CR, wherever the chunks of the connection end.
type eventReader struct {
	r    io.Reader
	max  int // most data of one event, in bytes
	pool *buffers

	// lastID is the id that a reconnect names, retry how long the server wants
	// it to wait; negative: it did not say. Both count from the last whole
	// event on.
	lastID string
	retry  time.Duration

	box *[]byte // where buf comes from and goes back to
	buf []byte
	// buf[from:to] is the data of the event being read, if hasData; buf[pos:end]
	// is unread, and up to seen there is no line end.
	from, to       int
	pos, seen, end int
	hasData        bool
	begun          bool      // the first line has been read
	afterCR        bool      // a line feed that comes next belongs to the line before
	name           string    // of the event being read
	id             string    // of it, or of an earlier one
	long           *longLine // what is kept of its data when that is too much
	err            error     // of r, once it has ended
}

// An event is one event of the stream.
type event struct {
	name string    // empty: message
	data []byte    // valid until the next call; nil if long is set
	long *longLine // data beyond the limit
}

func newEventReader(r io.Reader, max int, pool *buffers) *eventReader {
	return &eventReader{r: r, max: max, pool: pool, retry: -1}
}

// next returns the next event that has data. The error is that of the reader.
// An event that breaks off is dropped, since a resumed stream brings it again;
// but at a regular end of the stream a whole message without its blank line is
// an event.
func (e *eventReader) next() (event, error) {
	e.begin()
	for {
		if from, to, ok := e.line(); ok {
			if from < to {
				e.field(from, to)
				continue
			}
			e.lastID = e.id
			if ev, ok := e.complete(); ok {
				return ev, nil
			}
			continue
		}
		switch {
		case e.held() > e.max+readSize:
			e.skip()
		case e.err != nil:
			return e.last()
		default:
			e.fill()
		}
	}
}

// json tells whether what comes is JSON and no stream of events: some servers
// give answers the wrong type. It waits for the first bytes.
func (e *eventReader) json() bool {
	text := bytes.TrimSpace(bytes.TrimPrefix(e.peek(), byteOrderMark))
	return len(text) > 0 && (text[0] == '{' || text[0] == '[')
}

// events tells whether what comes begins like a stream of events, as json does.
func (e *eventReader) events() bool { return isEvents(e.peek()) }

// peek returns the first bytes, for which it waits.
func (e *eventReader) peek() []byte {
	if e.pos == e.end && e.err == nil {
		e.fill()
	}
	return e.buf[e.pos:e.end]
}

// rest gives back what was read of body, whose reader e is; it is of no use any
// more.
func (e *eventReader) rest(body io.ReadCloser) io.ReadCloser {
	begin := bytes.Clone(e.buf[e.pos:e.end])
	e.release()
	return beginning(begin, body)
}

// isEvents tells whether a text begins like a stream of events, as JSON never
// does.
func isEvents(text []byte) bool {
	text = bytes.TrimLeft(bytes.TrimPrefix(text, byteOrderMark), "\r\n")
	for _, field := range []string{"data:", "event:", "id:", "retry:", ":"} {
		if bytes.HasPrefix(text, []byte(field)) {
			return true
		}
	}
	return false
}

// begin makes room for a new event.
func (e *eventReader) begin() {
	e.hasData, e.name, e.long = false, "", nil
	if e.pos == e.end {
		e.pos, e.seen, e.end = 0, 0, 0
		if len(e.buf) > keepSize {
			e.release()
		}
	}
}

// held is how many bytes belong to the event being read.
func (e *eventReader) held() int {
	n := e.end - e.pos
	if e.hasData {
		n += e.to - e.from
	}
	return n
}

// line finds the next whole line, without its end.
func (e *eventReader) line() (from, to int, ok bool) {
	if e.afterCR && e.pos < e.end {
		e.afterCR = false
		if e.buf[e.pos] == '\n' {
			e.pos++
			e.seen = max(e.seen, e.pos)
		}
	}
	k := lineEnd(e.buf[e.seen:e.end])
	if k < 0 {
		e.seen = e.end
		return 0, 0, false
	}
	from, to = e.pos, e.seen+k
	e.afterCR = e.buf[to] == '\r'
	e.pos, e.seen = to+1, to+1
	if !e.begun {
		e.begun = true
		if bytes.HasPrefix(e.buf[from:to], byteOrderMark) {
			from += len(byteOrderMark)
		}
	}
	return from, to, true
}

// lineEnd returns the index of the first LF or CR; -1 if there is none.
func lineEnd(b []byte) int {
	lf := bytes.IndexByte(b, '\n')
	if lf >= 0 {
		b = b[:lf]
	}
	if cr := bytes.IndexByte(b, '\r'); cr >= 0 {
		return cr
	}
	return lf
}

// field takes the line buf[from:to].
func (e *eventReader) field(from, to int) {
	line := e.buf[from:to]
	name, value := line, to
	// The names that count are short.
	if colon := bytes.IndexByte(line[:min(len(line), 8)], ':'); colon >= 0 {
		name, value = line[:colon], from+colon+1
		if value < to && e.buf[value] == ' ' {
			value++
		}
	}
	text := e.buf[value:to]
	switch string(name) {
	case "data":
		e.data(value, to)
	case "event":
		e.name = string(clip(text, maxEventID))
	case "id":
		if len(text) <= maxEventID && bytes.IndexFunc(text, isControl) < 0 {
			e.id = string(text)
		}
	case "retry":
		if d, ok := milliseconds(text); ok {
			e.retry = d
		}
	}
}

func isControl(r rune) bool { return r < ' ' || r == 0x7f }

func milliseconds(text []byte) (time.Duration, bool) {
	if len(text) == 0 {
		return 0, false
	}
	var d time.Duration
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		d = min(d*10+time.Duration(c-'0')*time.Millisecond, maxRetry)
	}
	return d, true
}

// data adds buf[from:to] to the data of the event. What there is already lies
// before it, so the two are joined in place.
func (e *eventReader) data(from, to int) {
	switch {
	case e.long != nil:
		e.long.add([]byte{'\n'})
		e.long.add(e.buf[from:to])
		return
	case !e.hasData:
		e.hasData, e.from, e.to = true, from, to
	default:
		e.buf[e.to] = '\n'
		e.to += 1 + copy(e.buf[e.to+1:], e.buf[from:to])
	}
	if e.to-e.from > e.max {
		e.lengthen()
	}
}

// lengthen keeps of the data no more than its ends.
func (e *eventReader) lengthen() {
	e.long = &longLine{}
	if e.hasData {
		e.long.add(e.buf[e.from:e.to])
		e.hasData = false
	}
}

// add appends to what is kept of data that is too long.
func (l *longLine) add(b []byte) {
	l.size += int64(len(b))
	l.head = append(l.head, b[:min(len(b), headSize-len(l.head))]...)
	if len(b) >= tailSize {
		l.tail = append(l.tail[:0], b[len(b)-tailSize:]...)
		return
	}
	l.tail = append(l.tail, b...)
	if over := len(l.tail) - tailSize; over > 0 {
		l.tail = l.tail[:copy(l.tail, l.tail[over:])]
	}
}

// complete returns the event that a blank line ends, if it has data.
func (e *eventReader) complete() (event, bool) {
	ev := event{name: e.name, long: e.long}
	if e.hasData && e.to > e.from {
		ev.data = e.buf[e.from:e.to]
	}
	ok := ev.data != nil || ev.long != nil
	if !ok {
		e.hasData, e.name = false, ""
	}
	return ev, ok
}

// skip drops the line being read, with which the event gets too long. If it is
// data its ends are kept.
func (e *eventReader) skip() {
	value, ok := bytes.CutPrefix(e.buf[e.pos:e.end], []byte("data:"))
	if !ok {
		e.drop(func([]byte) {})
		return
	}
	if e.hasData || e.long != nil {
		value = append([]byte{'\n'}, bytes.TrimPrefix(value, []byte(" "))...)
	} else {
		value = bytes.TrimPrefix(value, []byte(" "))
	}
	if e.long == nil {
		e.lengthen()
	}
	e.long.add(value)
	e.drop(e.long.add)
}

// drop reads to the end of the line and shows the bytes to see.
func (e *eventReader) drop(see func([]byte)) {
	e.begun = true
	for {
		e.pos, e.seen = e.end, e.end
		if e.err != nil {
			return
		}
		e.fill()
		chunk := e.buf[e.pos:e.end]
		if k := lineEnd(chunk); k >= 0 {
			see(chunk[:k])
			e.afterCR = chunk[k] == '\r'
			e.pos += k + 1
			e.seen = e.pos
			return
		}
		see(chunk)
	}
}

// last returns what the end of the stream leaves: a whole message that only
// lacks its blank line, or the error.
func (e *eventReader) last() (event, error) {
	if errors.Is(e.err, io.EOF) && e.long == nil {
		if e.pos < e.end {
			from := e.pos
			e.pos, e.seen = e.end, e.end
			e.field(from, e.end)
		}
		if ev, ok := e.complete(); ok && json.Valid(ev.data) {
			e.lastID = e.id
			return ev, nil
		}
	}
	e.release()
	return event{}, e.err
}

// fill makes room and reads once.
func (e *eventReader) fill() {
	if len(e.buf)-e.end < readSize {
		e.room()
	}
	for range 100 {
		n, err := e.r.Read(e.buf[e.end:])
		e.end += n
		e.err = err
		if n > 0 || err != nil {
			return
		}
	}
	e.err = io.ErrNoProgress
}

// room moves what is held to the front, into a larger buffer when it fills
// this one.
func (e *eventReader) room() {
	buf, held := e.buf, e.held()+1
	var box *[]byte
	if len(buf)-held < readSize {
		size := baseSize
		if len(buf) > 0 {
			size = min(len(buf)*8, max(keepSize, len(buf)*2))
			size = max(min(size, e.max+baseSize), held+readSize)
		}
		box = e.pool.get(size)
		buf = (*box)[:cap(*box)]
	}
	at := 0
	if e.hasData {
		at = copy(buf, e.buf[e.from:e.to])
		e.from, e.to = 0, at
		at++ // the line feed that joins the next line
	}
	unread := copy(buf[at:], e.buf[e.pos:e.end])
	e.seen += at - e.pos
	e.pos, e.end = at, at+unread
	if box != nil {
		if e.box != nil {
			e.pool.put(e.box)
		}
		e.box, e.buf = box, buf
	}
}

// release gives the buffer back; what is in it is lost.
func (e *eventReader) release() {
	if e.box != nil {
		e.pool.put(e.box)
	}
	e.box, e.buf = nil, nil
	e.pos, e.seen, e.end, e.hasData = 0, 0, 0, false
}

package mcp

import "fmt"

// maxDepth is how many containers may be open inside one value. Real results
// stay under 50; a recursive reader downstream must not be made to overflow.
const maxDepth = 1000

// A SyntaxError says where a frame stops being a JSON-RPC message.
type SyntaxError struct {
	Offset int    // byte offset from the start of the frame
	Reason string // what was expected there
}

// Error returns the reason and the offset.
func (e *SyntaxError) Error() string {
	return fmt.Sprintf("not a JSON-RPC message: %s at byte %d", e.Reason, e.Offset)
}

// A scanner walks over JSON text (RFC 8259) once and checks the whole grammar
// on its way. It decodes nothing. Methods return false at the first fault and
// leave its place in i and its nature in reason.
//
// Two things are borne: bytes in strings that are not UTF-8 are counted in bad,
// and escapes of lone surrogates are grammatical, so they pass.
type scanner struct {
	b       []byte
	i       int    // the next byte to read
	bad     int    // bytes that are not UTF-8; outside strings they are faults
	escaped bool   // the string read last holds an escape
	nameEnd int    // where the member name read last ends
	reason  string // set by fail
}

func (s *scanner) fail(reason string) bool {
	s.reason = reason
	return false
}

func (s *scanner) err() *SyntaxError {
	return &SyntaxError{Offset: s.i, Reason: s.reason}
}

// peek skips white space and returns the byte after it without consuming it;
// 0, which no grammar rule accepts, at the end.
func (s *scanner) peek() byte {
	b, i := s.b, s.i
	for i < len(b) {
		switch c := b[i]; c {
		case ' ', '\t', '\n', '\r':
			i++
		default:
			s.i = i
			return c
		}
	}
	s.i = i
	return 0
}

// value reads one value of any kind.
func (s *scanner) value() bool {
	switch s.peek() {
	case '{', '[':
		return s.container()
	case '"':
		return s.text()
	default:
		return s.scalar()
	}
}

// container reads an object or an array without recursion.
func (s *scanner) container() bool {
	var object [maxDepth/64 + 1]uint64 // a bit for each open container: is it an object
	depth := 0
	for {
		// A value begins here.
		switch s.peek() {
		case '{':
			if depth == maxDepth {
				return s.fail("too deep a nesting")
			}
			object[depth>>6] |= 1 << (depth & 63)
			depth++
			s.i++
			if s.peek() != '}' {
				if !s.key() {
					return false
				}
				continue
			}
			s.i++
			depth--
		case '[':
			if depth == maxDepth {
				return s.fail("too deep a nesting")
			}
			object[depth>>6] &^= 1 << (depth & 63)
			depth++
			s.i++
			if s.peek() != ']' {
				continue
			}
			s.i++
			depth--
		case '"':
			if !s.text() {
				return false
			}
		default:
			if !s.scalar() {
				return false
			}
		}
		// A value has ended; so may the containers around it.
	closing:
		for {
			if depth == 0 {
				return true
			}
			inObject := object[(depth-1)>>6]>>((depth-1)&63)&1 == 1
			switch c := s.peek(); {
			case c == ',' && inObject:
				s.i++
				if !s.key() {
					return false
				}
				break closing
			case c == ',':
				s.i++
				break closing
			case c == '}' && inObject, c == ']' && !inObject:
				s.i++
				depth--
			case inObject:
				return s.fail("expected , or }")
			default:
				return s.fail("expected , or ]")
			}
		}
	}
}

// key reads a member's name and the colon after it.
func (s *scanner) key() bool {
	if s.peek() != '"' {
		return s.fail("expected a member name")
	}
	if !s.text() {
		return false
	}
	s.nameEnd = s.i - 1
	if s.peek() != ':' {
		return s.fail("expected :")
	}
	s.i++
	return true
}

// enter consumes the opening byte of a container.
func (s *scanner) enter(open byte) bool {
	if s.peek() != open {
		return s.fail("expected " + string(open))
	}
	s.i++
	return true
}

// member steps to the next member of an object that was entered and returns
// its raw name without quotes. The scanner then stands at the first byte of
// the value, which the caller reads. ok without more is the end of the object.
func (s *scanner) member(first bool) (name []byte, more, ok bool) {
	c := s.peek()
	switch {
	case c == '}':
		s.i++
		return nil, false, true
	case !first && c == ',':
		s.i++
		s.peek()
	case !first:
		return nil, false, s.fail("expected , or }")
	}
	from := s.i + 1
	if !s.key() {
		return nil, false, false
	}
	name = s.b[from:s.nameEnd]
	if s.escaped {
		name = []byte(unquote(s.b[from-1 : s.nameEnd+1]))
	}
	s.peek()
	return name, true, true
}

// element steps to the next element of an array that was entered, as member does.
func (s *scanner) element(first bool) (more, ok bool) {
	c := s.peek()
	switch {
	case c == ']' && first:
		s.i++
		return false, true
	case first:
		return true, true
	case c == ']':
		s.i++
		return false, true
	case c == ',':
		s.i++
		s.peek()
		return true, true
	}
	return false, s.fail("expected , or ]")
}

// scalar reads a number, true, false or null.
func (s *scanner) scalar() bool {
	if s.i >= len(s.b) {
		return s.fail("unexpected end")
	}
	switch s.b[s.i] {
	case 't':
		return s.literal("true")
	case 'f':
		return s.literal("false")
	case 'n':
		return s.literal("null")
	}
	return s.number()
}

func (s *scanner) literal(word string) bool {
	if len(s.b)-s.i < len(word) || string(s.b[s.i:s.i+len(word)]) != word {
		return s.fail("expected a value")
	}
	s.i += len(word)
	return true
}

func (s *scanner) number() bool {
	b, i := s.b, s.i
	if i < len(b) && b[i] == '-' {
		i++
	}
	switch {
	case i < len(b) && b[i] == '0':
		i++
	case i < len(b) && '1' <= b[i] && b[i] <= '9':
		i = digits(b, i)
	default:
		return s.fail("expected a value")
	}
	if i < len(b) && b[i] == '.' {
		from := i + 1
		if i = digits(b, from); i == from {
			s.i = i
			return s.fail("expected a digit")
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		from := i
		if i = digits(b, from); i == from {
			s.i = i
			return s.fail("expected a digit")
		}
	}
	s.i = i
	return true
}

func digits(b []byte, i int) int {
	for i < len(b) && '0' <= b[i] && b[i] <= '9' {
		i++
	}
	return i
}

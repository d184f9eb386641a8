package mcp

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// look tells which of eight bytes need a look: quotes, backslashes, control
// characters and what is not ASCII. The lowest high bit that is set marks the
// first of them; those above it may be echoes of a borrow.
func look(w uint64) uint64 {
	return (w - ones*0x20) | ((w ^ ones*'"') - ones) | ((w ^ ones*'\\') - ones) | w
}

// plain returns where, from i on, the first byte needs a look, or a place no
// more than seven bytes before it.
func plain(b []byte, i int) int {
	// Escapes and characters often come close together.
	if len(b)-i >= 8 {
		if at := look(binary.LittleEndian.Uint64(b[i:])) & highs; at != 0 {
			return i + bits.TrailingZeros64(at)>>3
		}
		i += 8
	}
	for len(b)-i >= 32 {
		p := b[i : i+32 : i+32]
		if (look(binary.LittleEndian.Uint64(p))|look(binary.LittleEndian.Uint64(p[8:]))|
			look(binary.LittleEndian.Uint64(p[16:]))|look(binary.LittleEndian.Uint64(p[24:])))&highs != 0 {
			break
		}
		i += 32
	}
	for len(b)-i >= 8 {
		if at := look(binary.LittleEndian.Uint64(b[i:])) & highs; at != 0 {
			return i + bits.TrailingZeros64(at)>>3
		}
		i += 8
	}
	return i
}

// text reads a string, many bytes at a time where nothing needs a look.
func (s *scanner) text() bool {
	b, i := s.b, s.i+1
	s.escaped = false
	for {
		i = plain(b, i)
		if i >= len(b) {
			s.i = i
			return s.fail("unfinished string")
		}
		switch c := b[i]; {
		case c == '"':
			s.i = i + 1
			return true
		case c == '\\':
			s.escaped = true
			n := escape(b[i:])
			if n == 0 {
				s.i = i
				return s.fail("invalid escape")
			}
			i += n
		case c < 0x20:
			s.i = i
			return s.fail("control character in a string")
		case c < utf8.RuneSelf:
			i++
		default:
			i = s.unicode(i)
		}
	}
}

// unicode skips characters outside ASCII and counts bytes that are none.
func (s *scanner) unicode(i int) int {
	b := s.b
	for i < len(b) && b[i] >= utf8.RuneSelf {
		// Most of what is not ASCII is three bytes long and far from the
		// surrogates: Chinese, Japanese, punctuation.
		if c := b[i]; c > 0xe0 && c < 0xed && i+2 < len(b) && b[i+1]&0xc0 == 0x80 && b[i+2]&0xc0 == 0x80 {
			i += 3
			continue
		}
		r, n := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && n == 1 {
			s.bad++
		}
		i += n
	}
	return i
}

// escape returns the length of the escape b begins with, 0 if it is none.
func escape(b []byte) int {
	if len(b) < 2 {
		return 0
	}
	switch b[1] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return 2
	case 'u':
		if len(b) < 6 {
			return 0
		}
		for _, c := range b[2:6] {
			if !('0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f') {
				return 0
			}
		}
		return 6
	}
	return 0
}

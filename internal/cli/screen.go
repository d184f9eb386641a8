package cli

import (
	"io"
	"strings"
	"sync"
)

// A screen keeps a block of lines at the bottom of a terminal and draws it
// anew in place. Log lines written to it appear above the block.
type screen struct {
	out io.Writer // the terminal
	log io.Writer // the same terminal by another stream

	mu    sync.Mutex // guards the fields below and the order of what is written
	block string     // what is drawn; every line ends with a line break
}

// draw replaces the block.
func (s *screen) draw(block string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if block == s.block {
		return
	}
	_, _ = io.WriteString(s.out, s.erase()+block)
	s.block = block
}

// leave leaves the block where it is; it is drawn no more.
func (s *screen) leave() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.block = ""
}

// Write writes a log line above the block.
func (s *screen) Write(line []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.block == "" {
		return s.log.Write(line)
	}
	_, _ = io.WriteString(s.out, s.erase())
	n, err := s.log.Write(line)
	_, _ = io.WriteString(s.out, s.block)
	return n, err
}

// erase returns what takes the block off the terminal: up by its lines, and
// clear to the end.
func (s *screen) erase() string {
	return "\r" + strings.Repeat("\x1b[A", strings.Count(s.block, "\n")) + "\x1b[J"
}

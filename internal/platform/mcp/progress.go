package mcp

import (
	"strconv"
	"time"

	"github.com/aurorabot/aurora/internal/call"
)

// progressed gives one progress notification to its request (MCP 2025-11-25,
// basic/utilities/progress). The token of a request is its id. A token that is
// unknown, over or of another type is nobody's, and nothing happens.
func (s *Session) progressed(params []byte) {
	var p call.Progress
	token, said := int64(0), true
	members(params, func(name, value []byte) {
		switch string(name) {
		case "progressToken":
			if n, _, ok := integer(value); ok && value[0] != '"' {
				token = n
			}
		case "progress":
			p.Progress, said = float(value)
		case "total":
			p.Total, _ = float(value)
		case "message":
			if value[0] == '"' {
				p.Message = unquote(value)
			}
		}
	})

	s.progressing.Lock()
	defer s.progressing.Unlock()
	now := time.Since(s.start)
	s.mu.Lock()
	waiting := s.pending[token]
	if waiting == nil {
		s.mu.Unlock()
		s.log.Debug("dropped progress of no request in flight", "token", token)
		return
	}
	// The timer is not touched: it looks here when it fires.
	waiting.due = min(now+waiting.soft, waiting.hard)
	report := waiting.onProgress
	s.mu.Unlock()
	if report != nil && said {
		report(p)
	}
}

func float(raw []byte) (float64, bool) {
	f, err := strconv.ParseFloat(string(raw), 64)
	return f, err == nil
}

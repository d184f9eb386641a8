package testkit

import (
	"encoding/json"
	"errors"
)

// write writes bytes to stdout as they are, in the pieces the framing asks for.
// Errors are no concern of a server: its client is gone.
func (s *server) write(data []byte, f framing) {
	s.outMu.Lock()
	defer s.outMu.Unlock()
	if f.piece <= 0 {
		_, _ = s.out.Write(data)
		return
	}
	for len(data) > 0 && s.ctx.Err() == nil {
		n := min(f.piece, len(data))
		if _, err := s.out.Write(data[:n]); err != nil {
			return
		}
		data = data[n:]
		if f.pause > 0 {
			s.sleep(f.pause)
		}
	}
}

// send writes one frame.
func (s *server) send(frame []byte) {
	s.mu.Lock()
	f := s.framing
	s.mu.Unlock()
	data := make([]byte, 0, len(f.begin)+len(frame)+len(f.end))
	data = append(append(append(data, f.begin...), frame...), f.end...)
	s.write(data, f)
}

// reply answers the message at hand; key is "result" or "error".
func (t *turn) reply(key string, body []byte) error {
	if t.msg == nil || t.msg.ID == nil {
		return errors.New("there is no request to answer here")
	}
	for _, one := range t.server.script.before {
		if err := one.do(t); err != nil {
			return one.at.place(err)
		}
	}
	t.server.mu.Lock()
	style := t.server.ids
	t.server.mu.Unlock()
	id := string(t.msg.ID)
	switch {
	case style == idsQuoted && id[0] != '"':
		id = `"` + id + `"`
	case style == idsFloat && id[0] != '"':
		id += ".0"
	}
	frame := make([]byte, 0, len(body)+len(id)+40)
	frame = append(frame, `{"jsonrpc":"2.0","id":`...)
	frame = append(frame, id...)
	frame = append(frame, `,"`...)
	frame = append(frame, key...)
	frame = append(frame, `":`...)
	frame = append(frame, body...)
	frame = append(frame, '}')
	t.server.send(frame)
	return nil
}

func (t *turn) refuse(err error) error {
	code, data := int64(-32603), json.RawMessage(nil)
	var rpc *rpcError
	if errors.As(err, &rpc) {
		code, data = rpc.code, rpc.data
	}
	body, encErr := encode(struct {
		Code    int64           `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data,omitempty"`
	}{code, err.Error(), data})
	if encErr != nil {
		return encErr
	}
	return t.reply("error", body)
}

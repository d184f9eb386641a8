package node

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"time"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/brain/bus"
	"github.com/aurorabot/aurora/internal/brain/unit"
	"github.com/aurorabot/aurora/internal/spool"
)

// ownSource is the source of the events that the brain makes itself.
var ownSource = amp.Source{App: "aurora", Instance: "brain"}

// isOwn reports whether the brain made an event itself. No app has this source,
// for an app's is the package of its connection.
func isOwn(e *amp.Envelope) bool { return e.Header.Source == ownSource }

// ownEvent makes an event of the brain's own. The key names it: the same key
// makes the same event, with the same id and file name.
func ownEvent(key string, method amp.Method, typ, summary string, data any, at time.Time) (*amp.Envelope, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(data); err != nil {
		return nil, fmt.Errorf("event %s: %w", typ, err)
	}
	sum := sha256.Sum256([]byte(key))
	id := "brain-" + hex.EncodeToString(sum[:16])
	now := time.Now().Truncate(time.Microsecond)
	return &amp.Envelope{
		Header: amp.Header{
			Method: method, MessageID: id, Timestamp: at.Truncate(time.Microsecond), Source: ownSource,
			// Numbers are microseconds, as the bridge's are, so that both keep one
			// order.
			Aurora: &amp.Aurora{Seq: uint64(now.UnixMicro()), ReceivedAt: now, TraceID: id, Trust: amp.TrustHigh},
		},
		Payload: amp.Payload{Type: typ, Summary: summary, Data: bytes.TrimSpace(b.Bytes())},
	}, nil
}

// emitEvent puts an event into each of the queues that does not have it yet.
func emitEvent(queues []*spool.Spool, e *amp.Envelope) error {
	data, err := e.MarshalJSON()
	if err != nil {
		return fmt.Errorf("event %s: %w", e.Payload.Type, err)
	}
	it := spool.Item{Name: e.FileName(true), Data: append(data, '\n'), Place: unit.EventPlace(e)}
	for _, q := range queues {
		if err := bus.PutOnce(q, it); err != nil {
			return err
		}
	}
	return nil
}

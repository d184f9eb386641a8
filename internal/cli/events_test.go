package cli

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/aurorabot/aurora/internal/control"
)

func TestAnEventWithoutASummaryShowsWhatWasSaid(t *testing.T) {
	for payload, want := range map[string]string{
		`"type":"message.received","summary":"小明说话了","data":{"text":"你好"}`:            "小明说话了",
		`"type":"message.received","summary":"","data":{"text":"你好\n世界","user_id":1}`: "你好",
		`"type":"message.received","summary":"","data":{"message_text":"hi"}`:         "hi",
		`"type":"message.received","summary":"","data":{"image":"x"}`:                 `{"image":"x"}`,
		`"type":"weather.reported","summary":"","data":{"text":"sunny"}`:              `{"text":"sunny"}`,
	} {
		l := lineOf(control.EventFile{Envelope: json.RawMessage(fmt.Sprintf(`{"header":{"protocol":"amp/1.0","method":"aurora/event","message_id":"m","timestamp":"2026-06-17T14:30:00Z","source":{"app":"a.b"}},"payload":{%s,"session_id":"","expire_at":null}}`, payload))})
		if l.summary != want {
			t.Errorf("%s is shown as %q, want %q", payload, l.summary, want)
		}
	}
}

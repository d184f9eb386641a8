package amp

import (
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"
	"time"
)

// The two envelopes of the design documents, word for word.
const (
	documentA = `{
  "header": {
    "protocol": "amp/1.0",
    "method": "mcp.notification",
    "message_id": "018f2f4c-7b2a-7b8a-9c31-2e9a0b9b2d11",
    "timestamp": "2026-06-17T14:30:00+08:00",
    "source": {
      "app": "im.polaris.qq",
      "instance": "qq-server-01"
    }
  },
  "payload": {
    "type": "message.received",
    "session_id": "group_123456",
    "summary": "群聊收到一条新消息",
    "data": {
      "user_id": "987654",
      "group_id": "123456",
      "message_text": "今天天气怎么样",
      "is_group": true
    },
    "expire_at": "2026-06-17T14:35:00+08:00"
  }
}`
	documentC = `{
	"header": {
		"protocol": "amp/1.0",
    "method": "aurora/event",
    "message_id": "uuid",
    "timestamp": "2026-06-19T12:00:00+08:00",
    "source": {
      "app": "im.polaris.qq",
      "instance": "default"
    }
  },
  "payload": {
    "type": "message.received",
    "session_id": "group_123456",
    "summary": "收到一条群消息",
    "data": {
      "text": "你好"
    },
    "expire_at": null
  }
}`
)

func TestTheDocumentsEnvelopesComeBackAsTheyWere(t *testing.T) {
	for name, doc := range map[string]string{"A": documentA, "C": documentC} {
		t.Run(name, func(t *testing.T) {
			e, err := Parse([]byte(doc))
			if err != nil {
				t.Fatal(err)
			}
			got, err := json.Marshal(e)
			if err != nil {
				t.Fatal(err)
			}
			var compact strings.Builder
			for _, line := range strings.Split(doc, "\n") {
				compact.WriteString(strings.TrimSpace(line))
			}
			if want := strings.ReplaceAll(compact.String(), `": `, `":`); string(got) != want {
				t.Errorf("got  %s\nwant %s", got, want)
			}
		})
	}
}

func TestUnknownFieldsAndNumberTextAreKept(t *testing.T) {
	const in = `{"header":{"protocol":"amp/1.0","method":"aurora/event","message_id":"1","timestamp":"2026-06-19T12:00:00Z","source":{"app":"a.b"},"aurora":{"seq":7,"received_at":"2026-06-19T12:00:01Z"},"hop":3},"payload":{"type":"x.y","data":{"n":12345678901234567890,"e":1e400,"h":"<&>"},"expire_at":null,"importance":99}}`
	e, err := Parse([]byte(in))
	if err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	// json.Marshal escapes HTML once more; the envelope itself does not.
	if got := strings.ReplaceAll(strings.ReplaceAll(strings.ReplaceAll(string(out), `\u003c`, "<"), `\u003e`, ">"), `\u0026`, "&"); got != in {
		t.Errorf("got  %s\nwant %s", got, in)
	}
}

func TestEveryFaultIsNamedWithItsPlace(t *testing.T) {
	tests := []struct {
		name, in string
		want     []string
	}{
		{"not JSON", `{"header":`, []string{"event: must be a JSON object"}},
		{"not an object", `[1]`, []string{"event: must be a JSON object"}},
		{"null", `null`, []string{"event: must be a JSON object, not null"}},
		{"nothing in it", `{}`, []string{"header: is missing", "payload: is missing"}},
		{"another protocol", `{"header":{"protocol":"amp/2.0"},"payload":{}}`, []string{`header.protocol: is "amp/2.0"`}},
		{"id is a number", `{"header":{"protocol":"amp/1.0","message_id":7},"payload":{}}`, []string{"header.message_id: must be a string, not 7"}},
		{"no zone", `{"header":{"protocol":"amp/1.0","timestamp":"2026-06-17T14:30:00"},"payload":{}}`, []string{"header.timestamp: must be RFC 3339 with a time zone"}},
		{"no such zone", `{"header":{"protocol":"amp/1.0","timestamp":"2026-06-17T14:30:00+24:00"},"payload":{"expire_at":"2026-06-17T14:30:00-23:60"}}`,
			[]string{"header.timestamp: has a time zone that there is not", "payload.expire_at: has a time zone that there is not"}},
		{"deep", `{"header":{},"payload":{"data":` + strings.Repeat("[", 999) + strings.Repeat("]", 999) + `}}`, []string{"event: nests deeper than 1000 levels"}},
		{"many at once", `{"header":{"protocol":"amp/1.0","method":"mcp.x","message_id":"1"},"payload":{"type":5}}`,
			[]string{`header.method: "mcp.x" is not a method`, "header.timestamp: is missing", "header.source.app: is missing", "payload.type: must be a string"}},
		{"long id", `{"header":{"protocol":"amp/1.0","message_id":"` + strings.Repeat("界", 513) + `"},"payload":{}}`, []string{"header.message_id: has 513 characters"}},
		{"control character", `{"header":{},"payload":{"type":"a\nb"}}`, []string{"payload.type: has a control character at byte 1"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, err := Parse([]byte(tt.in))
			var invalid *Invalid
			if !errors.As(err, &invalid) {
				t.Fatalf("got %v, want an *Invalid", err)
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%v\n  does not say %q", err, want)
				}
			}
		})
	}
}

func TestAnEmissionMayBeWholeOrBare(t *testing.T) {
	whole, err := ParseEmission([]byte(documentC))
	if err != nil {
		t.Fatal(err)
	}
	if whole.MessageID != "uuid" || whole.Source.Instance != "default" || whole.Type != "message.received" || whole.SessionID != "group_123456" {
		t.Errorf("whole: %+v", whole)
	}
	bare, err := ParseEmission([]byte(`{"type":"weather.reported","session_id":"s","data":[1],"expire_at":"2026-06-17T14:35:00+08:00","message_id":"m","mood":"good"}`))
	if err != nil {
		t.Fatal(err)
	}
	if bare.MessageID != "m" || string(bare.Data) != "[1]" || bare.ExpireAt.IsZero() || string(bare.Extra["mood"]) != `"good"` {
		t.Errorf("bare: %+v", bare)
	}
	for _, bad := range []string{`{}`, `{"type":""}`, `{"type":"a","message_id":1}`, `{"type":"a","expire_at":"tomorrow"}`, `{"type":"a","timestamp":"2026-06-17T14:30:00+24:00"}`, `{"type":"a","data":` + strings.Repeat("[", 1000) + strings.Repeat("]", 1000) + `}`, `"x"`, `{"header":{},"payload":{"type":null}}`} {
		if _, err := ParseEmission([]byte(bad)); err == nil {
			t.Errorf("%s was accepted", bad)
		}
	}
}

func TestExpiry(t *testing.T) {
	at := time.Date(2026, 6, 17, 14, 35, 0, 0, time.UTC)
	e := &Envelope{Payload: Payload{ExpireAt: at}}
	for now, want := range map[time.Time]bool{at.Add(-1): false, at: true, at.Add(1): true} {
		if got := e.Expired(now); got != want {
			t.Errorf("at %v: got %v", now, got)
		}
	}
	if (&Envelope{}).Expired(at) {
		t.Error("an event without expire_at expired")
	}
}

func TestMessageReadsBothSpellings(t *testing.T) {
	for in, want := range map[string]Message{
		`{"message_text":"hi","user_id":987654,"group_id":"1","is_group":true}`: {Text: "hi", UserID: "987654", GroupID: "1", IsGroup: true},
		`{"text":"hi","message_text":"old","user_id":"u"}`:                      {Text: "hi", UserID: "u"},
		`{"text":"","message_text":"old","group_id":12345678901234567890}`:      {GroupID: "12345678901234567890", IsGroup: true},
		`{"user_id":null}`: {},
	} {
		var got Message
		if err := json.Unmarshal([]byte(in), &got); err != nil || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %+v, %v", in, got, err)
		}
	}
	out, err := json.Marshal(Message{Text: "你好", UserID: "7"})
	if err != nil || string(out) != `{"text":"你好","user_id":"7","is_group":false}` {
		t.Errorf("wrote %s, %v", out, err)
	}
}

package amp_test

import (
	"bytes"
	"encoding/json"
	"os"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/aurorabot/aurora/amp"
)

// What the package writes fits the published schema, and the schema refuses
// what the package refuses.
func TestThePublishedSchemaAgrees(t *testing.T) {
	text, err := os.ReadFile("../docs/schemas/amp-envelope.json")
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("amp.json", doc); err != nil {
		t.Fatal(err)
	}
	schema, err := c.Compile("amp.json")
	if err != nil {
		t.Fatal(err)
	}
	fits := func(data []byte) error {
		v, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
		if err != nil {
			t.Fatal(err)
		}
		return schema.Validate(v)
	}

	e := &amp.Envelope{
		Header: amp.Header{
			Method: amp.MethodEvent, MessageID: "1", Timestamp: time.Now(), Source: amp.Source{App: "a.b", Instance: "k"},
			Aurora: &amp.Aurora{Seq: 1, ReceivedAt: time.Now(), Trust: amp.TrustNormal},
		},
		Payload: amp.Payload{Type: "x.y", ExpireAt: time.Now()},
	}
	data, err := json.Marshal(e)
	if err != nil {
		t.Fatal(err)
	}
	if err := fits(data); err != nil {
		t.Errorf("%s\n%v", data, err)
	}
	for _, bad := range []string{
		`{}`,
		`{"header":{"protocol":"amp/2.0","method":"aurora/event","message_id":"1","timestamp":"2026-06-17T14:30:00Z","source":{"app":"a"}},"payload":{"type":"x"}}`,
		`{"header":{"protocol":"amp/1.0","method":"x","message_id":"1","timestamp":"2026-06-17T14:30:00Z","source":{"app":"a"}},"payload":{"type":"x"}}`,
		`{"header":{"protocol":"amp/1.0","method":"aurora/event","message_id":"","timestamp":"2026-06-17T14:30:00Z","source":{"app":"a"}},"payload":{"type":"x"}}`,
		`{"header":{"protocol":"amp/1.0","method":"aurora/event","message_id":"1","timestamp":"2026-06-17T14:30:00","source":{"app":"a"}},"payload":{"type":"x"}}`,
		`{"header":{"protocol":"amp/1.0","method":"aurora/event","message_id":"1","timestamp":"2026-06-17T14:30:00Z","source":{}},"payload":{"type":"x"}}`,
		`{"header":{"protocol":"amp/1.0","method":"aurora/event","message_id":"1","timestamp":"2026-06-17T14:30:00Z","source":{"app":"a"}},"payload":{"type":"a\nb"}}`,
	} {
		if fits([]byte(bad)) == nil {
			t.Errorf("the schema accepts %s", bad)
		}
		if _, err := amp.Parse([]byte(bad)); err == nil {
			t.Errorf("the package accepts %s", bad)
		}
	}
}

package testkit

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

func textStep(args string, do func(*turn, []byte) error) (func(*turn) error, error) {
	text, err := literal(args)
	if err != nil {
		return nil, err
	}
	tmpl, err := parseTemplate(text, false)
	if err != nil {
		return nil, err
	}
	// A frame is JSON more often than not: variables in it follow the quotes.
	if strings.HasPrefix(text, "{") || strings.HasPrefix(text, "[") {
		if tmpl, err = parseTemplate(text, true); err != nil {
			return nil, err
		}
		return func(t *turn) error {
			data, err := tmpl.json(t)
			if err != nil {
				return err
			}
			return do(t, data)
		}, nil
	}
	return func(t *turn) error {
		data, err := tmpl.text(t)
		if err != nil {
			return err
		}
		return do(t, data)
	}, nil
}

// jsonTemplate parses JSON with variables in it.
func jsonTemplate(text string) (*template, error) {
	tmpl, err := parseTemplate(text, true)
	if err != nil {
		return nil, err
	}
	if !json.Valid(tmpl.sample()) {
		return nil, fmt.Errorf("not JSON: %s (a frame that is wrong on purpose is written with send)", clip(text))
	}
	return tmpl, nil
}

func stderrStep(args string) (func(*turn) error, error) {
	if size, ok := strings.CutPrefix(args, "flood "); ok {
		n, err := parseSize(size)
		return func(t *turn) error {
			const form = "log line %09d: nothing to see here, the server is only talkative today\n"
			var lines []byte
			for written := 0; written < n && t.ended() == nil; written += len(lines) {
				for lines = lines[:0]; len(lines) < 4<<10 && written+len(lines) < n; {
					lines = fmt.Appendf(lines, form, written+len(lines))
				}
				if _, err := t.server.errOut.Write(lines); err != nil {
					break // nobody listens any more
				}
			}
			return t.ended()
		}, err
	}
	end := "\n"
	if text, ok := strings.CutPrefix(args, "raw "); ok {
		args, end = text, ""
	}
	return textStep(args, func(t *turn, text []byte) error {
		_, _ = t.server.errOut.Write(append(text, end...)) // nobody may be listening
		return nil
	})
}

// messageStep writes a notification, or a request if id is not empty.
func messageStep(id, args string) (func(*turn) error, error) {
	method, params, err := word(args)
	if err != nil || method == "" {
		return nil, errors.New("which method?")
	}
	head := `{"jsonrpc":"2.0",`
	if id != "" {
		head += `"id":` + id + `,`
	}
	name, err := encode(method)
	if err != nil {
		return nil, err
	}
	head += `"method":` + string(name)
	if params == "" {
		return func(t *turn) error { t.server.send([]byte(head + "}")); return nil }, nil
	}
	tmpl, err := jsonTemplate(params)
	return func(t *turn) error {
		body, err := tmpl.json(t)
		if err != nil {
			return err
		}
		t.server.send(append(append([]byte(head+`,"params":`), body...), '}'))
		return nil
	}, err
}

func (p *parser) progressStep(args string) (func(*turn) error, error) {
	if !p.inside {
		return nil, errors.New("progress stands in a block that handles a message")
	}
	words := strings.Fields(args)
	if len(words) > 2 {
		return nil, errors.New("write progress [VALUE [TOTAL]]")
	}
	if len(words) == 0 {
		words = []string{"${i}"}
	}
	body := `{"progressToken":${token},"progress":` + words[0]
	if len(words) == 2 {
		body += `,"total":` + words[1]
	}
	return messageStep("", "notifications/progress "+body+"}")
}

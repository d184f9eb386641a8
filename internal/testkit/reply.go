package testkit

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

func (p *parser) replyStep(args string) (func(*turn) error, error) {
	if !p.inside || p.before {
		return nil, errors.New("reply stands in a block that handles a message")
	}
	verb, rest, err := word(args)
	if err != nil {
		return nil, err
	}
	switch verb {
	case "":
		return nil, errors.New("reply what? JSON, default, text, fail or error")
	case "default":
		return defaultReply(rest)
	case "text", "fail":
		text, err := literal(rest)
		if err != nil {
			return nil, err
		}
		tmpl, err := parseTemplate(text, false)
		return func(t *turn) error {
			body, err := tmpl.stringBody(t)
			if err != nil {
				return err
			}
			result := append([]byte(`{"content":[{"type":"text","text":"`), body...)
			result = append(result, `"}]`...)
			if verb == "fail" {
				result = append(result, `,"isError":true`...)
			}
			return t.reply("result", append(result, '}'))
		}, err
	case "error":
		return errorReply(rest)
	}
	tmpl, err := jsonTemplate(args)
	return func(t *turn) error {
		result, err := tmpl.json(t)
		if err != nil {
			return err
		}
		return t.reply("result", result)
	}, err
}

func defaultReply(patch string) (func(*turn) error, error) {
	if patch == "" {
		patch = "{}"
	}
	tmpl, err := jsonTemplate(patch)
	return func(t *turn) error {
		result, err := t.server.answer(t.msg, true)
		if err != nil {
			return t.refuse(err)
		}
		changes, err := tmpl.json(t)
		if err != nil {
			return err
		}
		if patch != "{}" {
			if result, err = merge(result, changes); err != nil {
				return err
			}
		}
		return t.reply("result", result)
	}, err
}

func errorReply(args string) (func(*turn) error, error) {
	code, rest, err := word(args)
	if err != nil {
		return nil, err
	}
	n, err := strconv.ParseInt(code, 10, 64)
	if err != nil {
		return nil, fmt.Errorf("reply error wants a number, not %q", code)
	}
	text, data, err := word(rest)
	if err != nil || !strings.HasPrefix(rest, `"`) {
		return nil, fmt.Errorf(`write reply error %d "message" [JSON]`, n)
	}
	message, err := parseTemplate(text, false)
	if err != nil {
		return nil, err
	}
	var extra *template
	if data != "" {
		if extra, err = jsonTemplate(data); err != nil {
			return nil, err
		}
	}
	return func(t *turn) error {
		body, err := message.stringBody(t)
		if err != nil {
			return err
		}
		b := fmt.Appendf(nil, `{"code":%d,"message":"%s"`, n, body)
		if extra != nil {
			more, err := extra.json(t)
			if err != nil {
				return err
			}
			b = append(append(b, `,"data":`...), more...)
		}
		return t.reply("error", append(b, '}'))
	}, nil
}

package mcp

import (
	"context"
	"errors"
)

// A Ref names what is completed: a prompt by its name, or a resource template
// by its URI. Exactly one is set.
type Ref struct {
	Prompt, URI string
}

// ReadResource reads a resource (server/resources).
func (s *Session) ReadResource(ctx context.Context, uri string, o *RequestOptions) (Result, error) {
	if !s.info.Capabilities.Resources {
		return Result{}, &CapabilityError{"resources/read", "resources"}
	}
	return s.Request(ctx, "resources/read", uriParams(uri), o)
}

// Subscribe asks for notifications/resources/updated of a resource.
func (s *Session) Subscribe(ctx context.Context, uri string) error {
	return s.subscription(ctx, "resources/subscribe", uri)
}

// Unsubscribe ends what Subscribe began.
func (s *Session) Unsubscribe(ctx context.Context, uri string) error {
	return s.subscription(ctx, "resources/unsubscribe", uri)
}

func (s *Session) subscription(ctx context.Context, method, uri string) error {
	if !s.info.Capabilities.ResourcesSubscribe {
		return &CapabilityError{method, "resources.subscribe"}
	}
	_, err := s.Request(ctx, method, uriParams(uri), nil)
	return err
}

// GetPrompt fills in a prompt (server/prompts). args is a JSON object of
// strings, or empty for none.
func (s *Session) GetPrompt(ctx context.Context, name string, args []byte, o *RequestOptions) (Result, error) {
	const method = "prompts/get"
	if !s.info.Capabilities.Prompts {
		return Result{}, &CapabilityError{method, "prompts"}
	}
	args, err := wellFormed(args)
	if err != nil {
		return Result{}, &CallError{Kind: BadRequest, Method: method, Err: err}
	}
	b := appendQuoted([]byte(`{"name":`), name)
	if len(args) > 0 && args[0] != 'n' {
		b = append(append(b, `,"arguments":`...), args...)
	}
	return s.Request(ctx, method, append(b, '}'), o)
}

// Complete asks for values of an argument that begin like value
// (server/utilities/completion). known are the arguments that have values
// already, a JSON object of strings, or empty. Servers of 2024-11-05 cannot
// declare the capability and are asked anyway.
func (s *Session) Complete(ctx context.Context, ref Ref, argument, value string, known []byte, o *RequestOptions) (Result, error) {
	const method = "completion/complete"
	if !s.info.Capabilities.Completions && s.info.ProtocolVersion != "2024-11-05" {
		return Result{}, &CapabilityError{method, "completions"}
	}
	known, err := wellFormed(known)
	if err != nil {
		return Result{}, &CallError{Kind: BadRequest, Method: method, Err: err}
	}
	b := []byte(`{"ref":{"type":"ref/prompt","name":`)
	if ref.Prompt != "" {
		b = appendQuoted(b, ref.Prompt)
	} else {
		b = appendQuoted([]byte(`{"ref":{"type":"ref/resource","uri":`), ref.URI)
	}
	b = appendQuoted(append(b, `},"argument":{"name":`...), argument)
	b = appendQuoted(append(b, `,"value":`...), value)
	b = append(b, '}')
	if len(known) > 0 && known[0] != 'n' {
		b = append(b, `,"context":{"arguments":`...)
		b = append(append(b, known...), '}')
	}
	return s.Request(ctx, method, append(b, '}'), o)
}

// Ping asks whether the server answers at all (basic/utilities/ping). An error
// is an answer, too.
func (s *Session) Ping(ctx context.Context, o *RequestOptions) error {
	_, err := s.Request(ctx, "ping", nil, o)
	var refused *RPCError
	if errors.As(err, &refused) {
		return nil
	}
	return err
}

// Notify sends a notification on the caller's goroutine. params is any JSON, or
// empty for none. Without a deadline in ctx it may take Options.SoftTimeout.
func (s *Session) Notify(ctx context.Context, method string, params []byte) error {
	params, err := wellFormed(params)
	if err != nil {
		return &CallError{Kind: BadRequest, Method: method, Err: err}
	}
	return s.send(ctx, method, params)
}

func uriParams(uri string) []byte {
	return append(appendQuoted([]byte(`{"uri":`), uri), '}')
}

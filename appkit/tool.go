package appkit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"runtime/debug"
	"strings"

	"github.com/google/jsonschema-go/jsonschema"
	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A ToolInfo says what a tool is called and what it does.
type ToolInfo struct {
	// Name is verb_object, such as get_weather: ASCII letters, digits, "_",
	// "-" and ".". The app's package is put before it unless it is there
	// already.
	Name string
	// Title is the name people read.
	Title string
	// Description tells a model when and how to use the tool. It should stay
	// the same from start to start: a changed description is a changed tool,
	// which Aurora may hold until it is accepted again.
	Description string
	// Hints tell a client how careful to be; nil says nothing, and Aurora then
	// takes the tool for a risky one.
	Hints *Hints
	// Arguments, if set, changes the schema inferred from the argument type
	// where struct tags cannot say it, for instance because it depends on
	// configuration.
	Arguments func(*jsonschema.Schema)
}

// Hints are the annotations of a tool (MCP 2025-11-25, ToolAnnotations). All
// four are stated as they stand here.
type Hints struct {
	ReadOnly    bool // changes nothing
	Destructive bool // may delete or overwrite, not only add
	Idempotent  bool // the same call twice has no further effect
	OpenWorld   bool // deals with the world outside, such as the web
}

// A Tool is one action of an app. Make it with [NewTool].
type Tool struct {
	info    ToolInfo
	input   json.RawMessage
	output  json.RawMessage
	checker *checker
	run     func(context.Context, json.RawMessage) (text string, data any, err error)
	err     error // why the tool cannot be served
}

// NewTool makes a tool of a function. In is a struct of the arguments; its
// schema is inferred from
//
//   - json tags: the name, and omitempty or omitzero for an optional argument;
//   - jsonschema tags: the description;
//   - appkit tags: limits, written `appkit:"min=1,max=7,default=1"`. Known are
//     min and max for numbers, minLength and maxLength for strings (in
//     characters), enum=a|b, and default.
//
// Out is the type of the result's data, from which the outputSchema is
// inferred. do returns the data with a text for people; a [*Failure] as its
// error is a business failure, any other error a fault of the app.
//
// A tool that is described wrongly makes [Serve] return an error.
func NewTool[In, Out any](info ToolInfo, do func(ctx context.Context, arguments In) (text string, data Out, err error)) Tool {
	t := Tool{info: info}
	if t.err = t.describe(reflect.TypeFor[In](), reflect.TypeFor[Out]()); t.err != nil {
		t.err = fmt.Errorf("tool %q: %w", info.Name, t.err)
		return t
	}
	t.run = func(ctx context.Context, raw json.RawMessage) (string, any, error) {
		var arguments In
		if err := json.Unmarshal(raw, &arguments); err != nil {
			// The schema let it pass, the Go type does not hold it: a number
			// out of the type's range.
			return "", nil, invalid(fault{"arguments", jsonFault(err, nil)})
		}
		return do(ctx, arguments)
	}
	return t
}

// describe checks the name and makes the schemas.
func (t *Tool) describe(in, out reflect.Type) error {
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-."
	if t.info.Name == "" || strings.Trim(t.info.Name, letters) != "" {
		return errors.New(`the name may hold ASCII letters, digits, "_", "-" and "." only`)
	}
	schema, err := inputSchema(in, t.info.Arguments)
	if err != nil {
		return fmt.Errorf("arguments: %w", err)
	}
	if t.checker, err = newChecker(schema); err != nil {
		return fmt.Errorf("arguments: %w", err)
	}
	if t.input, err = rawSchema(schema); err != nil {
		return fmt.Errorf("arguments: %w", err)
	}
	if schema, err = outputSchema(out); err != nil {
		return fmt.Errorf("data: %w", err)
	}
	if t.output, err = rawSchema(schema); err != nil {
		return fmt.Errorf("data: %w", err)
	}
	return nil
}

// definition returns the tool as tools/list shows it.
func (t *Tool) definition(pkg string) *mcp.Tool {
	def := &mcp.Tool{
		Name:         fullName(pkg, t.info.Name),
		Title:        t.info.Title,
		Description:  t.info.Description,
		InputSchema:  t.input,
		OutputSchema: t.output,
	}
	if h := t.info.Hints; h != nil {
		destructive, openWorld := h.Destructive, h.OpenWorld
		def.Annotations = &mcp.ToolAnnotations{
			ReadOnlyHint: h.ReadOnly, DestructiveHint: &destructive,
			IdempotentHint: h.Idempotent, OpenWorldHint: &openWorld,
		}
	}
	return def
}

// fullName puts the package before a tool's name, once.
func fullName(pkg, name string) string {
	if pkg == "" || strings.HasPrefix(name, pkg+".") {
		return name
	}
	return pkg + "." + name
}

// call checks the arguments, runs the tool and shapes its result. Its error is
// a JSON-RPC error.
func (t *Tool) call(ctx context.Context, arguments json.RawMessage, logger *slog.Logger) (*mcp.CallToolResult, error) {
	checked, err := t.checker.check(arguments)
	if err != nil {
		return nil, err
	}
	text, data, err := t.recovered(ctx, checked, logger)
	if err == nil {
		var res *mcp.CallToolResult
		if res, err = success(text, data); err == nil {
			return res, nil
		}
	}
	var failure *Failure
	var protocol *jsonrpc.Error
	switch {
	case errors.As(err, &failure):
		return failure.result(), nil
	case errors.As(err, &protocol):
		return nil, protocol
	case ctx.Err() != nil:
		return nil, ctx.Err() // cancelled: nobody reads the answer
	default:
		logger.Error("a tool failed unexpectedly", "tool", t.info.Name, "error", err)
		return Fail("INTERNAL", "the app failed; its log says why", false).result(), nil
	}
}

// recovered runs the tool and turns a panic into an error.
func (t *Tool) recovered(ctx context.Context, arguments json.RawMessage, logger *slog.Logger) (text string, data any, err error) {
	defer func() {
		if p := recover(); p != nil {
			logger.Error("a tool panicked", "tool", t.info.Name, "panic", p, "stack", string(debug.Stack()))
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return t.run(ctx, arguments)
}

// success shapes the result of a call that did its work.
func success(text string, data any) (*mcp.CallToolResult, error) {
	structured, err := json.Marshal(struct {
		OK   bool `json:"ok"`
		Data any  `json:"data"`
	}{true, data})
	if err != nil {
		return nil, fmt.Errorf("encoding the result: %w", err)
	}
	if text == "" {
		text = string(structured)
	}
	return &mcp.CallToolResult{
		Content:           []mcp.Content{&mcp.TextContent{Text: text}},
		StructuredContent: json.RawMessage(structured),
	}, nil
}

// result shapes a business failure.
func (f *Failure) result() *mcp.CallToolResult {
	body := struct {
		OK        bool   `json:"ok"`
		Code      string `json:"error_code"`
		Message   string `json:"message"`
		Retryable bool   `json:"retryable"`
		Data      any    `json:"data,omitempty"`
	}{false, f.Code, f.Message, f.Retryable, f.Data}
	structured, err := json.Marshal(body)
	if err != nil { // data that JSON cannot hold must not hide the failure
		body.Data = nil
		structured, _ = json.Marshal(body)
	}
	text := f.Text
	if text == "" {
		text = f.Message
	}
	return &mcp.CallToolResult{
		Content:           []mcp.Content{&mcp.TextContent{Text: text}},
		StructuredContent: json.RawMessage(structured),
		IsError:           true,
	}
}

package appkit

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// endGrace is how long calls may go on after the end of input. It is shorter
// than the two seconds that Aurora waits before it sends SIGTERM.
const endGrace = time.Second

// An App is an MCP server made of tools.
type App struct {
	// Package is the app's reverse-DNS id, such as im.polaris.weather. It is
	// the server's name and the first part of every tool's name.
	Package string
	// Title is the name people read.
	Title string
	// Version is the app's own version.
	Version string
	// Instructions, if set, tell a model in a sentence or two what the app is
	// good for.
	Instructions string
	// Tools are the app's actions. The list is fixed while it is served.
	Tools []Tool
	// Emitter, if set, tells Aurora what happened. Make it with
	// [Process.NewEmitter].
	Emitter *Emitter
	// Logger takes what happens while serving; nil means [Process.Logger].
	Logger *slog.Logger
}

// Serve serves the app over this process's stdin and stdout until the input
// ends, SIGTERM or SIGINT arrives, or ctx is done. These orderly ends return
// nil.
func Serve(ctx context.Context, app *App) error { return Process{}.Serve(ctx, app) }

// Serve is like the function [Serve], on the streams of p. Signals are only
// listened to when p reads the real stdin.
func (p Process) Serve(ctx context.Context, app *App) error {
	logger := app.Logger
	if logger == nil {
		logger = p.Logger()
	}
	stdout, restore := p.guardStdout()
	defer restore()
	stdin := p.Stdin
	if stdin == nil {
		stdin = os.Stdin
		var stop context.CancelFunc
		ctx, stop = signal.NotifyContext(ctx, syscall.SIGTERM, os.Interrupt)
		defer stop()
	}

	// calls is what handlers hang on: it ends with ctx, and a moment after the
	// input has ended.
	calls, cancelCalls := context.WithCancel(ctx)
	defer cancelCalls()
	server, err := app.server(calls, logger)
	if err != nil {
		return fmt.Errorf("app %s: %w", app.Package, err)
	}
	inputEnded := make(chan struct{})
	out := &answerWriter{w: stdout}
	in := &lineGuard{
		in: bufio.NewReaderSize(stdin, 64<<10), out: out, logger: logger,
		onEOF: func() { close(inputEnded) }, calls: calls,
	}
	if app.Emitter != nil {
		in.tap = new(tap)
		defer in.tap.follow(ctx, app.Emitter, inputEnded, out.write, logger)()
	}
	served := make(chan error, 1)
	go func() {
		served <- server.Run(ctx, &mcp.IOTransport{
			Reader: io.NopCloser(in), Writer: out, MaxLineLength: -1, // the guard bounds lines
		})
	}()
	select {
	case err = <-served:
	case <-inputEnded:
		select {
		case err = <-served:
		case <-time.After(endGrace):
			cancelCalls()
			err = <-served
		}
	}
	if err != nil && ctx.Err() == nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("app %s: serving: %w", app.Package, err)
	}
	return nil
}

// server makes the SDK's server for one session.
func (app *App) server(calls context.Context, logger *slog.Logger) (*mcp.Server, error) {
	server := mcp.NewServer(
		&mcp.Implementation{Name: app.Package, Title: app.Title, Version: app.Version},
		&mcp.ServerOptions{
			Instructions: app.Instructions,
			// Nothing but tools, and the list never changes. Left to itself
			// the SDK would declare logging and listChanged.
			Capabilities: app.capabilities(),
		})
	server.AddReceivingMiddleware(app.refuseUndeclared)
	var faults []error
	names := make(map[string]bool)
	for i := range app.Tools {
		tool := &app.Tools[i]
		if tool.err != nil {
			faults = append(faults, tool.err)
			continue
		}
		if tool.run == nil {
			faults = append(faults, fmt.Errorf("tool %d was not made with NewTool", i))
			continue
		}
		def := tool.definition(app.Package)
		if names[def.Name] {
			faults = append(faults, fmt.Errorf("tool %q is there twice", def.Name))
			continue
		}
		names[def.Name] = true
		server.AddTool(def, func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			ctx, cancel := context.WithCancel(ctx)
			defer cancel()
			defer context.AfterFunc(calls, cancel)()
			return tool.call(ctx, req.Params.Arguments, logger)
		})
	}
	return server, errors.Join(faults...)
}

// capabilities declares tools and, with an emitter, how events go out.
func (app *App) capabilities() *mcp.ServerCapabilities {
	c := &mcp.ServerCapabilities{Tools: &mcp.ToolCapabilities{}}
	switch {
	case app.Emitter == nil:
	case app.Emitter.native:
		c.Experimental = map[string]any{"aurora/event": map[string]any{"ack": true}}
	default:
		//lint:ignore SA1019 deprecated since MCP 2026-07-28, but part of all versions spoken here
		c.Logging = &mcp.LoggingCapabilities{}
	}
	return c
}

// refuseUndeclared answers "method not found" for the features the app does not
// declare. Left to itself the SDK answers with empty lists.
func (app *App) refuseUndeclared(next mcp.MethodHandler) mcp.MethodHandler {
	logging := app.Emitter != nil && !app.Emitter.native
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		feature, _, _ := strings.Cut(method, "/")
		if feature == "logging" && logging {
			return next(ctx, method, req)
		}
		switch feature {
		case "resources", "prompts", "completion", "logging":
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeMethodNotFound, Message: "method not found: " + method}
		}
		return next(ctx, method, req)
	}
}

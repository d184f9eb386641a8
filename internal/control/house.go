package control

import (
	"context"
	"errors"
	"fmt"

	"github.com/aurorabot/aurora/internal/call"
)

// API is the version of the control interface that this program speaks.
const API = 1

// A House is a running Aurora, near or far.
//
// Errors are [*call.Error]. Lists answer at once with what is known: an app
// that is still starting is in Apps with that state and has no items yet.
type House interface {
	// Version says who answers. It is also the ping.
	Version(ctx context.Context) (Version, error)

	// Apps lists all apps in the order of the configuration.
	Apps(ctx context.Context) ([]App, error)
	// AppAction starts, stops or restarts one app, waits until that is decided
	// (for a start: until the app has left starting) and returns its state.
	AppAction(ctx context.Context, key string, action Action) (App, error)

	// Tools lists the tools of the catalog in its order.
	Tools(ctx context.Context, f Filter) (Tools, error)
	// Export lists the enabled tools in the form of a model provider:
	// openai, anthropic or gemini.
	Export(ctx context.Context, dialect string, f Filter) (Export, error)
	// Resources lists resources and resource templates.
	Resources(ctx context.Context, f Filter) (Resources, error)
	// Prompts lists prompts.
	Prompts(ctx context.Context, f Filter) (Prompts, error)

	// Call calls a tool. Progress, if not nil, is told of each progress
	// notification before Call returns; it must not block.
	// Cancelling ctx cancels the call upstream.
	Call(ctx context.Context, r CallRequest, progress func(call.Progress)) Reply
	// Read reads a resource.
	Read(ctx context.Context, r ReadRequest) Reply
	// Prompt renders a prompt.
	Prompt(ctx context.Context, r PromptRequest) Reply
	// Complete asks for completions of an argument.
	Complete(ctx context.Context, r CompleteRequest) Reply

	// Flow says how the flow of events is.
	Flow(ctx context.Context) (Flow, error)
	// FollowEvents tells of events as they come. Tell is called by one goroutine;
	// an error of it ends following and is returned. It returns when ctx ends,
	// with its error, or when the house stops, with SHUTTING_DOWN.
	FollowEvents(ctx context.Context, r FollowRequest, tell func(EventNews) error) error
	// EventAction does something to the file of an event. The error is
	// EVENT_UNKNOWN if there is none, EVENT_BUSY if it is being worked on.
	EventAction(ctx context.Context, r EventActionRequest) (EventDone, error)

	Keeper
	Mind
}

// Errorf makes an error with a code.
func Errorf(code call.Code, format string, args ...any) *call.Error {
	return &call.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// AsError returns the [*call.Error] within err; any other error is INTERNAL,
// or CALL_CANCELLED and CALL_TIMEOUT for the errors of a context.
// It returns nil for nil.
func AsError(err error) *call.Error {
	var e *call.Error
	switch {
	case err == nil:
		return nil
	case errors.As(err, &e):
		return e
	case errors.Is(err, context.DeadlineExceeded):
		return &call.Error{Code: call.CallTimeout, Message: err.Error(), Retryable: true}
	case errors.Is(err, context.Canceled):
		return &call.Error{Code: call.CallCancelled, Message: "cancelled by the caller"}
	case cannotUse(err):
		return Unwritable(err)
	}
	return &call.Error{Code: call.Internal, Message: err.Error()}
}

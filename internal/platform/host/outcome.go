package host

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/platform/mcp"
	"github.com/aurorabot/aurora/internal/platform/policy"
)

// obituaryTime is how long a cut-off call waits to learn how its app died.
const obituaryTime = 250 * time.Millisecond

// codeResourceNotFound is what servers of the handshake era answer to an
// unknown URI (MCP 2025-11-25, server/resources#error-handling).
const codeResourceNotFound = -32002

// ended returns the result of a request that ended before it was sent.
func ended(e *call.Error) call.Result {
	o := call.ProtocolError
	switch e.Code {
	case call.AppUnavailable, call.ShuttingDown:
		o = call.Unavailable
	case call.CallCancelled:
		o = call.Cancelled
	case call.CallTimeout:
		o = call.Timeout
	case call.PolicyDenied:
		o = call.Denied
	}
	return call.Result{Outcome: o, Err: e}
}

// denied returns the result of a call that policy did not allow.
func denied(d policy.Decision) call.Result {
	r := call.Result{Outcome: orElse(d.Outcome, call.Denied), Err: d.Err}
	if r.Err == nil {
		r.Err = &call.Error{Code: call.PolicyDenied, Message: "Policy refused the call."}
	}
	return r
}

func taskRequired(t *Tool) *call.Error {
	return &call.Error{Code: call.TaskRequired, Message: fmt.Sprintf("The tool %s can only be run as a task, which Aurora does not do.", t.Name)}
}

func badArguments(t *Tool, err error) *call.Error {
	return &call.Error{
		Code:    call.ArgumentsInvalid,
		Message: fmt.Sprintf("The arguments do not fit %s: %s", t.Name, err),
		RPC:     mcp.CodeInvalidParams,
	}
}

// unavailable explains why an app takes no calls.
func (a *app) unavailable(s *snapshot) *call.Error {
	if s.state.live() {
		return &call.Error{Code: call.AppUnavailable, Message: fmt.Sprintf("The app %q has lost its connection and is not back yet.", a.key), Retryable: true}
	}
	return &call.Error{
		Code:      call.AppUnavailable,
		Message:   fmt.Sprintf("The app %q is %s. %s", a.key, strings.ReplaceAll(string(s.state), "_", " "), s.reason),
		Retryable: s.state == Restarting || s.state == Starting,
	}
}

// outOfTime ends a call whose time was over before it was sent: its app did not
// come up, or there was too little of it.
func (a *app) outOfTime() *call.Error {
	s := a.snap.Load()
	if s.state.live() {
		return &call.Error{
			Code:      call.CallTimeout,
			Message:   fmt.Sprintf("The time for the call was over before it was sent to the app %q, so it did nothing.", a.key),
			Retryable: true,
		}
	}
	e := a.unavailable(s)
	e.Retryable = true
	return e
}

// failedCall explains why a request that was sent got no result.
func (a *app) failedCall(l *live, err error, began time.Time) call.Result {
	key, took := a.key, roughly(time.Since(began))
	var refused *mcp.RPCError
	var unknown *unknownResource
	var capability *mcp.CapabilityError
	var cut *mcp.CallError
	switch {
	case errors.As(err, &unknown):
		e := a.refusal(unknown.RPCError)
		e.Code = call.ResourceUnknown
		e.Message = fmt.Sprintf("The app %q does not have this resource: %s.", key, strings.TrimSuffix(clip(a.host.redact.String(unknown.Message)), "."))
		return call.Result{Outcome: call.ProtocolError, Err: e}
	case errors.As(err, &refused):
		return call.Result{Outcome: call.ProtocolError, Err: a.refusal(refused)}
	case errors.As(err, &capability):
		return call.Result{Outcome: call.ProtocolError, Err: &call.Error{
			Code:    call.CapabilityMissing,
			Message: fmt.Sprintf("The app %q does not offer %s.", key, capability.Capability),
		}}
	case !errors.As(err, &cut):
		return call.Result{Outcome: call.ProtocolError, Err: &call.Error{
			Code:    call.Internal,
			Message: fmt.Sprintf("The request to the app %q failed: %s.", key, a.redacted(err)),
		}}
	}
	switch cut.Kind {
	case mcp.Timeout:
		e := &call.Error{Code: call.CallTimeout}
		if cut.Delivered {
			e.Message = fmt.Sprintf("The app %q did not answer within %v. It was told to stop, but what it had begun may have happened.", key, took)
		} else {
			e.Retryable = true
			e.Message = fmt.Sprintf("The app %q did not take the request within %v, so it did nothing. It may be stuck; see: aurora apps", key, took)
		}
		return call.Result{Outcome: call.Timeout, Err: e}
	case mcp.Cancelled:
		m := fmt.Sprintf("The caller gave up after %v.", took)
		if cut.Delivered {
			m += fmt.Sprintf(" The app %q was told to stop, but what it had begun may have happened.", key)
		}
		return call.Result{Outcome: call.Cancelled, Err: &call.Error{Code: call.CallCancelled, Message: m}}
	case mcp.TooLarge:
		return call.Result{Outcome: call.ProtocolError, Err: &call.Error{
			Code:    call.MessageTooLarge,
			Message: fmt.Sprintf("The answer of the app %q is too large: %s. Ask for less at once.", key, a.redacted(cut.Err)),
		}}
	case mcp.BadRequest:
		return call.Result{Outcome: call.ProtocolError, Err: &call.Error{
			Code:    call.ArgumentsInvalid,
			Message: "The arguments are not valid JSON: " + a.redacted(cut.Err) + ".",
			RPC:     mcp.CodeInvalidParams,
		}}
	case mcp.BadAnswer:
		return call.Result{Outcome: call.ProtocolError, Err: &call.Error{
			Code:    call.ProtocolFault,
			Message: fmt.Sprintf("The app %q gave an answer that is none: %s.", key, a.redacted(cut.Err)),
		}}
	}
	switch {
	case cut.Kind == mcp.Refused:
		return a.refusedCall(cut)
	case cut.Kind == mcp.Lost:
		return call.Result{Outcome: call.Unknown, Err: &call.Error{
			Code:    call.OutcomeUnknown,
			Message: fmt.Sprintf("The answer of the app %q was lost: %s. Whether the call did its work is not known, so it was not repeated.", key, a.redacted(cut.Err)),
		}}
	case !cut.Delivered && l.link.Process == nil:
		return call.Result{Outcome: call.Unavailable, Err: &call.Error{
			Code:      call.AppUnavailable,
			Message:   fmt.Sprintf("The app %q could not be reached, so nothing was done. %s", key, remoteReason(a.config(), err, a.redacted)),
			Retryable: true,
		}}
	}
	if !cut.Delivered {
		return call.Result{Outcome: call.Unavailable, Err: &call.Error{
			Code:      call.AppUnavailable,
			Message:   fmt.Sprintf("The app %q could not be reached twice in a row, so nothing was done.%s", key, l.obituary()),
			Retryable: true,
		}}
	}
	if errors.Is(cut.Err, errStopped) { // its end says nothing, it was ours
		return call.Result{Outcome: call.Unknown, Err: &call.Error{
			Code:    call.OutcomeUnknown,
			Message: fmt.Sprintf("The app %q was stopped or restarted before it answered. It was told to give up the call, but what it had begun may have happened, so it was not repeated.", key),
		}}
	}
	return call.Result{Outcome: call.Unknown, Err: &call.Error{
		Code:    call.OutcomeUnknown,
		Message: fmt.Sprintf("The app %q was gone before it answered.%s Whether the call did its work is not known, so it was not repeated.", key, l.obituary()),
	}}
}

// obituary says how the process behind a session ended, as a sentence with a
// blank before it; empty if that is not known.
func (l *live) obituary() string {
	if e := l.link.exit(obituaryTime); e != nil {
		return fmt.Sprintf(" It %s.%s", e.phrase(), l.link.lastWords())
	}
	if l.link.Process != nil && errors.Is(l.session.Err(), io.EOF) {
		return " It closed its stdout." + l.link.lastWords()
	}
	return ""
}

// refusal translates a JSON-RPC error of a server.
func (a *app) refusal(e *mcp.RPCError) *call.Error {
	r := &call.Error{Code: call.ProtocolFault, RPC: e.Code, Data: a.host.redacted(e.Data)}
	said := strings.TrimSuffix(clipTo(a.host.redact.String(e.Message), 1000), ".")
	switch e.Code {
	case mcp.CodeInvalidParams:
		r.Code = call.ArgumentsInvalid
		r.Message = fmt.Sprintf("The app %q refused the arguments: %s.", a.key, said)
	case mcp.CodeMethodNotFound:
		r.Code = call.CapabilityMissing
		r.Message = fmt.Sprintf("The app %q does not know this request: %s.", a.key, said)
	default:
		r.Message = fmt.Sprintf("The app %q answered with an error: %s (JSON-RPC %d).", a.key, said, e.Code)
	}
	return r
}

// redacted returns JSON without secrets. It goes in as an array because only
// within one a number that shows a secret can become a string.
func (h *Host) redacted(raw json.RawMessage) json.RawMessage {
	if len(raw) == 0 {
		return raw
	}
	list := h.redact.Bytes(slices.Concat([]byte("["), raw, []byte("]")))
	return list[1 : len(list)-1]
}

// redacted is the text of an error without secrets.
func (a *app) redacted(err error) string {
	return strings.TrimSuffix(clip(a.host.redact.String(err.Error())), ".")
}

// toolError makes an error of a result that says isError. What it says is the
// text of its content, or, by the convention of appkit, the message and
// retryable of its structured content.
func (h *Host) toolError(t *Tool, raw []byte) *call.Error {
	var r struct {
		Content           json.RawMessage
		StructuredContent json.RawMessage
	}
	_ = json.Unmarshal(raw, &r) // what cannot be read says nothing
	var parts []struct{ Type, Text string }
	_ = json.Unmarshal(r.Content, &parts)
	var own struct {
		Message   string
		Error     json.RawMessage
		Retryable bool
	}
	_ = json.Unmarshal(r.StructuredContent, &own)
	said := orElse(own.Message, ownError(own.Error))
	for _, p := range parts {
		if said == "" && p.Type == "text" {
			said = strings.TrimSpace(p.Text)
		}
	}
	e := &call.Error{Code: call.ToolFailed, Retryable: own.Retryable}
	if said == "" {
		e.Message = fmt.Sprintf("The tool %s reported an error without saying which.", t.Name)
	} else {
		e.Message = clipTo(h.redact.String(said), 1000)
	}
	return e
}

// ownError returns the text of an error as programs write it down: the text, or
// an object with a message.
func ownError(raw json.RawMessage) string {
	var text string
	var object struct{ Message string }
	_ = json.Unmarshal(raw, &text) // it is the one or the other, or says nothing
	_ = json.Unmarshal(raw, &object)
	return orElse(text, object.Message)
}

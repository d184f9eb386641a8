package cli

import (
	"fmt"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/control"
)

// The exit codes. Scripts rely on them.
const (
	exitOK          = 0
	exitInternal    = 1   // a fault of ours, or the home is in use
	exitUsage       = 2   // wrong flags or arguments
	exitToolError   = 3   // the tool itself reported an error
	exitNotFound    = 4   // no such tool, resource, prompt, event or trace
	exitTimeout     = 5   // no answer in time
	exitDenied      = 6   // denied, or waiting for approval
	exitUnavailable = 7   // an app that was needed, or the brain, is not available
	exitProtocol    = 8   // the app broke the protocol or answered an error
	exitConfig      = 9   // the configuration is wrong, or the home cannot be written to
	exitUnknown     = 10  // it may have been done or not
	exitInterrupted = 130 // Ctrl-C, as shells expect it
)

// exitOf returns the exit code for an error code, as docs/errors.md lists it.
func exitOf(c call.Code) int {
	switch c {
	case call.UsageInvalid, call.ArgumentsInvalid, call.ToolAmbiguous, call.AppUnknown:
		return exitUsage
	case call.ToolFailed:
		return exitToolError
	case call.ToolUnknown, call.ResourceUnknown, call.PromptUnknown, call.EventUnknown, call.TraceUnknown:
		return exitNotFound
	case call.CallTimeout:
		return exitTimeout
	case call.PolicyDenied:
		return exitDenied
	case call.AppUnavailable, call.AppBusy, call.BrainUnavailable, call.EventBusy, call.ShuttingDown:
		return exitUnavailable
	case call.ProtocolFault, call.MessageTooLarge, call.TaskRequired, call.CapabilityMissing:
		return exitProtocol
	case call.ConfigInvalid, call.HomeUnwritable:
		return exitConfig
	case call.OutcomeUnknown:
		return exitUnknown
	}
	return exitInternal
}

// exitOfReply returns the exit code for the end of a call.
func exitOfReply(r control.Reply) int {
	switch r.Outcome {
	case call.OK:
		return exitOK
	case call.ToolError:
		return exitToolError
	case call.Denied, call.Waiting, call.Expired:
		return exitDenied
	case call.Timeout:
		return exitTimeout
	case call.Unknown:
		return exitUnknown
	}
	if r.Error == nil {
		return exitInternal
	}
	return exitOf(r.Error.Code)
}

// An exitStatus ends a command that has already said what there is to say.
type exitStatus int

func (s exitStatus) Error() string { return fmt.Sprintf("exit status %d", int(s)) }

// status returns nil for success and an [exitStatus] otherwise.
func status(code int) error {
	if code == exitOK {
		return nil
	}
	return exitStatus(code)
}

// usagef makes the error of a command that was called wrongly.
func usagef(format string, args ...any) error {
	return control.Errorf(call.UsageInvalid, format, args...)
}

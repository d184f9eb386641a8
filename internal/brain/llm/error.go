package llm

// A Fault is a kind of failure of a model.
type Fault string

// The faults.
const (
	FaultKey         Fault = "key"         // no key, or one that is refused
	FaultQuota       Fault = "quota"       // no money, or too many requests
	FaultUnreachable Fault = "unreachable" // no connection, no answer in time, a server in trouble
	FaultTooLong     Fault = "too_long"    // the conversation does not fit
	FaultRefused     Fault = "refused"     // the request is not accepted as it is
	FaultAnswer      Fault = "answer"      // the answer makes no sense
)

// An Error is why a model gave no answer.
type Error struct {
	Fault Fault
	// Message is for people. It holds no secret.
	Message string
	// Err is the cause; may be nil.
	Err error
}

// Error returns the message.
func (e *Error) Error() string { return "model: " + e.Message }

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// Hopeless reports whether another request now would fail the same way.
func (e *Error) Hopeless() bool {
	return e.Fault == FaultKey || e.Fault == FaultQuota || e.Fault == FaultUnreachable
}

package appkit

// A Failure is a business failure of a tool: the service is down, the city
// does not exist. A handler returns it as its error; the caller gets
// {ok: false, error_code, message, retryable} with isError set.
//
// Arguments that break the schema never get as far as a handler, and a fault of
// the app itself is a plain error, whose text stays in the log.
type Failure struct {
	// Code is stable and upper snake case, such as WEATHER_PROVIDER_TIMEOUT.
	Code string
	// Message says what happened and what to do about it, for the model and
	// the person behind it. It must hold no secret.
	Message string
	// Retryable says that the same call may well succeed later.
	Retryable bool
	// Text is what people read beside the structured result; empty means
	// Message.
	Text string
	// Data, if not nil, goes along as data: candidates to choose from, a time
	// to wait.
	Data any
}

// Fail returns a Failure with no more than the usual three fields.
func Fail(code, message string, retryable bool) *Failure {
	return &Failure{Code: code, Message: message, Retryable: retryable}
}

// Error returns the code and the message.
func (f *Failure) Error() string { return f.Code + ": " + f.Message }

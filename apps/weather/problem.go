package weather

import (
	"context"
	"errors"
	"fmt"
	"net"
)

// A Code names a reason why there is no weather to tell. Codes are stable.
type Code string

// The codes of problems.
const (
	// CityMissing: no city was named.
	CityMissing Code = "ARGUMENTS_INVALID"
	// CityUnknown: no place of that name was found where it should be.
	CityUnknown Code = "CITY_UNKNOWN"
	// CityAmbiguous: several places are meant equally well, or a whole province
	// or country was named. Candidates say how to go on.
	CityAmbiguous Code = "CITY_AMBIGUOUS"
	// ProviderTimeout: the weather service did not answer in time.
	ProviderTimeout Code = "WEATHER_PROVIDER_TIMEOUT"
	// ProviderUnavailable: the weather service could not be reached, or gave an
	// answer that is none.
	ProviderUnavailable Code = "WEATHER_PROVIDER_UNAVAILABLE"
	// RateLimited: the weather service wants fewer questions.
	RateLimited Code = "WEATHER_RATE_LIMITED"
)

// A Problem is why there is no weather to tell. Message is written for the
// person who asked, in the language of the Service.
type Problem struct {
	Code       Code
	Message    string
	Retryable  bool
	Candidates []Candidate
	// Cause says for the log what went wrong underneath; it may be nil.
	Cause error
}

// Error returns the code, the message and the cause.
func (p *Problem) Error() string {
	if p.Cause != nil {
		return fmt.Sprintf("%s: %s (%v)", p.Code, p.Message, p.Cause)
	}
	return fmt.Sprintf("%s: %s", p.Code, p.Message)
}

// Unwrap returns the cause.
func (p *Problem) Unwrap() error { return p.Cause }

// A Candidate is a place that may have been meant.
type Candidate struct {
	Place
	// Query finds exactly this place when it is asked for as the city.
	Query string `json:"query"`
}

// A providerFault is what can go wrong in talking to the weather service,
// before it is put into words.
type providerFault struct {
	code      Code
	retryable bool
	cause     error
}

func (f *providerFault) Error() string { return fmt.Sprintf("%s: %v", f.code, f.cause) }
func (f *providerFault) Unwrap() error { return f.cause }

// problemOf puts a fault of the provider into words. Other errors, among them a
// cancelled context, are returned as they are.
func problemOf(err error, lang Language) error {
	var fault *providerFault
	switch {
	case errors.As(err, &fault):
	case errors.Is(err, context.DeadlineExceeded):
		fault = &providerFault{ProviderTimeout, true, err}
	default:
		return err
	}
	messages := map[Code]string{
		ProviderTimeout: lang.pick("天气服务没有及时回应，请稍后再试。",
			"The weather service did not answer in time. Try again later."),
		ProviderUnavailable: lang.pick("天气服务暂时不可用。",
			"The weather service is not available at the moment."),
		RateLimited: lang.pick("对天气服务的查询太频繁了，请过一会儿再试。",
			"The weather service was asked too often. Try again in a while."),
	}
	message := messages[fault.code]
	var unreached *net.OpError // a name that is not found, too
	if errors.As(fault.cause, &unreached) {
		message = lang.pick("连不上天气服务，请检查网络或代理设置，然后再试。",
			"The weather service cannot be reached. Check the network or the proxy, then try again.")
	}
	return &Problem{Code: fault.code, Message: message, Retryable: fault.retryable, Cause: fault.cause}
}

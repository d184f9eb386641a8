package testkit

import (
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"
)

// HTTP says how an [HTTPServer] behaves. It is immutable. Its text is a list of
// statements, in the manner of scripts:
//
//	answers json|sse|legacy   how requests are answered (json); legacy is HTTP+SSE
//	answers elsewhere         all but initialize on the stream of GET
//	taken CODE [TEXT]         what a POST whose answer comes elsewhere gets (202)
//	stateless                 there are no session ids
//	strict                    400 unless every header is there exactly as often as it should
//	no stream                 405 to GET
//	stream ends after 100ms   the stream of GET breaks off
//	lines lf|crlf|cr          how the lines of events end (lf)
//	pieces N                  events are sent in pieces of N bytes
//	comments                  before each event there is a comment
//	split                     the data of each event is in two lines
//	named NAME                events have this name
//	streams TYPE              the Content-Type of streams (text/event-stream)
//	numbered                  events have ids, streams begin with an empty one, and can be resumed
//	retry 250ms               with that one, how long to wait before resuming
//	notified CODE             the status of answers to messages that are no requests (202)
//	content TYPE              the Content-Type of JSON answers
//	endpoint URL              what a legacy server names as such (/messages)
//	forgotten CODE [TEXT]     the answer to a session it does not know (404, JSON)
//	on WHAT [#N]              what else to do with such a request, in steps indented under it
//
// WHAT is GET, POST, DELETE, answer (of the client) or the method of a message;
// #N counts them, as in scripts. Of several the first one that fits is done. If
// no step ends the request, what is right follows. The steps are
//
//	sleep 50ms                wait
//	header NAME VALUE         a header of the answer
//	status CODE [TEXT]        answer so; TEXT is the body
//	page TYPE TEXT            answer 200 with a body of that type
//	redirect CODE LOCATION    answer so
//	hang                      answer never
//	start                     send the headers of a JSON answer, and nothing more
//	stay                      send the headers of a stream, and nothing more
//	break                     break the connection
//	cut after N               after N events break the connection of the stream
//	end after N               after N events end the stream
//	forget                    forget all sessions
type HTTP struct {
	style                                                  string // json, sse, legacy, elsewhere
	stateless, strict, noStream, comments, split, numbered bool
	streamTime                                             time.Duration
	lineEnd                                                string
	pieces                                                 int
	retry                                                  time.Duration // negative: not said
	notified                                               int
	content, endpoint                                      string
	named, streams                                         string
	forgotten, taken                                       func(*httpTurn)
	rules                                                  []*httpRule
}

// An httpRule is an "on" statement.
type httpRule struct {
	what  string
	nth   span
	steps []httpStep
}

// An httpStep does one thing; true: the request is over.
type httpStep func(*httpTurn) bool

// MustParseHTTP returns what the text says; a mistake in it fails the test.
func MustParseHTTP(t testing.TB, text string) *HTTP {
	t.Helper()
	how, err := ParseHTTP("http", text, 1)
	if err != nil {
		t.Fatal(err)
	}
	return how
}

// ParseHTTP returns what the text says, whose first line is line first of the
// file.
func ParseHTTP(file, text string, first int) (*HTTP, error) {
	how := &HTTP{style: "json", lineEnd: "\n", retry: -1, notified: http.StatusAccepted, content: "application/json", endpoint: "/messages", streams: "text/event-stream"}
	how.forgotten = func(x *httpTurn) { x.fail(http.StatusNotFound, "Session not found") }
	how.taken = func(x *httpTurn) { x.w.WriteHeader(http.StatusAccepted) }
	p := &parser{script: &Script{File: file}}
	lines, err := p.cut(text, first)
	if err != nil {
		return nil, err
	}
	for len(lines) > 0 {
		var head line
		var body []line
		head, body, lines = block(lines)
		if head.indent > 0 || len(body) > 0 && !strings.HasPrefix(head.text, "on ") {
			return nil, head.at.errorf("%q is no statement with steps under it", head.text)
		}
		if err := how.statement(head, body); err != nil {
			return nil, head.at.place(err)
		}
	}
	return how, nil
}

func (how *HTTP) statement(head line, body []line) (err error) {
	verb, args, err := word(head.text)
	if err != nil {
		return err
	}
	switch verb {
	case "answers":
		how.style = args
		if args != "json" && args != "sse" && args != "legacy" && args != "elsewhere" {
			return fmt.Errorf("unknown answers %q; there are json, sse, legacy, elsewhere", args)
		}
	case "stateless":
		how.stateless = true
	case "strict":
		how.strict = true
	case "no":
		how.noStream = true
	case "stream":
		how.streamTime, err = parseDuration(strings.TrimPrefix(args, "ends after "))
	case "lines":
		end, ok := map[string]string{"lf": "\n", "crlf": "\r\n", "cr": "\r"}[args]
		if how.lineEnd = end; !ok {
			return fmt.Errorf("unknown lines %q; there are lf, crlf, cr", args)
		}
	case "pieces":
		how.pieces, err = strconv.Atoi(args)
	case "comments":
		how.comments = true
	case "split":
		how.split = true
	case "numbered":
		how.numbered = true
	case "retry":
		how.retry, err = parseDuration(args)
	case "notified":
		how.notified, err = strconv.Atoi(args)
	case "content":
		how.content = args
	case "endpoint":
		how.endpoint = args
	case "named":
		how.named = args
	case "streams":
		how.streams = args
	case "forgotten", "taken":
		code, text, err := parseStatus(args)
		if err != nil {
			return err
		}
		say := func(x *httpTurn) { x.say(code, "", text) }
		if verb == "taken" {
			how.taken = say
		} else {
			how.forgotten = say
		}
	case "on":
		return how.rule(args, body)
	default:
		return fmt.Errorf("unknown statement %q", verb)
	}
	return err
}

func (how *HTTP) rule(args string, body []line) error {
	what, rest, err := word(args)
	if err != nil || what == "" {
		return fmt.Errorf("on what? write on GET, on POST, on DELETE, on answer or on METHOD")
	}
	when, err := parseConditions(rest)
	if err != nil {
		return err
	}
	rule := &httpRule{what: what, nth: when.nth}
	for _, one := range body {
		step, err := parseHTTPStep(one.text)
		if err != nil {
			return one.at.errorf("%v", err)
		}
		rule.steps = append(rule.steps, step)
	}
	how.rules = append(how.rules, rule)
	return nil
}

func parseHTTPStep(text string) (httpStep, error) {
	verb, args, err := word(text)
	if err != nil {
		return nil, err
	}
	switch verb {
	case "sleep":
		d, err := parseDuration(args)
		return func(x *httpTurn) bool {
			timer := time.NewTimer(d)
			defer timer.Stop()
			select {
			case <-timer.C:
			case <-x.r.Context().Done():
			}
			return false
		}, err
	case "header":
		name, value, _ := strings.Cut(args, " ")
		return func(x *httpTurn) bool {
			x.w.Header().Set(name, value)
			return false
		}, nil
	case "status":
		code, body, err := parseStatus(args)
		return func(x *httpTurn) bool {
			x.say(code, "", body)
			return true
		}, err
	case "page":
		kind, rest, err := word(args)
		if err != nil {
			return nil, err
		}
		body, err := literal(rest)
		return func(x *httpTurn) bool {
			x.say(http.StatusOK, kind, body)
			return true
		}, err
	case "redirect":
		code, location, err := parseStatus(args)
		return func(x *httpTurn) bool {
			x.w.Header().Set("Location", location)
			x.w.WriteHeader(code)
			return true
		}, err
	case "hang":
		return func(x *httpTurn) bool {
			<-x.r.Context().Done()
			return true
		}, nil
	case "start", "stay":
		return func(x *httpTurn) bool {
			x.w.Header().Set("Content-Type", map[string]string{"start": "application/json", "stay": x.server.how.streams}[verb])
			_ = http.NewResponseController(x.w).Flush() // a client that is gone does not mind
			<-x.r.Context().Done()
			return true
		}, nil
	case "break":
		return func(*httpTurn) bool { panic(http.ErrAbortHandler) }, nil
	case "cut", "end":
		n, err := strconv.Atoi(strings.TrimPrefix(args, "after "))
		return func(x *httpTurn) bool {
			x.limit, x.cut = n, verb == "cut"
			return false
		}, err
	case "forget":
		return func(x *httpTurn) bool {
			x.server.Forget()
			return false
		}, nil
	}
	return nil, fmt.Errorf("unknown step %q", verb)
}

// parseStatus reads CODE [TEXT].
func parseStatus(args string) (int, string, error) {
	number, rest, err := word(args)
	if err != nil {
		return 0, "", err
	}
	code, err := strconv.Atoi(number)
	if err != nil || code < 100 || code > 999 {
		return 0, "", fmt.Errorf("%q is no status", number)
	}
	text, err := literal(rest)
	return code, text, err
}

// say answers with a body.
func (x *httpTurn) say(code int, kind, body string) {
	if kind == "" && strings.HasPrefix(body, "{") {
		kind = "application/json"
	}
	if kind != "" {
		x.w.Header().Set("Content-Type", kind)
	}
	x.w.WriteHeader(code)
	_, _ = x.w.Write([]byte(body)) // a client that is gone does not mind
}

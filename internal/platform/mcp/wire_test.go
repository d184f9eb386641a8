package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
)

// A wire is a way between a session and a peer of the tests. The peer speaks
// lines; over HTTP a bridge turns them into requests and answers.
type wire string

const (
	wireStdio  wire = "stdio"
	wireJSON   wire = "streamable http, json"
	wireSSE    wire = "streamable http, sse"
	wireLegacy wire = "http+sse"
)

// wires are all of them.
var wires = []wire{wireStdio, wireJSON, wireSSE, wireLegacy}

// wireOf returns the wire that a test runs over; see TestEveryWire.
func wireOf(t testing.TB) wire {
	for _, w := range wires {
		if strings.Contains(t.Name(), "/"+w.test()) {
			return w
		}
	}
	return wireStdio
}

// test is the wire in the name of a test.
func (w wire) test() string { return strings.ReplaceAll(string(w), " ", "_") + "/" }

// TestEveryWire is one suite that every transport passes: each story about
// sessions, lists, calls and progress is told over every wire that can carry it.
func TestEveryWire(t *testing.T) {
	// On a wire where answers and other messages take different ways, nothing
	// is said about which of them comes first.
	const inOrder = "in order"
	// Here not even that of two answers to one request.
	const oneStream = "one stream"
	// What ends with its connection: stdio and HTTP+SSE.
	const connection = "connection"
	for _, tc := range []struct {
		name  string
		test  func(*testing.T)
		needs string
	}{
		{"S13 ids", TestS13IdsInAnotherSpellingAreMatched, oneStream},
		{"S14 early notifications", TestS14NotificationsBeforeTheAnswerAreKept, inOrder},
		{"S15 requests of the server", TestS15RequestsOfTheServerAreAnsweredAtOnce, ""},
		{"S16 late answers", TestS16LateDoubleAndUnknownAnswersAreDropped, oneStream},
		{"L01 silence", TestL01ASilentServerIsGivenUpAtTheDeadline, ""},
		{"L01 an end", TestL01AServerThatExitsInsteadOfAnsweringIsGivenUpAtOnce, connection},
		{"L03 versions", TestL03VersionsAreNegotiated, ""},
		{"L03 a refused version", TestL03ARefusedVersionIsTriedAgainOnce, ""},
		{"L03 a stateless server", TestL03AStatelessServerIsRecognised, ""},
		{"L05 initialized", TestL05InitializedComesOnceAndBeforeAnyRequest, ""},
		{"L06 capabilities", TestL06OnlyDeclaredCapabilitiesAreUsed, ""},
		{"L06 an optional list", TestL06AnUnknownOptionalListIsEmpty, ""},
		{"L12 a list during a call", TestL12AListCanBeFetchedWhileACallIsOpen, ""},
		{"T07 pages", TestT07AllPagesAreRead, ""},
		{"no list", TestAListThatIsNoneIsAnError, ""},
		{"endless pages", TestEndlessPagingIsCutOff, ""},
		{"the deadline of a list", TestAWholeListHasOneDeadline, ""},
		{"other lists", TestTheOtherListsHaveTheirOwnNames, ""},
		{"T11 progress", TestT11ProgressResetsTheSoftTimeout, inOrder},
		{"T11 silence", TestT11SilenceEndsTheCall, ""},
		{"T12 endless progress", TestT12TheHardMaximumEndsACallWithEndlessProgress, ""},
		{"T12 the whole time", TestT12TheWholeTimeIsNotExtendedByProgress, ""},
		{"T13 a cancelled call", TestT13CancellingOneCallLeavesTheOtherAlone, ""},
		{"T13 cancelled before", TestT13ACallThatIsCancelledBeforeIsNotSent, ""},
		{"E01 unknown notifications", TestE01UnknownNotificationsAreKeptRaw, inOrder},
		{"E07 a flood", TestE07TheAnswerArrivesBehindAFloodOfNotifications, inOrder},
		{"methods", TestMethodsSendTheirParams, ""},
		{"no JSON", TestJSONThatIsNoneIsNotSent, ""},
		{"notify", TestNotify, ""},
		{"errors of the server", TestErrorsOfTheServerAreKept, ""},
		{"a refused ping", TestPingTakesAnErrorForAnAnswer, ""},
		{"close", TestCloseEndsCallsAndTellsTheServer, ""},
		{"a server that goes away", TestAServerThatGoesAwayEndsTheCallsInFlight, connection},
		{"every request ends once", TestEveryRequestEndsOnce, ""},
		{"the deadline of a context", TestADeadlineOfTheContextIsATimeout, ""},
		{"deadlines in any order", TestDeadlinesAreKeptInAnyOrder, ""},
		{"progress stops", TestProgressStopsWithItsRequest, inOrder},
		{"batches", TestBatchesAreRead, inOrder},
		{"a broken answer", TestABrokenAnswerEndsItsCallAtOnce, ""},
		{"grants", TestGrants, ""},
		{"logs", TestLogsWarnOnceAndHoldNoBodies, inOrder},
		{"info", TestInfoIsWhatTheServerSaid, ""},
		{"an unknown protocol", TestAProtocolThatIsNotSpokenIsRefusedBeforeAnything, connection},
	} {
		for _, w := range wires {
			switch {
			case w == wireStdio: // the tests themselves
			case tc.needs == inOrder && w == wireJSON:
			case (tc.needs == connection || tc.needs == oneStream) && w != wireLegacy:
			default:
				t.Run(w.test()+tc.name, tc.test)
			}
		}
	}
}

// A memoryListener accepts connections in memory.
type memoryListener struct {
	conns chan net.Conn
	done  chan struct{}
	once  sync.Once
}

func newMemoryListener() *memoryListener {
	return &memoryListener{conns: make(chan net.Conn), done: make(chan struct{})}
}

func (l *memoryListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.done:
		return nil, net.ErrClosed
	}
}

func (l *memoryListener) Close() error {
	l.once.Do(func() { close(l.done) })
	return nil
}

func (l *memoryListener) Addr() net.Addr { return &net.UnixAddr{Name: "memory"} }

var errRefused = errors.New("connection refused")

func (l *memoryListener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	ours, theirs := net.Pipe()
	select {
	case l.conns <- theirs:
		return ours, nil
	case <-l.done:
	case <-ctx.Done():
	}
	ours.Close()
	theirs.Close()
	return nil, errRefused
}

// A bridge is an HTTP server in front of a peer that speaks lines.
type bridge struct {
	wire wire
	out  net.Conn // to the peer
	gone chan struct{}

	mu sync.Mutex
	// mu guards the fields below.
	waiting map[string]chan []byte // POSTs, by the id of their request
	order   []string               // their ids, the newest last
	stream  chan []byte            // what is said on the stream of GET
}

// overHTTP puts a bridge in front of a peer and returns the transport to it.
func overHTTP(t testing.TB, w wire, r, out net.Conn) Transport {
	t.Helper()
	b := &bridge{wire: w, out: out, gone: make(chan struct{}), waiting: map[string]chan []byte{}, stream: make(chan []byte, 1<<17)}
	l := newMemoryListener()
	server := &http.Server{Handler: b}
	served, read := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(served)
		server.Serve(l)
	}()
	go func() {
		defer close(read)
		b.read(r)
	}()
	o := HTTPOptions{URL: "http://peer.example/mcp", Dial: l.dial}
	var tr Transport
	var err error
	if w == wireLegacy {
		tr, err = NewLegacySSE(o)
	} else {
		tr, err = NewStreamableHTTP(o)
	}
	if err != nil {
		t.Fatal(err)
	}
	var late context.Context
	switch tr := tr.(type) {
	case *streamable:
		late = tr.late
	case *legacySSE:
		late = tr.late
	}
	stop := context.AfterFunc(late, func() { out.Close() }) // the session is over, the last word is said
	t.Cleanup(func() {
		stop()
		r.Close()
		server.Close()
		<-served
		<-read
	})
	return tr
}

// read takes the lines of the peer to where they belong.
func (b *bridge) read(r net.Conn) {
	defer close(b.gone)
	lines := bufio.NewReaderSize(r, 1<<20)
	for {
		text, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		text = text[:len(text)-1]
		if strings.HasPrefix(string(text), "[") {
			var batch []json.RawMessage
			json.Unmarshal(text, &batch)
			if b.wire != wireSSE {
				b.stream <- text
				continue
			}
			for _, one := range batch {
				b.route(one)
			}
			continue
		}
		b.route(text)
	}
}

// A line is what the bridge looks at in a message of the peer.
type line struct {
	ID     json.RawMessage
	Method *string
	Params struct{ ProgressToken json.RawMessage }
}

// route takes an answer to the POST that waits for it, progress to the POST of its
// request, and everything else to the newest POST or to the stream of GET.
func (b *bridge) route(text []byte) {
	var m line
	if err := json.Unmarshal(text, &m); m.ID == nil && err != nil { // broken on purpose
		_, rest, _ := strings.Cut(string(text), `"id":`)
		id, _, _ := strings.Cut(rest, ",")
		m.ID = json.RawMessage(id)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	id := string(m.ID)
	if to := b.waiting[id]; m.Method == nil && to != nil {
		delete(b.waiting, id)
		to <- text
		close(to)
		return
	}
	if b.wire == wireSSE {
		if to := b.waiting[string(m.Params.ProgressToken)]; to != nil {
			to <- text
			return
		}
		for _, id := range slices.Backward(b.order) {
			if to := b.waiting[id]; to != nil && m.Params.ProgressToken == nil {
				to <- text
				return
			}
		}
	}
	b.stream <- text
}

const testSession = "session-1"

func (b *bridge) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost:
		body, err := io.ReadAll(r.Body)
		if err != nil {
			return
		}
		var m message
		json.Unmarshal(body, &m)
		if b.wire != wireLegacy && m.Method != "initialize" && m.Method != "server/discover" && r.Header.Get("Mcp-Session-Id") != testSession {
			http.Error(w, "no session", http.StatusBadRequest)
			return
		}
		request := m.Method != "" && m.ID != nil && b.wire != wireLegacy
		var answer chan []byte
		if request {
			answer = b.wait(string(m.ID))
			defer b.forget(string(m.ID))
		}
		if _, err := b.out.Write(body); err != nil {
			http.Error(w, "gone", http.StatusBadGateway)
			return
		}
		if !request {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		b.answer(w, r, m.Method, answer)
	case http.MethodGet:
		b.listen(w, r)
	case http.MethodDelete:
		w.WriteHeader(http.StatusNoContent)
	}
}

// wait registers a POST.
func (b *bridge) wait(id string) chan []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := make(chan []byte, 1<<17)
	b.waiting[id] = c
	b.order = append(b.order, id)
	return c
}

func (b *bridge) forget(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.waiting, id)
}

// answer answers a POST with what is sent to it.
func (b *bridge) answer(w http.ResponseWriter, r *http.Request, method string, answer chan []byte) {
	if method == "initialize" {
		w.Header().Set("Mcp-Session-Id", testSession)
	}
	if b.wire == wireSSE {
		w.Header().Set("Content-Type", "text/event-stream")
		w.(http.Flusher).Flush()
	} else {
		w.Header().Set("Content-Type", "application/json")
	}
	for {
		select {
		case line, ok := <-answer:
			if !ok {
				return
			}
			if b.wire == wireSSE {
				fmt.Fprintf(w, "event: message\ndata: %s\n\n", line)
				w.(http.Flusher).Flush()
			} else {
				w.Write(line)
			}
		case <-b.gone:
			panic(http.ErrAbortHandler)
		case <-r.Context().Done():
			return
		}
	}
}

// listen serves the stream of GET.
func (b *bridge) listen(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Type", "text/event-stream")
	if b.wire == wireLegacy {
		fmt.Fprint(w, "event: endpoint\r\ndata: /messages?session=1\r\n\r\n")
	}
	w.(http.Flusher).Flush()
	for {
		select {
		case line := <-b.stream:
			fmt.Fprintf(w, "data: %s\n\n", line)
			w.(http.Flusher).Flush()
		case <-b.gone:
			return
		case <-r.Context().Done():
			return
		}
	}
}

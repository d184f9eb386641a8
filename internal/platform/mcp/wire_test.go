package mcp

import (
	"context"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/aurorabot/aurora/internal/testkit"
)

// A wire is a way between a session and a peer of the tests. The peer speaks
// lines; over HTTP a server of package testkit turns them into requests and answers.
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

// overHTTP puts an HTTP server in front of a peer and returns the transport to
// it.
func overHTTP(t testing.TB, w wire, r, out net.Conn) Transport {
	t.Helper()
	how := map[wire]string{wireJSON: "strict", wireSSE: "answers sse\nstrict", wireLegacy: "answers legacy\nstrict"}[w]
	server := testkit.StartHTTP(t, func(int) (io.Reader, io.WriteCloser) { return r, out }, testkit.MustParseHTTP(t, how))
	tr, late := dialTest(t, w, HTTPOptions{URL: server.URL, Dial: server.Dial})
	// The peer sees the end of its pipe when the last word is said, as on stdio.
	stop := context.AfterFunc(late, func() { out.Close() })
	t.Cleanup(func() { stop() })
	return tr
}

// dialTest returns a transport and the context that ends when it has said its
// last word.
func dialTest(t testing.TB, w wire, o HTTPOptions) (Transport, context.Context) {
	t.Helper()
	if w == wireLegacy {
		tr, err := NewLegacySSE(o)
		if err != nil {
			t.Fatal(err)
		}
		return tr, tr.(*legacySSE).late
	}
	tr, err := NewStreamableHTTP(o)
	if err != nil {
		t.Fatal(err)
	}
	return tr, tr.(*streamable).late
}

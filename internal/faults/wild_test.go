package faults

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/platform/audit"
	"github.com/aurorabot/aurora/internal/platform/host"
	"github.com/aurorabot/aurora/internal/testkit"
)

// restless is a server on which everything happens that can happen to a call.
const restless = `
tool echo
tool slow
tool never
tool crash
tool grow
tool prune
tool storm
tool wrong
tool fail
tool torn
tool noisy
tool twice
resource demo://x
on tools/call slow
  background
    repeat 3
      sleep 20ms
      progress ${i}
    reply default
on tools/call never
  ignore
on tools/call crash
  exit 1
on tools/call grow
  add tool extra
  notify notifications/tools/list_changed
  reply default
on tools/call prune
  remove tool extra
  notify notifications/tools/list_changed
  reply default
on tools/call storm
  background
    repeat 20 every 10ms
      notify notifications/tools/list_changed
  reply default
on tools/call wrong
  reply error -32000 "no"
on tools/call fail
  reply fail ${args.nonce}
on tools/call torn
  send {"jsonrpc":"2.0","id":${id},"result":{"content":[
on tools/call noisy
  stdout not a message
  notify notifications/message {"level":"info","data":"${fill:5000}"}
  request "q" ping
  reply default
on tools/call twice
  reply default
  reply default {"late":true}
`

// restlessTools are its tools, some more often than others, and two that it does
// not have, or not always.
var restlessTools = []string{
	"echo", "echo", "echo", "echo", "slow", "slow", "never", "crash", "grow", "prune", "extra", "storm",
	"wrong", "fail", "torn", "noisy", "twice", "nope",
}

// A wild is one random life of a host.
type wild struct {
	t     *testing.T
	r     *rand.Rand
	base  []*config.App // what the configuration says at the beginning and at the end
	host  *host.Host
	world world
	brief time.Duration // the scale of its time

	faults map[string]string // what the configuration says now
	apps   []*config.App
	calls  []*wildCall
	errand sync.WaitGroup // orders under way

	mu      sync.Mutex // guards what follows
	records int
	called  int
}

// A world is where the apps of a wild live.
type world interface {
	host.Dialer
	// kill ends the newest process of an app, as by KILL.
	kill(key string)
	// tells says whether what a server announces surely arrives.
	tells(key string) bool
	// ordered tells whether the messages to an app arrive in the order in which
	// they were sent.
	ordered(key string) bool
	// runs returns what each process of an app has recorded, in their order.
	runs(key string) [][]testkit.Event
}

// A wildCall is one call and its end.
type wildCall struct {
	key, tool, nonce string
	whole            time.Duration // 0: none
	cancel           context.CancelFunc
	given            bool // up by its caller; written by the driver only
	done             chan struct{}
	result           call.Result
}

func newWild(t *testing.T, seed uint64, w world, brief time.Duration, keys []string, app func(key string) *config.App) *wild {
	d := &wild{t: t, r: rand.New(rand.NewPCG(seed, 1)), world: w, brief: brief, faults: map[string]string{}}
	for _, key := range keys {
		c := app(key)
		c.Key, c.Package, c.Enabled, c.Trust = key, key, true, config.TrustNormal
		c.MCP.CallTimeout, c.MCP.CallMax = 40*brief, 80*brief
		c.MCP.Restart = config.Restart{Enabled: true, MaxAttempts: 5, Backoff: brief}
		d.base = append(d.base, c)
	}
	d.apps = d.base
	d.host = host.New(host.Options{
		Apps: d.apps, Dialer: w, Audit: d, DrainTime: -1,
		Observe: func(s host.Signal) {
			if s.Kind == host.SignalCalled {
				d.mu.Lock()
				defer d.mu.Unlock()
				d.called++
			}
		},
	})
	d.host.Start(t.Context())
	return d
}

func (d *wild) Append(audit.Record) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.records++
}

func (d *wild) app() string { return d.base[d.r.IntN(len(d.base))].Key }

// pause lets some time pass, mostly little.
func (d *wild) pause() {
	time.Sleep(time.Duration(d.r.ExpFloat64() * float64(d.brief)))
}

// live does n things.
func (d *wild) live(n int) {
	for range n {
		switch key := d.app(); d.r.IntN(24) {
		case 0, 1, 2:
			d.pause()
		case 3, 4:
			if len(d.calls) > 0 {
				c := d.calls[d.r.IntN(len(d.calls))]
				c.given = true
				c.cancel()
			}
		case 5:
			d.world.kill(key)
		case 6:
			d.order(key)
		case 7:
			d.reload()
		default:
			d.call(key, restlessTools[d.r.IntN(len(restlessTools))])
		}
	}
}

// call begins a call.
func (d *wild) call(key, tool string) {
	c := &wildCall{key: key, tool: tool, nonce: fmt.Sprintf("n%d.", len(d.calls)), done: make(chan struct{})}
	args := fmt.Sprintf(`{"nonce":%q}`, c.nonce)
	if d.r.IntN(12) == 0 {
		args = fmt.Sprintf(`{"nonce":%q,"large":%q}`, c.nonce, strings.Repeat("x", d.r.IntN(60_000)))
	}
	if d.r.IntN(4) == 0 {
		c.whole = time.Duration(d.r.Int64N(int64(20 * d.brief)))
	}
	ctx, cancel := context.WithCancel(context.Background())
	c.cancel = cancel
	d.calls = append(d.calls, c)
	asked := call.Call{
		Caller: call.Caller{Kind: call.CLI}, Name: key + "." + tool, Args: json.RawMessage(args), Timeout: c.whole,
		OnProgress: func(call.Progress) {},
	}
	go func() {
		defer close(c.done)
		c.result = d.host.Call(ctx, asked)
	}()
}

// order starts, stops or restarts an app, in the background.
func (d *wild) order(key string) {
	do := d.host.RestartApp
	switch d.r.IntN(4) {
	case 0:
		do = d.host.StopApp
	case 1, 2:
		do = d.host.StartApp
	}
	d.errand.Go(func() {
		var e *call.Error
		if err := do(context.Background(), key); err != nil && (!errors.As(err, &e) || e.Code != call.AppUnknown && e.Code != call.ConfigInvalid) {
			d.t.Errorf("an order to %s: %v", key, err)
		}
	})
}

// reload changes the configuration of one app, or takes it out, or changes
// nothing at all.
func (d *wild) reload() {
	apps, faults := slices.Clone(d.apps), maps.Clone(d.faults)
	key := d.app()
	at := slices.IndexFunc(apps, func(c *config.App) bool { return c.Key == key })
	switch {
	case at < 0: // it comes back
		for _, c := range d.base {
			if c.Key == key {
				apps = append(apps, c)
			}
		}
		delete(faults, key)
	default:
		c := *apps[at]
		delete(faults, key)
		switch d.r.IntN(8) {
		case 0:
			apps = slices.Delete(apps, at, at+1)
		case 1:
			c.MCP.CallTimeout += time.Millisecond
		case 2:
			c.MCP.Env = append(slices.Clone(c.MCP.Env), fmt.Sprintf("CHANGED=%d", d.r.IntN(100)))
		case 3:
			c.Enabled, c.Disabled = false, "enabled: false"
		case 4:
			faults[key] = "Somebody has made a mistake in its configuration."
		case 5:
			c.Tools = map[string]config.ToolPermission{key + ".echo": {Enabled: new(false)}}
		case 6:
			c.Enabled, c.Disabled, c.Tools = true, "", nil
		}
		if at < len(apps) && apps[at].Key == key {
			apps[at] = &c
		}
	}
	d.r.Shuffle(len(apps), func(i, j int) { apps[i], apps[j] = apps[j], apps[i] })
	d.apps, d.faults = apps, faults
	d.errand.Go(func() { d.host.Reload(context.Background(), apps, faults) })
}

// calm brings everything back to what it was in the beginning, and waits until
// nothing is going on any more.
func (d *wild) calm() {
	d.errand.Wait()
	d.host.Reload(context.Background(), d.base, nil)
	d.startAll()
	limit := time.After(patience)
	for i, c := range d.calls {
		select {
		case <-c.done:
		case <-limit:
			d.t.Fatalf("call %d of %s.%s has not ended", i, c.key, c.tool)
		}
	}
	for _, c := range d.base {
		d.await(c.Key)
	}
}

func (d *wild) startAll() {
	for _, c := range d.base {
		if err := d.host.StartApp(context.Background(), c.Key); err != nil {
			d.t.Errorf("starting %s in the end: %v", c.Key, err)
		}
	}
}

// await waits until the catalog has exactly what the server of an app offers.
func (d *wild) await(key string) {
	giveUp := time.Now().Add(patience)
	for {
		st, _ := d.host.AppStatus(key)
		var have []string
		for _, t := range d.host.Catalog().Tools() {
			if t.App.Key == key {
				have = append(have, t.Upstream)
			}
		}
		runs := d.world.runs(key)
		want := slices.Sorted(maps.Keys(offered(runs)))
		if st.State == host.Ready && (!d.world.tells(key) || slices.Equal(slices.Sorted(slices.Values(have)), want)) {
			return
		}
		if st.State == host.Unavailable { // a call that was given up may still have been the last crash that is borne
			d.startAll()
		}
		if time.Now().After(giveUp) {
			d.t.Errorf("app %s is %s (%s) and has the tools %q; the server offers %q", key, st.State, st.Reason, have, want)
			return
		}
		time.Sleep(d.brief)
	}
}

// offered returns the tools that the last process of a restless server offers.
func offered(runs [][]testkit.Event) map[string]bool {
	tools := map[string]bool{}
	for _, name := range restlessTools {
		tools[name] = name != "extra" && name != "nope"
	}
	if len(runs) > 0 {
		for _, e := range runs[len(runs)-1] {
			if e.Kind != "received" {
				continue
			}
			switch _, tool := describe(e); tool {
			case "grow":
				tools["extra"] = true
			case "prune":
				tools["extra"] = false
			}
		}
	}
	maps.DeleteFunc(tools, func(_ string, there bool) bool { return !there })
	return tools
}

// end closes the host and judges what has happened.
func (d *wild) end() {
	for _, c := range d.calls {
		c.cancel()
	}
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := d.host.Close(ctx); err != nil {
		d.t.Errorf("closing: %v", err)
	}
	got := map[string]int{} // how often a server received a nonce
	for _, c := range d.base {
		for run, events := range d.world.runs(c.Key) {
			d.judgeRun(fmt.Sprintf("%s, process %d", c.Key, run+1), events, d.world.ordered(c.Key), got)
		}
	}
	for _, c := range d.calls {
		if problem := c.judge(got[c.nonce]); problem != "" {
			r := c.result
			d.t.Errorf("call %s of %s.%s (whole %v, given up %v, received %d times): %s\n%s %v %.200s",
				c.nonce, c.key, c.tool, c.whole, c.given, got[c.nonce], problem, r.Outcome, r.Err, r.Raw)
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.records != len(d.calls) || d.called != len(d.calls) {
		d.t.Errorf("%d calls made %d records and %d signals", len(d.calls), d.records, d.called)
	}
}

// judgeRun counts the nonces that one process received, and says when something
// was cancelled that was not asked, or twice.
func (d *wild) judgeRun(name string, events []testkit.Event, ordered bool, got map[string]int) {
	asked, told := map[string]bool{}, map[string]bool{}
	for _, e := range events {
		if e.Kind != "received" {
			continue
		}
		var m struct {
			ID     json.RawMessage
			Method string
			Params struct {
				RequestID json.RawMessage
				Arguments struct{ Nonce string }
			}
		}
		if json.Unmarshal(e.Message, &m) != nil {
			d.t.Errorf("%s received what is no message: %.200s", name, e.Message)
			continue
		}
		switch m.Method {
		case "tools/call":
			got[m.Params.Arguments.Nonce]++
		case "notifications/cancelled":
			id := string(m.Params.RequestID)
			if ordered && !asked[id] || told[id] {
				d.t.Errorf("%s: request %s was cancelled; it was asked: %v, cancelled before: %v", name, id, asked[id], told[id])
			}
			told[id] = true
		}
		if m.ID != nil && m.Method != "" {
			if id := string(m.ID); ordered && asked[id] {
				d.t.Errorf("%s: the id %s was used twice", name, id)
			}
			asked[string(m.ID)] = true
		}
	}
}

// judge says what is wrong with the end of a call that servers received so often;
// empty: nothing.
func (c *wildCall) judge(received int) string {
	r := c.result
	var code call.Code
	if r.Err != nil {
		code = r.Err.Code
	}
	switch {
	case received > 1:
		return "it was made more than once"
	case (r.Outcome == call.OK) != (r.Err == nil):
		return "its outcome and its error do not agree"
	case r.Tool != c.key+"."+c.tool:
		return "it is said to be of another tool: " + r.Tool
	}
	own := bytes.Contains(r.Raw, []byte(c.nonce))
	switch r.Outcome {
	case call.OK:
		switch {
		case received != 1:
			return "it ended well and no server got it"
		case !own:
			return "it has the result of another call"
		case slices.Contains([]string{"never", "crash", "wrong", "fail", "torn", "nope"}, c.tool):
			return "it cannot end well"
		}
	case call.ToolError:
		if c.tool != "fail" || !own || received != 1 {
			return "its tool does not fail, or it is not its own failure"
		}
	case call.ProtocolError:
		switch code {
		case call.ToolUnknown:
			if received != 0 && c.tool != "extra" {
				return "its tool is unknown, and yet a server got it"
			}
		case call.ProtocolFault:
			if received == 0 && strings.Contains(r.Err.Message, "Session not found") {
				return "" // its server was restarted twice in a row
			}
			if c.tool != "wrong" && c.tool != "torn" || received != 1 {
				return "the server did not refuse it"
			}
		case call.ArgumentsInvalid: // what the server says of a tool that it has no more
			if c.tool != "extra" && c.tool != "nope" || received != 1 {
				return "the server did not refuse its arguments"
			}
		default:
			return "it has a code that nobody gave it"
		}
	case call.Unavailable:
		if received != 0 {
			return "it is said to have done nothing, and a server got it"
		}
	case call.Denied:
		if c.tool != "echo" || received != 0 {
			return "nobody forbade it, or a server got it nevertheless"
		}
	case call.Cancelled:
		if !c.given {
			return "nobody gave it up"
		}
	case call.Timeout:
		if received != 0 && r.Err.Retryable {
			return "it is said to have done nothing, and a server got it"
		}
	case call.Unknown: // whether it was received nobody knows; that is the point
	default:
		return "there is no such outcome"
	}
	return ""
}

// long is set for the long form of the tests.
var long = os.Getenv("AURORA_TEST_LONG") != ""

// seeds returns n seeds, or the one in AURORA_TEST_SEED.
func seeds(t *testing.T, n int) []uint64 {
	t.Helper()
	if text := os.Getenv("AURORA_TEST_SEED"); text != "" {
		seed, err := strconv.ParseUint(text, 10, 64)
		if err != nil {
			t.Fatalf("AURORA_TEST_SEED: %v", err)
		}
		return []uint64{seed}
	}
	list := make([]uint64, n)
	for i := range list {
		list[i] = rand.Uint64()
	}
	return list
}

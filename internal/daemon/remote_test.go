package daemon

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/control/controltest"
	"github.com/aurorabot/aurora/internal/platform/host"
	"github.com/aurorabot/aurora/internal/testkit"
)

const remoteSuiteApps = `apps:
  demo:
    mcp: {url: "${DEMO_URL}", transport: TRANSPORT}
    permissions: {tools: {demo.off: {enabled: false}}}
  gone:
    mcp: {command: [aurora]}
`

// TestHouseOverHTTP runs the suite of all houses with a server at an address.
func TestHouseOverHTTP(t *testing.T) {
	script, err := testkit.Open("../control/controltest/demo.mcp")
	if err != nil {
		t.Fatal(err)
	}
	for how, transport := range map[string]string{
		"answers json\nstrict": "streamable-http", "answers sse\nstrict\nnumbered": "streamable-http", "answers legacy\nstrict": "sse",
	} {
		t.Run(strings.Fields(how)[1], func(t *testing.T) {
			server := testkit.ListenHTTP(t, testkit.Each(t, script), testkit.MustParseHTTP(t, how))
			d := open(t, Options{
				Home:   makeHome(t, strings.ReplaceAll(remoteSuiteApps, "TRANSPORT", transport)),
				Env:    append(os.Environ(), "DEMO_URL="+server.URL),
				Dialer: host.Dialers{Local: &memoryDialer{t: t}, Remote: &host.RemoteDialer{}},
			})
			if err := d.Settled(t.Context()); err != nil {
				t.Fatal(err)
			}
			controltest.Run(t, d, func() int {
				for server.Count("notifications/cancelled") == 0 {
					time.Sleep(time.Millisecond) // the server has no bell
				}
				return server.Count("notifications/cancelled")
			})
		})
	}
}

// A remote app is dialed as it is configured: it has no process, our name and
// its headers go to its server, and no secret is in what the house writes.
func TestARemoteAppOfAHouse(t *testing.T) {
	script := testkit.MustParse(t, "tool echo\non tools/call echo\n  reply error -32000 \"the token s3cr3t-t0ken is fine\"")
	server := testkit.ListenHTTP(t, testkit.Each(t, script), testkit.MustParseHTTP(t, "strict"))
	home := makeHome(t, `apps:
  far: {url: "${FAR_URL}", headers: {Authorization: "Bearer ${FAR_TOKEN}"}}
  dead: {url: "http://127.0.0.1:1/mcp"}
`)
	put(t, filepath.Join(home, ".env"), "FAR_TOKEN=s3cr3t-t0ken\n")
	d := open(t, Options{Home: home, Env: append(os.Environ(), "FAR_URL="+server.URL), Version: "1.2.3"})
	if err := d.Settled(t.Context()); err != nil {
		t.Fatal(err)
	}
	apps, err := d.Apps(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	states := map[string]string{}
	for _, a := range apps {
		states[a.Key] = a.State
		if a.Key == "far" {
			text, err := json.Marshal(a)
			if err != nil || !strings.Contains(string(text), `"pid":null`) || a.Transport != "streamable-http" {
				t.Errorf("it shows %s, %v", text, err)
			}
		}
	}
	if states["far"] != "ready" || states["dead"] != "restarting" {
		t.Errorf("states %v", states)
	}
	r := d.host.Call(t.Context(), call.Call{Caller: call.Caller{Kind: call.CLI}, Name: "far.echo"})
	if r.Err == nil || strings.Contains(r.Err.Message, "s3cr3t") {
		t.Errorf("it ended with %v", r.Err)
	}
	first := server.Requests()[0]
	if got := first.Header.Get("User-Agent"); got != "aurora/1.2.3" {
		t.Errorf("we are called %q", got)
	}
	if got := first.Header.Get("Authorization"); got != "Bearer s3cr3t-t0ken" {
		t.Errorf("the server got %q", got)
	}
	if err := d.Close(t.Context()); err != nil {
		t.Error(err)
	}
	err = filepath.WalkDir(filepath.Join(home, "data"), func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		text, err := os.ReadFile(path)
		if strings.Contains(string(text), "s3cr3t-t0ken") {
			t.Errorf("a secret is in %s", path)
		}
		return err
	})
	if err != nil {
		t.Error(err)
	}
}

package host

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/platform/audit"
	"github.com/aurorabot/aurora/internal/platform/mcp"
	"github.com/aurorabot/aurora/internal/platform/proc"
)

// BenchmarkHostCall compares one call to an echo server over stdio in four
// ways: a hand-written loop that knows nothing, a session, the host as a
// gateway uses it (no argument check), and the host as the brain uses it, with
// audit. The budget of DESIGN 15 is host against loop: 1.5 times the p50, and
// 2 KB of garbage, of which the host may add 1 KB to the session's.
func BenchmarkHostCall(b *testing.B) {
	for _, size := range []struct {
		name string
		n    int
	}{{"100B", 80}, {"64KiB", 64 << 10}} {
		args := []byte(`{"text":"` + strings.Repeat("a", size.n) + `"}`)
		b.Run(size.name+"/loop", func(b *testing.B) {
			link := benchLink(b)
			in := bufio.NewReaderSize(link.Stdout(), 256<<10)
			frame := func(id int) []byte {
				return fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"echo","arguments":%s}}`+"\n", id, args)
			}
			n := 0
			measure(b, func() error {
				n++
				if _, err := link.Stdin().Write(frame(n)); err != nil {
					return err
				}
				line, err := in.ReadSlice('\n')
				if err == nil && !bytes.Contains(line[:32], []byte(`"id":`)) {
					err = io.ErrUnexpectedEOF
				}
				return err
			})
		})
		b.Run(size.name+"/session", func(b *testing.B) {
			link := benchLink(b)
			s, err := mcp.Connect(b.Context(), mcp.NewStdio(link.Stdout(), link.Stdin(), mcp.StdioOptions{}), mcp.Options{})
			if err != nil {
				b.Fatal(err)
			}
			ctx, stop := context.WithCancel(context.Background())
			defer stop()
			measure(b, func() error {
				_, err := s.CallTool(ctx, "echo", args, nil)
				return err
			})
			s.Close(nil)
		})
		for _, kind := range []call.CallerKind{call.Gateway, call.Brain} {
			b.Run(size.name+"/host for "+string(kind), func(b *testing.B) {
				h := benchHost(b, kind == call.Brain)
				ctx, stop := context.WithCancel(context.Background())
				defer stop()
				c := call.Call{Caller: call.Caller{Kind: kind}, Name: "echo.echo", Args: args}
				measure(b, func() error {
					if r := h.Call(ctx, c); r.Err != nil {
						return r.Err
					}
					return nil
				})
			})
		}
	}
}

// measure runs the loop of a benchmark and reports the median.
func measure(b *testing.B, once func() error) {
	b.Helper()
	b.ReportAllocs()
	times := make([]time.Duration, 0, 1<<20)
	for b.Loop() {
		began := time.Now()
		if err := once(); err != nil {
			b.Fatal(err)
		}
		if len(times) < cap(times) {
			times = append(times, time.Since(began))
		}
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2])/1e3, "p50-µs")
}

func benchLink(b *testing.B) *proc.Process {
	b.Helper()
	l, err := proc.NewLauncher(proc.Options{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { l.Close() })
	c := echoApp("echo")
	p, err := l.Start(b.Context(), proc.Spec{Argv: c.MCP.Command, Env: c.MCP.Env})
	if err != nil {
		b.Fatal(err)
	}
	return p
}

func benchHost(b *testing.B, audited bool) *Host {
	b.Helper()
	l, err := proc.NewLauncher(proc.Options{})
	if err != nil {
		b.Fatal(err)
	}
	o := Options{Apps: []*config.App{echoApp("echo")}, Dialer: &StdioDialer{Launcher: l}}
	if audited {
		log, err := audit.Open(b.TempDir(), audit.Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { log.Close() })
		o.Audit = log
	}
	h := New(o)
	b.Cleanup(func() {
		h.Close(context.Background())
		l.Close()
	})
	h.Start(b.Context())
	if err := h.Settled(b.Context()); err != nil {
		b.Fatal(err)
	}
	return h
}

// BenchmarkStart is the start of twenty apps to a full list, beside a loop that
// starts the same servers at once, writes the three messages of the handshake
// and tools/list to each without looking at the answers, and waits for the list.
// The budget of DESIGN 15 is 150 ms.
func BenchmarkStart(b *testing.B) {
	const apps = 20
	b.Run("loop", func(b *testing.B) {
		for b.Loop() {
			var started errgroup.Group
			processes := make([]*exec.Cmd, apps)
			for i := range apps {
				started.Go(func() (err error) {
					processes[i], err = startByHand(echoApp("echo"))
					return err
				})
			}
			if err := started.Wait(); err != nil {
				b.Fatal(err)
			}
			b.StopTimer()
			for _, p := range processes {
				p.Process.Kill()
				p.Wait()
			}
			b.StartTimer()
		}
	})
	b.Run("host", func(b *testing.B) {
		for b.Loop() {
			l, err := proc.NewLauncher(proc.Options{})
			if err != nil {
				b.Fatal(err)
			}
			var list []*config.App
			for i := range apps {
				list = append(list, echoApp(fmt.Sprintf("echo-%d", i)))
			}
			h := New(Options{Apps: list, Dialer: &StdioDialer{Launcher: l}})
			h.Start(b.Context())
			if err := h.Settled(b.Context()); err != nil {
				b.Fatal(err)
			}
			if n := len(h.Catalog().Tools()); n != apps {
				b.Fatalf("%d tools", n)
			}
			b.StopTimer()
			h.Close(context.Background())
			l.Close()
			b.StartTimer()
		}
	})
}

// startByHand starts a server and returns when its list of tools has come.
func startByHand(app *config.App) (*exec.Cmd, error) {
	c := exec.Command(app.MCP.Command[0])
	c.Env = app.MCP.Env
	in, err := c.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := c.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := c.Start(); err != nil {
		return nil, err
	}
	io.WriteString(in, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"loop","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}
{"jsonrpc":"2.0","id":2,"method":"tools/list"}
`)
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if bytes.Contains(lines.Bytes(), []byte(`"tools":[`)) {
			return c, nil
		}
	}
	return nil, io.ErrUnexpectedEOF
}

// BenchmarkCatalog is what a list of a thousand tools costs: decoding it for
// the first time, again when nothing has changed, and joining it with the rest.
func BenchmarkCatalog(b *testing.B) {
	a := newApp(New(Options{}), appConfig("demo"), "")
	items := make([]json.RawMessage, 1000)
	for i := range items {
		items[i] = fmt.Appendf(nil, `{"name":"tool_%d","description":"does something","inputSchema":{"type":"object","properties":{"x":{"type":"string"}}}}`, i)
	}
	tools, _ := a.decodeTools(a.config(), items, nil)
	p := []*part{{app: a.config(), tools: tools}}
	b.Run("decode", func(b *testing.B) {
		for b.Loop() {
			a.decodeTools(a.config(), items, nil)
		}
	})
	b.Run("decode again", func(b *testing.B) {
		for b.Loop() {
			a.decodeTools(a.config(), items, tools)
		}
	})
	b.Run("join", func(b *testing.B) {
		for b.Loop() {
			join(p)
		}
	})
	c := join(p)
	b.Run("resolve", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := c.Resolve("demo.tool_500"); err != nil {
				b.Fatal(err)
			}
		}
	})
}

package mcp

import (
	"bufio"
	"bytes"
	"context"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// startChild runs the echo server as a process and returns its pipes.
func startChild(tb testing.TB) (stdout, stdin *os.File) {
	tb.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), childEnv+"=1")
	childIn, in, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	out, childOut, err := os.Pipe()
	if err != nil {
		tb.Fatal(err)
	}
	cmd.Stdin, cmd.Stdout, cmd.Stderr = childIn, childOut, os.Stderr
	if err := cmd.Start(); err != nil {
		tb.Fatal(err)
	}
	childIn.Close()
	childOut.Close()
	tb.Cleanup(func() {
		in.Close()
		if err := cmd.Wait(); err != nil {
			tb.Error(err)
		}
		out.Close()
	})
	return out, in
}

// BenchmarkCallStdio compares a call of ours with the least that can be done
// over the same pipes to the same process: one goroutine that writes a line,
// reads a line and cuts the result out of it. p50 is what the budget of
// DESIGN 15 is about.
func BenchmarkCallStdio(b *testing.B) {
	for _, size := range []struct {
		name string
		n    int
	}{{"100B", 80}, {"64KiB", 64 << 10}} {
		args := []byte(`{"text":"` + strings.Repeat("a", size.n) + `"}`)
		b.Run(size.name+"/loop", func(b *testing.B) {
			r, w := startChild(b)
			loop := &minimalLoop{r: bufio.NewReaderSize(r, 256<<10), w: w}
			measure(b, func() { loop.call(args) })
		})
		b.Run(size.name+"/loop with a reader", func(b *testing.B) {
			r, w := startChild(b)
			loop := &minimalLoop{r: bufio.NewReaderSize(r, 256<<10), w: w, got: make(chan []byte, 1)}
			go loop.read()
			measure(b, func() { loop.call(args) })
		})
		b.Run(size.name+"/session", func(b *testing.B) {
			r, w := startChild(b)
			s, err := Connect(context.Background(), NewStdio(r, w, StdioOptions{}), Options{})
			if err != nil {
				b.Fatal(err)
			}
			ctx, stop := context.WithCancel(context.Background())
			defer stop()
			measure(b, func() {
				if _, err := s.CallTool(ctx, "echo", args, nil); err != nil {
					b.Fatal(err)
				}
			})
			s.Close(nil)
			s.Wait()
		})
	}
}

// BenchmarkCallStdio16 is the same with 16 callers at once, against a
// multiplexer that promises as little.
func BenchmarkCallStdio16(b *testing.B) {
	args := []byte(`{"text":"` + strings.Repeat("a", 80) + `"}`)
	b.Run("mux", func(b *testing.B) {
		r, w := startChild(b)
		mux := &minimalMux{w: w, waiting: map[int64]chan []byte{}}
		go mux.read(bufio.NewReaderSize(r, 256<<10))
		b.ReportAllocs()
		b.SetParallelism(16 / runtime.GOMAXPROCS(0))
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				mux.call(args)
			}
		})
	})
	b.Run("session", func(b *testing.B) {
		r, w := startChild(b)
		s, err := Connect(context.Background(), NewStdio(r, w, StdioOptions{}), Options{})
		if err != nil {
			b.Fatal(err)
		}
		b.ReportAllocs()
		b.SetParallelism(16 / runtime.GOMAXPROCS(0))
		b.RunParallel(func(pb *testing.PB) {
			ctx, stop := context.WithCancel(context.Background())
			defer stop()
			for pb.Next() {
				if _, err := s.CallTool(ctx, "echo", args, nil); err != nil {
					b.Error(err)
				}
			}
		})
		s.Close(nil)
		s.Wait()
	})
}

// A minimalMux is a minimalLoop for many callers.
type minimalMux struct {
	w       *os.File
	mu      sync.Mutex
	id      int64
	waiting map[int64]chan []byte
	out     []byte
}

func (m *minimalMux) call(args []byte) []byte {
	got := make(chan []byte, 1)
	m.mu.Lock()
	m.id++
	m.waiting[m.id] = got
	m.out = appendCall(m.out[:0], m.id, args)
	_, err := m.w.Write(m.out)
	m.mu.Unlock()
	if err != nil {
		panic(err)
	}
	return <-got
}

func (m *minimalMux) read(r *bufio.Reader) {
	for {
		line, err := r.ReadSlice('\n')
		if err != nil {
			return
		}
		from := bytes.Index(line, []byte(`"id":`)) + 5
		id, _ := strconv.ParseInt(string(line[from:from+bytes.IndexByte(line[from:], ',')]), 10, 64)
		at := bytes.Index(line, []byte(`"result":`)) + 9
		m.mu.Lock()
		got := m.waiting[id]
		delete(m.waiting, id)
		m.mu.Unlock()
		got <- bytes.Clone(line[at : len(line)-2])
	}
}

func appendCall(b []byte, id int64, args []byte) []byte {
	b = append(b, `{"jsonrpc":"2.0","id":`...)
	b = strconv.AppendInt(b, id, 10)
	b = append(b, `,"method":"tools/call","params":{"name":"echo","arguments":`...)
	b = append(b, args...)
	b = append(b, `,"_meta":{"progressToken":`...)
	b = strconv.AppendInt(b, id, 10)
	return append(b, "}}}\n"...)
}

// measure runs f and reports the median beside the mean.
func measure(b *testing.B, f func()) {
	b.ReportAllocs()
	took := make([]time.Duration, 0, 1<<20)
	for b.Loop() {
		from := time.Now()
		f()
		if len(took) < cap(took) {
			took = append(took, time.Since(from))
		}
	}
	slices.Sort(took)
	b.ReportMetric(float64(took[len(took)/2].Nanoseconds()), "p50-ns")
}

// A minimalLoop is a hand-written JSON-RPC client without any promise.
type minimalLoop struct {
	r   *bufio.Reader
	w   *os.File
	id  int64
	out []byte
	got chan []byte // set when another goroutine reads
}

func (l *minimalLoop) read() {
	for {
		line, err := l.r.ReadSlice('\n')
		if err != nil {
			return
		}
		at := bytes.Index(line, []byte(`"result":`)) + 9
		l.got <- bytes.Clone(line[at : len(line)-2])
	}
}

func (l *minimalLoop) call(args []byte) []byte {
	l.id++
	l.out = appendCall(l.out[:0], l.id, args)
	if _, err := l.w.Write(l.out); err != nil {
		panic(err)
	}
	if l.got != nil {
		return <-l.got
	}
	line, err := l.r.ReadSlice('\n')
	if err != nil {
		panic(err)
	}
	at := bytes.Index(line, []byte(`"result":`)) + 9
	return bytes.Clone(line[at : len(line)-2])
}

// BenchmarkCallAlone is the cost of a call without any wire: the answer is
// there before Send returns.
func BenchmarkCallAlone(b *testing.B) {
	t := &mirror{end: make(chan struct{})}
	s, err := Connect(context.Background(), t, Options{})
	if err != nil {
		b.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	defer stop()
	args := []byte(`{"text":"` + strings.Repeat("a", 80) + `"}`)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.CallTool(ctx, "echo", args, nil); err != nil {
			b.Fatal(err)
		}
	}
	s.Close(nil)
	s.Wait()
}

// A mirror is a transport that answers within Send.
type mirror struct {
	deliver func(*Message)
	split   splitter
	end     chan struct{}
	out     []byte
}

func (t *mirror) Run(deliver func(*Message)) error {
	t.deliver = deliver
	<-t.end
	return nil
}

func (t *mirror) Send(_ context.Context, msg []byte) error {
	for t.deliver == nil {
		time.Sleep(time.Millisecond)
	}
	var s splitter
	s.scanner = scanner{b: msg}
	s.message()
	if s.m.ID == nil {
		return nil
	}
	t.out = append(append(t.out[:0], `{"jsonrpc":"2.0","id":`...), s.m.ID...)
	t.out = append(t.out, `,"result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"content":[]}}`...)
	return t.split.split(t.out, t.deliver)
}

func (t *mirror) Close() error {
	close(t.end)
	return nil
}

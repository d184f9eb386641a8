package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// BenchmarkIdle is what a daemon with ten local apps costs while nothing
// happens: its share of a core, and its resident memory. The budget of DESIGN 15
// is under 1 % and under 60 MiB. Each turn of the loop watches for ten seconds.
func BenchmarkIdle(b *testing.B) {
	dir := b.TempDir()
	program := filepath.Join(dir, "aurora")
	if out, err := exec.Command("go", "build", "-o", program, ".").CombinedOutput(); err != nil {
		b.Fatalf("build: %v\n%s", err, out)
	}
	var apps strings.Builder
	apps.WriteString("apps:\n")
	for i := range 10 {
		fmt.Fprintf(&apps, "  app-%d: {mcp: {command: [aurora, app, run, weather]}}\n", i)
	}
	if err := os.MkdirAll(filepath.Join(dir, "apps"), 0o700); err != nil {
		b.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "apps", "config.yml"), []byte(apps.String()), 0o600); err != nil {
		b.Fatal(err)
	}
	daemon := exec.Command(program, "up", "--home", dir)
	if err := daemon.Start(); err != nil {
		b.Fatal(err)
	}
	defer func() {
		_ = daemon.Process.Signal(syscall.SIGTERM)
		if err := daemon.Wait(); err != nil {
			b.Error(err)
		}
	}()
	// A command that asks the daemon waits for it, and for its apps.
	for n := 0; ; n++ {
		out, err := exec.Command(program, "tools", "--home", dir, "--json").Output()
		if err == nil && strings.Count(string(out), `"upstream_name":"im.polaris.weather.get_weather"`) == 10 {
			break
		}
		if n == 50 {
			b.Fatalf("the apps do not become ready: %v\n%s", err, out)
		}
	}
	time.Sleep(5 * time.Second) // what the start leaves to do is done
	began, watched := cpuTime(b, daemon.Process.Pid), time.Duration(0)
	for b.Loop() {
		time.Sleep(20 * time.Second)
		watched += 20 * time.Second
	}
	used := cpuTime(b, daemon.Process.Pid) - began
	b.ReportMetric(100*used.Seconds()/watched.Seconds(), "%core")
	b.ReportMetric(residentMiB(b, daemon.Process.Pid), "MiB")
	b.ReportMetric(0, "ns/op")
}

// cpuTime returns what a process has used of a core so far (proc(5), stat).
func cpuTime(b *testing.B, pid int) time.Duration {
	b.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	ticks := 0
	for _, f := range fields[11:13] {
		n, err := strconv.Atoi(f)
		if err != nil {
			b.Fatal(err)
		}
		ticks += n
	}
	return time.Duration(ticks) * 10 * time.Millisecond // USER_HZ is 100 on Linux
}

func residentMiB(b *testing.B, pid int) float64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		b.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	kib, err := strconv.Atoi(strings.Fields(rest)[0])
	if err != nil {
		b.Fatal(err)
	}
	return float64(kib) / 1024
}

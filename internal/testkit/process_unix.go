//go:build unix

package testkit

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"syscall"
	"time"
)

var signalNumbers = map[string]os.Signal{
	"TERM": syscall.SIGTERM, "INT": syscall.SIGINT, "HUP": syscall.SIGHUP,
}

func ignorePipeSignal() { signal.Ignore(syscall.SIGPIPE) }

// envFork makes this binary a child that only sleeps.
const envFork = "AURORA_TESTKIT_FORK"

// fork starts a child of the server and returns once it has settled: its
// signals are ignored, its parent is gone, its pid is in the record.
func (p *process) fork(o forkOptions) error {
	cmd, settled, err := forkCommand(o)
	if err != nil {
		return err
	}
	if o.Stdin {
		cmd.Stdin = os.Stdin
	}
	if o.Stdout {
		cmd.Stdout = os.Stdout
	}
	if o.Stderr {
		cmd.Stderr = os.Stderr
	}
	pid, err := startSettled(cmd, settled)
	if err != nil {
		return err
	}
	p.record(Event{Kind: "fork", PID: pid})
	if o.Daemon {
		return cmd.Wait()
	}
	go func() { _ = cmd.Wait() }() // reaps it
	return nil
}

func forkCommand(o forkOptions) (cmd *exec.Cmd, settled *os.File, err error) {
	self, err := os.Executable()
	if err != nil {
		return nil, nil, err
	}
	spec, err := json.Marshal(o)
	if err != nil {
		return nil, nil, err
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	cmd = exec.Command(self)
	cmd.Env = append(os.Environ(), envFork+"="+string(spec))
	cmd.ExtraFiles = []*os.File{w}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: o.Setsid}
	return cmd, r, nil
}

// startSettled starts the child and reads from it the pid of the sleeper.
func startSettled(cmd *exec.Cmd, settled *os.File) (pid int, err error) {
	defer settled.Close()
	err = cmd.Start()
	_ = cmd.ExtraFiles[0].Close()
	if err != nil {
		return 0, err
	}
	if _, err := fmt.Fscan(settled, &pid); err != nil {
		return 0, fmt.Errorf("the forked child did not settle: %w", err)
	}
	return pid, nil
}

// runIfFork is the life of a forked child.
func runIfFork() {
	spec := os.Getenv(envFork)
	if spec == "" {
		return
	}
	time.AfterFunc(lifetime, func() { os.Exit(98) })
	var o forkOptions
	if err := json.Unmarshal([]byte(spec), &o); err != nil {
		fmt.Fprintln(os.Stderr, "testkit: fork:", err)
		os.Exit(99)
	}
	report := os.NewFile(3, "settled")
	pid := os.Getpid()
	if o.Daemon {
		o.Daemon = false
		cmd, settled, err := forkCommand(o)
		if err == nil {
			cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
			pid, err = startSettled(cmd, settled)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, "testkit: fork:", err)
			os.Exit(99)
		}
		fmt.Fprintln(report, pid)
		syscall.Exit(0) // at once, as in exit
	}
	if o.IgnoreTERM {
		signal.Ignore(syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP)
	}
	fmt.Fprintln(report, pid)
	_ = report.Close()
	select {}
}

// kill makes the process die of a signal. Those that the Go runtime would turn
// into a panic are sent by a shell that takes the place of the process.
func (p *process) kill(name string) error {
	if name == "STOP" {
		return syscall.Kill(os.Getpid(), syscall.SIGSTOP)
	}
	p.record(Event{Kind: "exit", Text: "SIG" + name})
	if name == "KILL" {
		return syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	return syscall.Exec("/bin/sh", []string{"sh", "-c", "kill -" + name + " " + strconv.Itoa(os.Getpid())}, os.Environ())
}

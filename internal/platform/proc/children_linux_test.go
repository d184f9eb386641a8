package proc

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// parts are the children of the tests. A part says on stdout what a test waits
// for, one word or pid a line.
var parts = map[string]func(){
	// polite answers every line with the same line and ends with its input.
	"polite": func() {
		fmt.Println("ready")
		io.Copy(os.Stdout, os.Stdin)
		os.Exit(0)
	},
	// stubborn ignores the end of its input and TERM.
	"stubborn": func() {
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("ready")
		forever()
	},
	// lingering does so too, and says nothing but that it is ready, on a pipe of
	// its own.
	"lingering": func() {
		signal.Ignore(syscall.SIGTERM)
		os.NewFile(3, "ready").Close()
		forever()
	},
	// deaf ignores the end of its input only.
	"deaf": func() {
		fmt.Println("ready")
		forever()
	},
	// flushing takes its time after the end of its input, and tells whether it
	// was signalled in that time.
	"flushing": func() {
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGTERM)
		fmt.Println("ready")
		io.Copy(io.Discard, os.Stdin)
		select {
		case <-signals:
			fmt.Println("signalled")
		case <-time.After(300 * time.Millisecond):
			fmt.Println("flushed")
		}
		os.Exit(0)
	},
	// settling ignores the end of its input, and after TERM takes its time to
	// write a file.
	"settling": func() {
		signals := make(chan os.Signal, 1)
		signal.Notify(signals, syscall.SIGTERM)
		fmt.Println("ready")
		<-signals
		time.Sleep(300 * time.Millisecond)
		os.WriteFile(os.Getenv("PROC_FILE"), []byte("settled"), 0o600)
		os.Exit(0)
	},
	// failing says why on stderr and exits.
	"failing": func() {
		fmt.Fprint(os.Stderr, "starting\nERROR: DEMO_TOKEN is not set")
		os.Exit(2)
	},
	// loud writes 8 MiB to stderr before it answers.
	"loud": func() {
		line := append(bytes.Repeat([]byte("x"), 1023), '\n')
		for range 8 << 10 {
			os.Stderr.Write(line)
		}
		fmt.Println("answer")
		os.Exit(0)
	},
	// leaving starts a lingering grandchild that shares its stdout, says the
	// grandchild's pid and some last words, and exits.
	"leaving": func() {
		fmt.Println(grandchild(os.Environ(), nil))
		fmt.Println(strings.Repeat("last words ", 1000))
		os.Exit(3)
	},
	// escaping starts a grandchild in a session of its own and stays.
	"escaping": func() {
		fmt.Println(grandchild(os.Environ(), &syscall.SysProcAttr{Setsid: true}))
		forever()
	},
	// vanishing does so, and wipes the grandchild's environment too.
	"vanishing": func() {
		fmt.Println(grandchild([]string{}, &syscall.SysProcAttr{Setsid: true}))
		forever()
	},
	// daemon starts vanishing and ends it, so that the grandchild is an orphan that
	// nothing connects with its app, and stays.
	"daemon": func() {
		cmd := exec.Command(os.Args[0])
		cmd.Env = append(os.Environ(), "PROC_CHILD=vanishing")
		out, _ := cmd.StdoutPipe()
		if err := cmd.Start(); err != nil {
			panic(err)
		}
		pid, _ := bufio.NewReader(out).ReadString('\n')
		cmd.Process.Kill()
		cmd.Wait()
		fmt.Print(pid)
		io.Copy(io.Discard, os.Stdin)
		os.Exit(0)
	},
	// modes tells which of its standard files do not block.
	"modes": func() {
		for fd := range 3 {
			flags, _, _ := syscall.Syscall(syscall.SYS_FCNTL, uintptr(fd), syscall.F_GETFL, 0)
			fmt.Println(fd, flags&syscall.O_NONBLOCK != 0)
		}
		os.Exit(0)
	},
	// house is an Aurora that is about to be killed: it starts children, says
	// their pids and those of their grandchildren, and stays.
	"house": func() {
		l, err := NewLauncher(Options{Dir: os.Getenv("PROC_DIR")})
		if err != nil {
			panic(err)
		}
		for _, part := range []string{"stubborn", "escaping"} {
			p, err := l.Start(context.Background(), Spec{Name: "app-" + part, Argv: os.Args[:1], Env: append(os.Environ(), "PROC_CHILD="+part)})
			if err != nil {
				panic(err)
			}
			word, _ := bufio.NewReader(p.Stdout()).ReadString('\n')
			fmt.Println(p.PID(), strings.TrimSpace(word))
		}
		forever()
	},
}

func play(part string) {
	os.Unsetenv("PROC_CHILD") // it stands first, so a child's child would play the same part, and so on
	parts[part]()
}

// grandchild starts lingering and returns its pid when it is ready.
func grandchild(env []string, sys *syscall.SysProcAttr) string {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(env, "PROC_CHILD=lingering")
	cmd.SysProcAttr = sys
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	ready, tell, err := os.Pipe()
	if err != nil {
		panic(err)
	}
	cmd.ExtraFiles = []*os.File{tell}
	if err := cmd.Start(); err != nil {
		panic(err)
	}
	tell.Close()
	io.Copy(io.Discard, ready)
	return strconv.Itoa(cmd.Process.Pid)
}

// forever is not select{}: without other goroutines that is a deadlock to Go.
func forever() {
	for {
		time.Sleep(time.Hour)
	}
}

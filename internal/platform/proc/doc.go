// Package proc starts, watches and ends child processes. It knows nothing of
// MCP, of tools or of configuration: it is handed a command and a complete
// environment, and hands out pipes. The design documents call it MCPServerKit.
//
// # Promises
//
// Nothing survives. A child leads a session, and so a process group, of its
// own. When it has ended, in whatever way, what is left of its family is
// killed before [Process.Done] is closed. On Linux the family is found by
// group, by session, by a cookie in the environment ([CookieVar]), by descent
// seen while parents still lived, and by adoption: this process is a child
// subreaper, so orphans come to it and not to init. When this process itself is
// killed, direct children die with it (parent-death signal) and the rest is
// found by [Launcher.Sweep] at the next start. macOS has no parent-death signal
// and no adoption; Windows keeps a family in a job object, which ends with this
// process.
//
// Nothing waits for ever. [Process.Stop] climbs a ladder in which every rung is
// bounded: close stdin, wait; TERM to the group, wait; KILL. A child that
// ends by itself in time is never signalled. What a stopped child leaves behind
// has its time for TERM too; what a crashed one leaves is killed at once. The end of a child is noticed by
// waiting for the process, not for the end of its output, so a grandchild that
// holds the pipe hides nothing.
//
// Nothing is lost. Bytes that were in the stdout pipe when the child ended can
// still be read. Standard error is drained from the first moment and its tail
// is complete when Done is closed.
//
// Nothing blocks. Reading the state of a process takes no lock that is held
// over input or output. Standard error is read whether or not anybody looks at
// it. No child waits for another, except for the moment of the fork itself.
//
// # Ownership
//
// A [Launcher] owns its processes and [Launcher.Close] ends them. One goroutine
// reads [Process.Stdout]; any may write [Process.Stdin], stop, kill and look.
//
// # House rules for the rest of the program
//
// On Linux, a child of this process that is not in its session and was not
// started by a Launcher is taken for an orphan of some app: it is reaped when
// it ends, and killed at Close unless it carries another run's cookie. Code
// that starts something with os/exec needs no care as long as it does not set
// Setsid. A program that shall outlive us, such as a browser, is started with
// [CookieVar] set to "none".
package proc

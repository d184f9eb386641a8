// Package daemon is the composition root: the only package that sees the whole
// house. It opens a home, starts what is in it in order, and ends it in order.
//
// Promises:
//
//   - One process at a time owns a home ([Open] takes its lock, [Daemon.Close]
//     gives it back). While it is owned nobody else writes under data/.
//   - Start: lock, configuration, logs, leftovers of a killed run, audit, spools
//     and bridge, apps, control endpoint, brain. Nothing is started if the
//     configuration of an app that is needed is wrong, unless the caller keeps
//     going.
//   - Stop: new calls are refused with SHUTTING_DOWN, those in flight are
//     waited for or cancelled, sessions and processes end, what was observed is
//     written, then the brain, the control endpoint, audit, logs and the lock. A
//     turn that is cut short goes on after the next start. [Daemon.Kill] is the
//     same in a hurry.
//   - Whatever becomes of the brain, the platform runs on. How the brain is stands
//     in the health file, and the doctor and the next start tell it.
//   - A text for a session of the console reaches a screen or is kept on disk for
//     the next one. It is never lost because a screen went away.
//   - data/ is 0700 and what is written there 0600. Every line of a log passes
//     the redactor of the configuration.
//   - A [Daemon] is a [control.House] and safe for concurrent use.
package daemon

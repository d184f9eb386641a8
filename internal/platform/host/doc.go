// Package host holds the sessions of all apps, the catalog of what they offer,
// and the one path of a call. It is the MCPClientManager of the design.
//
// # Promises
//
// Isolation. Each app has one supervisor, a goroutine that owns its life:
// start, handshake, lists, pings, refreshes, restarts, stop. Supervisors share
// no state, queue or lock; an app that hangs, floods or dies costs no other app
// anything. What they have in common is the number of starts that may be
// spawning at once, which each start gives back at its first byte of output or
// after a second, and the catalog, into which each puts its own part.
//
// Blocking. Start, Catalog, Status and every callback return at once; none of
// them does I/O. Call and its like run on their caller's goroutine and take at
// most their own deadline, also while their app starts. StopApp, RestartApp
// and Close wait for processes, whose end is bounded.
//
// Calls. Every call ends exactly once, with an outcome. It is sent a second
// time only if the first one surely did not reach the app. Policy, audit and
// signals see every call, and nothing calls a tool in another way.
//
// Names. A name leads to a tool by a table that was made when tools were
// listed, never by taking the name apart. Two tools with one name are both
// withheld.
//
// Catalog. A catalog is one moment, seen whole: it never changes and is
// replaced as a whole. A list that cannot be read again stays as it was.
//
// Order. The notifications of one session are observed in the order of the
// wire. Life cycle signals of one app are observed in the order of its life.
//
// Reload. Another configuration touches exactly the apps that it changes. What
// runs is never ended because of a mistake in a file. What was decided about a
// call that still waits for its app is decided again.
//
// Ends. After Close no goroutine, process or timer of the host is left.
//
// # Ownership
//
// A supervisor alone writes its app's snapshot and the fields marked as its
// own; everybody else reads the snapshot, which never changes once published.
// A start and a refresh do their I/O on goroutines of their own, which end
// before the supervisor goes on to another phase. Host.mu guards only the parts
// of the catalog and is never held during I/O.
//
// # Seams
//
// Dialer opens the way to an app, so that remote transports and in-memory peers
// fit in. Policy and Audit are interfaces declared here. Observe is where the
// bridge listens: a Signal refers to raw bytes and is not even built when
// nobody does.
package host

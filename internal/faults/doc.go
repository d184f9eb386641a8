// Package faults holds faults that users of other MCP hosts met, each as a
// readable script, and the tests that play them against the host of Aurora.
//
// A script is testdata/ID-title.txtar, where ID is the row of the collection
// of field faults (S01, L03, …). It begins with prose: what the user did, and
// what a right host does. Then come scripted servers (package testkit says how
// they are written), files of the home folder, and steps. Each section "steps"
// or "steps: TITLE" is a test of its own, with a fresh home, fresh processes
// and a host of its own. "steps everywhere" is played four times: over stdio,
// Streamable HTTP with answers as JSON and as events, and HTTP+SSE.
//
// Without a section apps/config.yml, every server is an app of the same name.
// A server is a command of its own: `command: [NAME]`. With a section
// "http: NAME", which says how it behaves there (testkit.HTTP), it is reached
// over HTTP: `url: ${NAME_URL}`.
//
// # Steps
//
//	config                    the lines indented under it are apps/config.yml
//	chmod 755 FILE            of the home folder
//	remove FILE
//	check                     read the configuration
//	inbox                     from the next up on, keep events in an inbox
//	inbox jams|works          its disk takes nothing, or takes it again
//	up [APP…]                 read it, unless that is done, and start the host
//	                          with all apps or the named ones; if it has
//	                          problems, nothing is started
//	up keep going             start all apps but those that have problems
//	down                      close the host (the end of a test does, too)
//	start|stop|restart APP [N times]   as a person would; N times waits each time
//	                          until the app has settled
//	server NAME forget|stop|start   a server over HTTP forgets its sessions, or goes away
//	release APP GATE          open a gate of its server
//	call TOOL [JSON] [within 2s]       make a call and wait for its result
//	begin ID TOOL [JSON] [within 2s]   make a call and go on
//	cancel ID                 its caller gives up
//	finish ID                 wait for its result
//	expect FIELD OP VALUE     look, now
//	await FIELD OP VALUE      look until it is so
//	keep FIELD                remember it; `expect FIELD is kept` compares
//
// OP is: is, has, lacks, matches (a regular expression), at least, at most.
// VALUE is the rest of the line or a Go string literal. In JSON ${fill:1MiB} is
// a mebibyte of x.
//
// # Fields
//
// Of the host: catalog (names of its tools), problems (of the configuration),
// started, log, aliases (NAME=ALIAS each), aliases.count, aliases.invalid
// (those that some provider would refuse, or that are not unique), exported
// (how many tools each provider would get), exported.left (names and reasons of
// those that OpenAI would not), exported.left.count, exported.valid (is it UTF-8
// and JSON), exported.longest (characters of a description), alias(NAME),
// definition(NAME), title(NAME).
//
// Of the inbox, in the order of the events: inbox.types, ids, sources,
// summaries, json, count, size (bytes).
//
// Of the last result: call.tool, outcome, code, error, rpc (code of the server's
// error), data (of that), retryable, result (raw),
// text (of the first part), length (of it, in bytes), valid (is it UTF-8 and
// JSON), progress (what OnProgress was told).
//
// Of an app, what its status says: APP.state, reason, noise, tools, warnings,
// stderr, exit, version, restarts; settled (it is neither starting nor
// restarting). What its configuration says: transport, protocol. What it let us
// observe: signals, notified (methods), params. How its events fared: delivered,
// dropped, refused, forged, undeclared, duplicates, expired. And what its server
// recorded: starts, requests (methods in order), lists (how many tools/list),
// called (names of tools), cancels, acks, marks, record (all but the messages),
// alive (how many of its processes and their children are there).
// Of one over HTTP: sessions, verbs (GET, POST and DELETE in order).
//
// # Beside the scripts
//
// docs/faults.md says what people see of each row; a test compares the two. The
// tests named after what happens to every call live through random interleavings
// of everything at once, in memory and with processes. The official SDK is shown
// to fail some rows, which is why Aurora does not use its client.
//
// No step asserts how long something takes; every wait has an outer bound that
// only says that something hangs.
package faults

// Package testkit is the fake MCP server that every test of Aurora shares. A
// readable script says what the server does on which message: noise, silence,
// a crash, a flood, a wrong version, a list in pages. What a script does not
// mention is done right, so a script holds little but the fault it is about.
//
// # Promises
//
//   - A script runs as a process of its own ([Put], [Child], [Main]) or in
//     memory on two bounded pipes ([StartPeer]). Both run the same
//     interpreter. In memory the clock is that of package time, so a script
//     can live in a testing/synctest bubble.
//   - One message after the other: a handler runs to its end before the next
//     message is read, as in a server with one thread. Work that goes on in
//     the meantime stands in a background block. An await step reads on while
//     it waits; what it reads is handled later, in order.
//   - Frames are written whole; two blocks never mix their bytes.
//   - A process never lives longer than two minutes, whatever its script
//     ignores, and neither do the children it forks.
//   - A mistake in a script names file and line: at parse time as an error, at
//     run time on stderr, as an event "error", with exit code 99.
//   - Everything a process receives and does is appended to its record, which
//     [Events] reads, over all its runs.
//
// The package imports nothing of Aurora's.
//
// # Archives
//
// Scripts live in txtar archives, a section "server: NAME" each, or in plain
// files. A script is a list of statements; what belongs to a statement is
// indented under it. A line that begins with # is a comment, as is the end of
// a line from two blanks and a # on. JSON may go on over several lines until
// its brackets are closed.
//
// # Statements
//
//	tool NAME [JSON]          offer a tool; JSON is merged into {"name": NAME,
//	                          "inputSchema": {"type": "object"}} (null removes a key)
//	tool raw JSON             offer exactly this, right or wrong
//	resource URI [JSON]       offer a resource
//	template URI [JSON]       offer a resource template
//	prompt NAME [JSON]        offer a prompt
//	page N                    lists come in pages of N
//	frame …, ids …            as the steps below, from the beginning
//	start [COND]              what to do before reading anything
//	on METHOD [NAME] [COND]   what to do on such a request or notification; * is any
//	on eof                    what to do when stdin is closed (else: exit 0)
//	on signal NAME            what to do on TERM, INT or HUP (else: die)
//	before answers            what to do before every answer (noise, delays)
//
// The first handler that matches, in the order of the file, is run. NAME is
// the tool, the prompt, the URI, the cursor of a list or the request id of a
// notifications/cancelled; quote it if it holds blanks. Conditions, all of
// which must hold:
//
//	#2  #3+  #2-4             the how-manieth message of this method (and NAME) it is
//	run 1  run 3+             the how-manieth process of this server it is
//	seen METHOD               a message of this method came before
//	unseen METHOD             none came
//
// # Steps
//
//	reply JSON                answer with this result, token by token
//	reply default [JSON]      the right answer, with JSON merged into it
//	reply text TEXT           a result with one text part
//	reply fail TEXT           the same with isError
//	reply error CODE "TEXT" [JSON]
//	send TEXT                 any one frame
//	notify METHOD [JSON]      a notification
//	request ID METHOD [JSON]  a request to the client
//	progress [VALUE [TOTAL]]  progress of the call at hand (VALUE: ${i})
//	stdout TEXT               a line that is no frame
//	raw TEXT                  bytes on stdout without a newline
//	stderr TEXT               a line on stderr
//	stderr raw TEXT           the same without a newline
//	stderr flood SIZE         so many bytes of lines on stderr
//	sleep 50ms                wait
//	await METHOD [NAME] [#2]  wait until such a message has come
//	await reply ID            wait until the client has answered request ID
//	await cancel              wait until the request at hand is cancelled
//	await release GATE        wait until the test opens GATE ([Release], [Peer.Release])
//	repeat N|forever [every 10ms]   do the block again and again; ${i} counts from 1
//	background                do the block while reading on
//	if COND                   do the block if the conditions hold
//	add tool NAME [JSON]      offer one more (also resource, template, prompt)
//	remove tool NAME          offer one less
//	frame end "\r\n"          what ends a frame from now on ("" is nothing)
//	frame begin "\ufeff"      what comes before a frame from now on
//	frame pieces 1 [every 1ms]      write so many bytes at a time; 0 is all at once
//	ids quoted|float|exact    how ids are echoed from now on
//	fork [setsid] [daemon] [hold stdin|stdout|stderr] [ignore TERM]
//	                          start a child that only sleeps; with daemon it is a
//	                          grandchild whose parent is gone
//	stop reading              never read again
//	close stdin|stdout|stderr
//	exit CODE
//	kill SEGV                 die of this signal
//	mark TEXT                 leave an event in the record
//	ignore                    do nothing at all
//
// TEXT is the rest of the line, or a Go string literal (raw bytes as "\xb9").
//
// # Variables
//
// In TEXT and JSON ${…} is replaced. Outside a JSON string a variable stands
// as its own JSON, inside one as text.
//
//	${id} ${method} ${params} ${params.a.b} ${args} ${args.a.b} ${token}
//	                          of the message at hand; args are params.arguments,
//	                          token is its progressToken
//	${i} ${n} ${run} ${pid}   loop counter, number of the message, of the process, process id
//	${argv} ${env} ${env.NAME} ${cwd}
//	${received}               every message received so far, as a JSON array
//	${fill:SIZE} ${fill:SIZE:TEXT}   so many bytes of x or of TEXT; SIZE is 64KiB, 5000000 or args.n
//	${hex:B9E3}               these bytes, whatever they are
//
// # HTTP
//
// The same scripts can stand behind HTTP, one for each session: [StartHTTP] in
// memory, [ListenHTTP] on a port. [HTTP] says how such a server behaves there.
//
// # Example
//
//	-- server: noisy --
//	tool echo
//	start
//	  stdout demo 1.2 ready
//	before answers
//	  stdout "\x1b[33m[warn]\x1b[0m cold cache"
//	on tools/call echo
//	  stderr flood 8MiB
//	  reply text hello ${args.name}
package testkit

// Package turn gives a unit of experience its turn: the model is asked, tools are
// called, the session is answered; and a journal holds every step, so that a turn
// that was cut short goes on where it stood.
//
// # Promises
//
//   - When [Runner.Run] returns nil the end of the turn is durable. Run may be
//     called again for the same unit at any time: a turn that was begun goes on,
//     one that is over costs a look.
//   - No tool is called twice for one call of the model, and no reply is sent
//     twice, whatever happens when: the intent is durable before the call. An
//     intent without a result is an unknown outcome. The model is told of it, and
//     of the reply's the trace and /status tell. The one exception is a reply that
//     was surely not delivered: it is tried again a few times.
//   - Every tool call of an answer gets exactly one result, in the order of the
//     calls, in every ending: also when it was refused, timed out, named no tool,
//     had no arguments to speak of, or when the turn was stopped, ran out of
//     time, or the process died. The same holds for all that is remembered.
//   - A turn is bounded: in requests, in time, in tokens of a day, in the size of
//     what tools say. At the bound one last request without tools gets an answer;
//     if that fails too, the session is told so in a fixed sentence.
//   - What tools say reaches the model in tool messages only, named with their
//     source and framed as data.
//   - Sessions do not wait for each other. The calls of one answer run at the same
//     time, at most Options.Parallel of them, and Run returns when all have
//     returned. It leaves no goroutine behind.
//
// # Ownership
//
// A journal belongs to the Run that has it open; everybody may read it. The
// history of a session belongs to its one running turn. Units are not changed.
package turn

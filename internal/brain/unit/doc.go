// Package unit holds what travels through the brain: the unit of experience, a
// few events of one session that came close together, as one file.
//
// # Promises
//
//   - The id of a unit, and with it the names of its files, is a pure function
//     of its first event. Whoever was cut short makes the same name again, and
//     sees that the file is there.
//   - A unit that [Parse] returned, or that [Unit.Encode] wrote, can be read
//     again with the same meaning. Its events are envelopes of package amp, whole
//     and unchanged.
//   - A unit has a sender only if all that wakes in it comes from that one
//     person, and the trust of its least trusted event: nobody gains by speaking
//     at the same time as somebody else.
//   - In the text of a group, no speaker can write a line that looks like
//     another's: only the first line of what somebody says stands at the margin.
//   - Nothing here does I/O, keeps state or starts goroutines.
package unit

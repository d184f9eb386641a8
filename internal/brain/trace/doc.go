// Package trace finds the way of an event through the brain: its file in the
// inbox, the unit it became part of, its passage in the stream, the requests,
// calls and reply of its turn, with times and sizes.
//
// # Promises
//
//   - It only reads: no file is made, moved or locked, and it works beside a
//     running daemon as well as without one. What moves while it is looked for is
//     looked for once more.
//   - What retention has removed, or what has not happened yet, is simply not
//     there. What cannot be read is said in the step it belongs to.
//   - Steps come in the order in which they were made, the calls of one answer in
//     the order of the answer. Files are named relative to the folder of data.
//   - Texts of people and tools are shown as one short line each, never more.
package trace

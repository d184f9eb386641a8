// Package commands knows the slash commands: how a line is read, which built-in
// command, tool or prompt it means, how it could go on, and what the built-in
// ones answer. They work with every model, and none is asked.
//
// # Promises
//
//   - A line means one thing or none: a name that could mean several is answered
//     with all of them, and nothing is called. A longer name never loses to a
//     rule that shortens one.
//   - Every tool has a short name that means it and nothing else, for as long as
//     no other tool with the same one appears.
//   - The full-width slash, blanks, letters and commas of Chinese input methods
//     are read as the plain ones.
//   - Texts are plain, in Chinese or English, and bounded; they hold no secret,
//     for nothing here knows one.
//   - An [Index] is immutable and a [Set] keeps no state: both may be used from
//     any number of goroutines. Nothing blocks but what the house is asked for.
package commands

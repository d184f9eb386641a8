// Package names knows how tools are called: the canonical name, which is the
// one name of a tool in Aurora, and the alias, which is the form of it that
// every model provider accepts.
//
// Promises:
//
//   - Every function is pure: the same input gives the same output in every
//     process, on every machine and in every later version, whatever else is
//     connected. Stored histories, grants and rules may hold aliases.
//     testdata/aliases.golden pins this; a change there breaks users.
//   - Nothing blocks, nothing is kept, nothing panics on any input. All
//     functions may be called from any number of goroutines.
//   - Aliases are for showing a tool to a model. The way back is a table made
//     when the tools were listed, never a parser: Unalias only
//     tells what a name that stands in no table may have meant.
package names

// Package toolschema is the Tool Schema Adapter: it turns the input schemas of
// MCP tools into what model providers accept, types arguments written as text
// by a schema, and checks arguments against one.
//
// Promises:
//
//   - The original schema is never changed and stays the one that arguments
//     are checked against. What Convert returns is for the model's eyes.
//   - One odd tool never spoils a request: it is left out, or shown more
//     loosely than its schema says, and either is said in words. Nothing
//     panics, and time and size stay bounded, on any input: recursive schemas,
//     references that double, numbers of any length.
//   - What is passed on is passed on exactly: key order and the text of
//     numbers and strings stay as the server wrote them, so 64-bit integers
//     and 1e400 survive.
//   - Everything is deterministic: the same tools in the same order give the
//     same bytes. Providers cache prompts by their bytes.
//   - Nothing is ever loaded from the network or a file to resolve a $ref.
//   - Functions are pure and never block. A Checker may be used from any number
//     of goroutines at once. Values returned belong to the caller.
package toolschema

// Package llm is what the mind knows of language models: one small interface.
//
// # Promises
//
//   - A [Model] may be asked from any number of goroutines. Complete returns
//     when the answer is whole, and soon after ctx ends. It keeps nothing of the
//     request and nothing of it is changed.
//   - Deltas are pieces of the answer's text in order, told on the goroutine of
//     Complete before it returns. Joined they are the text, unless Complete fails.
//   - A request is complete in itself: every assistant message with tool calls
//     is followed by exactly one tool message for each, in the order of the
//     calls; ids are unique and of the alphabet [A-Za-z0-9_-].
//   - Output of tools is in tool messages only, framed as data, and whole UTF-8.
//
// Providers are below this package; so are reflex, the model without a key, and
// llmtest, the scripted one.
package llm

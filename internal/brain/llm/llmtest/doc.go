// Package llmtest is a language model that follows a script: the model of every
// test that needs one.
//
// # Promises
//
//   - Steps are taken in order, one a request, by whoever asks first. A request
//     without a step, and a step without a request, fail the test.
//   - Every request is checked against the rules that providers enforce, and
//     kept for the test to look at.
//   - Delays are those of time.Sleep's clock, so that a testing/synctest bubble
//     decides how long they last; they end when the request's ctx does.
package llmtest

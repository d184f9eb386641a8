// Package reflex is the model without a key. It understands slash commands and
// shows what tools answer; to anything else it says how a model is configured.
//
// # Promises
//
//   - It is deterministic and costs nothing: the same request gets the same
//     answer, without network, clock or memory of its own.
//   - It calls exactly what a command means, and nothing when the command could
//     mean several things or lacks an argument.
//   - Every command of a turn gets its result shown, in order, also when it failed.
//   - It may be used from any number of goroutines and never blocks.
package reflex

// Package brain holds what the rooms of the mind know of the house around them:
// which tools, prompts and apps there are, and how to have one called.
//
// The mind knows nothing of MCP. It declares here, as a consumer, what it needs;
// the composition root gives it a [House] that the platform stands behind.
//
// # Promises
//
//   - Values are snapshots: whoever gets them may keep them, and neither side
//     changes them afterwards.
//   - Nothing here does I/O, keeps state or starts goroutines.
package brain

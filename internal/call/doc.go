// Package call holds the vocabulary of one call: who asks (Caller), for what
// (Call), and how it ended (Result, Outcome, Error).
//
// It holds types only and imports nothing of Aurora's, so that both wings of
// the house, the platform and the brain, can speak of calls without knowing
// each other. Values of these types are plain data: once handed over they are
// not changed by either side.
package call

//go:build !unix

package control

// unixSockets is false: a socket file here does not keep other users out.
const unixSockets = false

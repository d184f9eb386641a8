//go:build unix

package control

// unixSockets says whether unix sockets carry permissions here.
const unixSockets = true

//go:build !unix

package mcp

import "net"

// ended tells whether the other side has closed a connection, where the system
// can tell.
func ended(net.Conn) bool { return false }

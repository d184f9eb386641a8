//go:build !windows

package config

// variables are the rules of this system.
var variables = &unixVariables

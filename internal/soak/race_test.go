//go:build race

package soak

// raced: the race detector holds memory of its own, which grows.
const raced = true

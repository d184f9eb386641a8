// Package weathertest plays Open-Meteo: a server that answers searches and
// forecasts from files, and fails in every way the real one can. Point the
// weather app's startup.base_url at its URL.
//
// The answers (folder answers) have the form of the real service's, as its
// documentation and source describe it, but were written by hand: most ids and
// some figures are invented, and the weather is always that of 30 November 2026.
// A name without a file is a name nobody knows; names of one character find
// nothing, as there.
//
// A Server is safe for concurrent use.
package weathertest

// Package house holds tests only: they keep the rules of the house that no
// compiler knows. Who may import whom (DESIGN, section 2), how packages are
// named and documented, and what no code may do: work before main, end the
// process from the inside, leave notes about work undone.
//
// The tests read the source of the whole module, with the go command and the
// go/parser package. They run nothing of it.
package house

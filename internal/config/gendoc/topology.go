package main

import (
	"fmt"
	"strings"

	"github.com/aurorabot/aurora/internal/brain/node"
	"github.com/aurorabot/aurora/internal/config"
)

// nodeTypes describes the types of nodes, each with a table of its config.
func nodeTypes() string {
	brain := config.DefaultSettings().Brain
	types := node.Registry(node.Options{Debounce: brain.Debounce, MaxWait: brain.MaxWait, Heartbeat: brain.Heartbeat, QuietHours: brain.QuietHours})
	var b strings.Builder
	for _, name := range types.Types() {
		kind := types[name]
		fmt.Fprintf(&b, "### %s\n\n%s", name, kind.Doc)
		for _, alias := range kind.Aliases {
			fmt.Fprintf(&b, " `%s` is read too.", alias)
		}
		if len(kind.Watch) > 0 {
			fmt.Fprintf(&b, " It watches %s", codes(kind.Watch))
		} else {
			b.WriteString(" It watches nothing")
		}
		if len(kind.Emit) > 0 {
			fmt.Fprintf(&b, " and emits into %s unless the file says otherwise.\n\n", codes(kind.Emit))
		} else {
			b.WriteString(" unless the file says otherwise, and emits nothing.\n\n")
		}
		b.WriteString("| key | default | meaning |\n|---|---|---|\n")
		for _, k := range kind.Keys() {
			fmt.Fprintf(&b, "| `%s` | `%s` | %s%s |\n", k.Name, k.Default, k.Doc, bounds(k.Min, k.Max))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// codes writes texts as a list of code.
func codes(texts []string) string { return "`" + strings.Join(texts, "`, `") + "`" }

// bounds says between which values a key lies.
func bounds(low, high string) string {
	switch {
	case low != "" && high != "":
		return " From " + low + " to " + high + "."
	case high != "":
		return " At most " + high + "."
	case low != "":
		return " At least " + low + "."
	}
	return ""
}

package circuit

import (
	"fmt"
	"strings"
	"time"
)

// A State is how a node fares.
type State string

// The states of a node.
const (
	Disabled State = "disabled" // the topology says so
	Idle     State = "idle"     // it waits to be woken
	Running  State = "running"  // it has files in hand
	Failing  State = "failing"  // its last try failed, and the next one waits
	Stopped  State = "stopped"  // the circuit has ended
)

// A Status is how a node fares. Figures without a place on disk count from the
// start of the circuit.
type Status struct {
	ID, Type string
	// Model names the model that the node asks; empty: it asks none.
	Model string
	State State
	// Watch and Emit are the globs of the topology.
	Watch, Emit []string
	// Waiting is how many files wait in the queues it takes from.
	Waiting int
	// Running is how many it works on now, Held how many it holds, Retrying how
	// many wait for their next attempt.
	Running, Held, Retrying int
	// Done, Dead and Failed count files that ended well, files that ended badly,
	// and tries that did.
	Done, Dead, Failed int64
	// LastError is what the last failure was; empty: there was none.
	LastError   string
	LastErrorAt time.Time
	// Last and Mean are how long work on a file took.
	Last, Mean time.Duration
}

// counts are the figures of a crew.
type counts struct {
	done, dead, failed int64
	lastError          string
	lastErrorAt        time.Time
	tries              int64
	last, total        time.Duration
}

// took notes how long one try took.
func (c *counts) took(d time.Duration, well bool) {
	c.last = d
	if well {
		c.tries++
		c.total += d
	}
}

func (k *crew) status() Status {
	s := statusOf(k.spec)
	if a, ok := k.node.(Agent); ok {
		s.Model = a.Model()
	}
	for _, q := range k.queues {
		s.Waiting += q.Waiting()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	c := k.count
	s.Running, s.Held, s.Retrying = k.busy, len(k.held), k.failing
	s.Done, s.Dead, s.Failed = c.done, c.dead, c.failed
	s.LastError, s.LastErrorAt, s.Last = c.lastError, c.lastErrorAt, c.last
	if c.tries > 0 {
		s.Mean = c.total / time.Duration(c.tries)
	}
	switch s.State = k.state; {
	case s.State != Idle:
	case k.busy > 0:
		s.State = Running
	case k.failing > 0 || k.stumbled:
		s.State = Failing
	case len(k.held) > 0:
		s.State = Running
	}
	return s
}

// Mermaid draws the circuit as a Mermaid flowchart, with the figures of each
// node.
func (c *Circuit) Mermaid() string { return draw(c.Status(), c.Edges(), true) }

// Mermaid draws the circuit as a Mermaid flowchart.
func (t *Topology) Mermaid() string { return draw(t.Status(), t.Edges(), false) }

// Status returns the nodes as they are while nobody runs them: without figures.
func (t *Topology) Status() []Status {
	all := make([]Status, len(t.Nodes))
	for i, s := range t.Nodes {
		all[i] = statusOf(s)
		if all[i].State = Stopped; !s.Enabled {
			all[i].State = Disabled
		}
	}
	return all
}

// statusOf returns what a status holds of the topology.
func statusOf(spec *Spec) Status {
	s := Status{ID: spec.ID, Type: spec.Type}
	for _, t := range spec.Watch {
		s.Watch = append(s.Watch, t.Glob)
	}
	for _, t := range spec.Emit {
		s.Emit = append(s.Emit, t.Glob)
	}
	return s
}

func draw(nodes []Status, edges []Edge, figures bool) string {
	var b strings.Builder
	b.WriteString("flowchart LR\n  world([apps])\n")
	for _, s := range nodes {
		label := fmt.Sprintf("%s<br/>%s", s.ID, s.Type)
		if s.Model != "" {
			label += "<br/>" + strings.Map(labelRune, s.Model)
		}
		if figures {
			label += fmt.Sprintf("<br/>%s: %d waiting, %d running, %d done, %d dead", s.State, s.Waiting, s.Running, s.Done, s.Dead)
		}
		fmt.Fprintf(&b, "  %s[\"%s\"]\n", drawn(s.ID), label)
	}
	for _, e := range edges {
		from, arrow := "world", "-->"
		if e.From != "" {
			from = drawn(e.From)
		}
		if e.Looks {
			arrow = "-.->"
		}
		fmt.Fprintf(&b, "  %s %s|%s| %s\n", from, arrow, e.Through, drawn(e.To))
	}
	return b.String()
}

// drawn returns the name of a node within a drawing, where a dash may be part of
// an arrow.
func drawn(id string) string {
	return "n_" + strings.NewReplacer("_", "__", "-", "_d").Replace(id)
}

// labelRune drops what would end a Mermaid label.
func labelRune(r rune) rune {
	switch r {
	case '"', '<', '>', '\n', '\r':
		return -1
	}
	return r
}

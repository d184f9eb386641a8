package daemon

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/aurorabot/aurora/internal/brain/circuit"
	"github.com/aurorabot/aurora/internal/brain/node"
	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/control"
)

// Topology implements [control.House].
func (d *Daemon) Topology(context.Context) (control.Topology, error) {
	if d.mind == nil || d.mind.fault() != "" {
		t, err := Topology(d.Config())
		t.Brain = d.brain()
		if err != nil && d.mind != nil { // it is why the brain does not run
			return t, nil
		}
		return t, err
	}
	k := d.mind.circuit
	t := control.Topology{Brain: d.brain(), File: d.mind.file(), Nodes: nodes(k.Status()), Edges: edges(k.Edges()), Mermaid: k.Mermaid()}
	return t, nil
}

// Topology returns the circuit of a home in which no daemon runs: without figures.
// The error is CONFIG_INVALID if the topology is wrong.
func Topology(c *config.Config) (control.Topology, error) {
	_, name := model(c)
	t := control.Topology{Brain: control.Brain{State: control.BrainStopped, Problems: []string{}, Model: name}, Nodes: []control.NodeFlow{}, Edges: []control.Edge{}}
	if !c.Settings.Brain.Enabled {
		t.State = control.BrainOff
	}
	read, err := loadTopology(c, nodeOptions(c))
	if err != nil {
		return t, control.Errorf(call.ConfigInvalid, "%s", err)
	}
	t.File, t.Nodes, t.Edges, t.Mermaid = read.File, nodes(read.Status()), edges(read.Edges()), read.Mermaid()
	return t, nil
}

// topologyName is the name of a topology that nobody has named.
const topologyName = "topology.yaml"

// topologyFile returns where the topology of a home lies.
func topologyFile(c *config.Config) string {
	file := cmp.Or(c.Settings.Brain.Topology, topologyName)
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(c.Home.Dir, file)
}

// loadTopology reads the topology of a home. A file that somebody has named must
// be there.
func loadTopology(c *config.Config, o node.Options) (*circuit.Topology, error) {
	file := topologyFile(c)
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) && file != filepath.Join(c.Home.Dir, topologyName) {
		return nil, fmt.Errorf("there is no file %s, which brain.topology in aurora.yml names; `aurora topology --default` prints one to begin with", file)
	}
	return circuit.Load(file, node.Registry(o))
}

func nodes(all []circuit.Status) []control.NodeFlow {
	out := make([]control.NodeFlow, len(all))
	for i, s := range all {
		out[i] = control.NodeFlow{
			ID: s.ID, Type: s.Type, Model: s.Model, State: string(s.State), Watch: orNone(s.Watch), Emit: orNone(s.Emit),
			Waiting: s.Waiting, Running: s.Running, Held: s.Held, Retrying: s.Retrying,
			Done: s.Done, Dead: s.Dead, Failed: s.Failed, LastError: s.LastError,
			LastMS: s.Last.Milliseconds(), MeanMS: s.Mean.Milliseconds(),
		}
		if !s.LastErrorAt.IsZero() {
			out[i].LastErrorAt = &s.LastErrorAt
		}
	}
	return out
}

func orNone(list []string) []string {
	if list == nil {
		return []string{}
	}
	return list
}

func edges(all []circuit.Edge) []control.Edge {
	out := make([]control.Edge, len(all))
	for i, e := range all {
		out[i] = control.Edge(e)
	}
	return out
}

// brain says how the brain is.
func (d *Daemon) brain() control.Brain {
	if d.mind == nil {
		_, name := model(d.Config())
		return control.Brain{State: control.BrainOff, Problems: []string{}, Model: name}
	}
	return d.mind.status()
}

// status says how the brain is. It does no I/O but the first time.
func (m *mind) status() control.Brain {
	m.mu.Lock()
	k, why := m.circuit, m.why
	m.mu.Unlock()
	b := control.Brain{State: control.BrainReady, Problems: []string{}, Model: m.model}
	switch {
	case why == "" && k == nil:
		b.State = control.BrainStarting
		return b
	case why != "":
		b.State, b.Problems = control.BrainUnavailable, append(b.Problems, "The brain does not run: "+why+".")
		return b
	}
	st := m.runner.Status()
	b.Turns, b.Tokens, b.TokenLimit = len(st.Turns), st.Tokens, st.Limit
	for _, s := range k.Status() {
		if s.State == circuit.Failing {
			b.State = control.BrainDegraded
			b.Problems = append(b.Problems, fmt.Sprintf("The node %s fails to consume: %s (%d waiting, %d tried again).", s.ID, s.LastError, s.Waiting, s.Retrying))
		}
	}
	return b
}

// file returns where the topology was read from, for people.
func (m *mind) file() string {
	if t, err := Topology(m.config()); err == nil {
		return t.File
	}
	return ""
}

// A houseHealth is what the health file says of the house beyond its apps.
type houseHealth struct {
	Events control.Flow  `json:"events"`
	Brain  control.Brain `json:"brain"`
}

// health is what the health file says of the house.
func (d *Daemon) health() json.RawMessage {
	b, err := control.Marshal(houseHealth{Events: d.flow.glance(), Brain: d.brain()})
	if err != nil {
		d.logs.Error("How the house is cannot be written into the health file.", "err", err)
		return nil
	}
	return b
}

package node

import (
	"context"
	"time"

	"github.com/aurorabot/aurora/internal/brain/bus"
	"github.com/aurorabot/aurora/internal/brain/circuit"
	"github.com/aurorabot/aurora/internal/brain/unit"
	"github.com/aurorabot/aurora/internal/spool"
)

type internalizerSettings struct {
	circuit.Schedule
	Mode        string `yaml:"mode" doc:"Who writes: template."`
	StreamBytes int    `yaml:"stream_bytes" min:"4096" max:"67108864" doc:"The size at which the stream goes to the archive."`
}

func newInternalizerSettings() *internalizerSettings {
	return &internalizerSettings{circuit.Schedule{Concurrency: 1, Attempts: 5}, "template", 256 << 10}
}

// Check knows the one mode there is.
func (s *internalizerSettings) Check(c *circuit.Config) {
	switch s.Mode {
	case "template":
	case "model":
		c.Problem("mode", "no model writes the stream in this version", "write mode: template")
	default:
		c.Problem("mode", "must be template", "")
	}
}

// An Internalizer writes units into the stream of consciousness by a template, in
// the first person, keeps self/state.md, and hands on the units that wake.
type Internalizer struct {
	stream *Stream
	self   *selfState
	teller teller
	out    []*spool.Spool
}

func newInternalizer(c *circuit.Config, o Options) (*Internalizer, error) {
	out, err := c.Queues()
	if err != nil {
		return nil, err
	}
	stream := NewStream(c.Bus, o.Zone, c.Settings.(*internalizerSettings).StreamBytes)
	return &Internalizer{stream, &selfState{bus: c.Bus, zone: o.Zone}, teller{zone: o.Zone, zh: o.Language == "zh"}, out}, nil
}

// Handle writes one unit down. Each step looks whether an earlier try has made it.
func (n *Internalizer) Handle(_ context.Context, job *circuit.Job) error {
	u, err := unit.Parse(job.Data)
	if err != nil {
		return circuit.Permanent(err)
	}
	now := time.Now()
	u.Narrative = n.teller.tell(u, now)
	if err := n.stream.Append(u.ID, now, u.Narrative); err != nil {
		return err
	}
	if err := n.self.update(u, now); err != nil {
		return err
	}
	if !u.Wake {
		return nil
	}
	data, err := u.Encode()
	if err != nil {
		return err
	}
	for _, q := range n.out {
		if err := bus.PutOnce(q, spool.Item{Name: unit.MarkerName(u.ID), Data: data, Place: u.Place()}); err != nil {
			return err
		}
	}
	return nil
}

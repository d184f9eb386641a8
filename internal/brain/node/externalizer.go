package node

import (
	"context"
	"errors"

	"github.com/aurorabot/aurora/internal/brain/circuit"
	"github.com/aurorabot/aurora/internal/brain/turn"
	"github.com/aurorabot/aurora/internal/brain/unit"
)

type externalizerSettings struct {
	circuit.Schedule
}

func newExternalizerSettings() *externalizerSettings {
	return &externalizerSettings{circuit.Schedule{Concurrency: 4, Attempts: 5}}
}

// An Externalizer gives what woke the brain a turn. It is an agent.
type Externalizer struct {
	turner Turner
	model  string
}

var _ circuit.Agent = (*Externalizer)(nil)

func newExternalizer(o Options) (*Externalizer, error) {
	if o.Turner == nil {
		return nil, errors.New("there is nobody to take turns")
	}
	return &Externalizer{o.Turner, o.Model}, nil
}

// Model names the model that answers.
func (x *Externalizer) Model() string { return x.model }

// Handle gives one unit its turn.
func (x *Externalizer) Handle(ctx context.Context, job *circuit.Job) error {
	u, err := unit.Parse(job.Data)
	if err != nil {
		return circuit.Permanent(err)
	}
	err = x.turner.Run(ctx, u)
	if errors.Is(err, turn.ErrInterrupted) {
		return circuit.Temporary(err) // the house is closing, which says nothing of the unit
	}
	return err
}

package circuit

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/aurorabot/aurora/internal/brain/bus"
	"github.com/aurorabot/aurora/internal/redact"
)

// Options configure a [Circuit].
type Options struct {
	Topology *Topology
	Bus      *bus.Bus
	// Redact masks secrets in what nodes fail with; nil masks only what looks like
	// one.
	Redact *redact.Redactor
	// Logger is told of failures; nil: nobody is.
	Logger *slog.Logger
}

// A Circuit is a topology at work. Create it with [New] and run it with
// [Circuit.Run].
type Circuit struct {
	opt   Options
	crews []*crew // one a node, in the order of the topology
}

// New makes the nodes of a topology and opens the queues between them. What an
// earlier run left unfinished waits from then on.
func New(o Options) (*Circuit, error) {
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	c := &Circuit{opt: o}
	for _, s := range o.Topology.Nodes {
		k := newCrew(s, o)
		c.crews = append(c.crews, k)
		if !s.Enabled {
			k.state = Disabled
			continue
		}
		if err := k.open(o); err != nil {
			c.close()
			return nil, fmt.Errorf("node %s: %w", s.ID, err)
		}
	}
	return c, nil
}

// Run wakes the nodes until ctx ends, and returns when everything that it started
// has ended. Whoever makes a circuit runs it once.
func (c *Circuit) Run(ctx context.Context) {
	var all sync.WaitGroup
	for _, k := range c.crews {
		if k.spec.Enabled {
			all.Go(func() { k.run(ctx) })
		}
	}
	all.Wait()
	c.close()
}

func (c *Circuit) close() {
	for _, k := range c.crews {
		k.close()
	}
}

// Status returns how each node fares, in the order of the topology.
func (c *Circuit) Status() []Status {
	all := make([]Status, len(c.crews))
	for i, k := range c.crews {
		all[i] = k.status()
	}
	return all
}

// Edges returns the edges between the nodes at work.
func (c *Circuit) Edges() []Edge { return c.opt.Topology.Edges() }

// open makes the node and begins its watches.
func (k *crew) open(o Options) error {
	config := *k.spec.config
	config.Bus, config.Logger = o.Bus, k.log
	// The emitted queues first: their content must be known before a node that
	// looks at them asks.
	if _, err := config.Queues(); err != nil {
		return err
	}
	for _, t := range k.spec.Watch {
		if k.spec.kind.Looks {
			continue
		}
		w, err := o.Bus.Watch(t.Glob, k.spec.kind.Takes)
		if err != nil {
			return err
		}
		k.watches = append(k.watches, w)
		if t.Queue != "" {
			q, err := o.Bus.Queue(t.Queue, k.spec.kind.Takes)
			if err != nil {
				return err
			}
			k.queues = append(k.queues, q)
		}
	}
	node, err := k.spec.kind.New(&config)
	if err != nil {
		return err
	}
	if node == nil {
		return errors.New("the type made no node")
	}
	k.node = node
	return nil
}

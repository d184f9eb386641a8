package circuit

import (
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/aurorabot/aurora/internal/brain/bus"
	"github.com/aurorabot/aurora/internal/spool"
)

// A Registry holds the types of nodes that a topology may name.
type Registry map[string]Kind

// A Kind is a type of node.
type Kind struct {
	// Doc says in one sentence what such a node does.
	Doc string
	// Aliases are other names of the type.
	Aliases []string
	// Watch and Emit are the globs of a node that names none.
	Watch, Emit []string
	// Takes is what the files are that it takes from queues; empty: it takes none.
	Takes bus.Content
	// Gives is what the files are that it emits into queues; empty: it emits none.
	Gives bus.Content
	// Looks says that it looks at queues and leaves the taking to others.
	Looks bool
	// Source says that it acts by itself, so that nothing need wake it.
	Source bool
	// State says that it may watch and emit state files.
	State bool
	// Last says that it may emit nowhere, Single that it emits into one queue.
	Last, Single bool
	// Holds is how many jobs it may hold at once; 0: it holds none. A node that
	// holds is given one job at a time.
	Holds int
	// Settings returns a pointer to the struct that its config is read into, with
	// the defaults set; nil: it has no config. A field is a key: the tag yaml names
	// it, doc explains it, min and max bound it. A struct with a [Schedule] in it
	// lets people set that; one with a method Check(*Config) is checked by it.
	Settings func() any
	// New makes a node. It does no I/O but opening queues.
	New func(*Config) (Node, error)
}

// A Schedule says how a node is given its files. It is embedded in settings.
type Schedule struct {
	Concurrency int `yaml:"concurrency" min:"1" max:"1000" doc:"How many files are handled at once. Files of one session never are."`
	Attempts    int `yaml:"attempts" min:"1" max:"100" doc:"How often a file is tried before it is dead."`
}

// schedule is what a node without one of its own gets.
var schedule = Schedule{Concurrency: 1, Attempts: 5}

func (s Schedule) scheduled() Schedule { return s }

// scheduleOf returns the schedule within settings.
func scheduleOf(settings any) Schedule {
	if s, ok := settings.(interface{ scheduled() Schedule }); ok {
		return s.scheduled()
	}
	return schedule
}

// find returns the kind of a type, by its name or an alias, and its name.
func (r Registry) find(typ string) (string, Kind, bool) {
	if k, ok := r[typ]; ok {
		return typ, k, true
	}
	for _, name := range r.Types() {
		if slices.Contains(r[name].Aliases, typ) {
			return name, r[name], true
		}
	}
	return "", Kind{}, false
}

// Types returns the names of the types, sorted.
func (r Registry) Types() []string { return slices.Sorted(maps.Keys(r)) }

// A Key is one key of a type's config, for a manual.
type Key struct {
	Name string
	// Doc explains it in full sentences.
	Doc string
	// Default is what a node gets that does not set it.
	Default string
	// Min and Max bound it; empty: they do not.
	Min, Max string
}

// Keys returns the keys of the type's config, in their order.
func (k Kind) Keys() []Key {
	if k.Settings == nil {
		return nil
	}
	settings := reflect.ValueOf(k.Settings()).Elem()
	var all []Key
	for _, f := range keysOf(settings.Type()) {
		all = append(all, Key{f.names[0], f.doc, written(settings.FieldByIndex(f.index), f.seconds), f.min, f.max})
	}
	return all
}

// written returns a value as people write it.
func written(v reflect.Value, seconds bool) string {
	switch {
	case v.Type() == durationType && seconds:
		return strconv.FormatFloat(v.Interface().(time.Duration).Seconds(), 'g', -1, 64)
	case v.Type() == durationType && v.Int() > 0 && v.Int()%int64(24*time.Hour) == 0:
		return fmt.Sprintf("%dd", v.Int()/int64(24*time.Hour))
	case v.Type() == durationType:
		return v.Interface().(time.Duration).String()
	case v.Kind() == reflect.Slice && v.Len() == 0:
		return "[]"
	case v.Kind() == reflect.Slice:
		return "[" + strings.Join(strings.Fields(strings.Trim(fmt.Sprint(v.Interface()), "[]")), ", ") + "]"
	case v.Kind() == reflect.String && v.Len() == 0:
		return `""`
	}
	return fmt.Sprint(v.Interface())
}

// A Config is what a node is made of.
type Config struct {
	// ID and Type are those of the topology.
	ID, Type string
	// Watch and Emit are what the topology, or else the kind, says.
	Watch, Emit []bus.Target
	// Settings is what Kind.Settings returned, filled.
	Settings any
	// Bus holds the queues and state files; nil while a topology is only checked.
	Bus *bus.Bus
	// Logger is the node's own.
	Logger *slog.Logger

	gives bus.Content
	src   *source
	at    place            // of the node
	marks map[string]place // of the fields of its config
}

// Problem reports that a field of the config is wrong, such as "rules[0].hour".
// It is for the method Check of settings.
func (c *Config) Problem(field, message, hint string) {
	at, ok := c.marks[field]
	if !ok {
		at = c.at
	}
	c.src.problem(at, c.ID, "config."+field, message, hint)
}

// Queues opens the queues that the node emits into.
func (c *Config) Queues() ([]*spool.Spool, error) {
	var all []*spool.Spool
	for _, t := range c.Emit {
		if t.Queue == "" {
			continue
		}
		q, err := c.Bus.Queue(t.Queue, c.gives)
		if err != nil {
			return nil, err
		}
		all = append(all, q)
	}
	return all, nil
}

// StateFile returns the state file that the node emits; empty: none.
func (c *Config) StateFile() string {
	for _, t := range c.Emit {
		if t.State != "" {
			return t.State
		}
	}
	return ""
}

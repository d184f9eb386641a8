package daemon

import (
	"context"
	"encoding/json"
	"math"
	"strings"
	"time"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/control"
	"github.com/aurorabot/aurora/internal/platform/host"
	"github.com/aurorabot/aurora/internal/toolschema"
)

// cli is who calls through the control interface.
var cli = call.Caller{Kind: call.CLI}

// Call implements [control.House].
func (d *Daemon) Call(ctx context.Context, r control.CallRequest, progress func(call.Progress)) control.Reply {
	args, whole := r.Args, milliseconds(r.TimeoutMS)
	if len(r.Pairs) > 0 {
		began := time.Now()
		within, cancel := limited(ctx, r.TimeoutMS)
		var rep control.Reply
		args, rep = d.typed(within, r)
		cancel()
		if rep.Error != nil {
			return rep
		}
		if whole > 0 {
			whole = max(whole-time.Since(began), time.Nanosecond)
		}
	}
	rep := replyOf(d.host.Call(ctx, call.Call{
		Caller:     cli,
		Name:       r.Name,
		Args:       args,
		Timeout:    whole,
		OnProgress: progress,
	}))
	rep.Tool = rep.name
	return rep.Reply
}

// typed gives pairs the types that the tool's schema asks for. Where the tool
// is not known the text of a value decides; the call itself, which resolves
// the name again, then says what is wrong with it. A reply with an error is the
// end of the call.
func (d *Daemon) typed(ctx context.Context, r control.CallRequest) (json.RawMessage, control.Reply) {
	rep := control.Reply{Tool: r.Name, Outcome: call.ProtocolError}
	if len(r.Args) > 0 {
		rep.Error = control.Errorf(call.UsageInvalid, "arguments are given both as pairs and as JSON")
		return nil, rep
	}
	var schema json.RawMessage
	if t := d.tool(ctx, r.Name); t != nil {
		schema, rep.Tool, rep.App = t.InputSchema, t.Name, t.App.Key
	}
	args, err := toolschema.Arguments(schema, r.Pairs)
	if err != nil {
		rep.Error = control.Errorf(call.ArgumentsInvalid, "The arguments do not fit %s: %v", rep.Tool, err)
	}
	return args, rep
}

// tool finds a tool. A name that is unknown may be on its way: it waits for
// lists that are being read and for the start of an app with a fitting package.
func (d *Daemon) tool(ctx context.Context, name string) *host.Tool {
	if t, err := d.host.Catalog().Resolve(name); err == nil {
		return t
	}
	d.host.Fresh(ctx)
	for _, s := range d.host.Status() {
		if strings.HasPrefix(name, s.Package+".") {
			_ = d.host.Settled(ctx, s.Key) // when ctx has ended the call says so
		}
	}
	t, _ := d.host.Catalog().Resolve(name)
	return t
}

// Read implements [control.House].
func (d *Daemon) Read(ctx context.Context, r control.ReadRequest) control.Reply {
	ctx, cancel := limited(ctx, r.TimeoutMS)
	defer cancel()
	rep := replyOf(d.host.Read(ctx, cli, r.URI, r.App))
	rep.URI = rep.name
	return rep.Reply
}

// Prompt implements [control.House].
func (d *Daemon) Prompt(ctx context.Context, r control.PromptRequest) control.Reply {
	var args json.RawMessage
	if len(r.Args) > 0 {
		args, _ = control.Marshal(r.Args) // a map of strings always encodes
	}
	ctx, cancel := limited(ctx, r.TimeoutMS)
	defer cancel()
	rep := replyOf(d.host.Prompt(ctx, cli, r.Name, args))
	rep.Prompt = rep.name
	return rep.Reply
}

// Complete implements [control.House].
func (d *Daemon) Complete(ctx context.Context, r control.CompleteRequest) control.Reply {
	ctx, cancel := limited(ctx, r.TimeoutMS)
	defer cancel()
	rep := replyOf(d.host.Complete(ctx, cli, host.Completion{
		Prompt: r.Prompt, Template: r.Template, Argument: r.Argument, Value: r.Value, Known: r.Context,
	}))
	if r.Template != "" {
		rep.Template = rep.name
	} else {
		rep.Prompt = rep.name
	}
	return rep.Reply
}

// A namedReply is a reply whose subject has no place yet.
type namedReply struct {
	control.Reply
	name string
}

func replyOf(r call.Result) namedReply {
	return namedReply{name: r.Tool, Reply: control.Reply{
		OK:         r.Outcome == call.OK,
		App:        r.App,
		DurationMS: r.Duration.Milliseconds(),
		Outcome:    r.Outcome,
		Result:     r.Raw,
		Error:      r.Err,
	}}
}

// milliseconds returns a length of time, at most half of the longest there is, so
// that it can be added to others.
func milliseconds(ms int64) time.Duration {
	return time.Duration(min(ms, math.MaxInt64/2/int64(time.Millisecond))) * time.Millisecond
}

// limited returns ctx with a time limit, if there is one.
func limited(ctx context.Context, ms int64) (context.Context, context.CancelFunc) {
	if ms <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, milliseconds(ms))
}

package host

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/platform/audit"
	"github.com/aurorabot/aurora/internal/platform/mcp"
)

// A question is a request of a caller that is not a tool call.
type question struct {
	caller call.Caller
	method string
	name   string // of what is asked for, for the result and the record
	args   []byte
	find   func(*Catalog) (*app, *call.Error) // whom to ask
	send   func(*app, *mcp.Session) (mcp.Result, error)
}

// request asks a question. It wakes the app, records the end and, for a read,
// signals it.
func (h *Host) request(ctx context.Context, q question) call.Result {
	began := time.Now()
	rec := audit.Record{Time: began, Caller: q.caller, Method: q.method, Args: q.args}
	var r call.Result
	var a *app
	var epoch uint64
	if h.enter() {
		defer h.leave()
		a, epoch, r = h.put(ctx, q, began)
	} else {
		r = ended(shuttingDown())
	}
	r.Tool, r.Duration = q.name, time.Since(began)
	s := Signal{Kind: SignalRead, Epoch: epoch, Method: q.method, Caller: q.caller}
	if a != nil {
		r.App, rec.Package, s.App = a.key, a.config().Package, a.config()
	}
	h.record(&rec, &r)
	if h.opt.Observe != nil && q.method == methodRead {
		result := r
		s.Result = &result
		h.observe(s)
	}
	return r
}

// put finds the app that a question is for and puts it to it.
func (h *Host) put(ctx context.Context, q question, began time.Time) (*app, uint64, call.Result) {
	if q.caller.Kind == "" {
		return nil, 0, ended(&call.Error{Code: call.PolicyDenied, Message: "The request names no caller, so it was refused."})
	}
	a, e := q.find(h.catalog.Load())
	if e != nil && (e.Code == call.ResourceUnknown || e.Code == call.PromptUnknown) {
		h.Fresh(ctx) // it may be on a list that is being read
		a, e = q.find(h.catalog.Load())
	}
	if e != nil {
		return nil, 0, ended(e)
	}
	epoch, r := a.ask(ctx, 0, began, func(l *live, _ time.Duration) (mcp.Result, error) {
		result, err := q.send(a, l.session)
		result.IsError = false // a word of tools only
		return result, err
	})
	return a, epoch, r
}

const methodRead = "resources/read"

// Read reads a resource. of, the key or package of an app, says whose; it may be empty
// for a URI that one app alone lists or has a template for. The result's Tool
// is the URI.
//
// Read and its like below wake their app as Call does, end at the app's limits
// or when ctx ends, are recorded, and always have an outcome.
func (h *Host) Read(ctx context.Context, caller call.Caller, uri, of string) call.Result {
	return h.request(ctx, h.resourceQuestion(caller, methodRead, uri, of, func(a *app, s *mcp.Session) (mcp.Result, error) {
		limits := a.limits()
		r, err := s.ReadResource(ctx, uri, &limits)
		var refused *mcp.RPCError
		if errors.As(err, &refused) && (refused.Code == codeResourceNotFound || refused.Code == mcp.CodeInvalidParams) {
			err = &unknownResource{refused}
		}
		return r, err
	}))
}

// Subscribe asks an app to tell when a resource changes, which comes as a
// SignalNotified with the method notifications/resources/updated. It is asked
// again after each restart of the app, until Unsubscribe. of is as for Read.
func (h *Host) Subscribe(ctx context.Context, caller call.Caller, uri, of string) call.Result {
	return h.request(ctx, h.resourceQuestion(caller, "resources/subscribe", uri, of, func(a *app, s *mcp.Session) (mcp.Result, error) {
		err := s.Subscribe(ctx, uri)
		if err == nil {
			a.subs.add(uri)
		}
		return mcp.Result{Raw: emptyObject}, err
	}))
}

// Unsubscribe ends what Subscribe began.
func (h *Host) Unsubscribe(ctx context.Context, caller call.Caller, uri, of string) call.Result {
	return h.request(ctx, h.resourceQuestion(caller, "resources/unsubscribe", uri, of, func(a *app, s *mcp.Session) (mcp.Result, error) {
		a.subs.remove(uri)
		return mcp.Result{Raw: emptyObject}, s.Unsubscribe(ctx, uri)
	}))
}

func (h *Host) resourceQuestion(caller call.Caller, method, uri, of string, send func(*app, *mcp.Session) (mcp.Result, error)) question {
	return question{caller: caller, method: method, name: uri, send: send, find: func(c *Catalog) (*app, *call.Error) {
		if of != "" {
			return h.named(of)
		}
		return c.resourceOwner(uri)
	}}
}

// Prompt fills in a prompt. name is a canonical name or a name that one app
// alone has. args is a JSON object of strings, or empty. The result's Tool is
// the canonical name.
func (h *Host) Prompt(ctx context.Context, caller call.Caller, name string, args json.RawMessage) call.Result {
	q := question{caller: caller, method: "prompts/get", name: name, args: args}
	var upstream string
	q.find = func(c *Catalog) (*app, *call.Error) {
		p, e := c.resolvePrompt(name)
		if e != nil {
			return nil, e
		}
		upstream = p.Upstream
		return p.owner, nil
	}
	q.send = func(a *app, s *mcp.Session) (mcp.Result, error) {
		limits := a.limits()
		return s.GetPrompt(ctx, upstream, args, &limits)
	}
	return h.request(ctx, q)
}

// A Completion asks how the value of an argument may go on.
type Completion struct {
	// Prompt names the prompt, Template the URI template that the argument
	// belongs to. Exactly one is set.
	Prompt, Template string
	// App, a key or a package, is needed only if several apps have the template.
	App string
	// Argument is the name of the argument, Value its beginning.
	Argument, Value string
	// Known are arguments that have their values already.
	Known map[string]string
}

// Complete asks an app for completions. The result's Tool is the name of the
// prompt or the template.
func (h *Host) Complete(ctx context.Context, caller call.Caller, c Completion) call.Result {
	q := question{caller: caller, method: "completion/complete", name: c.Prompt + c.Template}
	var known []byte
	if len(c.Known) > 0 {
		known, _ = json.Marshal(c.Known) // a map of strings has no way to fail
	}
	ref := mcp.Ref{URI: c.Template}
	q.find = func(cat *Catalog) (*app, *call.Error) {
		switch {
		case (c.Prompt == "") == (c.Template == ""):
			return nil, &call.Error{Code: call.UsageInvalid, Message: "A completion needs either a prompt or a template."}
		case c.Prompt != "":
			p, e := cat.resolvePrompt(c.Prompt)
			if e != nil {
				return nil, e
			}
			ref.Prompt = p.Upstream
			return p.owner, nil
		case c.App != "":
			return h.named(c.App)
		}
		return cat.templateOwner(c.Template)
	}
	q.send = func(a *app, s *mcp.Session) (mcp.Result, error) {
		limits := a.limits()
		return s.Complete(ctx, ref, c.Argument, c.Value, known, &limits)
	}
	return h.request(ctx, q)
}

// named returns the app with a key or package, or APP_UNKNOWN.
func (h *Host) named(name string) (*app, *call.Error) {
	if a := h.app(name); a != nil {
		return a, nil
	}
	return nil, h.appUnknown(name)
}

// unknownResource marks a server's answer to a URI that it does not know.
type unknownResource struct{ *mcp.RPCError }

// subscriptions are the resources that somebody watches.
type subscriptions struct {
	mu   sync.Mutex // guards uris
	uris []string
}

func (s *subscriptions) add(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.uris, uri) {
		s.uris = append(s.uris, uri)
	}
}

func (s *subscriptions) remove(uri string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.uris = slices.DeleteFunc(s.uris, func(u string) bool { return u == uri })
}

// renew subscribes again, for a new session.
func (s *subscriptions) renew(ctx context.Context, session *mcp.Session, log *slog.Logger) {
	s.mu.Lock()
	uris := slices.Clone(s.uris)
	s.mu.Unlock()
	for _, uri := range uris {
		if err := session.Subscribe(ctx, uri); err != nil {
			log.Warn("A subscription could not be renewed.", "uri", uri, "err", err)
		}
	}
}

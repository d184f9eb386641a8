package llm

import "context"

// A Volunteer is a model that knows which requests are for it.
type Volunteer interface {
	Model
	Takes(r Request) bool
}

// Front returns a model that lets v answer what v takes, at no cost, and asks m
// for the rest. It is how slash commands stay available with every model.
func Front(v Volunteer, m Model) Model { return front{v, m} }

type front struct {
	volunteer Volunteer
	model     Model
}

// Complete implements [Model].
func (f front) Complete(ctx context.Context, r Request, onDelta func(string)) (Answer, error) {
	if f.volunteer.Takes(r) {
		return f.volunteer.Complete(ctx, r, onDelta)
	}
	return f.model.Complete(ctx, r, onDelta)
}

// Free implements [Free].
func (f front) Free(r Request) bool { return f.volunteer.Takes(r) || Costless(f.model, r) }

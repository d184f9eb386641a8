package turn

import "github.com/aurorabot/aurora/internal/call"

// A state is what a journal says of its turn.
type state struct {
	begun    *Record
	commands []*Record
	steps    []*step
	stopped  bool
	replies  []*attempt
	end      *Record
}

// A step is one request to the model and what followed from its answer.
type step struct {
	number  int
	bound   string  // why it was the last request; empty: it was not
	answer  *Record // nil while there is none
	calls   []*called
	prompts []*Record
}

// A called is one tool call of an answer.
type called struct {
	asked          Asked
	intent, result *Record
}

// An attempt is one try to send the reply.
type attempt struct{ intent, result *Record }

// load reads records into a state.
func load(records []Record) *state {
	s := &state{}
	for i := range records {
		s.add(&records[i])
	}
	return s
}

// add takes in a record. One that fits nowhere is passed over: the journal is a
// file, and files can be edited.
func (s *state) add(r *Record) {
	switch r.Kind {
	case KindBegin:
		s.begun = r
	case KindCommand:
		s.commands = append(s.commands, r)
	case KindRequest:
		if st := s.step(r.Step); st == nil {
			s.steps = append(s.steps, &step{number: r.Step, bound: r.Bound})
		} else if st.answer == nil { // asked again after a crash
			st.bound = r.Bound
		}
	case KindAnswer:
		if st := s.step(r.Step); st != nil && st.answer == nil {
			st.answer = r
			for _, a := range r.Calls {
				st.calls = append(st.calls, &called{asked: a})
			}
		}
	case KindPrompt:
		if st := s.step(r.Step); st != nil {
			st.prompts = append(st.prompts, r)
		}
	case KindIntent:
		if c := s.call(r.Call); c != nil && c.intent == nil {
			c.intent = r
		}
	case KindResult:
		switch c := s.call(r.Call); {
		case c == nil || c.result != nil:
		case r.Again:
			c.intent = nil
		default:
			c.result = r
		}
	case KindStop:
		s.stopped = true
	case KindReplyIntent:
		s.replies = append(s.replies, &attempt{intent: r})
	case KindReplyResult:
		for _, a := range s.replies {
			if a.intent.Call == r.Call && a.result == nil {
				a.result = r
			}
		}
	case KindEnd:
		s.end = r
	}
}

// step returns the step of a number, nil when there is none.
func (s *state) step(number int) *step {
	for _, st := range s.steps {
		if st.number == number {
			return st
		}
	}
	return nil
}

// call returns the call of an id, nil when there is none.
func (s *state) call(id string) *called {
	for _, st := range s.steps {
		for i, c := range st.calls {
			if st.callID(s.turn(), i) == id {
				return c
			}
		}
	}
	return nil
}

// turn returns the id of the turn.
func (s *state) turn() string {
	if s.begun == nil {
		return ""
	}
	return s.begun.Turn
}

// tokens returns what the turn has cost so far.
func (s *state) tokens() int {
	n := 0
	for _, st := range s.steps {
		if st.answer != nil && st.answer.Usage != nil {
			n += st.answer.Usage.Total()
		}
	}
	return n
}

// given reports whether the platform gave a result for a call. An approval that
// is waited for is none: the result is yet to come.
func (c *called) given() bool {
	return c.result != nil && !c.result.Ours && c.result.Outcome != string(call.Waiting)
}

// complete reports whether everything that the answer asked for has come.
func (st *step) complete() bool {
	if st.answer == nil {
		return true
	}
	for _, c := range st.calls {
		if c.result == nil {
			return false
		}
	}
	return len(st.prompts) >= len(st.answer.Prompts) || st.answer.Error != ""
}

// sound reports whether the records tell a turn as it is written: it begins as
// the turn of this id, steps follow each other, and none begins before the one
// before it has all its results. Nothing can go on from any other.
func (s *state) sound(turn string) bool {
	if s.begun == nil {
		return len(s.steps) == 0 && len(s.replies) == 0 && len(s.commands) == 0
	}
	if s.begun.Turn != turn {
		return false
	}
	for i, st := range s.steps {
		if st.number != i+1 {
			return false
		}
		if i < len(s.steps)-1 && st.answer == nil {
			return false
		}
		// Only the last step may lack something, and only if nothing came after it.
		if (i < len(s.steps)-1 || s.stopped || len(s.replies) > 0) && !st.complete() {
			return false
		}
	}
	for i, a := range s.replies {
		if i < len(s.replies)-1 && (a.result == nil || !a.result.Again) {
			return false
		}
	}
	return true
}

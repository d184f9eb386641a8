package node

import (
	"fmt"
	"regexp"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/aurorabot/aurora/amp"
	"github.com/aurorabot/aurora/internal/brain/circuit"
)

type timerSettings struct {
	Rules []rule `yaml:"rules" doc:"The times: name, and hour and minute, or minute alone for every hour, or every; type for another type than rhythm.NAME."`
}

// A rule says when there is an event, and which.
type rule struct {
	Name   string        `yaml:"name"`
	Hour   *int          `yaml:"hour" min:"0" max:"23"`
	Minute *int          `yaml:"minute" min:"0" max:"59"`
	Every  time.Duration `yaml:"every" min:"1s" max:"366d"`
	Type   string        `yaml:"type"`
}

var ruleName = regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$`)

// Check looks at what each rule says, and all of them together.
func (s *timerSettings) Check(c *circuit.Config) {
	seen := make(map[string]bool)
	for i, r := range s.Rules {
		at := func(field string) string {
			if field == "" {
				return fmt.Sprintf("rules[%d]", i)
			}
			return fmt.Sprintf("rules[%d].%s", i, field)
		}
		switch {
		case r.Name == "":
			c.Problem(at(""), "has no name", "")
		case !ruleName.MatchString(r.Name):
			c.Problem(at("name"), fmt.Sprintf("%q is not a name", r.Name), "letters, digits, _ and - make one")
		case seen[r.Name]:
			c.Problem(at("name"), fmt.Sprintf("there is a rule %q already", r.Name), "")
		}
		seen[r.Name] = true
		switch {
		case r.Every > 0 && (r.Hour != nil || r.Minute != nil):
			c.Problem(at("every"), "does not go with hour and minute", "")
		case r.Every == 0 && r.Hour == nil && r.Minute == nil:
			c.Problem(at(""), "says no time", "write hour and minute, minute alone for every hour, or every: 90m")
		}
		if r.Type != "" && amp.Reserved(r.Type) {
			c.Problem(at("type"), fmt.Sprintf("%q is for what the platform sees", r.Type), "timer.NAME wakes, rhythm.NAME does not")
		}
		if utf8.RuneCountInString(r.Type) > amp.MaxType || strings.ContainsFunc(r.Type, unicode.IsControl) {
			c.Problem(at("type"), "is no type of an event", fmt.Sprintf("at most %d characters in one line", amp.MaxType))
		}
	}
}

func (r rule) eventType() string {
	if r.Type != "" {
		return r.Type
	}
	return "rhythm." + r.Name
}

func (r rule) summary(due time.Time, zh bool) string {
	if zh {
		return fmt.Sprintf("到了“%s”的时间：%s。", r.Name, due.Format("15:04"))
	}
	return fmt.Sprintf("It is time for %q: %s.", r.Name, due.Format("15:04"))
}

// last returns the last time of the rule that is not after now; zero if it has
// none yet. since is the last time that is known.
func (r rule) last(now, since time.Time) time.Time {
	switch {
	case r.Every > 0:
		if since.IsZero() || now.Before(since) {
			return time.Time{}
		}
		return since.Add(now.Sub(since) / r.Every * r.Every)
	case r.Hour == nil:
		due := time.Date(now.Year(), now.Month(), now.Day(), now.Hour(), *r.Minute, 0, 0, now.Location())
		for due.After(now) {
			due = due.Add(-time.Hour)
		}
		// Of an hour that the clock on the wall repeats, that was the first.
		for !due.Add(time.Hour).After(now) {
			due = due.Add(time.Hour)
		}
		return due
	}
	due := r.on(now, 0)
	for day := -1; due.After(now); day-- {
		due = r.on(now, day)
	}
	return due
}

// next returns the first time of the rule after now.
func (r rule) next(now, since time.Time) time.Time {
	switch {
	case r.Every > 0:
		if now.Before(since) {
			return since.Add(r.Every)
		}
		return r.last(now, since).Add(r.Every)
	case r.Hour == nil:
		return r.last(now, since).Add(time.Hour)
	}
	due := r.on(now, 0)
	for day := 1; !due.After(now); day++ {
		due = r.on(now, day)
	}
	return due
}

// on returns the time of a daily rule so many days after that of now. Where the
// clock on the wall skips it, it is as much later.
func (r rule) on(now time.Time, days int) time.Time {
	minute := 0
	if r.Minute != nil {
		minute = *r.Minute
	}
	return time.Date(now.Year(), now.Month(), now.Day()+days, *r.Hour, minute, 0, 0, now.Location())
}

// period is the usual time from one to the next.
func (r rule) period() time.Duration {
	switch {
	case r.Every > 0:
		return r.Every
	case r.Hour == nil:
		return time.Hour
	}
	return 24 * time.Hour
}

// unbelievable reports whether the last time is further ahead of now than a clock
// that was set back explains: a day, or the rule's period.
func (r rule) unbelievable(now, last time.Time) bool {
	return last.Sub(now) > max(r.period(), 24*time.Hour)+time.Hour
}

// missed returns how many times of the rule lie between the last one and the one
// that is due.
func (r rule) missed(last, due time.Time) int64 {
	return max(0, int64((due.Sub(last)+r.period()/2)/r.period())-1)
}

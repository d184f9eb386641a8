package control

import (
	"context"
	"time"
)

// A Keeper lets people change what a house consists of while it runs.
type Keeper interface {
	// Reload reads the configuration again and applies what changed, an app at a
	// time. Whatever is wrong with it is in the Reload and no error; the house runs
	// on in any case. It returns when everybody has come to it: what left or changed
	// has stopped, what came or changed is starting.
	Reload(ctx context.Context) (Reload, error)
	// LastReload returns the last reload, whoever wanted it. Before there was one
	// its At is zero.
	LastReload(ctx context.Context) (Reload, error)
	// SwitchApp switches an app (key or package) on or off in apps/config.yml, and
	// in the house, and returns its state when that is decided.
	SwitchApp(ctx context.Context, app string, on bool) (App, error)
	// SwitchTool switches a tool on or off, by any of its names.
	SwitchTool(ctx context.Context, tool string, on bool) (ToolSwitch, error)
}

// A Reload is what reading the configuration again did.
type Reload struct {
	// OK is false if something is wrong with the files.
	OK bool      `json:"ok"`
	At time.Time `json:"at"`
	// Cause is who wanted it.
	Cause ReloadCause `json:"cause"`
	// Applied is false if the files are so wrong that the house runs on under the
	// configuration that it had.
	Applied bool `json:"applied"`
	// Apps says what became of each app, in the order of the configuration; those
	// that left come last.
	Apps []AppReload `json:"apps"`
	// Pending are settings of aurora.yml, and other files, that have changed and count
	// from the next start on.
	Pending []string `json:"pending"`
	// Problems are what is wrong with the files, warnings too.
	Problems []Problem `json:"problems"`
}

// A ReloadCause is who wanted a reload.
type ReloadCause string

// The causes of reloads.
const (
	ByCommand ReloadCause = "command"
	BySignal  ReloadCause = "signal"
	ByFile    ReloadCause = "file" // a file was changed
	BySwitch  ReloadCause = "switch"
)

// An AppReload is what a reload did to one app.
type AppReload struct {
	Key string `json:"key"`
	// Effect is unchanged, added, removed, restarted, adjusted (it runs on under its
	// new configuration), started, stopped, kept (it runs on under its old
	// configuration, because the new one is faulty), faulty (it does not run), or
	// pending (it has not come to it).
	Effect string `json:"effect"`
}

// Unchanged is the effect of a reload on an app that did not change.
const Unchanged = "unchanged"

// A Problem is one thing that is wrong in the configuration, as `aurora check`
// says it.
type Problem struct {
	App     string `json:"app,omitempty"`
	File    string `json:"file"`
	Line    int    `json:"line,omitempty"`
	Column  int    `json:"column,omitempty"`
	Field   string `json:"field,omitempty"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
	Warning bool   `json:"warning,omitempty"`
}

// A ToolSwitch is how a tool stands after somebody switched it.
type ToolSwitch struct {
	OK bool `json:"ok"`
	// Name is canonical.
	Name    string `json:"name"`
	App     string `json:"app"` // key
	Enabled bool   `json:"enabled"`
	// Changed is false if it was so before.
	Changed bool `json:"changed"`
	// Note says what else to know; mostly empty.
	Note string `json:"note"`
}

// SwitchRequest asks for an app or a tool to be switched on or off.
type SwitchRequest struct {
	Name string `json:"name"`
	On   bool   `json:"on"`
}

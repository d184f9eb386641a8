package daemon

import (
	"fmt"
	"log/slog"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/aurorabot/aurora/internal/brain/unit"
	"github.com/aurorabot/aurora/internal/call"
	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/platform/bridge"
	"github.com/aurorabot/aurora/internal/spool"
)

// inbox is the name of the brain's own spool.
const inbox = "inbox"

// brainFolders are the folders of data/kernel that are no spools.
var brainFolders = []string{"pipeline", "turns", "heartbeat", "self"}

// maxSpoolName bounds the name of a spool, in bytes.
const maxSpoolName = 64

// checkSpools adds what is wrong with the names of spools, which are folders
// beside those of the brain, to the problems of a configuration.
func checkSpools(c *config.Config) {
	for _, name := range spoolNames(c) {
		p := config.Problem{Field: "amp.spools." + name}
		p.Line, p.Column = c.SettingPlace(p.Field)
		if rel, err := filepath.Rel(c.Home.Dir, c.Home.SettingsFile()); err == nil {
			p.File = rel
		}
		switch {
		case slices.Contains(brainFolders, name):
			p.Message, p.Hint = fmt.Sprintf("the folder data/kernel/%s is the brain's own", name), "give the spool another name"
		case !plainSpoolName(name):
			p.Message, p.Hint = fmt.Sprintf("%q is no name of a spool", name), fmt.Sprintf("write lower-case letters, digits, _ and -, at most %d", maxSpoolName)
		default:
			continue
		}
		if !slices.ContainsFunc(c.Problems, func(other config.Problem) bool { return other.Field == p.Field && other.App == "" }) {
			c.Problems = append(c.Problems, p)
		}
	}
}

func plainSpoolName(name string) bool {
	if name == "" || len(name) > maxSpoolName {
		return false
	}
	for _, c := range []byte(name) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '_' && c != '-' {
			return false
		}
	}
	return true
}

// spoolNames returns the names of all spools, the inbox first.
func spoolNames(c *config.Config) []string {
	names := slices.Sorted(maps.Keys(c.Settings.AMP.Spools))
	names = slices.DeleteFunc(names, func(name string) bool { return name == inbox })
	return append([]string{inbox}, names...)
}

// spoolDir returns the folder of a spool.
func spoolDir(home config.Home, name string) string { return home.Data("kernel", name) }

// openSpool opens one spool of a home whose lock is held. Only the inbox is the
// brain's; another program works on any other.
func openSpool(c *config.Config, name string, log *slog.Logger) (*spool.Spool, error) {
	keep := c.Settings.Retention
	if err := os.MkdirAll(c.Home.Data("kernel"), 0o700); err != nil {
		return nil, fmt.Errorf("the folder of the spools: %w", err)
	}
	s, err := spool.Open(spoolDir(c.Home, name), spool.Options{
		MaxFiles: c.Settings.AMP.Spools[name].MaxFiles,
		Inspect:  unit.InspectEvent,
		Shared:   name != inbox,
		KeepDone: spool.Retention{Age: keep.Done},
		KeepDead: spool.Retention{Age: keep.Dead},
		Logger:   log,
	})
	if err != nil {
		return nil, fmt.Errorf("the spool %q: %w", name, err)
	}
	return s, nil
}

// openOutlets opens every spool of a home and says what belongs into it.
func openOutlets(c *config.Config, log *slog.Logger) ([]bridge.Outlet, error) {
	var outlets []bridge.Outlet
	for _, name := range spoolNames(c) {
		s, err := openSpool(c, name, log)
		if err != nil {
			return nil, err
		}
		set := c.Settings.AMP.Spools[name]
		o := bridge.Outlet{Name: name, Spool: s, Include: set.Include, Exclude: set.Exclude, Place: unit.EventPlace}
		for _, kind := range set.ToolCallers {
			o.ToolCallers = append(o.ToolCallers, call.CallerKind(kind))
		}
		outlets = append(outlets, o)
	}
	return outlets, nil
}

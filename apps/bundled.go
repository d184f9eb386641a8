package apps

import (
	"context"

	"github.com/aurorabot/aurora/appkit"
	"github.com/aurorabot/aurora/apps/weather"
)

// A Bundled is one app that is built in.
type Bundled struct {
	// Name is how "aurora app run NAME" calls it, such as weather.
	Name string
	// Key is its name in apps/config.yml, such as aurora-app-weather.
	Key string
	// Package is its reverse-DNS id, such as im.polaris.weather.
	Package string
	// Manifest is its manifest.yaml.
	Manifest []byte
	// Run serves it until its input ends, a signal arrives or ctx is done;
	// these return nil. The zero [appkit.Process] is this very process.
	Run func(ctx context.Context, process appkit.Process) error
}

// All returns the bundled apps in the order in which they are listed to people.
// The slice and the manifests are the caller's own.
func All() []Bundled {
	return []Bundled{
		{Name: "weather", Key: weather.Key, Package: weather.Package, Manifest: weather.Manifest(), Run: weather.Run},
	}
}

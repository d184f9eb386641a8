package weather

import (
	"bytes"
	"context"
	_ "embed"

	"github.com/aurorabot/aurora/appkit"
)

// Who the app is.
const (
	Package = "im.polaris.weather"
	Key     = "aurora-app-weather" // in apps/config.yml
	Version = "0.2.0"
)

//go:embed manifest.yaml
var manifest []byte

// Manifest returns the app's manifest.yaml.
func Manifest() []byte { return bytes.Clone(manifest) }

// Run serves the app on the streams of a process.
func Run(ctx context.Context, process appkit.Process) error {
	return process.Serve(ctx, &appkit.App{Package: Package, Title: "天气应用", Version: Version})
}

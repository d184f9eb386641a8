package daemon

import (
	"context"
	"fmt"
	"os"

	"github.com/aurorabot/aurora/internal/config"
	"github.com/aurorabot/aurora/internal/platform/host"
)

// A dataDialer makes the data folder of a local app before the app is started,
// every time: it is named in the app's environment, so it exists.
type dataDialer struct {
	next host.Dialer
	home config.Home
}

// Dial implements [host.Dialer].
func (d dataDialer) Dial(ctx context.Context, app *config.App) (*host.Link, error) {
	if app.MCP.Transport == config.Stdio {
		if err := os.MkdirAll(d.home.AppData(app.Key), 0o700); err != nil {
			return nil, fmt.Errorf("its data folder: %w", err)
		}
	}
	return d.next.Dial(ctx, app)
}

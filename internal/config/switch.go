package config

import "fmt"

// SwitchApp returns the text of apps/config.yml, of which app was made, with the
// app switched on or off. What an app does not need is not written.
func SwitchApp(text []byte, app *App, on bool) ([]byte, error) {
	var err error
	if on && app.Disabled == "" || !on && app.Disabled != "" {
		return text, nil
	}
	path := []string{"apps", app.Key}
	if !on || !app.Enabled {
		if text, err = SetAt(text, append(path, "enabled"), on); err != nil {
			return nil, err
		}
	}
	if !on {
		return text, nil
	}
	// It may be off twice.
	d, err := openDocument(text)
	if err != nil {
		return nil, err
	}
	at, rest, err := d.find(append(path, "mcp", "enabled"))
	if err != nil || len(rest) > 0 || !meansValue(at.value(), false) {
		return text, err
	}
	return SetAt(text, append(path, "mcp", "enabled"), true)
}

// SwitchTool returns the text of apps/config.yml, of which app was made, with one
// of the app's tools switched on or off. tool is its canonical name.
func SwitchTool(text []byte, app *App, tool string, on bool) ([]byte, error) {
	set := app.Tools[tool].Enabled
	if on && (set == nil || *set) || !on && set != nil && !*set {
		return text, nil
	}
	d, err := openDocument(text)
	if err != nil {
		return nil, err
	}
	path := []string{"apps", app.Key, "permissions", "tools"}
	at, rest, err := d.find(path)
	if err != nil {
		return nil, err
	}
	key := tool
	if len(rest) == 0 {
		for _, e := range at.value().entries {
			if canonical(app.Package, e.key) == tool {
				key = e.key // as it is written there already
			}
		}
	}
	text, err = SetAt(text, append(path, key, "enabled"), on)
	if err != nil {
		return nil, fmt.Errorf("the tool %s: %w", tool, err)
	}
	return text, nil
}

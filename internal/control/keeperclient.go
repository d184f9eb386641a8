package control

import "context"

// Reload implements [Keeper].
func (c *Client) Reload(ctx context.Context) (r Reload, err error) {
	err = c.post(ctx, "reload", struct{}{}, &r)
	return r, err
}

// LastReload implements [Keeper].
func (c *Client) LastReload(ctx context.Context) (r Reload, err error) {
	err = c.get(ctx, "reload", Filter{}, &r)
	return r, err
}

// SwitchApp implements [Keeper].
func (c *Client) SwitchApp(ctx context.Context, app string, on bool) (a App, err error) {
	err = c.post(ctx, "switch/app", SwitchRequest{app, on}, &a)
	return a, err
}

// SwitchTool implements [Keeper].
func (c *Client) SwitchTool(ctx context.Context, tool string, on bool) (s ToolSwitch, err error) {
	err = c.post(ctx, "switch/tool", SwitchRequest{tool, on}, &s)
	return s, err
}

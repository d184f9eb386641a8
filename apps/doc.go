// Package apps lists the apps that are built into the aurora binary. Each is an
// ordinary MCP server in its own folder; aurora starts it as a child process of
// its own executable, like any other local app.
package apps

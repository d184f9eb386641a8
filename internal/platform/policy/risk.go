package policy

import (
	"github.com/aurorabot/aurora/internal/config"
)

// A Risk says how much harm a tool can do.
type Risk string

// The risks, from harmless to dangerous (DESIGN 11).
const (
	Low      Risk = "low"      // reads
	Medium   Risk = "medium"   // changes what can be changed back
	High     Risk = "high"     // deletes, pays, speaks to others
	Critical Risk = "critical" // shells, keys, permissions
)

// Valid reports whether r is one of the four risks.
func (r Risk) Valid() bool {
	switch r {
	case Low, Medium, High, Critical:
		return true
	}
	return false
}

// Hints are the annotations of a tool that speak of risk (MCP 2025-11-25,
// ToolAnnotations). A nil pointer means that the server did not say.
// Hints are claims of the server, not facts.
type Hints struct {
	ReadOnly    *bool
	Destructive *bool
}

// RiskOf returns the risk of the tool with a canonical name in an app: what its
// configuration says, else its manifest (both are in app.Tools), else what its
// hints say as far as the app is trusted, else [High].
//
// An app with trust low is not believed when a hint lowers the risk. An app
// with trust normal is believed when it says read-only (low) or not destructive
// (medium), unless it says read-only and destructive at once, which makes no
// sense. An app with trust high is believed even then.
func RiskOf(app *config.App, canonical string, h Hints) Risk {
	if p, ok := app.Tools[canonical]; ok && Risk(p.Risk).Valid() {
		return Risk(p.Risk)
	}
	readOnly := h.ReadOnly != nil && *h.ReadOnly
	destructive := h.Destructive != nil && *h.Destructive
	harmless := h.Destructive != nil && !*h.Destructive
	switch {
	case app.Trust == config.TrustLow:
		return High
	case readOnly && destructive && app.Trust != config.TrustHigh:
		return High
	case readOnly:
		return Low
	case harmless:
		return Medium
	}
	return High
}

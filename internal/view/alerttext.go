package view

import "github.com/nexus-ai-builder/nexus/internal/nexus"

// AlertText returns one line that describes an alert.
func AlertText(f nexus.AlertRaised) string {
	if f.Of == "" {
		return string(f.Kind) + ": " + f.Why
	}
	return string(f.Kind) + ", " + f.Of + ": " + f.Why
}

// ClearedText returns one line that names the cleared alert and the reason.
func ClearedText(f nexus.AlertCleared) string {
	return AlertText(nexus.AlertRaised(f))
}

package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// maxHosts limits the hosts that a line names.
const maxHosts = 8

// networkRefused reports whether a host was refused.
func networkRefused(f nexus.NetworkRequestsRecorded) bool {
	return slices.ContainsFunc(f.Hosts, func(h nexus.RequestedHost) bool { return !h.Allowed })
}

// describeNetwork returns the subject of a fact and a description, in words that may be from
// outside.
func describeNetwork(f nexus.NetworkRequestsRecorded) (about, text string) {
	about = cmp.Or(string(f.Session), string(f.Attempt), "gates")
	var parts []string
	for i, h := range f.Hosts {
		if i == maxHosts {
			parts = append(parts, fmt.Sprintf("and %d more", len(f.Hosts)-maxHosts))
			break
		}
		parts = append(parts, hostText(h))
	}
	text = "network: " + strings.Join(parts, "; ")
	if f.Gate != "" {
		text = "gate " + f.Gate + ", " + text
	}
	return about, text
}

func hostText(h nexus.RequestedHost) string {
	name := fmt.Sprintf("%s:%d", h.Host, h.Port)
	if strings.Contains(h.Host, ":") {
		name = fmt.Sprintf("[%s]:%d", h.Host, h.Port)
	}
	times := ""
	if h.Times > 1 {
		times = fmt.Sprintf(" %d times", h.Times)
	}
	switch {
	case !h.Allowed:
		return fmt.Sprintf("%s refused%s: %s", name, times, h.Why)
	case h.Why != "":
		return fmt.Sprintf("%s not reached%s: %s", name, times, h.Why)
	default:
		return fmt.Sprintf("%s allowed%s by %s, %s up, %s down", name, times, h.Rule, formatBytes(h.Up), formatBytes(h.Down))
	}
}

func formatBytes(n int64) string {
	switch {
	case n < 10_000:
		return fmt.Sprintf("%d B", n)
	case n < 10_000_000:
		return fmt.Sprintf("%d kB", n/1000)
	default:
		return fmt.Sprintf("%d MB", n/1_000_000)
	}
}

package accept

import (
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// StillRed returns what failed on the base and fails on the result, by gate: tests by their names, and
// other findings. It does not count against the work, and a person must know of it.
func StillRed(result []nexus.Evidence) []string {
	var all []string
	for _, e := range result {
		if len(e.Old) > 0 && !strings.HasPrefix(e.Gate, nexus.AcceptGate) {
			all = append(all, "gate "+e.Gate+": failed before the work, and fails now: "+joinFew(slices.Compact(slices.Sorted(slices.Values(e.Old)))))
		}
	}
	return all
}

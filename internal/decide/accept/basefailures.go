package accept

import (
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// RemainingBaseFailures returns the failures that exist on the base and on the result, by gate: tests by
// name, and other findings. They do not count against the work, and a person must be told
// about them.
func RemainingBaseFailures(result []nexus.GateEvidence) []string {
	var all []string
	for _, e := range result {
		if len(e.Old) > 0 && !strings.HasPrefix(e.Gate, nexus.AcceptGate) {
			all = append(all, "gate "+e.Gate+": failed before the work, and fails now: "+joinFirstNames(slices.Compact(slices.Sorted(slices.Values(e.Old)))))
		}
	}
	return all
}

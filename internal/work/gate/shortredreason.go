package gate

import (
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// shortRedReason returns a short reason for which a gate is red.
func shortRedReason(e nexus.GateEvidence) string {
	switch {
	case e.State == nexus.Fail && len(e.Findings) == 1:
		return e.Gate + ": 1 finding"
	case e.State == nexus.Fail:
		return fmt.Sprintf("%s: %d findings", e.Gate, len(e.Findings))
	case e.Tree == "":
		return e.Gate + ": the tree has no name"
	case e.Why != "":
		return fmt.Sprintf("%s: %s: %s", e.Gate, e.State, e.Why)
	default:
		return fmt.Sprintf("%s: %s", e.Gate, e.State)
	}
}

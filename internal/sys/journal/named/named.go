// Package named tells which blobs facts name.
package named

import (
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Blobs returns the hashes of the blobs that a fact names, in order.
func Blobs(f nexus.Fact) []string {
	var all []string
	switch f := f.(type) {
	case nexus.PlanProposed:
		all = []string{f.Plan}
	case nexus.TaskParked:
		all = []string{f.Report}
	case nexus.GateJudged:
		all = []string{f.Evidence.Output}
	case nexus.ResultGated:
		for _, e := range f.Verdict.Evidence {
			all = append(all, e.Output)
		}
	case nexus.SessionStarted:
		all = []string{f.Prompt}
	case nexus.PromptSent:
		all = []string{f.Message}
	case nexus.TurnTaken:
		all = []string{f.Message}
	case nexus.ToolsAnswered:
		all = []string{f.Message}
	case nexus.SessionCompacted:
		all = slices.Clone(f.Messages)
	case nexus.SessionEnded:
		all = []string{f.Result}
	default:
	}
	return slices.DeleteFunc(all, func(hash string) bool { return hash == "" })
}

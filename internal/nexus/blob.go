package nexus

import "slices"

// Blobs returns the hashes of the blobs that a fact names, in order.
func Blobs(f Fact) []string {
	var all []string
	switch f := f.(type) {
	case PlanProposed:
		all = []string{f.Plan}
	case TaskParked:
		all = []string{f.Report}
	case GateJudged:
		all = []string{f.Evidence.Output}
	case ResultGated:
		for _, e := range f.Verdict.Evidence {
			all = append(all, e.Output)
		}
	case SessionStarted:
		all = []string{f.Prompt}
	case PromptSent:
		all = []string{f.Message}
	case TurnTaken:
		all = []string{f.Message}
	case ToolsAnswered:
		all = []string{f.Message}
	case SessionCompacted:
		all = slices.Clone(f.Messages)
	case SessionEnded:
		all = []string{f.Result}
	default:
	}
	return slices.DeleteFunc(all, func(hash string) bool { return hash == "" })
}

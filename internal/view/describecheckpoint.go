package view

import (
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// describeCheckpoint describes facts about named points of a run, and about going back to one.
func describeCheckpoint(f nexus.Fact) (about, text string) {
	switch f := f.(type) {
	case nexus.CheckpointMade:
		return "", WithReason(fmt.Sprintf("checkpoint %s at %s%s", f.Name, ShortHash(f.Tip), byText(f.By)), f.Why)
	case nexus.CheckpointDropped:
		return "", WithReason("dropped checkpoint "+f.Name, f.Why)
	case nexus.RunRewound:
		to := fmt.Sprintf("event %d", f.To)
		if f.Checkpoint != "" {
			to = fmt.Sprintf("checkpoint %s (event %d)", f.Checkpoint, f.To)
		}
		return "", fmt.Sprintf("went back to %s%s: its branch is at %s, and was at %s", to, byText(f.By), ShortHash(f.Tip), ShortHash(f.From))
	case nexus.TaskStateInherited:
		text = string(f.Status)
		if f.Landed != nil {
			text += " as " + ShortHash(f.Landed.Commit)
		}
		return string(f.Task), "taken over: " + text
	case nexus.UndoStarted:
		return "", fmt.Sprintf("reverting what %s landed%s", nexus.JoinWords(f.Tasks), byText(f.By))
	case nexus.UndoLanded:
		return "", fmt.Sprintf("reverted %s as %s", nexus.JoinWords(f.Tasks), ShortHash(f.Commit))
	case nexus.UndoRefused:
		return "", fmt.Sprintf("%s not reverted: %s", nexus.JoinWords(f.Tasks), f.Why)
	default:
		return "", ""
	}
}

package view

import (
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// describePoint says which points of a run got names, and how it went back.
func describePoint(f nexus.Fact) (about, text string) {
	switch f := f.(type) {
	case nexus.CheckpointMade:
		return "", Because(fmt.Sprintf("checkpoint %s at %s%s", f.Name, Short(f.Tip), by(f.By)), f.Why)
	case nexus.CheckpointDropped:
		return "", Because("dropped checkpoint "+f.Name, f.Why)
	case nexus.RunRewound:
		to := fmt.Sprintf("event %d", f.To)
		if f.Checkpoint != "" {
			to = fmt.Sprintf("checkpoint %s (event %d)", f.Checkpoint, f.To)
		}
		return "", fmt.Sprintf("went back to %s%s: its branch is at %s, and was at %s", to, by(f.By), Short(f.Tip), Short(f.From))
	case nexus.TaskInherited:
		text = string(f.Status)
		if f.Landed != nil {
			text += " as " + Short(f.Landed.Commit)
		}
		return string(f.Task), "taken over: " + text
	case nexus.UndoSought:
		return "", fmt.Sprintf("reverting what %s landed%s", nexus.Join(f.Tasks), by(f.By))
	case nexus.UndoLanded:
		return "", fmt.Sprintf("reverted %s as %s", nexus.Join(f.Tasks), Short(f.Commit))
	case nexus.UndoRefused:
		return "", fmt.Sprintf("%s not reverted: %s", nexus.Join(f.Tasks), f.Why)
	default:
		return "", ""
	}
}

package causes

import (
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// ofLanding returns the patterns about landing.
func ofLanding() []Pattern {
	return []Pattern{
		{"conflict-loop", "a task's work conflicted with earlier landed work", conflictLoop},
		{"red-together", "the work passes alone, but not with earlier landed work", redTogether},
		{"target-moved", "the target branch moved, and the result is not on it", targetMoved},
	}
}

func conflictLoop(r *record) []Cause {
	return causes(r, 1, func(f nexus.TrainRefused) []mark {
		return only(f.Conflict, f.Task, "")
	}, func(s typedGroup[nexus.TrainRefused]) Cause {
		return Cause{
			Symptom: fmt.Sprintf("it could not be merged, %s", times(len(s.at))),
			Why:     given(s.last().Why, "another task changed the same lines"),
			Fix: "let one of the two tasks need the other, or name the file in both, " +
				"so that they do not run at once; then nexus retry " + name(s.task),
		}
	})
}

func redTogether(r *record) []Cause {
	return causes(r, 1, func(f nexus.TrainRefused) []mark {
		return only(!f.Conflict && !f.Broken, f.Task, "")
	}, func(s typedGroup[nexus.TrainRefused]) Cause {
		why := firstLine(s.last().Why)
		if len(s.last().Findings) > 0 {
			why += ": " + firstLine(s.last().Findings[0].Message)
		}
		return Cause{
			Symptom: fmt.Sprintf("the merged tree is red, %s", times(len(s.at))),
			Why:     why,
			Fix:     "nexus show " + name(s.task) + "; two tasks depend on each other without saying so: name the need in the plan",
		}
	})
}

func targetMoved(r *record) []Cause {
	return causes(r, 1, func(f nexus.LandingRefused) []mark { return only(true, "", "") }, func(s typedGroup[nexus.LandingRefused]) Cause {
		return Cause{
			Blocks:  r.state.Published == nil || r.state.Published.Merged == "",
			Symptom: "the result is not on the target branch",
			Why:     "the target has new commits, and " + firstLine(s.last().Why),
			Fix:     "nexus land tries it again; or merge the branch of the run yourself",
		}
	})
}

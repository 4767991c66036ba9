package failurecauses

import (
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// landingCausePatterns returns the patterns about landing.
func landingCausePatterns() []CausePattern {
	return []CausePattern{
		{"conflict-loop", "a task's work conflicted with earlier landed work", conflictLoopCauses},
		{"red-together", "the work passes alone, but not with earlier landed work", redMergeCauses},
		{"target-moved", "the target branch moved, and the result is not on it", movedTargetCauses},
	}
}

func conflictLoopCauses(r *causeSearchInput) []KnownCause {
	return causesFromFacts(r, 1, func(f nexus.LandingRejected) []factSubject {
		return subjectIf(f.Conflict, f.Task, "")
	}, func(s typedFactGroup[nexus.LandingRejected]) KnownCause {
		return KnownCause{
			Symptom: fmt.Sprintf("it could not be merged, %s", timesText(len(s.at))),
			Why:     reasonOrUsual(s.lastFact().Why, "another task changed the same lines"),
			Fix: "let one of the two tasks need the other, or name the file in both, " +
				"so that they do not run at once; then nexus retry " + taskArgument(s.task),
		}
	})
}

func redMergeCauses(r *causeSearchInput) []KnownCause {
	return causesFromFacts(r, 1, func(f nexus.LandingRejected) []factSubject {
		return subjectIf(!f.Conflict && !f.Broken, f.Task, "")
	}, func(s typedFactGroup[nexus.LandingRejected]) KnownCause {
		why := firstLine(s.lastFact().Why)
		if len(s.lastFact().Findings) > 0 {
			why += ": " + firstLine(s.lastFact().Findings[0].Message)
		}
		return KnownCause{
			Symptom: fmt.Sprintf("the merged tree is red, %s", timesText(len(s.at))),
			Why:     why,
			Fix:     "nexus status " + taskArgument(s.task) + "; two tasks depend on each other without saying so: name the need in the plan",
		}
	})
}

func movedTargetCauses(r *causeSearchInput) []KnownCause {
	return causesFromFacts(r, 1, func(f nexus.TargetMergeRefused) []factSubject { return subjectIf(true, "", "") }, func(s typedFactGroup[nexus.TargetMergeRefused]) KnownCause {
		return KnownCause{
			Blocks:  r.state.Published == nil || r.state.Published.Merged == "",
			Symptom: "the result is not on the target branch",
			Why:     "the target has new commits, and " + firstLine(s.lastFact().Why),
			Fix:     "nexus land tries it again; or merge the branch of the run yourself",
		}
	})
}

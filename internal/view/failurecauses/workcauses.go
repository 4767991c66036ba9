package failurecauses

import (
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// workCausePatterns returns the patterns about the work on a task and its judges.
func workCausePatterns() []CausePattern {
	return []CausePattern{
		{"reviewer-loop", "reviewers rejected the work repeatedly", reviewerLoopCauses},
		{"same-finding", "the same finding came back", repeatedFindingCauses},
		{"no-progress", "attempts ended without progress", noProgressCauses},
		{"isolation", "a role changed files that it may not change", isolationCauses},
		{"tests-not-red", "new tests pass without the work", unprovenTestCauses},
		{"environment-unfit", "the agent says that the environment is broken for the task", inapplicableCauses},
	}
}

// manyReviews is the number of rejections that counts as a loop: as many as
// the limit of rejected reviews allows in one attempt.
const manyReviews = 3

func reviewerLoopCauses(r *causeSearchInput) []KnownCause {
	return causesFromFacts(r, manyReviews, func(f nexus.ReviewerVerdictGiven) []factSubject {
		return subjectIf(f.Reviewed && !f.Approved, r.taskOfAttempt(f.Attempt), "")
	}, func(s typedFactGroup[nexus.ReviewerVerdictGiven]) KnownCause {
		return KnownCause{
			Symptom: fmt.Sprintf("reviewers rejected the work %s", timesText(len(s.at))),
			Why:     reasonOrUsual(s.lastFact().Summary, "the reviewer wants something else than the task asks for"),
			Fix:     "nexus status " + taskArgument(s.task) + " lists the findings; nexus tell " + taskArgument(s.task) + " TEXT decides",
		}
	})
}

// manySame is the number of occurrences from which a finding counts as a loop.
const manySame = 3

func repeatedFindingCauses(r *causeSearchInput) []KnownCause {
	return causesFromFacts(r, manySame, func(f nexus.ReviewerVerdictGiven) []factSubject {
		var all []factSubject
		known := map[factSubject]bool{}
		for _, x := range f.Findings {
			m := factSubject{r.taskOfAttempt(f.Attempt), x.File + ": " + firstLine(x.Message)}
			if x.Unverified == "" && !known[m] {
				known[m] = true
				all = append(all, m)
			}
		}
		return all
	}, func(s typedFactGroup[nexus.ReviewerVerdictGiven]) KnownCause {
		return KnownCause{
			Symptom: fmt.Sprintf("the same finding came back %s", timesText(len(s.at))),
			Why:     s.what,
			Fix:     "the author does not understand it, or cannot fix it: nexus tell " + taskArgument(s.task) + " TEXT",
		}
	})
}

func noProgressCauses(r *causeSearchInput) []KnownCause {
	return causesFromFacts(r, 2, func(f nexus.AttemptEnded) []factSubject {
		return subjectIf(f.Outcome == nexus.NoProgress || f.Outcome == nexus.Exhausted, r.taskOfAttempt(f.Attempt), "")
	}, func(s typedFactGroup[nexus.AttemptEnded]) KnownCause {
		return KnownCause{
			Symptom: fmt.Sprintf("attempts at it ended %s without reaching the goal", timesText(len(s.at))),
			Why:     reasonOrUsual(s.lastFact().Why, "the same failure came again"),
			Fix: "nexus status " + taskArgument(s.task) + " shows what was tried; " +
				"nexus retry " + taskArgument(s.task) + " --tell TEXT with what it does not know, or a smaller task",
		}
	})
}

func isolationCauses(r *causeSearchInput) []KnownCause {
	return causesFromFacts(r, 1, func(f nexus.RoleIsolationViolated) []factSubject {
		return subjectIf(true, r.taskOfAttempt(f.Attempt), string(f.Role))
	}, func(s typedFactGroup[nexus.RoleIsolationViolated]) KnownCause {
		return KnownCause{
			Symptom: fmt.Sprintf("the %s changed files that it may not change, and that was undone, %s", s.what, timesText(len(s.at))),
			Why:     strings.Join(s.lastFact().Files, ", "),
			Fix: "if it has to, choose another strategy for the task: strategy = \"test-after\" in the plan, " +
				"or routing.strategy",
		}
	})
}

func unprovenTestCauses(r *causeSearchInput) []KnownCause {
	return causesFromFacts(r, 2, func(f nexus.TestsRunWithoutWork) []factSubject {
		return subjectIf(f.Proof == nexus.ProofGreen || f.Proof == nexus.ProofBroken, r.taskOfAttempt(f.Attempt), string(f.Proof))
	}, func(s typedFactGroup[nexus.TestsRunWithoutWork]) KnownCause {
		why := "they do not ask for the work, or it is there already"
		if s.lastFact().Proof == nexus.ProofBroken {
			why = "they fail for a reason of their own"
		}
		return KnownCause{
			Symptom: fmt.Sprintf("new tests were %s without the work, %s", s.what, timesText(len(s.at))),
			Why:     reasonOrUsual(s.lastFact().Why, why),
			Fix: "describe the fault: nexus tell " + taskArgument(s.task) + " TEXT; " +
				"or nexus stop --skip " + taskArgument(s.task) + " if nothing is",
		}
	})
}

func inapplicableCauses(r *causeSearchInput) []KnownCause {
	return causesFromFacts(r, 1, func(f nexus.AttemptEnded) []factSubject {
		return subjectIf(f.Outcome == nexus.Inapplicable && r.isUnlandedForGood(r.taskOfAttempt(f.Attempt)), r.taskOfAttempt(f.Attempt), "")
	}, func(s typedFactGroup[nexus.AttemptEnded]) KnownCause {
		return KnownCause{
			Symptom: "the work cannot be done in this environment",
			Why:     reasonOrUsual(s.lastFact().Why, "something that it needs does not work here"),
			Fix:     "nexus doctor; then nexus retry " + taskArgument(s.task),
		}
	})
}

// firstLine returns the beginning of an untrusted text in a form that is safe to display.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return sanitize.TruncateText(line, 160)
}

package causes

import (
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// ofWork returns the patterns about the work on a task and its judges.
func ofWork() []Pattern {
	return []Pattern{
		{"reviewer-loop", "reviewers rejected the work repeatedly", reviewerLoop},
		{"same-finding", "the same finding came back", sameFinding},
		{"no-progress", "attempts ended without progress", noProgress},
		{"isolation", "a role changed files that it may not change", isolation},
		{"tests-not-red", "new tests pass without the work", testsNotRed},
		{"environment-unfit", "the agent says that the environment is broken for the task", unfit},
	}
}

// manyReviews is the number of rejections that counts as a loop: as many as
// limits.review_rounds allows in one attempt.
const manyReviews = 3

func reviewerLoop(r *record) []Cause {
	return causes(r, manyReviews, func(f nexus.ReviewGiven) []mark {
		return only(f.Reviewed && !f.Approved, r.attempt(f.Attempt), "")
	}, func(s typedGroup[nexus.ReviewGiven]) Cause {
		return Cause{
			Symptom: fmt.Sprintf("reviewers rejected the work %s", times(len(s.at))),
			Why:     given(s.last().Summary, "the reviewer wants something else than the task asks for"),
			Fix: "nexus show " + name(s.task) + " lists the findings; nexus tell " + name(s.task) + " TEXT decides, " +
				"or limits.majors_block asks for more before it blocks",
		}
	})
}

// manySame is the number of occurrences from which a finding counts as a loop.
const manySame = 3

func sameFinding(r *record) []Cause {
	return causes(r, manySame, func(f nexus.ReviewGiven) []mark {
		var all []mark
		known := map[mark]bool{}
		for _, x := range f.Findings {
			m := mark{r.attempt(f.Attempt), x.File + ": " + firstLine(x.Message)}
			if x.Unverified == "" && !known[m] {
				known[m] = true
				all = append(all, m)
			}
		}
		return all
	}, func(s typedGroup[nexus.ReviewGiven]) Cause {
		return Cause{
			Symptom: fmt.Sprintf("the same finding came back %s", times(len(s.at))),
			Why:     s.what,
			Fix:     "the author does not understand it, or cannot fix it: nexus tell " + name(s.task) + " TEXT",
		}
	})
}

func noProgress(r *record) []Cause {
	return causes(r, 2, func(f nexus.AttemptEnded) []mark {
		return only(f.Outcome == nexus.NoProgress || f.Outcome == nexus.Exhausted, r.attempt(f.Attempt), "")
	}, func(s typedGroup[nexus.AttemptEnded]) Cause {
		return Cause{
			Symptom: fmt.Sprintf("attempts at it ended %s without reaching the goal", times(len(s.at))),
			Why:     given(s.last().Why, "the same failure came again"),
			Fix: "nexus show " + name(s.task) + " shows what was tried; " +
				"nexus retry " + name(s.task) + " --tell TEXT with what it does not know, or a smaller task",
		}
	})
}

func isolation(r *record) []Cause {
	return causes(r, 1, func(f nexus.IsolationBroken) []mark {
		return only(true, r.attempt(f.Attempt), string(f.Role))
	}, func(s typedGroup[nexus.IsolationBroken]) Cause {
		return Cause{
			Symptom: fmt.Sprintf("the %s changed files that it may not change, and that was undone, %s", s.what, times(len(s.at))),
			Why:     strings.Join(s.last().Files, ", "),
			Fix: "if it has to, choose another strategy for the task: strategy = \"test-after\" in the plan, " +
				"or routing.strategy",
		}
	})
}

func testsNotRed(r *record) []Cause {
	return causes(r, 2, func(f nexus.TestsProved) []mark {
		return only(f.Proof == nexus.ProofGreen || f.Proof == nexus.ProofBroken, r.attempt(f.Attempt), string(f.Proof))
	}, func(s typedGroup[nexus.TestsProved]) Cause {
		why := "they do not ask for the work, or it is there already"
		if s.last().Proof == nexus.ProofBroken {
			why = "they fail for a reason of their own"
		}
		return Cause{
			Symptom: fmt.Sprintf("new tests were %s without the work, %s", s.what, times(len(s.at))),
			Why:     given(s.last().Why, why),
			Fix: "describe the fault: nexus tell " + name(s.task) + " TEXT; " +
				"or nexus skip " + name(s.task) + " if nothing is",
		}
	})
}

func unfit(r *record) []Cause {
	return causes(r, 1, func(f nexus.AttemptEnded) []mark {
		return only(f.Outcome == nexus.Inapplicable && r.left(r.attempt(f.Attempt)), r.attempt(f.Attempt), "")
	}, func(s typedGroup[nexus.AttemptEnded]) Cause {
		return Cause{
			Symptom: "the work cannot be done in this environment",
			Why:     given(s.last().Why, "something that it needs does not work here"),
			Fix:     "nexus doctor; then nexus retry " + name(s.task),
		}
	})
}

// firstLine returns the beginning of an untrusted text in a form that is safe to display.
func firstLine(text string) string {
	line, _, _ := strings.Cut(strings.TrimSpace(text), "\n")
	return sanitize.Cut(line, 160)
}

package failurecauses

import (
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// peopleCausePatterns returns the patterns about decisions and things that only people can provide.
func peopleCausePatterns() []CausePattern {
	return []CausePattern{
		{"person-needed", "the work needs something that only a person can give", personNeededCauses},
		{"unanswered", "a question was not answered in time", unansweredCauses},
		{"plan-refused", "people refused the plan repeatedly", refusedPlanCauses},
		{"hook-refused", "a hook refused", refusingHookCauses},
		{"undone", "a person reverted what had landed", undoneWorkCauses},
	}
}

func personNeededCauses(r *causeSearchInput) []KnownCause {
	return causesFromFacts(r, 1, func(f nexus.AttemptEnded) []factSubject {
		return subjectIf(f.Category == nexus.PersonNeeded && r.isUnlandedForGood(r.taskOfAttempt(f.Attempt)), r.taskOfAttempt(f.Attempt), "")
	}, func(s typedFactGroup[nexus.AttemptEnded]) KnownCause {
		return KnownCause{
			Symptom: "its agent cannot continue without a person",
			Why:     reasonOrUsual(s.lastFact().Why, "it needs a key, an account, a device or a decision"),
			Fix:     "nexus tell " + taskArgument(s.task) + " TEXT, then nexus retry " + taskArgument(s.task),
		}
	})
}

func unansweredCauses(r *causeSearchInput) []KnownCause {
	found := causesFromFacts(r, 1, func(f nexus.QuestionExpired) []factSubject { return subjectIf(true, "", f.ID) }, func(s typedFactGroup[nexus.QuestionExpired]) KnownCause {
		return KnownCause{
			Symptom: "the question " + s.what + " is open, and the run went on without an answer",
			Why:     r.questionText(s.what),
			Fix:     "nexus answer " + s.what + " TEXT; channels.order sends questions to you: docs/answer-and-share.md",
		}
	})
	return append(found, causesFromFacts(r, 1, func(f nexus.QuestionAnswered) []factSubject {
		return subjectIf(f.By == "fallback", "", f.ID)
	}, func(s typedFactGroup[nexus.QuestionAnswered]) KnownCause {
		return KnownCause{
			Symptom: fmt.Sprintf("%s was not answered in time, and %q was used", s.what, firstLine(s.lastFact().Text)),
			Why:     r.questionText(s.what),
			Fix:     "channels.order sends questions to you: docs/answer-and-share.md",
		}
	})...)
}

// questionText returns the text of a question.
func (r *causeSearchInput) questionText(id string) string {
	if q := r.state.QuestionByID(id); q != nil {
		return "it asks: " + firstLine(q.Text)
	}
	return "no person was available"
}

func refusedPlanCauses(r *causeSearchInput) []KnownCause {
	return causesFromFacts(r, 2, func(nexus.PlanRejected) []factSubject { return subjectIf(true, "", "") }, func(s typedFactGroup[nexus.PlanRejected]) KnownCause {
		return KnownCause{
			Symptom: fmt.Sprintf("the plan was refused %s", timesText(len(s.at))),
			Why:     "the planner does not know what you want; the last reason was: " + firstLine(s.lastFact().Why),
			Fix:     "describe it in the goal or in a spec (nexus spec), or edit the plan: nexus approve ID --plan FILE",
		}
	})
}

func undoneWorkCauses(r *causeSearchInput) []KnownCause {
	return causesFromFacts(r, 1, func(f nexus.UndoLanded) []factSubject {
		var all []factSubject
		for _, id := range f.Tasks {
			if t := r.state.TaskByID(id); t != nil && t.Status == nexus.Skipped { // the work is not needed any more
				all = append(all, factSubject{id, ""})
			}
		}
		return all
	}, func(s typedFactGroup[nexus.UndoLanded]) KnownCause {
		return KnownCause{
			Blocks:  true,
			Symptom: "it landed, and was reverted",
			Why:     reasonOrUsual(s.lastFact().By, "somebody") + " ran nexus undo",
			Fix:     "nexus retry " + taskArgument(s.task) + ", then nexus resume, to have its work again",
		}
	})
}

func refusingHookCauses(r *causeSearchInput) []KnownCause {
	return causesFromFacts(r, 1, func(f nexus.ResultPublished) []factSubject {
		return subjectIf(f.Hook != "", "", f.Hook)
	}, func(s typedFactGroup[nexus.ResultPublished]) KnownCause {
		return KnownCause{
			Blocks:  true,
			Symptom: "what landed was not put on " + reasonOrUsual(s.lastFact().Target, "its target"),
			Why:     "the hook " + s.what + " refused: " + firstLine(s.lastFact().Why),
			Fix:     "nexus hooks test " + s.what + "; then nexus land",
		}
	})
}

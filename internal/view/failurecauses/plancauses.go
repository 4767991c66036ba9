package failurecauses

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// planCausePatterns returns the patterns about the plan and its criteria.
func planCausePatterns() []CausePattern {
	return []CausePattern{
		{"no-plan", "no plan was made", missingPlanCauses},
		{"plan-gaps", "the plan does not cover the goal", planGapCauses},
		{"too-large", "a task was too large for one attempt", largeTaskCauses},
		{"undeclared-files", "a task changed many files that its plan does not name", undeclaredFileCauses},
		{"need-failed", "a task that it needs did not land", failedNeedCauses},
		{"contradiction", "the task and its checks contradict each other", contradictionCauses},
		{"check-wrong", "the check of a criterion is wrong, not the work", wrongCheckCauses},
		{"green-before", "the tests that the task names passed before the work", checkPassedBeforeCauses},
	}
}

func missingPlanCauses(r *causeSearchInput) []KnownCause {
	return causesFromFacts(r, 1, func(nexus.PlanningFailed) []factSubject { return subjectIf(true, "", "") }, func(s typedFactGroup[nexus.PlanningFailed]) KnownCause {
		return KnownCause{
			Blocks:  !r.state.Planned,
			Symptom: fmt.Sprintf("the planner made no plan that passes its checks, %s", timesText(len(s.at))),
			Why:     reasonOrUsual(s.lastFact().Why, "the reason is in the session plan.1/planner.1"),
			Fix: "describe the goal in more detail (nexus interview, nexus spec), " +
				"or write the plan: nexus plan GOAL --markdown >plan.md, then nexus run --plan plan.md",
		}
	})
}

func planGapCauses(r *causeSearchInput) []KnownCause {
	return causesFromFacts(r, 1, func(f nexus.PlanProposed) []factSubject {
		return subjectIf(len(f.Cover.UncoveredStatements()) > 0, "", "")
	}, func(s typedFactGroup[nexus.PlanProposed]) KnownCause {
		gaps := s.lastFact().Cover.UncoveredStatements()
		return KnownCause{
			Symptom: fmt.Sprintf("%d of %d statements of the goal are not in the plan", len(gaps), len(s.lastFact().Cover.Statements)),
			Why:     gaps[0].ID + ": " + firstLine(reasonOrUsual(gaps[0].Missing, gaps[0].Text)),
			Fix:     "nexus status --trace lists the gaps; a goal of its own closes them: nexus run GOAL",
		}
	})
}

func largeTaskCauses(r *causeSearchInput) []KnownCause {
	found := causesFromFacts(r, 1, func(f nexus.TaskSplitStarted) []factSubject { return subjectIf(true, f.Task, "") }, func(s typedFactGroup[nexus.TaskSplitStarted]) KnownCause {
		return KnownCause{
			Symptom: "it could not be done as one task, and had to be split",
			Why:     reasonOrUsual(s.lastFact().Why, "it does too much at once"),
			Fix: "plan smaller tasks; " +
				"nexus retry " + taskArgument(s.task) + " after editing what it asks for",
		}
	})
	return append(found, causesFromFacts(r, 1, func(f nexus.ReplanDecided) []factSubject {
		return subjectIf(hasCrossed(f, nexus.OverTime) || hasCrossed(f, nexus.OverEstimate), f.Task, "")
	}, func(s typedFactGroup[nexus.ReplanDecided]) KnownCause {
		return KnownCause{
			Symptom: fmt.Sprintf("it took much longer than planned, %s", timesText(len(s.at))),
			Why:     s.lastFact().Crossed[0].Why + "; it was decided: " + string(s.lastFact().Course),
			Fix:     "plan smaller tasks, or give it more time (limits.task_time) and nexus retry " + taskArgument(s.task),
		}
	})...)
}

func hasCrossed(f nexus.ReplanDecided, at nexus.ReplanThreshold) bool {
	return slices.ContainsFunc(f.Crossed, func(c nexus.CrossedThreshold) bool { return c.Threshold == at })
}

func undeclaredFileCauses(r *causeSearchInput) []KnownCause {
	return causesFromFacts(r, 1, func(f nexus.ReplanDecided) []factSubject {
		return subjectIf(hasCrossed(f, nexus.OverFiles), f.Task, "")
	}, func(s typedFactGroup[nexus.ReplanDecided]) KnownCause {
		i := slices.IndexFunc(s.lastFact().Crossed, func(c nexus.CrossedThreshold) bool { return c.Threshold == nexus.OverFiles })
		return KnownCause{
			Symptom: "it grew beyond the files that it declares",
			Why:     s.lastFact().Crossed[i].Why,
			Fix: "name the files in the plan, or cut the task by files; " +
				"nexus diff " + taskArgument(s.task) + " --stat shows what it changed",
		}
	})
}

func failedNeedCauses(r *causeSearchInput) []KnownCause {
	return causesFromFacts(r, 1, func(f nexus.ReplanDecided) []factSubject {
		return subjectIf(hasCrossed(f, nexus.NeedFailed) && r.isUnlandedForGood(f.Task), f.Task, "")
	}, func(s typedFactGroup[nexus.ReplanDecided]) KnownCause {
		fix := "see what it needs: nexus status " + taskArgument(s.task)
		if t := r.state.TaskByID(s.task); t != nil {
			if need, ok := r.state.BlockerOf(t); ok {
				fix = "nexus retry " + string(need) + ", or nexus stop --skip " + string(need) + " if it is not needed"
			}
		}
		return KnownCause{Symptom: "it did not begin", Why: s.lastFact().Crossed[0].Why, Fix: fix}
	})
}

func contradictionCauses(r *causeSearchInput) []KnownCause {
	found := causesFromFacts(r, 1, func(f nexus.AttemptEnded) []factSubject {
		return subjectIf(f.Category == nexus.Disputed && r.isUnlandedForGood(r.taskOfAttempt(f.Attempt)), r.taskOfAttempt(f.Attempt), "")
	}, func(s typedFactGroup[nexus.AttemptEnded]) KnownCause {
		return KnownCause{
			Symptom: "its author and its judge disagree and did not resolve it",
			Why:     reasonOrUsual(s.lastFact().Why, "the task can be read in two ways"),
			Fix: "decide it: nexus tell " + taskArgument(s.task) + " TEXT, or nexus revise " + taskArgument(s.task) + "/AC-1 TEXT; " +
				"then nexus retry " + taskArgument(s.task),
		}
	})
	return append(found, causesFromFacts(r, 2, func(f nexus.VerifierVerdictGiven) []factSubject {
		var all []factSubject
		for _, c := range f.Criteria {
			if !c.Met && f.Read {
				all = append(all, factSubject{r.taskOfAttempt(f.Attempt), c.Criterion})
			}
		}
		return all
	}, func(s typedFactGroup[nexus.VerifierVerdictGiven]) KnownCause {
		return KnownCause{
			Symptom: fmt.Sprintf("a verifier found the same criterion not met, %s: %s", timesText(len(s.at)), firstLine(s.what)),
			Why:     reasonOrUsual(s.lastFact().Why, "the criterion asks for what the rest of the task rules out, or is not clear"),
			Fix:     "make it clearer: nexus revise " + taskArgument(s.task) + "/AC-1 TEXT --check COMMAND",
		}
	})...)
}

func wrongCheckCauses(r *causeSearchInput) []KnownCause {
	found := causesFromFacts(r, 1, func(f nexus.CriterionFaultsFound) []factSubject {
		var all []factSubject
		for _, x := range f.Faults {
			if x.Kind == nexus.FaultInTest || x.Kind == nexus.FaultInBoth {
				task, _, _ := strings.Cut(x.Criterion, "/")
				all = append(all, factSubject{nexus.TaskID(task), x.Criterion})
			}
		}
		return all
	}, func(s typedFactGroup[nexus.CriterionFaultsFound]) KnownCause {
		return KnownCause{
			Symptom: s.what + " is not met on what landed",
			Why:     "its check is wrong, not the work",
			Fix:     "nexus revise " + s.what + " TEXT --check COMMAND",
		}
	})
	return append(found, causesFromFacts(r, 1, func(f nexus.CriterionRevised) []factSubject {
		return subjectIf(f.Why != "", f.Task, fmt.Sprintf("%s/AC-%d", f.Task, f.Number))
	}, func(s typedFactGroup[nexus.CriterionRevised]) KnownCause {
		return KnownCause{
			Symptom: "the check of " + s.what + " was taken back",
			Why:     s.lastFact().Why,
			Fix:     "give it a check that can tell: nexus revise " + s.what + " TEXT --check COMMAND",
		}
	})...)
}

func checkPassedBeforeCauses(r *causeSearchInput) []KnownCause {
	return causesFromFacts(r, 1, func(f nexus.BaseFailuresCompared) []factSubject {
		return subjectIf(len(f.Green) > 0, r.taskOfAttempt(f.Attempt), "")
	}, func(s typedFactGroup[nexus.BaseFailuresCompared]) KnownCause {
		return KnownCause{
			Symptom: "what the task names as failing passes without the work",
			Why:     strings.Join(s.lastFact().Green, ", ") + ": it cannot show that the work is done, or it was fixed already",
			Fix: "nexus stop --skip " + taskArgument(s.task) + " if it is mended; " +
				"else name a test that fails: nexus revise " + taskArgument(s.task) + "/AC-1 TEXT --check COMMAND",
		}
	})
}

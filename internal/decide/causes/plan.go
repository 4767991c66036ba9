package causes

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// ofPlan returns the patterns about the plan and its criteria.
func ofPlan() []Pattern {
	return []Pattern{
		{"no-plan", "no plan was made", noPlan},
		{"plan-gaps", "the plan does not cover the goal", planGaps},
		{"too-large", "a task was too large for one attempt", tooLarge},
		{"undeclared-files", "a task changed many files that its plan does not name", undeclaredFiles},
		{"need-failed", "a task that it needs did not land", needFailed},
		{"contradiction", "the task and its checks contradict each other", contradiction},
		{"check-wrong", "the check of a criterion is wrong, not the work", checkWrong},
		{"green-before", "the tests that the task names passed before the work", greenBefore},
	}
}

func noPlan(r *record) []Cause {
	return causes(r, 1, func(nexus.PlanFailed) []mark { return only(true, "", "") }, func(s typedGroup[nexus.PlanFailed]) Cause {
		return Cause{
			Blocks:  !r.state.Planned,
			Symptom: fmt.Sprintf("the planner made no plan that passes its checks, %s", times(len(s.at))),
			Why:     given(s.last().Why, "the reason is in the session plan.1/planner.1"),
			Fix: "describe the goal in more detail (nexus interview, nexus spec), " +
				"or write the plan: nexus plan GOAL --markdown >plan.md, then nexus run --plan plan.md",
		}
	})
}

func planGaps(r *record) []Cause {
	return causes(r, 1, func(f nexus.PlanProposed) []mark {
		return only(len(f.Cover.Gaps()) > 0, "", "")
	}, func(s typedGroup[nexus.PlanProposed]) Cause {
		gaps := s.last().Cover.Gaps()
		return Cause{
			Symptom: fmt.Sprintf("%d of %d statements of the goal are not in the plan", len(gaps), len(s.last().Cover.Statements)),
			Why:     gaps[0].ID + ": " + firstLine(given(gaps[0].Missing, gaps[0].Text)),
			Fix:     "nexus trace lists the gaps; a goal of its own closes them: nexus run GOAL",
		}
	})
}

func tooLarge(r *record) []Cause {
	found := causes(r, 1, func(f nexus.SplitSought) []mark { return only(true, f.Task, "") }, func(s typedGroup[nexus.SplitSought]) Cause {
		return Cause{
			Symptom: "it could not be done as one task, and had to be split",
			Why:     given(s.last().Why, "it does too much at once"),
			Fix: "plan smaller tasks: lower plan.minutes or plan.files; " +
				"nexus retry " + name(s.task) + " after editing what it asks for",
		}
	})
	return append(found, causes(r, 1, func(f nexus.ReplanDecided) []mark {
		return only(crossed(f, nexus.OverTime) || crossed(f, nexus.OverEstimate), f.Task, "")
	}, func(s typedGroup[nexus.ReplanDecided]) Cause {
		return Cause{
			Symptom: fmt.Sprintf("it took much longer than planned, %s", times(len(s.at))),
			Why:     s.last().Crossed[0].Why + "; it was decided: " + string(s.last().Course),
			Fix:     "plan smaller tasks (plan.minutes), or give it more time (limits.task_time) and nexus retry " + name(s.task),
		}
	})...)
}

func crossed(f nexus.ReplanDecided, at nexus.Threshold) bool {
	return slices.ContainsFunc(f.Crossed, func(c nexus.Crossed) bool { return c.Threshold == at })
}

func undeclaredFiles(r *record) []Cause {
	return causes(r, 1, func(f nexus.ReplanDecided) []mark {
		return only(crossed(f, nexus.OverFiles), f.Task, "")
	}, func(s typedGroup[nexus.ReplanDecided]) Cause {
		i := slices.IndexFunc(s.last().Crossed, func(c nexus.Crossed) bool { return c.Threshold == nexus.OverFiles })
		return Cause{
			Symptom: "it grew beyond the files that it declares",
			Why:     s.last().Crossed[i].Why,
			Fix: "name the files in the plan, or cut the task by files; " +
				"nexus diff " + name(s.task) + " --stat shows what it changed",
		}
	})
}

func needFailed(r *record) []Cause {
	return causes(r, 1, func(f nexus.ReplanDecided) []mark {
		return only(crossed(f, nexus.NeedFailed) && r.left(f.Task), f.Task, "")
	}, func(s typedGroup[nexus.ReplanDecided]) Cause {
		fix := "see what it needs: nexus show " + name(s.task)
		if t := r.state.Task(s.task); t != nil {
			if need, ok := r.state.Blocker(t); ok {
				fix = "nexus retry " + string(need) + ", or nexus skip " + string(need) + " if it is not needed"
			}
		}
		return Cause{Symptom: "it did not begin", Why: s.last().Crossed[0].Why, Fix: fix}
	})
}

func contradiction(r *record) []Cause {
	found := causes(r, 1, func(f nexus.AttemptEnded) []mark {
		return only(f.Category == nexus.Disputed && r.left(r.attempt(f.Attempt)), r.attempt(f.Attempt), "")
	}, func(s typedGroup[nexus.AttemptEnded]) Cause {
		return Cause{
			Symptom: "its author and its judge disagree and did not resolve it",
			Why:     given(s.last().Why, "the task can be read in two ways"),
			Fix: "decide it: nexus tell " + name(s.task) + " TEXT, or nexus revise " + name(s.task) + "/AC-1 TEXT; " +
				"then nexus retry " + name(s.task),
		}
	})
	return append(found, causes(r, 2, func(f nexus.WorkVerified) []mark {
		var all []mark
		for _, c := range f.Criteria {
			if !c.Met && f.Read {
				all = append(all, mark{r.attempt(f.Attempt), c.Criterion})
			}
		}
		return all
	}, func(s typedGroup[nexus.WorkVerified]) Cause {
		return Cause{
			Symptom: fmt.Sprintf("a verifier found the same criterion not met, %s: %s", times(len(s.at)), firstLine(s.what)),
			Why:     given(s.last().Why, "the criterion asks for what the rest of the task rules out, or is not clear"),
			Fix:     "make it clearer: nexus revise " + name(s.task) + "/AC-1 TEXT --check COMMAND",
		}
	})...)
}

func checkWrong(r *record) []Cause {
	found := causes(r, 1, func(f nexus.FaultsFound) []mark {
		var all []mark
		for _, x := range f.Faults {
			if x.Kind == nexus.FaultInTest || x.Kind == nexus.FaultInBoth {
				task, _, _ := strings.Cut(x.Criterion, "/")
				all = append(all, mark{nexus.TaskID(task), x.Criterion})
			}
		}
		return all
	}, func(s typedGroup[nexus.FaultsFound]) Cause {
		return Cause{
			Symptom: s.what + " is not met on what landed",
			Why:     "its check is wrong, not the work",
			Fix:     "nexus revise " + s.what + " TEXT --check COMMAND",
		}
	})
	return append(found, causes(r, 1, func(f nexus.CriterionRevised) []mark {
		return only(f.Why != "", f.Task, fmt.Sprintf("%s/AC-%d", f.Task, f.Number))
	}, func(s typedGroup[nexus.CriterionRevised]) Cause {
		return Cause{
			Symptom: "the check of " + s.what + " was taken back",
			Why:     s.last().Why,
			Fix:     "give it a check that can tell: nexus revise " + s.what + " TEXT --check COMMAND",
		}
	})...)
}

func greenBefore(r *record) []Cause {
	return causes(r, 1, func(f nexus.RedSeen) []mark {
		return only(len(f.Green) > 0, r.attempt(f.Attempt), "")
	}, func(s typedGroup[nexus.RedSeen]) Cause {
		return Cause{
			Symptom: "what the task names as failing passes without the work",
			Why:     strings.Join(s.last().Green, ", ") + ": it cannot show that the work is done, or it was fixed already",
			Fix: "nexus skip " + name(s.task) + " if it is mended; " +
				"else name a test that fails: nexus revise " + name(s.task) + "/AC-1 TEXT --check COMMAND",
		}
	})
}

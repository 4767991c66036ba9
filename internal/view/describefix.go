package view

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// describeFix describes a fact about fixes, in words that may be from outside. It is empty for
// other facts.
func describeFix(f nexus.Fact) string {
	switch f := f.(type) {
	case nexus.CriterionDiagnosisStarted:
		var names []string
		for _, x := range f.Faults {
			names = append(names, x.Criterion)
		}
		return "looking for the cause of unmet criteria: " + strings.Join(names, ", ")
	case nexus.CriterionFaultsFound:
		var parts []string
		for _, x := range f.Faults {
			parts = append(parts, describeFault(x))
		}
		return cmp.Or(strings.Join(parts, "; "), "no cause found")
	case nexus.FixTasksPlanned:
		return fmt.Sprintf("round %d of fixes: %s", f.Round, nexus.JoinWords(f.Tasks))
	case nexus.TaskSplitStarted:
		return fmt.Sprintf("splitting %s, which is stuck: %s", f.Task, f.Why)
	case nexus.TaskSplitCompleted:
		return fmt.Sprintf("%s is split into %s", f.Task, nexus.JoinWords(f.Parts))
	case nexus.TaskSplitFailed:
		return fmt.Sprintf("%s is not split: %s", f.Task, f.Why)
	case nexus.CriterionRevised:
		if f.Why != "" {
			return fmt.Sprintf("%s/AC-%d has no check anymore, because %s cannot check it: %s", f.Task, f.Number, f.Criterion.Was, f.Why)
		}
		return fmt.Sprintf("%s/AC-%d is now: %s", f.Task, f.Number, f.Criterion.Text)
	default:
		return ""
	}
}

// describeFault describes the location and the cause of a fault.
func describeFault(f nexus.CriterionFault) string {
	where := "the work is wrong"
	switch f.Kind {
	case nexus.FaultInTest:
		where = "its check is wrong"
	case nexus.FaultInBoth:
		where = "the work and its check are wrong"
	case nexus.FaultStale:
		where = "its check is stale"
	case nexus.FaultInSource:
	}
	text := f.Criterion + ": " + where
	if f.Why != "" {
		text += ": " + f.Why
	}
	return text
}

// describeCheckTrial describes the result of a criterion's check before the work.
func describeCheckTrial(e nexus.GateEvidence) string {
	text := fmt.Sprintf("checked before the work: %s: %s", cmp.Or(e.Command, e.Gate), e.State)
	if e.State == nexus.NotRun && e.Why == nexus.NoTests {
		return fmt.Sprintf("checked before the work: %s: no test runs yet", cmp.Or(e.Command, e.Gate))
	}
	why := e.Why
	if why == "" && len(e.Findings) > 0 {
		why, _, _ = strings.Cut(e.Findings[0].Message, "\n")
	}
	return strings.TrimSuffix(text+", "+why, ", ")
}

// describeBaseFailures describes the failures before the work began, compared with those that a task
// names.
func describeBaseFailures(f nexus.BaseFailuresCompared) string {
	var parts []string
	say := func(format string, all []string) {
		if len(all) > 0 {
			parts = append(parts, fmt.Sprintf(format, joinFirst(all)))
		}
	}
	say("fail before the work and must pass after it: %s", f.Meant)
	say("named by the task but pass before the work, so they cannot show that it is done: %s", f.Green)
	say("ignored: %s", f.Aside)
	say("fail too, but the task does not name them: %s", f.Others)
	return cmp.Or(strings.Join(parts, "; "), "no test fails before the work")
}

// joinFirst names the first of many items.
func joinFirst(all []string) string {
	const most = 10
	if len(all) <= most {
		return strings.Join(all, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(all[:most], ", "), len(all)-most)
}

// describeCriteria describes the results of criteria whose check is a gate.
func describeCriteria(f nexus.CriteriaEvidenceRecorded) string {
	var parts []string
	for _, s := range f.Criteria {
		word := "has evidence"
		switch {
		case s.Left:
			word = "needs a person to check it"
		case s.By == "":
			word = "is unknown"
		}
		parts = append(parts, fmt.Sprintf("criterion %d %s: %s", s.Number, word, s.Why))
	}
	return cmp.Or(strings.Join(parts, "; "), "no criterion is checked by a gate")
}

// describeIndependentChecks describes the results of independent checks.
func describeIndependentChecks(f nexus.IndependentChecksRun) string {
	var parts []string
	for _, c := range f.Checks {
		name := cmp.Or(c.Test, c.File, c.Command)
		text := fmt.Sprintf("criterion %d: independent check %s fails without the change and passes with it", c.Number, name)
		switch {
		case c.Red:
			text = fmt.Sprintf("criterion %d: independent check %s fails with the change: %s", c.Number, name, c.Why)
		case !c.Proved:
			text = fmt.Sprintf("criterion %d has no independent check: %s", c.Number, c.Why)
		}
		parts = append(parts, text)
	}
	return cmp.Or(strings.Join(parts, "; "), "no criterion needs an independent check")
}

// describeChecks describes the results of tests that were written for criteria.
func describeChecks(f nexus.CriterionTestsFound) string {
	var parts []string
	for _, c := range f.Checks {
		text := fmt.Sprintf("criterion %d has a check that fails without the work: %s", c.Number, cmp.Or(c.Test, c.File, c.Command))
		switch {
		case c.Command == "":
			text = fmt.Sprintf("criterion %d needs a person to check it: %s", c.Number, c.Why)
		case !c.Proved:
			text = fmt.Sprintf("criterion %d is not shown by %s: %s", c.Number, cmp.Or(c.Test, c.File, c.Command), c.Why)
		}
		parts = append(parts, text)
	}
	return cmp.Or(strings.Join(parts, "; "), "no criterion got a check")
}

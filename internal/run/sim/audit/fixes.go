package audit

import (
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// criterionFixAudit records criteria that the landed work does not meet.
type criterionFixAudit struct {
	rounds int
	last   nexus.AttemptID
	sought []nexus.CriterionFault // in the last round
	before []nexus.CriterionFault // in the rounds before
	fixes  map[string]bool        // tasks that were planned to fix something
	open   int                    // of them, planned and not yet part of the run
	most   int                    // most rounds that were ever allowed
	found  bool                   // the result of the last search is recorded
}

// recordFix records the facts about unmet criteria and about tasks that are stuck.
func (b *FactAudit) recordFix(f nexus.Fact) {
	m := &b.mends
	switch f := f.(type) {
	case nexus.CriterionDiagnosisStarted:
		b.checkFaultSearch(f)
	case nexus.CriterionFaultsFound:
		if f.Attempt != m.last || len(f.Faults) != len(m.sought) {
			b.wrong("%s found %d faults, and %s looks for %d", f.Attempt, len(f.Faults), m.last, len(m.sought))
		}
		m.found = true
	case nexus.FixTasksPlanned:
		if b.result == nil || b.result.Verdict.Passed {
			b.wrong("fixes are planned, and nothing is to be mended")
		}
		if len(f.Tasks) == 0 || len(f.Tasks) != m.open {
			b.wrong("%d fixes are planned and said to be %d", m.open, len(f.Tasks))
		}
		b.result, m.open = nil, 0
	default:
		b.recordSplit(f)
	}
}

// checkFaultSearch checks that only existing faults are searched for, in a limited number of rounds, and
// never again for a fault that is the same after its fix.
func (b *FactAudit) checkFaultSearch(f nexus.CriterionDiagnosisStarted) {
	m := &b.mends
	if f.Attempt == m.last {
		return
	}
	m.before, m.sought, m.last, m.found = append(m.before, m.sought...), f.Faults, f.Attempt, false
	m.most = max(m.most, b.limits.Fixes)
	if m.rounds++; m.rounds > m.most {
		b.wrong("faults are looked for %d times, and %d are allowed", m.rounds, m.most)
	}
	if b.paused || b.draining || len(f.Faults) == 0 {
		b.wrong("%d faults are looked for; paused %v, draining %v", len(f.Faults), b.paused, b.draining)
	}
	for _, x := range f.Faults {
		if slices.ContainsFunc(m.before, func(o nexus.CriterionFault) bool {
			return o.Task == x.Task || o.Criterion == x.Criterion && o.Signature == x.Signature
		}) {
			b.wrong("%s is looked at again as it was, with %s", x.Criterion, x.Task)
		}
		own, _, _ := strings.Cut(x.Criterion, "/")
		if t := b.tasks[nexus.TaskID(own)]; t == nil || !t.landed || !b.isUnmet(t) {
			b.wrong("%s is said to be unmet, and was not seen so", x.Criterion)
		}
	}
}

// isUnmet reports whether a criterion of a task failed in the last check of the final tree.
func (b *FactAudit) isUnmet(t *auditedTask) bool {
	if b.result == nil {
		return false
	}
	for _, e := range b.result.Verdict.Evidence {
		for _, c := range t.Criteria {
			if e.Gate == nexus.AcceptGate+c.Check && e.State.IsRed() {
				return true
			}
		}
	}
	return false
}

// checkPlannedTask checks that a task is part of the plan, or fixes a fault.
func (b *FactAudit) checkPlannedTask(t nexus.Task) {
	m := &b.mends
	if len(b.of) == 0 && b.starts == 0 && m.rounds == 0 || !b.consents.approved {
		return
	}
	if b.recordPart(t) || len(b.adds.wanted) > 0 && !slices.ContainsFunc(m.sought, func(x nexus.CriterionFault) bool { return x.Task == string(t.ID) }) {
		return
	}
	if !slices.ContainsFunc(m.sought, func(x nexus.CriterionFault) bool { return x.Task == string(t.ID) }) || m.fixes[string(t.ID)] {
		b.wrong("%s is planned, and mends nothing", t.ID)
	}
	if m.fixes == nil {
		m.fixes = map[string]bool{}
	}
	m.fixes[string(t.ID)] = true
	m.open++
}

// CountFixes returns the number of tasks that were planned to fix something.
func (b *FactAudit) CountFixes() int { return len(b.mends.fixes) }

// checkFixesAtEnd checks that a run that is over searched for the causes of unmet criteria, and is not
// "done" with unmet ones.
func (b *FactAudit) checkFixesAtEnd(f nexus.RunEnded) {
	if !b.draining && b.offered && b.result == nil {
		b.wrong("the run ended, and what landed last was not judged as a whole")
	}
	for id, t := range b.tasks {
		switch {
		case !t.landed || len(t.Criteria) == 0 || b.mends.fixes[string(id)]:
		case f.Status == nexus.StatusDone && !b.world.IsCriterionMet(b.tip, nexus.TaskID(strings.TrimPrefix(t.Criteria[0].Check, "./"))):
			b.wrong("the run is done, and the criterion of %s is not true", id)
		case !b.draining && b.mends.rounds == 0 && b.limits.Fixes > 0 && b.isUnmet(t):
			b.wrong("the criterion of %s is not met, and nobody looked why", id)
		}
	}
}

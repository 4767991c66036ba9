package accept

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// CriterionFixTask is a task that was meant to fix a criterion.
type CriterionFixTask struct {
	nexus.CriterionFault
	Status nexus.TaskStatus `json:"status,omitzero"` // empty: it was not planned
}

// UnmetCriteria returns the criteria that their own checks find unmet on the landed tree, each check
// once. A check that fails exactly as in an earlier search is omitted: fixing it made no
// progress.
func UnmetCriteria(s *state.State) []nexus.CriterionFault {
	var all []nexus.CriterionFault
	seen := map[string]bool{}
	for _, r := range BuildCriteriaTable(s, nil).Rows {
		e := r.Evidence
		if r.State != Unmet || e == nil || !strings.HasPrefix(e.Gate, nexus.AcceptGate) || seen[e.Gate] {
			continue
		}
		seen[e.Gate] = true
		sign := repair.FailureSignature(e.Gate, finalEvidence(s, e.Gate).Findings)
		if s.Fixes.HasFault(r.ID, sign) {
			continue
		}
		all = append(all, nexus.CriterionFault{Criterion: r.ID, Task: nextFixName(s, len(all)), Signature: sign})
	}
	return append(all, staleCriteria(s, len(all))...)
}

// staleCriteria returns the landed criteria whose checks were written for an earlier text, n after
// the unmet ones, each text once.
func staleCriteria(s *state.State, n int) []nexus.CriterionFault {
	var all []nexus.CriterionFault
	for _, t := range s.Tasks {
		if t.Status != nexus.Landed || t.Landed == nil || s.Fixes.FaultOfTask(t.ID) != nil {
			continue
		}
		for i, c := range t.Criteria {
			id, of := CriterionID(t.ID, i+1), state.CriterionFingerprint(t.Task, i+1)
			written, fresh := t.WrittenCheck(i + 1)
			if c.Check != "" || fresh || !written.Proved || s.Fixes.HasFault(id, of) {
				continue
			}
			all = append(all, nexus.CriterionFault{
				Criterion: id, Task: nextFixName(s, n+len(all)), Signature: of, Kind: nexus.FaultStale, By: ByRevision, Commit: t.Landed.Parent, Of: string(t.ID),
				Why: "Its check was written when it said something else.", Judges: []string{written.File},
			})
		}
	}
	return all
}

// withCurrentChecks returns a task with the checks that show its criteria now: those that its
// work added, and those that were rewritten after a revision.
func withCurrentChecks(s *state.State, t *state.TaskState) nexus.Task {
	task := t.WithProvedChecks()
	for i := range task.Criteria {
		if c, ok := rewrittenCheck(s, t, i+1); ok && c.Proved {
			task.Criteria[i].Check = c.Command
		}
	}
	return task
}

// rewrittenCheck returns the check that another task wrote for the present text of a task's
// n-th criterion, from 1.
func rewrittenCheck(s *state.State, t *state.TaskState, n int) (nexus.CriterionTest, bool) {
	return s.Fixes.RewrittenCheck(CriterionID(t.ID, n), state.CriterionFingerprint(t.Task, n), func(fix string) (c nexus.CriterionTest, fresh bool) {
		if o := s.TaskByID(nexus.TaskID(fix)); o != nil && o.Landed != nil {
			c, fresh = o.WrittenCheck(1)
		}
		return c, fresh
	})
}

// ByRevision is the source of a fault that follows from a revised criterion, without any
// question.
const ByRevision = "revision"

// IsFaultOpen reports whether a fault still exists.
func IsFaultOpen(s *state.State, f nexus.CriterionFault) bool {
	return slices.ContainsFunc(BuildCriteriaTable(s, nil).Rows, func(r CriterionRow) bool {
		return r.ID == f.Criterion && (r.State == Unmet || f.Kind == nexus.FaultStale && r.Stale)
	})
}

// finalEvidence returns a gate's evidence on the last judged tree.
func finalEvidence(s *state.State, gate string) nexus.GateEvidence {
	if s.Result == nil {
		return nexus.GateEvidence{}
	}
	var last nexus.GateEvidence
	for _, e := range s.Result.Verdict.Evidence {
		if e.Gate == gate {
			last = e
		}
	}
	return last
}

// nextFixName returns the name of the next task that fixes something, n after the existing
// ones.
func nextFixName(s *state.State, n int) string {
	for i := 1; ; i++ {
		name := nexus.TaskID(fmt.Sprintf("FIX-%d", i))
		if s.TaskByID(name) != nil || s.Fixes.FaultOfTask(name) != nil {
			continue
		}
		if n--; n < 0 {
			return string(name)
		}
	}
}

const (
	fixMinutes  = 15
	fixFindings = 5
	fixBytes    = 300 // of a finding
)

// FixTask returns the task that fixes a fault. The files that judge the criterion may be
// changed only if the check is at fault.
func FixTask(s *state.State, f nexus.CriterionFault) nexus.Task {
	own, _, _ := ParseID(f.Criterion)
	c, _ := FindCriterion(s, f.Criterion)
	t := nexus.Task{
		ID: nexus.TaskID(f.Task), Title: fmt.Sprintf("Make %s true again", f.Criterion), Kind: nexus.CodeTask, Minutes: fixMinutes,
		Criteria: []nexus.Criterion{c}, Strategy: nexus.NoTest, Reason: "its criterion has a check, which failed before",
	}
	if f.Kind == nexus.FaultStale {
		t.Strategy, t.Reason = nexus.TestAfter, ""
	}
	for _, id := range []nexus.TaskID{own, nexus.TaskID(f.Of)} {
		if task := s.TaskByID(id); task != nil {
			t.Files = append(t.Files, task.Files...)
		}
	}
	if f.Kind == nexus.FaultStale {
		t.Files = append(t.Files, f.Judges...)
	}
	slices.Sort(t.Files)
	t.Files = slices.Compact(t.Files)
	if f.Kind == nexus.FaultStale {
		t.Title = fmt.Sprintf("Make %s true as it reads now", f.Criterion)
		t.Brief = fmt.Sprintf("%s has landed, and one of its criteria was revised after that. It now says: %s\nIts old check is in %s, and asks for the old text. ", own, c.Text, strings.Join(f.Judges, ", ")) +
			"Change the work if it does not do what the criterion says now, and tests that ask for what it no longer says. If the work does it already, change nothing. A tester writes the new check after you."
		return t
	}
	order := "The work is wrong, and the check is right. Change the work so that everything that landed since still works."
	switch f.Kind {
	case nexus.FaultInTest:
		t.Title = fmt.Sprintf("Fix the check of %s", f.Criterion)
		order = "The check is wrong, and the work is right. Change the check so that it tests all that the criterion says, and leave the work as it is. A verifier reads your reason."
		if len(f.Judges) > 0 && !slices.ContainsFunc(f.Judges, func(name string) bool { return !stack.ServesTests(name) }) {
			t.Kind, t.Strategy, t.Reason = nexus.TestTask, "", ""
		}
	case nexus.FaultInBoth:
		order = "The work is wrong, and so is its check. Change both. The new check must test all that the criterion says. A verifier reads your reason."
	default: // the source, or undecided
		t.Keep = f.Judges
	}
	t.Brief = fixBrief(s, f, c, own) + order
	return t
}

func fixBrief(s *state.State, f nexus.CriterionFault, c nexus.Criterion, own nexus.TaskID) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s has landed, but this is not true of the result of all tasks: %s\n", own, c.Text)
	gate, _ := GateOfCriterion(c)
	e := finalEvidence(s, gate)
	fmt.Fprintf(&b, "Its check: %s\n", cmp.Or(c.Check, e.Command))
	for _, found := range e.Findings[:min(len(e.Findings), fixFindings)] {
		at := found.File
		if found.Line > 0 {
			at = fmt.Sprintf("%s:%d", found.File, found.Line)
		}
		text := strings.ToValidUTF8(found.Message[:min(len(found.Message), fixBytes)], "")
		fmt.Fprintf(&b, "It says: %s\n", strings.Join(slices.DeleteFunc([]string{at, found.Test, text}, func(p string) bool { return p == "" }), ": "))
	}
	if f.Why != "" {
		fmt.Fprintf(&b, "%s\n", f.Why)
	}
	if touched := tasksSharingFiles(s, own, nexus.TaskID(f.Of)); len(touched) > 0 {
		fmt.Fprintf(&b, "Tasks that touched it: %s\n", nexus.JoinWords(touched))
	}
	return b.String()
}

// tasksSharingFiles returns the landed tasks that share files with the task of the criterion, that one
// first, and the task that broke it.
func tasksSharingFiles(s *state.State, own, of nexus.TaskID) []nexus.TaskID {
	all := []nexus.TaskID{own}
	t := s.TaskByID(own)
	for _, l := range s.Landings {
		o := s.TaskByID(l.Task)
		if o == nil || o.ID == own || slices.Contains(all, o.ID) {
			continue
		}
		shares := t != nil && slices.ContainsFunc(o.Files, func(f string) bool { return slices.Contains(t.Files, f) })
		if shares || o.ID == of {
			all = append(all, o.ID)
		}
	}
	return all
}

// criterionFixes returns the tasks that were to fix a criterion with its present text.
func criterionFixes(s *state.State, id string) []CriterionFixTask {
	var all []CriterionFixTask
	own, n, _ := ParseID(id)
	for _, f := range s.Fixes.FaultsOf(id) {
		if t := s.TaskByID(own); f.Kind == nexus.FaultStale && t != nil && f.Signature != state.CriterionFingerprint(t.Task, n) {
			continue
		}
		x := CriterionFixTask{CriterionFault: f}
		if t := s.TaskByID(nexus.TaskID(f.Task)); t != nil {
			x.Status = s.StatusOf(t)
		}
		all = append(all, x)
	}
	return all
}

// FailedFixes describes, for each criterion that is still unmet, the tasks that were to fix
// it. It is empty if there were none.
func FailedFixes(s *state.State) string {
	var parts []string
	for _, r := range BuildCriteriaTable(s, nil).Rows {
		if r.State == Met || len(r.Fixes) == 0 {
			continue
		}
		var names []string
		for _, x := range r.Fixes {
			if x.Status != "" {
				names = append(names, fmt.Sprintf("%s, which is %s", x.Task, x.Status))
			}
		}
		if len(names) > 0 {
			parts = append(parts, fmt.Sprintf("%s was to be fixed by %s", r.ID, strings.Join(names, " and ")))
		}
	}
	return strings.Join(parts, "; ")
}

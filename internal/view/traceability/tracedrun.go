package traceability

import (
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// PastRun is a run with the state of its criteria.
type PastRun struct {
	State    *state.State
	Criteria []accept.CriterionRow
	Lands    bool // its landed commits are on the branch
}

// StatementKey identifies a statement of another goal.
type StatementKey struct {
	Text  string
	Check string // its check; empty: any
}

// ProgressOf returns the past run's result for the statement with the same words and the same check,
// and false if its goal had no such statement.
func (p PastRun) ProgressOf(w StatementKey) (StatementProgress, bool) {
	goal := p.State.Goal.Goal.Text
	said := statementsByID(goal)
	for _, row := range TraceGoal(goal, p.State, p.Criteria).Rows {
		if row.Asks && !row.Later && spec.SingleLine(row.Text) == spec.SingleLine(w.Text) && said[row.ID].check == w.Check {
			row.Run = p.State.Run
			return row, true
		}
	}
	return StatementProgress{}, false
}

// BestStatementProgress returns the best result for a statement among the runs whose goals contain it,
// given newest first: verified and on the branch, else verified elsewhere, else the result of
// the newest of them with a task for it. Without a branch all results count as on it.
func BestStatementProgress(w StatementKey, branch string, past []PastRun) (best StatementProgress, ok bool) {
	rank := func(r StatementProgress) int {
		switch {
		case r.Gap == "" && r.Stage == Verified:
			return 3
		case strings.HasPrefix(r.Gap, Elsewhere):
			return 2
		case len(r.Tasks) > 0:
			return 1
		default:
			return 0
		}
	}
	for _, p := range past {
		row, has := p.ProgressOf(w)
		if !has {
			continue
		}
		if branch != "" && !p.Lands {
			row.markUnmerged(branch)
		}
		if rank(row) > rank(best) {
			best, ok = row, true
		}
	}
	return best, ok
}

// Elsewhere starts the gap of a statement that a run landed, but not on the branch.
const Elsewhere = "it landed, but not on "

// MarkVerifiedOnOtherBranch turns results that a run verified on its own branch into gaps.
func (t *GoalTrace) MarkVerifiedOnOtherBranch(branch string) {
	for i := range t.Rows {
		if t.Rows[i].markUnmerged(branch) {
			t.Gaps++
		}
	}
}

// markUnmerged turns a result that was verified elsewhere into a gap, and reports whether it did.
func (r *StatementProgress) markUnmerged(branch string) bool {
	if r.Gap != "" || r.Stage != Verified || len(r.Commits) == 0 {
		return false
	}
	r.Stage, r.Gap = Implemented, Elsewhere+branch
	return true
}

// fillGaps replaces rows with a gap by the results of other runs whose goal was only the missing
// part: verified results, or work in progress.
func (t *GoalTrace) fillGaps(goal, branch string, past []PastRun) {
	said := statementsByID(goal)
	age := func(run nexus.RunID) int {
		return slices.IndexFunc(past, func(p PastRun) bool { return p.State.Run == run })
	}
	for i := range t.Rows {
		r := &t.Rows[i]
		if r.Gap == "" || r.Later {
			continue
		}
		row, ok := BestStatementProgress(StatementKey{r.Text, said[r.ID].check}, branch, past)
		if older := age(row.Run) >= age(t.Run); !ok || row.Gap != "" && len(r.Tasks) > 0 && older && !strings.HasPrefix(row.Gap, Elsewhere) {
			continue
		}
		row.GoalStatement, row.Priority = r.GoalStatement, r.Priority
		if *r = row; r.Gap == "" {
			t.Gaps--
		}
	}
}

// RunOfStatement returns the run of a row.
func (t GoalTrace) RunOfStatement(r StatementProgress) nexus.RunID {
	if r.Run != "" {
		return r.Run
	}
	return t.Run
}

// TraceSpec traces a spec through the newest run that has a plan for it, and through the runs
// whose goal was its missing part. Runs are given newest first. A landing that is not on the
// branch is a gap; without a branch it is not.
func TraceSpec(goal, branch string, past []PastRun) GoalTrace {
	of, _ := spec.ReadSpec([]byte(goal))
	var newest PastRun
	for _, p := range past {
		said := p.State.Goal.Goal.Text
		if !spec.LooksLikeSpec(said) || len(p.State.Tasks) == 0 {
			continue
		}
		if was, _ := spec.ReadSpec([]byte(said)); was.Title == of.Title {
			newest = p
			break
		}
	}
	t := TraceGoal(goal, newest.State, newest.Criteria)
	if newest.State != nil && branch != "" && !newest.Lands {
		t.MarkVerifiedOnOtherBranch(branch)
	}
	if t.Why == "" && t.Gaps > 0 {
		t.fillGaps(goal, branch, past)
	}
	return t
}

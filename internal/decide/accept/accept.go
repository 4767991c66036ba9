// Package accept decides for each criterion of a run's tasks whether it is met on the landed
// tree, and by which evidence.
//
// A claim never meets a criterion: without evidence for that very tree its state is unknown.
// A person may waive a criterion with a reason, which does not make it met, or approve one
// that no machine can judge.
//
// The package also makes the note of a landed commit, and lists the criteria that earlier
// runs showed, which are checked again before a run ends.
package accept

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// CriterionState is the state of a criterion.
type CriterionState string

// The zero value is [Unknown].
const (
	Met     CriterionState = "met"
	Unmet   CriterionState = "unmet"
	Unknown CriterionState = "unknown"
)

// CriterionRow is one criterion with its evidence.
type CriterionRow struct {
	ID        string       `json:"id"` // T1/AC-2
	Task      nexus.TaskID `json:"task"`
	Criterion string       `json:"criterion"`
	// of its text and its check: evidence for another text does not count
	Fingerprint string                       `json:"fingerprint"`
	Check       string                       `json:"check,omitzero"`
	Shown       *nexus.CriterionGateEvidence `json:"shown,omitempty"` // evidence for it, if its check is a gate
	// test that was written for it because it had no check
	Test     string                    `json:"test,omitzero"`
	File     string                    `json:"file,omitzero"`
	Stale    bool                      `json:"stale,omitzero"` // that test was written for an earlier text
	State    CriterionState            `json:"state"`
	Why      string                    `json:"why,omitzero"` // why it is not met
	Evidence *CriterionEvidence        `json:"evidence,omitempty"`
	Waived   *CriterionWaiver          `json:"waived,omitempty"`
	Rejected *CriterionWaiver          `json:"rejected,omitempty"` // a person reviewed it and found it not met
	Verifier *nexus.CriterionJudgement `json:"verifier,omitempty"` // a verifier's judgement, which is not evidence
	// tasks that were to fix it when it was unmet at the end
	Fixes []CriterionFixTask `json:"fixes,omitempty"`
}

// CriterionEvidence is the evidence for a criterion.
type CriterionEvidence struct {
	Gate    string           `json:"gate"`
	Command string           `json:"command,omitzero"`
	State   nexus.GateState  `json:"state"`
	Tree    string           `json:"tree"`
	Counts  nexus.TestCounts `json:"counts,omitzero"`
	Files   []string         `json:"files,omitempty"` // file:line of its findings
	Output  string           `json:"output,omitzero"` // blob
	Exit    int              `json:"exit"`
}

// CriterionWaiver is a person's decision that a criterion need not be met.
type CriterionWaiver struct {
	By     string    `json:"by"`
	Reason string    `json:"reason"`
	At     time.Time `json:"at"`

	Signed   bool `json:"signed,omitzero"`   // they reviewed it and found it met
	Rejected bool `json:"rejected,omitzero"` // they reviewed it and found it not met: not a waiver
}

// ByHand starts the reason of a person who found a criterion met.
const ByHand = "verified by hand"

// CriteriaTable is the state of all criteria of a run.
type CriteriaTable struct {
	Run     nexus.RunID       `json:"run"`
	Commit  string            `json:"commit,omitzero"` // the last landed commit
	Tree    string            `json:"tree,omitzero"`   // the last judged tree
	Met     int               `json:"met"`
	Unmet   int               `json:"unmet"`
	Unknown int               `json:"unknown"`
	Waived  int               `json:"waived"` // waived criteria among those that are not met
	Rows    []CriterionRow    `json:"criteria"`
	Groups  []FeatureProgress `json:"groups,omitempty"`    // groups of tasks, if the plan has any
	Red     []string          `json:"still_red,omitempty"` // failures that exist before the work and on the result
}

// CriterionID returns the name of a task's n-th criterion, from 1.
func CriterionID(task nexus.TaskID, n int) string { return fmt.Sprintf("%s/AC-%d", task, n) }

// ParseID splits a criterion's name.
func ParseID(id string) (task nexus.TaskID, n int, ok bool) {
	t, rest, found := strings.Cut(id, "/AC-")
	n, err := strconv.Atoi(rest)
	return nexus.TaskID(t), n, found && t != "" && err == nil && n > 0 && strconv.Itoa(n) == rest
}

// FindCriterion returns the criterion with that name.
func FindCriterion(s *state.State, id string) (nexus.Criterion, bool) {
	task, n, ok := ParseID(id)
	if !ok {
		return nexus.Criterion{}, false
	}
	t := s.TaskByID(task)
	if t == nil || n > len(t.Criteria) {
		return nexus.Criterion{}, false
	}
	return withCurrentChecks(s, t).Criteria[n-1], true
}

// CriterionFingerprint returns a hash of a criterion's text and check that ignores white space.
func CriterionFingerprint(c nexus.Criterion) string {
	return nexus.TextFingerprint(c.Text, c.Check)
}

// GateOfCriterion returns the name of the gate that shows a criterion, or "" if there is none. Command
// means that it is the criterion's own command.
func GateOfCriterion(c nexus.Criterion) (name string, command bool) {
	check := strings.Join(strings.Fields(c.Check), " ")
	if !strings.ContainsAny(check, " /.") {
		return check, false
	}
	const longest = 60
	if r := []rune(check); len(r) > longest {
		check = string(r[:longest]) + "..."
	}
	return nexus.AcceptGate + check, true
}

// WaiversFrom returns people's decisions by criterion. The last decision on each counts.
func WaiversFrom(events []nexus.Event) map[string]CriterionWaiver {
	all := map[string]CriterionWaiver{}
	for _, e := range events {
		f, ok := e.Fact.(nexus.RequestMade)
		if ok && f.Request.Verb == nexus.VerbRevise {
			delete(all, f.Request.ID) // the decision was about another text
		}
		if !ok || f.Request.Verb != nexus.VerbApprove && f.Request.Verb != nexus.VerbReject {
			continue
		}
		if _, _, ok := ParseID(f.Request.ID); ok {
			w := CriterionWaiver{By: cmp.Or(f.Request.By, "a person"), Reason: f.Request.Text, At: e.At, Rejected: f.Request.Verb == nexus.VerbReject}
			w.Signed = !w.Rejected && strings.HasPrefix(w.Reason, ByHand)
			all[f.Request.ID] = w
		}
	}
	return all
}

// BuildCriteriaTable returns the state of a run's criteria. The evidence is that of the last judged
// tree, after all landings; before that, all criteria are unknown.
func BuildCriteriaTable(s *state.State, waivers map[string]CriterionWaiver) CriteriaTable {
	t := CriteriaTable{Run: s.Run, Rows: []CriterionRow{}}
	if len(s.Landings) > 0 {
		t.Commit = s.Tip
	}
	judged := map[string]nexus.GateEvidence{}
	if s.Result != nil {
		t.Tree, t.Red = s.Result.Verdict.Tree, RemainingBaseFailures(s.Result.Verdict.Evidence)
		for _, e := range s.Result.Verdict.Evidence {
			judged[e.Gate] = e
		}
	}
	for _, task := range s.Tasks {
		if s.Fixes.FaultOfTask(task.ID) != nil || task.Status == nexus.Split {
			continue // its criteria belong to another task
		}
		for i, c := range withCurrentChecks(s, task).Criteria {
			r := CriterionRow{ID: CriterionID(task.ID, i+1), Task: task.ID, Criterion: c.Text, Check: c.Check, Fingerprint: CriterionFingerprint(c), State: Unknown}
			r.fillEvidence(s, task, i+1, t.Tree, judged)
			r.addWrittenCheck(s, task, i+1)
			r.resetIfRevised(s)
			r.Verifier, r.Fixes = verifierVerdict(task, c), criterionFixes(s, r.ID)
			if w, ok := waivers[r.ID]; ok {
				r.applyWaiver(w)
			}
			t.addRow(r)
		}
	}
	t.Groups = t.featureGroups(s)
	return t
}

func (t *CriteriaTable) addRow(r CriterionRow) {
	switch r.State {
	case Met:
		t.Met++
	case Unmet:
		t.Unmet++
	default:
		t.Unknown++
	}
	if r.Waived != nil && r.State != Met {
		t.Waived++
	}
	t.Rows = append(t.Rows, r)
}

// CountOpen returns the number of unmet and of unknown criteria that are not waived.
func (t CriteriaTable) CountOpen() (unmet, unknown int) {
	for _, r := range t.Rows {
		switch {
		case r.Waived != nil:
		case r.State == Unmet:
			unmet++
		case r.State != Met:
			unknown++
		}
	}
	return unmet, unknown
}

// Narrow returns the table with only the criteria that match; groups and old failures of the whole
// run are left out.
func (t CriteriaTable) Narrow(matches func(CriterionRow) bool) CriteriaTable {
	narrow := CriteriaTable{Run: t.Run, Commit: t.Commit, Tree: t.Tree, Rows: []CriterionRow{}}
	for _, r := range t.Rows {
		if matches(r) {
			narrow.addRow(r)
		}
	}
	return narrow
}

// applyWaiver applies a person's decision about a criterion. A yes does not change its state;
// a no makes a criterion without evidence unmet.
func (r *CriterionRow) applyWaiver(w CriterionWaiver) {
	if !w.Rejected {
		r.Waived = &w
		return
	}
	r.Rejected = &w
	if r.State != Met {
		r.State, r.Why = Unmet, fmt.Sprintf("%s checked it: %s", w.By, w.Reason)
	}
}

// fillEvidence fills in the evidence for a criterion.
func (r *CriterionRow) fillEvidence(s *state.State, task *state.TaskState, n int, tree string, judged map[string]nexus.GateEvidence) {
	gate, command := GateOfCriterion(nexus.Criterion{Text: r.Criterion, Check: r.Check})
	if own, is := GateOfCriterion(task.Criteria[n-1]); is && judged[own].Gate != "" && !judged[own].Passed() {
		gate = own // it has its own command, which must pass besides the check that was written for it
	}
	e, ok := judged[gate]
	switch {
	case gate == "":
		r.Why = "it has no check: a person must decide"
	case task.Status != nexus.Landed:
		r.Why = fmt.Sprintf("%s has not landed: it is %s", task.ID, s.StatusOf(task))
	case tree == "":
		r.Why = "the result as a whole was not judged yet"
	case !ok && command:
		r.Why = "its command did not run on the tree that landed"
	case !ok:
		r.Why = fmt.Sprintf("the gate %s did not run on the tree that landed", gate)
	case e.Tree != tree:
		r.Why = fmt.Sprintf("its evidence is about another tree, %.12s", e.Tree)
	case e.Passed() && command && isShownByPassing(task, n, gate):
		r.State = Met
	case e.Passed():
		r.judgeGateEvidence(task, n, e, judged)
	case e.State.IsRed() && (e.State != nexus.Timeout || !e.Hangs):
		r.State, r.Why = Unmet, cmp.Or(e.Why, firstFindingText(e))
	default:
		r.Why = fmt.Sprintf("%s: %s", e.State, cmp.Or(e.Why, "it gave no result"))
	}
	if ok && e.Tree == tree && tree != "" {
		r.Evidence = &CriterionEvidence{Gate: e.Gate, Command: e.Command, State: e.State, Tree: e.Tree, Counts: e.Counts, Output: e.Output, Exit: e.Exit}
		for _, f := range e.Findings {
			if f.File != "" {
				r.Evidence.Files = append(r.Evidence.Files, fmt.Sprintf("%s:%d", f.File, f.Line))
			}
		}
	}
}

// isShownByPassing reports whether it is sufficient that a command passes: it was written for the
// criterion and failed before the work, or its result without the change is not known, as in
// old runs.
func isShownByPassing(task *state.TaskState, n int, gate string) bool {
	own, _ := GateOfCriterion(task.Criteria[n-1])
	s, _ := task.CriterionEvidence(n)
	return gate != own || !task.Criteria[n-1].Red && s.Gate != own
}

// judgeGateEvidence decides whether a passing gate shows a criterion on the landed tree. Only the
// results that were evidence for the criterion when the task's work was judged count, and
// only while they are still valid.
func (r *CriterionRow) judgeGateEvidence(task *state.TaskState, n int, e nexus.GateEvidence, judged map[string]nexus.GateEvidence) {
	s, fresh := task.CriterionEvidence(n)
	switch {
	case s.Number == 0:
		r.Why = fmt.Sprintf("gate %s passes, but nothing recorded relates it to this criterion", e.Gate)
		return
	case !fresh:
		r.Why = "its text has changed since its evidence was judged"
		return
	}
	r.Shown = &s
	if s.By == nexus.ReadBearing {
		r.Shown.Why = "a verifier read the change: it is of comments or documents alone, which no test can show"
	}
	if s.By == "" {
		r.Why = s.Why
		return
	}
	if v := verifierVerdict(task, task.Criteria[n-1]); s.By == nexus.ReadBearing && (v == nil || !v.Met) {
		r.Why = "no test can show it, and no verifier who read the change found it met"
		return
	}
	for _, gate := range slices.Sorted(maps.Keys(judged)) {
		for _, test := range s.Tests {
			if j := judged[gate]; slices.Contains(j.Old, test) || slices.ContainsFunc(j.Flaky, func(f nexus.FlakyTestCount) bool { return f.Test == test }) {
				r.State, r.Why = Unmet, fmt.Sprintf("%s, which showed it, fails on the tree that landed", test)
				return
			}
		}
	}
	for _, test := range s.Seen {
		if slices.Contains(e.Missing, test) {
			r.Why = fmt.Sprintf("%s, which showed it, does not run on the tree that landed", test)
			return
		}
	}
	if s.By == nexus.LiteralBearing && len(e.Old) > 0 {
		r.State, r.Why = Unmet, fmt.Sprintf("gate %s still has the findings of the base: %s", e.Gate, joinFirstNames(e.Old))
		return
	}
	r.State = Met
}

// addWrittenCheck fills in the test that was written for a criterion without a check, and why
// it does not count.
func (r *CriterionRow) addWrittenCheck(s *state.State, task *state.TaskState, n int) {
	c, current := task.WrittenCheck(n)
	if anew, ok := rewrittenCheck(s, task, n); ok {
		c, current = anew, true
	}
	switch gate := task.Criteria[n-1].Check; {
	case c.Number == 0, gate != "" && (!current || r.State != Unknown && !c.Proved):
		return
	case gate != "" && !c.Proved && c.Command != "":
		r.Why += "; its test does not count: " + c.Why
	case !current:
		r.Stale, r.State, r.Evidence = true, Unknown, nil
		r.Why = "its check is stale: it was written when the criterion or its task said something else"
	case c.Command == "":
		r.Why = "no machine can check it: " + c.Why
	case !c.Proved:
		r.Why = fmt.Sprintf("its test does not count: %s", c.Why)
	}
	r.Test, r.File = c.Test, c.File
}

// resetIfRevised resets a criterion whose revision a person has requested and the run has not
// yet applied.
func (r *CriterionRow) resetIfRevised(s *state.State) {
	for _, q := range s.Requests {
		if q.Verb == nexus.VerbRevise && q.ID == r.ID {
			r.Stale, r.State, r.Evidence = true, Unknown, nil
			r.Why = fmt.Sprintf("its new text is: %s; nexus resume applies it", q.Text)
		}
	}
}

func firstFindingText(e nexus.GateEvidence) string {
	if len(e.Findings) == 0 {
		return fmt.Sprintf("exit %d", e.Exit)
	}
	text, _, _ := strings.Cut(e.Findings[0].Message, "\n")
	return strings.TrimPrefix(e.Findings[0].Test+": "+text, ": ")
}

// verifierVerdict returns the judgement of the last verifier of a task's work about a
// criterion.
func verifierVerdict(task *state.TaskState, c nexus.Criterion) *nexus.CriterionJudgement {
	var last *nexus.CriterionJudgement
	for _, a := range task.Attempts {
		for _, round := range a.UnpackedCopy().Rounds {
			if round.Verified == nil {
				continue
			}
			for _, m := range round.Verified.Criteria {
				if strings.TrimSpace(m.Criterion) == strings.TrimSpace(c.Text) {
					last = &m
				}
			}
		}
	}
	return last
}

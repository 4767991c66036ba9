// Package attempthistory summarizes earlier attempts at a task for the next attempt: how each
// ended, the last findings, failures that stayed whatever was changed, open findings of
// judges, people's guidance, and the closest tree. Nothing is repeated, and the newest comes
// first.
//
// The summary is made from the journal alone. The caller reads and fills in the data that
// only blobs and git contain: the agents' texts and their changes.
package attempthistory

import (
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// AttemptsSummary describes earlier attempts. The zero value is empty.
type AttemptsSummary struct {
	Attempts     []EarlierAttempt // newest first
	Last         LastAttemptFailure
	DeadEnds     []PersistentFailure       // the most recent one first
	OpenFindings []OpenReviewFinding       // newest first
	Said         []state.DeliveredGuidance // people's guidance, newest first
	Closest      BestTree                  // zero if the new attempt starts from a tree of the earlier ones
}

// EarlierAttempt is an earlier attempt.
type EarlierAttempt struct {
	ID      nexus.AttemptID
	Tier    nexus.Tier
	Rounds  int
	Fault   state.AttemptFailureCause
	Why     string
	Revised bool   // a person has changed its criteria since
	Held    int    // its round from which the new attempt starts; 0: none
	From    string // commit that its change is compared with
	To      string // commit of its result; empty: it changed nothing
	Author  AuthorTextRefs

	Files []string // changed files; filled in by the caller
	Idea  string   // its agent's own description; filled in by the caller
}

// AuthorTextRefs refers to an agent's own description of its work: its submission, or else its
// conversation. Both are blobs.
type AuthorTextRefs struct {
	Result   string
	Messages []string
}

// LastAttemptFailure is the last failure, unless the new attempt receives it as a finding to fix in
// its starting tree. The zero value is none.
type LastAttemptFailure struct {
	Attempt  nexus.AttemptID
	Round    int
	From     string // a gate, or review, verify, proof or train
	Why      string
	Findings []nexus.Finding
	Output   string // blob: the gate's output
	Held     bool   // the new attempt starts from the tree of this failure

	Printed string // the part of the output about the failure; filled in by the caller
}

// PersistentFailure is a failure that stayed, whatever was changed.
type PersistentFailure struct {
	Gate    string
	Finding nexus.Finding
	Tries   []FailedRound // rounds that ended with it, each with another tree, newest first
}

// FailedRound is a round of an attempt.
type FailedRound struct {
	Attempt nexus.AttemptID
	Round   int
	Author  AuthorTextRefs

	Idea string // its agent's own description; filled in by the caller
}

// OpenReviewFinding is a judge's finding that was neither fixed nor dropped.
type OpenReviewFinding struct {
	Attempt   nexus.AttemptID
	Cause     string // review or verify
	Finding   nexus.Finding
	Objection string // the author's objection before the judge repeated it; empty: none
}

// SummarizeAttempts summarizes the earlier attempts for the attempt of a view.
func SummarizeAttempts(v state.WorkerView) AttemptsSummary {
	var a AttemptsSummary
	for i, old := range slices.Backward(v.Past) {
		if old.Why != "" {
			a.Attempts = append(a.Attempts, earlierAttempt(v, old, i < v.Task.Revised))
		}
	}
	for _, said := range slices.Backward(v.Said) {
		if !slices.ContainsFunc(a.Said, func(o state.DeliveredGuidance) bool {
			return o.About == said.About && foldCaseAndSpaces(o.Text) == foldCaseAndSpaces(said.Text)
		}) {
			a.Said = append(a.Said, said)
		}
	}
	a.Last = lastFailure(v)
	a.DeadEnds = persistentFailures(v.Past)
	a.OpenFindings = openFindings(v, a.Last)
	if v.Attempt == nil || v.Attempt.From == "" {
		a.Closest = bestTreeOf(v.Past[min(v.Task.Fresh, len(v.Past)):], v.Task.Criteria)
	}
	return a
}

// foldCaseAndSpaces returns a text in lower case with single blanks, for comparison.
func foldCaseAndSpaces(text string) string {
	return strings.ToLower(strings.Join(strings.Fields(text), " "))
}

func earlierAttempt(v state.WorkerView, old *state.AttemptState, revised bool) EarlierAttempt {
	a := EarlierAttempt{
		ID: old.ID, Tier: old.Tier, Rounds: len(old.Rounds), Fault: state.FailureCauseOf(old), Why: old.Why, Revised: revised,
		From: old.Base, To: old.Snapshot.Commit,
	}
	// the landing queue returned it, and it ended before it had a tree again
	if r := old.LastRound(); r != nil && a.To == "" {
		a.From, a.To = r.Base, r.Commit
	}
	if v.Attempt != nil && v.Attempt.From == old.ID {
		a.Held = v.Attempt.FromRound
	}
	for _, role := range []nexus.Role{nexus.Coder, nexus.Tester} {
		if s := old.LastSession(role); s != nil {
			a.Author = AuthorTextRefs{s.Result, s.Messages}
			break
		}
	}
	return a
}

// lastFailure returns the last failure, or zero if it is to be fixed in the new attempt's starting
// tree.
func lastFailure(v state.WorkerView) LastAttemptFailure {
	for _, old := range slices.Backward(v.Past) {
		if old.HandedWhy != "" {
			return LastAttemptFailure{Attempt: old.ID, Round: len(old.Rounds), From: "train", Why: old.HandedWhy, Findings: old.Handed}
		}
		for _, r := range slices.Backward(old.Rounds) {
			l := roundFailure(r)
			switch {
			case l.From == "":
				continue
			case v.Attempt != nil && v.Attempt.From == old.ID && v.Attempt.FromRound == r.Round && len(v.Kept.Open) > 0:
				return LastAttemptFailure{}
			}
			l.Attempt, l.Round, l.Findings = old.ID, r.Round, distinctFindings(l.Findings)
			l.Held = v.Attempt != nil && v.Attempt.From == old.ID && v.Attempt.FromRound == r.Round
			return l
		}
	}
	return LastAttemptFailure{}
}

// roundFailure returns the failure that ended a round's work: its source, and the findings or a
// summary. The zero value is none.
func roundFailure(r *state.AttemptRound) LastAttemptFailure {
	if n := len(r.Reviews); n > 0 && r.Reviews[n-1].SendsBack {
		return LastAttemptFailure{From: repair.ReviewCause, Why: r.Reviews[n-1].Summary, Findings: r.Reviews[n-1].Findings}
	}
	if v := r.Verified; v != nil && v.Category != "" {
		return LastAttemptFailure{From: repair.VerifyGate, Why: v.Why, Findings: v.Findings}
	}
	if v := r.Verdict; v != nil && v.State != nexus.Pass {
		e := nexus.EvidenceOfGate(r.Evidence, v.Gate)
		if len(e.Findings) > 0 {
			return LastAttemptFailure{From: v.Gate, Findings: e.Findings}
		}
		return LastAttemptFailure{From: v.Gate, Why: v.Why, Output: e.Output}
	}
	if p := r.Proof; p != nil && p.Proof != nexus.ProofRed {
		return LastAttemptFailure{From: repair.ProofGate, Why: p.Why, Findings: p.Findings}
	}
	return LastAttemptFailure{}
}

// distinctFindings removes findings with the same signature as an earlier one.
func distinctFindings(all []nexus.Finding) []nexus.Finding {
	seen := map[string]bool{}
	var once []nexus.Finding
	for _, f := range all {
		if key := repair.FailureSignature(f.Gate, []nexus.Finding{f}); !seen[key] {
			seen[key] = true
			once = append(once, f)
		}
	}
	return once
}

// persistentFailures returns the failures of more than one tree, with the rounds that tried something
// else against them.
func persistentFailures(past []*state.AttemptState) []PersistentFailure {
	var all []PersistentFailure
	at, trees := map[string]int{}, map[string]bool{} // by failure; by failure and tree
	for _, old := range slices.Backward(past) {
		for _, r := range slices.Backward(old.Rounds) {
			if r.Verdict == nil || r.Verdict.State == nexus.Pass || r.Verdict.Gate == "" {
				continue
			}
			for _, f := range distinctFindings(nexus.EvidenceOfGate(r.Evidence, r.Verdict.Gate).Findings) {
				if !state.MustFix(f) {
					continue
				}
				key := repair.FailureSignature(r.Verdict.Gate, []nexus.Finding{f})
				if _, met := at[key]; !met {
					at[key] = len(all)
					all = append(all, PersistentFailure{Gate: r.Verdict.Gate, Finding: f})
				}
				if tree := key + "\x00" + r.Verdict.Tree; !trees[tree] {
					trees[tree] = true
					end := &all[at[key]]
					end.Tries = append(end.Tries, FailedRound{Attempt: old.ID, Round: r.Round, Author: AuthorTextRefs{Result: r.Result}})
				}
			}
		}
	}
	return slices.DeleteFunc(all, func(d PersistentFailure) bool { return len(d.Tries) < 2 })
}

// openFindings returns the last findings of judges of earlier attempts that are not fixed and
// that the new attempt receives nowhere else.
func openFindings(v state.WorkerView, last LastAttemptFailure) []OpenReviewFinding {
	var all []OpenReviewFinding
	told := slices.Concat(last.Findings, v.Kept.Open)
	known := func(f nexus.Finding) bool {
		return slices.ContainsFunc(told, func(g nexus.Finding) bool { return f == g || repair.IsSameFinding(f, g) })
	}
	for _, old := range slices.Backward(v.Past) {
		for _, cause := range []string{repair.ReviewCause, repair.VerifyGate} {
			for _, f := range repair.StandingFindings(old, cause) {
				if state.MustFix(f) && !known(f) {
					all, told = append(all, OpenReviewFinding{old.ID, cause, f, repair.LastObjection(old, cause, f)}), append(told, f)
				}
			}
		}
	}
	return all
}

// AuthorObjections returns, for each finding that is to be fixed in the attempt's starting tree,
// the author's objection before the judge repeated it, or "" if there was none.
func AuthorObjections(v state.WorkerView) []string {
	all := make([]string, len(v.Kept.Open))
	for _, old := range v.Past {
		if v.Attempt == nil || old.ID != v.Attempt.From || v.Attempt.FromRound != len(old.Rounds) {
			continue
		}
		for i, f := range v.Kept.Open {
			for _, cause := range []string{repair.ReviewCause, repair.VerifyGate} {
				if slices.Contains(repair.StandingFindings(old, cause), f) {
					all[i] = repair.LastObjection(old, cause, f)
				}
			}
		}
	}
	return all
}

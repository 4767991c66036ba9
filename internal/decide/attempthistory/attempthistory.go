// Package attempthistory sums up what is known from earlier attempts at a task, for whoever
// tries it again: how each ended, what was found last, which failures stayed
// whatever was changed, what judges stood by, what people said, and which tree came
// closest. Nothing of it is said twice, and what is new comes first.
//
// It is decided on the journal alone. What only blobs and git know, the words of
// agents and what they changed, is read and filled in by who does the work.
package attempthistory

import (
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Summary is what is known from earlier attempts. The zero Account is nothing.
type Summary struct {
	Attempts     []Attempt // newest first
	Last         LastFailure
	DeadEnds     []DeadEnd                 // the one that was met last first
	OpenFindings []OpenFinding             // newest first
	Said         []state.DeliveredGuidance // by people, newest first
	Closest      BestTree                  // zero where the new attempt starts from a tree of them
}

// Attempt is an earlier attempt.
type Attempt struct {
	ID      nexus.AttemptID
	Tier    nexus.Tier
	Rounds  int
	Fault   state.FailureCause
	Why     string
	Revised bool   // a person changed its criteria since
	Held    int    // the round of it that the new attempt starts from; 0: none
	From    string // the commit that its change is compared with
	To      string // the commit that it came to; empty: it changed nothing
	Author  AuthorText

	Files []string // that it changed; to be read
	Idea  string   // in the words of its agent; to be read
}

// AuthorText are where an agent says what it did: in what it submitted, and else in its
// conversation. Both are blobs.
type AuthorText struct {
	Result   string
	Messages []string
}

// LastFailure is what was found last, where the new attempt is not told of it as something
// that is to be fixed in what it starts from. The zero Last is nothing.
type LastFailure struct {
	Attempt  nexus.AttemptID
	Round    int
	From     string // a gate, or review, verify, proof or train
	Why      string
	Findings []nexus.Finding
	Output   string // blob: what the gate printed
	Held     bool   // the new attempt starts from the tree that it is about

	Printed string // that, as far as it tells of what failed; to be read
}

// DeadEnd is a failure that stayed, whatever was changed.
type DeadEnd struct {
	Gate    string
	Finding nexus.Finding
	Tries   []FailedRound // rounds that ended with it, each with another tree, newest first
}

// FailedRound is a round of an attempt.
type FailedRound struct {
	Attempt nexus.AttemptID
	Round   int
	Author  AuthorText

	Idea string // in the words of its agent; to be read
}

// OpenFinding is a finding of a judge that was neither fixed nor dropped.
type OpenFinding struct {
	Attempt   nexus.AttemptID
	Cause     string // review or verify
	Finding   nexus.Finding
	Objection string // why its author disputed it before its judge named it again; empty: it did not
}

// Summarize sums up what is known to the attempt of a view.
func Summarize(v state.View) Summary {
	var a Summary
	for i, old := range slices.Backward(v.Past) {
		if old.Why != "" {
			a.Attempts = append(a.Attempts, attempt(v, old, i < v.Task.Revised))
		}
	}
	for _, said := range slices.Backward(v.Said) {
		if !slices.ContainsFunc(a.Said, func(o state.DeliveredGuidance) bool {
			return o.About == said.About && plain(o.Text) == plain(said.Text)
		}) {
			a.Said = append(a.Said, said)
		}
	}
	a.Last = last(v)
	a.DeadEnds = deadEnds(v.Past)
	a.OpenFindings = openFindings(v, a.Last)
	if v.Attempt == nil || v.Attempt.From == "" {
		a.Closest = bestTreeOf(v.Past[min(v.Task.Fresh, len(v.Past)):], v.Task.Criteria)
	}
	return a
}

// plain is a text without what does not change what it says.
func plain(text string) string { return strings.ToLower(strings.Join(strings.Fields(text), " ")) }

func attempt(v state.View, old *state.Attempt, revised bool) Attempt {
	a := Attempt{
		ID: old.ID, Tier: old.Tier, Rounds: len(old.Rounds), Fault: state.FailureCauseOf(old), Why: old.Why, Revised: revised,
		From: old.Base, To: old.Snapshot.Commit,
	}
	if r := old.LastRound(); r != nil && a.To == "" { // the train took it back, and it ended before it had a tree again
		a.From, a.To = r.Base, r.Commit
	}
	if v.Attempt != nil && v.Attempt.From == old.ID {
		a.Held = v.Attempt.FromRound
	}
	for _, role := range []nexus.Role{nexus.Coder, nexus.Tester} {
		if s := old.LastSession(role); s != nil {
			a.Author = AuthorText{s.Result, s.Messages}
			break
		}
	}
	return a
}

// last returns what was found last, nothing where that is what is to be fixed in
// the tree that the new attempt starts from.
func last(v state.View) LastFailure {
	for _, old := range slices.Backward(v.Past) {
		if old.HandedWhy != "" {
			return LastFailure{Attempt: old.ID, Round: len(old.Rounds), From: "train", Why: old.HandedWhy, Findings: old.Handed}
		}
		for _, r := range slices.Backward(old.Rounds) {
			l := endedWith(r)
			switch {
			case l.From == "":
				continue
			case v.Attempt != nil && v.Attempt.From == old.ID && v.Attempt.FromRound == r.Round && len(v.Kept.Open) > 0:
				return LastFailure{}
			}
			l.Attempt, l.Round, l.Findings = old.ID, r.Round, distinct(l.Findings)
			l.Held = v.Attempt != nil && v.Attempt.From == old.ID && v.Attempt.FromRound == r.Round
			return l
		}
	}
	return LastFailure{}
}

// endedWith returns what stopped a round's work: who found what, or else what it
// says in sum. The zero Last is nothing.
func endedWith(r *state.Round) LastFailure {
	if n := len(r.Reviews); n > 0 && r.Reviews[n-1].SendsBack {
		return LastFailure{From: repair.ReviewCause, Why: r.Reviews[n-1].Summary, Findings: r.Reviews[n-1].Findings}
	}
	if v := r.Verified; v != nil && v.Category != "" {
		return LastFailure{From: repair.VerifyGate, Why: v.Why, Findings: v.Findings}
	}
	if v := r.Verdict; v != nil && v.State != nexus.Pass {
		e := nexus.EvidenceOf(r.Evidence, v.Gate)
		if len(e.Findings) > 0 {
			return LastFailure{From: v.Gate, Findings: e.Findings}
		}
		return LastFailure{From: v.Gate, Why: v.Why, Output: e.Output}
	}
	if p := r.Proof; p != nil && p.Proof != nexus.ProofRed {
		return LastFailure{From: repair.ProofGate, Why: p.Why, Findings: p.Findings}
	}
	return LastFailure{}
}

// distinct leaves out findings that are there twice, wherever they are.
func distinct(all []nexus.Finding) []nexus.Finding {
	seen := map[string]bool{}
	var once []nexus.Finding
	for _, f := range all {
		if key := repair.Signature(f.Gate, []nexus.Finding{f}); !seen[key] {
			seen[key] = true
			once = append(once, f)
		}
	}
	return once
}

// deadEnds returns the failures that more than one tree had, with the rounds that
// tried something else against them.
func deadEnds(past []*state.Attempt) []DeadEnd {
	var all []DeadEnd
	at, trees := map[string]int{}, map[string]bool{} // by what the failure is; by that and the tree
	for _, old := range slices.Backward(past) {
		for _, r := range slices.Backward(old.Rounds) {
			if r.Verdict == nil || r.Verdict.State == nexus.Pass || r.Verdict.Gate == "" {
				continue
			}
			for _, f := range distinct(nexus.EvidenceOf(r.Evidence, r.Verdict.Gate).Findings) {
				if !state.MustFix(f) {
					continue
				}
				key := repair.Signature(r.Verdict.Gate, []nexus.Finding{f})
				if _, met := at[key]; !met {
					at[key] = len(all)
					all = append(all, DeadEnd{Gate: r.Verdict.Gate, Finding: f})
				}
				if tree := key + "\x00" + r.Verdict.Tree; !trees[tree] {
					trees[tree] = true
					end := &all[at[key]]
					end.Tries = append(end.Tries, FailedRound{Attempt: old.ID, Round: r.Round, Author: AuthorText{Result: r.Result}})
				}
			}
		}
	}
	return slices.DeleteFunc(all, func(d DeadEnd) bool { return len(d.Tries) < 2 })
}

// openFindings returns what judges of earlier attempts named last and nobody fixed, and
// what is said to the new attempt nowhere else.
func openFindings(v state.View, last LastFailure) []OpenFinding {
	var all []OpenFinding
	told := slices.Concat(last.Findings, v.Kept.Open)
	known := func(f nexus.Finding) bool {
		return slices.ContainsFunc(told, func(g nexus.Finding) bool { return f == g || repair.IsSameFinding(f, g) })
	}
	for _, old := range slices.Backward(v.Past) {
		for _, cause := range []string{repair.ReviewCause, repair.VerifyGate} {
			for _, f := range repair.StandingFindings(old, cause) {
				if state.MustFix(f) && !known(f) {
					all, told = append(all, OpenFinding{old.ID, cause, f, repair.Objection(old, cause, f)}), append(told, f)
				}
			}
		}
	}
	return all
}

// Objections returns, for each of the findings that are to be fixed in the tree that
// the attempt of a view starts from, why its author disputed it before its judge
// named it again; empty where that was not so.
func Objections(v state.View) []string {
	all := make([]string, len(v.Kept.Open))
	for _, old := range v.Past {
		if v.Attempt == nil || old.ID != v.Attempt.From || v.Attempt.FromRound != len(old.Rounds) {
			continue
		}
		for i, f := range v.Kept.Open {
			for _, cause := range []string{repair.ReviewCause, repair.VerifyGate} {
				if slices.Contains(repair.StandingFindings(old, cause), f) {
					all[i] = repair.Objection(old, cause, f)
				}
			}
		}
	}
	return all
}

// Package escalationreport reports the attempts at a task, the last errors, and possible next steps.
// It does so for a task that waits for a person, that failed, or that landed although its
// criterion is not met.
package escalationreport

import (
	"cmp"
	_ "embed" // the schema
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/schedule"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Schema is the JSON Schema of a [EscalationReport].
//
//go:embed schema.json
var Schema []byte

// EscalationReport is the information that a person needs to continue with a task.
type EscalationReport struct {
	Version     int                 `json:"version"` // 1
	Run         nexus.RunID         `json:"run"`
	Task        nexus.TaskID        `json:"task"`
	Title       string              `json:"title"`
	Status      nexus.TaskStatus    `json:"status"` // parked, failed or landed
	Reason      string              `json:"reason"`
	Errors      []UniqueError       `json:"errors"` // the last ones, newest first
	Tried       []EscalationAttempt `json:"tried"`
	Spent       nexus.Money         `json:"spent"`
	Suggestions []string            `json:"suggestions"` // best first
}

// UniqueError is one error, listed once however often it occurred.
type UniqueError struct {
	Attempt nexus.AttemptID `json:"attempt"`
	Round   int             `json:"round"`
	From    string          `json:"from"` // source: the gate, or review, verify, proof, train
	File    string          `json:"file,omitzero"`
	Line    int             `json:"line,omitzero"`
	Test    string          `json:"test,omitzero"`
	Message string          `json:"message"`
	Seen    int             `json:"seen"` // rounds that ended with it
}

// EscalationAttempt is one attempt.
type EscalationAttempt struct {
	Attempt  nexus.AttemptID              `json:"attempt"`
	Tier     nexus.Tier                   `json:"tier"`
	Strategy nexus.WritingStrategy        `json:"strategy,omitzero"`
	Models   []string                     `json:"models,omitempty"`
	Rounds   []string                     `json:"rounds,omitempty"` // the author, the cause and the end of each round
	Outcome  nexus.Outcome                `json:"outcome,omitzero"`
	Category nexus.AttemptFailureCategory `json:"category,omitzero"`
	Why      string                       `json:"why,omitzero"`
	Commit   string                       `json:"commit,omitzero"` // the work, which is kept
}

// most limits the listed faults.
const most = 10

// EscalationReportFor returns the report of a task, or nil if the task needs no person.
func EscalationReportFor(s *state.State, t *state.TaskState) *EscalationReport {
	if t.Status == nexus.Landed {
		return unfixedReport(s, t)
	}
	if t.Status != nexus.Parked && t.Status != nexus.Failed {
		return nil
	}
	r := newReport(s, t, t.Why)
	all := r.addAttempts(t)
	r.Errors = append(r.Errors, newestFaults(all)...)
	r.Suggestions = suggestActions(s, t)
	return r
}

func newReport(s *state.State, t *state.TaskState, why string) *EscalationReport {
	return &EscalationReport{
		Version: 1, Run: s.Run, Task: t.ID, Title: t.Title, Status: t.Status, Reason: why,
		Errors: []UniqueError{}, Tried: []EscalationAttempt{}, Spent: t.Spent,
	}
}

// addAttempts adds the attempts at a task and returns their faults.
func (r *EscalationReport) addAttempts(t *state.TaskState) []UniqueError {
	var all []UniqueError
	for _, a := range t.Attempts {
		try := EscalationAttempt{Attempt: a.ID, Tier: a.Tier, Strategy: a.Strategy, Outcome: a.Outcome, Category: a.Category, Why: a.Why, Commit: cmp.Or(a.Commit, a.Snapshot.Commit)}
		for _, session := range a.Sessions {
			if session.Model != "" && !slices.Contains(try.Models, session.Model) {
				try.Models = append(try.Models, session.Model)
			}
		}
		for _, round := range a.Rounds {
			found := roundFaults(a, round)
			try.Rounds = append(try.Rounds, roundLine(round, found))
			all = append(all, found...)
		}
		r.Tried = append(r.Tried, try)
	}
	return all
}

// roundFaults returns the faults at the end of a round.
func roundFaults(a *state.AttemptState, r *state.AttemptRound) []UniqueError {
	var all []UniqueError
	add := func(from string, findings []nexus.Finding, why string) {
		if len(findings) == 0 && why != "" {
			findings = []nexus.Finding{{Message: why}}
		}
		for _, f := range findings {
			all = append(all, UniqueError{Attempt: a.ID, Round: r.Round, From: from, File: f.File, Line: f.Line, Test: f.Test, Message: f.Message, Seen: 1})
		}
	}
	for _, e := range r.Evidence {
		if !e.Passed() && !e.Hangs && e.State != nexus.NotRun {
			add(e.Gate, e.Findings, cmp.Or(e.Why, fmt.Sprintf("%s, exit %d", e.State, e.Exit)))
		}
	}
	if p := r.Proof; p != nil && p.Proof != nexus.ProofRed {
		add("proof", p.Findings, p.Why)
	}
	if v := r.Verified; v != nil && (v.Category != "" || !v.Read) {
		add("verify", v.Findings, v.Why)
	}
	for _, v := range r.Reviews {
		if !v.Approved || v.SendsBack {
			add("review", v.Findings, v.Summary)
		}
	}
	if len(r.Handed) > 0 || r.HandedWhy != "" {
		add("train", r.Handed, r.HandedWhy)
	}
	return all
}

// roundLine returns a short description of a round.
func roundLine(r *state.AttemptRound, found []UniqueError) string {
	text := string(r.Role)
	if r.Cause != "" {
		text += " because of " + r.Cause
	}
	if len(found) == 0 {
		return text + ": no findings"
	}
	first, _, _ := strings.Cut(found[0].Message, "\n")
	return fmt.Sprintf("%s: %s: %s", text, found[0].From, first)
}

// newestFaults returns the faults, newest first, without repetition.
func newestFaults(all []UniqueError) []UniqueError {
	var kept []UniqueError
	for _, f := range slices.Backward(all) {
		same := slices.IndexFunc(kept, func(k UniqueError) bool {
			return k.From == f.From && k.File == f.File && k.Test == f.Test && k.Message == f.Message
		})
		switch {
		case same >= 0:
			kept[same].Seen++
		case len(kept) < most:
			kept = append(kept, f)
		}
	}
	return kept
}

// openQuestionOf returns the ID of the question because of which a task was parked, or "".
func openQuestionOf(s *state.State, t *state.TaskState) string {
	for _, q := range s.OpenQuestions() {
		if s.AskingTask(q) == t {
			return q.ID
		}
	}
	return ""
}

// suggestActions returns possible steps, by the reason why the task was parked.
func suggestActions(s *state.State, t *state.TaskState) []string {
	id := string(t.ID)
	var all []string
	a := t.CurrentAttempt()
	switch {
	case t.OverCap != nil:
		all = append(all, "raise the budget of the task, then nexus retry "+id+" and nexus resume")
	case t.Replan != nil:
		all = append(all, "make a new plan for it, as the agent asks: "+cmp.Or(t.Replan.Suggestion, t.Replan.Reason))
	case a == nil:
	case openQuestionOf(s, t) != "":
		all = append(all, "answer its question: nexus approve "+openQuestionOf(s, t)+" or nexus reject "+openQuestionOf(s, t)+", then nexus resume")
	case a.Broken, a.Outcome == "" && a.Refusals == 0:
		all = append(all, "the environment failed, not the work: run nexus doctor, and see nexus logs for what happened before")
	case a.Refusals > 0 && a.Outcome != nexus.Conflicted:
		all = append(all, "it passes alone and fails once merged: nexus status "+id+" has the failure, which may come from what landed meanwhile")
	case len(t.Refused) > 0 && a.Category != nexus.VerifierRejected:
		all = append(all, "a verifier rejected its work: read why in nexus status "+id+", then give directions with nexus tell "+id+" TEXT, or correct a criterion with nexus revise")
	case a.Category == nexus.IsolationViolation:
		all = append(all, "the tests cannot be written without touching code: give it the strategy test-after, or write the missing stubs by hand")
	case a.Category == nexus.VerifierRejected:
		all = append(all, "read why the verifier rejects the tests in nexus status "+id+": either the task must say that the tests change, or they must stay the same")
	case a.Category == nexus.GreenfieldNoTests:
		all = append(all, "no tests were written: name in the task where tests go, or give it the strategy no-test with a reason")
	case a.Outcome == nexus.Conflicted:
		all = append(all, "merge it by hand: nexus diff "+id+" shows the work, and the run's branch has what it conflicts with")
	case (a.Outcome == nexus.Inapplicable || a.Outcome == nexus.Unverified) && endedWithHang(a):
		all = append(all, "close what keeps the test runner from exiting, as nexus status "+id+" says, or let the command of the gate force an exit; nexus check shows whether that helps")
	case a.Category == nexus.Disputed:
		all = append(all, "read both sides in nexus status "+id+", then decide with nexus tell "+id+" TEXT, or correct a criterion with nexus revise "+id+"/AC-1 TEXT")
	case a.Outcome == nexus.Unverified:
		all = append(all, inconclusiveHint(t))
	case a.Outcome == nexus.Inapplicable:
		all = append(all, "fix the environment first: nexus doctor")
	case a.Outcome == nexus.GaveUp:
		all = append(all, "give the agent what it is missing: nexus tell "+id+" TEXT")
	case a.Outcome == nexus.NoProgress:
		all = append(all, "the same failure came back several times: tell the agent what it overlooks with nexus tell "+id+" TEXT, or split the task")
	case a.Outcome == nexus.Exhausted:
		all = append(all, "the task is too large for its limits: split it, or raise limits.rounds or limits.task_time")
	}
	if next, ok := t.Tier.NextTier(); ok && t.Status == nexus.Failed && a != nil && a.Outcome != "" {
		all = append(all, "start at a stronger tier: "+string(next))
	}
	var waits []string
	for _, other := range s.Tasks {
		if by, blocked := s.BlockerOf(other); blocked && by == t.ID {
			waits = append(waits, string(other.ID))
		}
	}
	again := "nexus retry " + id + ", then nexus resume, continues it" + startingPointText(t)
	if len(waits) > 0 {
		again += "; " + strings.Join(waits, ", ") + " wait for it"
	}
	return append(all, again, "nexus stop --skip "+id+" skips it")
}

// startingPointText describes the tree from which the next attempt at a task starts, and the
// alternatives. It is empty if no earlier attempt has a usable tree.
func startingPointText(t *state.TaskState) string {
	best, ok := schedule.BestStartingTree(t)
	if !ok {
		return ""
	}
	text := fmt.Sprintf(" from round %d of %s", best.Round, best.Attempt)
	if len(t.Attempts) > 1 || best.Round > 1 {
		text += fmt.Sprintf(" (another one: --round %s/N; none: --fresh)", best.Attempt)
	}
	return text
}

// inconclusiveHint returns the next step if no check could decide whether the work is right.
func inconclusiveHint(t *state.TaskState) string {
	if n := inconclusiveCriterion(t); n > 0 && state.FailureCauseOf(t.CurrentAttempt()) == state.CauseCheck {
		return fmt.Sprintf("replace the check that gave no answer: nexus revise %s/AC-%d TEXT --check COMMAND, or look at nexus diff %s yourself", t.ID, n, t.ID)
	}
	return "give the task a criterion with a command that shows it, or look at nexus diff " + string(t.ID) + " yourself"
}

// inconclusiveCriterion returns the number of the criterion whose check could not decide, or 0 if there is
// none.
func inconclusiveCriterion(t *state.TaskState) int {
	r := t.CurrentAttempt().LastRound()
	if r == nil || r.Verdict == nil {
		return 0
	}
	for i, c := range t.Criteria {
		if gate, _ := accept.GateOfCriterion(c); gate != "" && gate == r.Verdict.Gate {
			return i + 1
		}
	}
	return 0
}

// endedWithHang reports whether an attempt ended because a test runner did not exit.
func endedWithHang(a *state.AttemptState) bool {
	r := a.LastRound()
	return r != nil && slices.ContainsFunc(r.Evidence, func(e nexus.GateEvidence) bool {
		return e.State == nexus.Environmental && e.WasRunnerStopped()
	})
}

// FormatText writes a report for people.
func (r EscalationReport) FormatText() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s is %s: %s\n", r.Task, r.Status, r.Reason)
	if len(r.Errors) > 0 {
		b.WriteString("last errors\n")
	}
	for _, f := range r.Errors {
		at := f.File
		if f.Line > 0 {
			at = fmt.Sprintf("%s:%d", f.File, f.Line)
		}
		first, _, _ := strings.Cut(f.Message, "\n")
		fmt.Fprintf(&b, "  %s\n", strings.Join(slices.DeleteFunc([]string{f.From, at, f.Test, first}, func(p string) bool { return p == "" }), ": "))
		if f.Seen > 1 {
			fmt.Fprintf(&b, "    seen %d times\n", f.Seen)
		}
	}
	b.WriteString("tried\n")
	for _, t := range r.Tried {
		fmt.Fprintf(&b, "  %s %s %s: %s\n", t.Attempt, t.Tier, t.Strategy, strings.TrimSuffix(fmt.Sprintf("%s: %s", cmp.Or(t.Outcome, "not ended"), t.Why), ": "))
		for _, round := range t.Rounds {
			fmt.Fprintf(&b, "    %s\n", round)
		}
	}
	b.WriteString("what you can do\n")
	for _, s := range r.Suggestions {
		fmt.Fprintf(&b, "  %s\n", s)
	}
	return b.String()
}

// Package taskdetail shows all details of one task: its attempts, their findings, and its sessions.
package taskdetail

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/replan"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/escalationreport"
)

// TaskDetail holds all details of a task; it is the JSON output of `nexus status`.
type TaskDetail struct {
	Run   nexus.RunID            `json:"run"`
	Task  view.TaskView          `json:"task"`
	Plan  nexus.Task             `json:"plan"`            // in the current plan
	Route *nexus.StartTierChosen `json:"route,omitempty"` // estimated difficulty; nil before routing

	Attempts []AttemptDetail     `json:"attempts"`
	Report   string              `json:"report,omitzero"`     // the full report why it was parked
	Asks     []view.OpenQuestion `json:"questions,omitempty"` // open questions of the task

	Assessment *repair.TaskAssessment             `json:"assessment,omitempty"` // trend of the task; nil before the first attempt
	Escalation *escalationreport.EscalationReport `json:"escalation,omitempty"` // facts that a person needs to continue it
}

// AttemptDetail is one try at a task.
type AttemptDetail struct {
	ID       nexus.AttemptID            `json:"id"`
	Tier     nexus.Tier                 `json:"tier"`
	Strategy nexus.WritingStrategy      `json:"strategy"`
	Base     string                     `json:"base"`
	Stage    state.AttemptStage         `json:"stage"`
	Outcome  nexus.Outcome              `json:"outcome,omitzero"`
	Why      string                     `json:"why,omitzero"`
	Commit   string                     `json:"commit,omitzero"`
	Seconds  float64                    `json:"seconds"`
	Proof    *nexus.TestsRunWithoutWork `json:"proof,omitempty"` // of tests from an earlier attempt
	Rounds   []RoundDetail              `json:"rounds"`
	Sessions []SessionDetail            `json:"sessions"`
	Network  []nexus.RequestedHost      `json:"network,omitempty"` // requested hosts, in order
}

// RoundDetail is one period of writing, with the findings after it.
type RoundDetail struct {
	Round    int                           `json:"round"`
	Role     nexus.Role                    `json:"role"`
	Cause    string                        `json:"cause,omitzero"`
	Commit   string                        `json:"commit,omitzero"` // in the private clone: its result
	Broken   []nexus.RoleIsolationViolated `json:"isolation,omitempty"`
	Proof    *nexus.TestsRunWithoutWork    `json:"proof,omitempty"`
	Evidence []nexus.GateEvidence          `json:"evidence,omitempty"`
	Suspect  *nexus.TamperSuspected        `json:"suspect,omitempty"`
	Verified *nexus.VerifierVerdictGiven   `json:"verified,omitempty"`
	Reviews  []nexus.ReviewerVerdictGiven  `json:"reviews,omitempty"`
}

// SessionDetail is one conversation.
type SessionDetail struct {
	ID      nexus.SessionID `json:"id"`
	Role    nexus.Role      `json:"role"`
	Model   string          `json:"model"`
	Turns   int             `json:"turns"`
	Outcome nexus.Outcome   `json:"outcome,omitzero"`
	Why     string          `json:"why,omitzero"`
	Doing   string          `json:"doing,omitzero"`
	Spent   nexus.Money     `json:"spent"`
	Usage   nexus.Usage     `json:"usage"`
}

// NewTaskDetail returns the details of a task of a run; with an attempt's ID, of that attempt only.
func NewTaskDetail(s *state.State, r view.RunView, t *state.TaskState, only nexus.AttemptID) TaskDetail {
	row, _ := r.TaskByID(t.ID)
	d := TaskDetail{Run: s.Run, Task: row, Plan: t.Task, Route: t.Route, Attempts: []AttemptDetail{}, Assessment: repair.AssessTask(s, t), Escalation: escalationreport.EscalationReportFor(s, t)}
	for _, q := range view.WaitingQuestions(s, humaninput.WaitingInRun(s, true)) {
		if q.Task == t.ID && (only == "" || q.Attempt == only) {
			d.Asks = append(d.Asks, q)
		}
	}
	for _, a := range t.Attempts {
		if only == "" || a.ID == only {
			d.Attempts = append(d.Attempts, newAttemptDetail(s, a, r))
		}
	}
	return d
}

func newAttemptDetail(s *state.State, a *state.AttemptState, r view.RunView) AttemptDetail {
	a = a.UnpackedCopy()
	v := AttemptDetail{
		ID: a.ID, Tier: a.Tier, Strategy: a.Strategy, Base: a.Base, Stage: a.Stage, Outcome: a.Outcome, Why: a.Why,
		Commit: a.Commit, Seconds: s.AttemptWorkTime(a, r.At).Round(time.Millisecond).Seconds(), Rounds: []RoundDetail{}, Sessions: []SessionDetail{},
	}
	if a.Proof != nil && !slices.ContainsFunc(a.Rounds, func(r *state.AttemptRound) bool { return r.Proof != nil }) {
		v.Proof = a.Proof
	}
	for _, r := range a.Rounds {
		v.Rounds = append(v.Rounds, RoundDetail{r.Round, r.Role, r.Cause, r.Commit, r.Broken, r.Proof, r.Evidence, r.Suspect, r.Verified, r.Reviews})
	}
	for _, f := range a.Network {
		v.Network = append(v.Network, f.Hosts...)
	}
	for _, c := range a.Sessions {
		doing := c.Doing
		if r.Status == nexus.StatusInterrupted {
			doing = "" // its process is gone
		}
		v.Sessions = append(v.Sessions, SessionDetail{c.Session, c.Role, c.Model, c.Turns, c.Outcome, c.Why, doing, c.Spent, c.Usage})
	}
	return v
}

// DrawTaskDetail draws all details of a task.
func DrawTaskDetail(s view.OutputStyle, d TaskDetail) string {
	var b strings.Builder
	t := d.Task
	fmt.Fprintf(&b, "%s %s  %s\n", s.StatusGlyph(t.Status), s.Bold(string(t.ID)+"  "+view.EscapeForTerminal(t.Title)), t.Status)
	if t.Why != "" {
		fmt.Fprintf(&b, "  %s\n", s.Warn(view.EscapeForTerminal(t.Why)))
	}
	fmt.Fprintf(&b, "  %s%s%s%s%s\n", view.CountWithNoun(t.Attempts, "attempt"), s.Separator(), view.CountWithNoun(t.Rounds, "round"), s.Separator(), t.Spent)
	if d.Route != nil {
		_, text := view.DescribeFact(*d.Route)
		b.WriteString("  " + s.Dim(view.EscapeForTerminal(text)) + "\n")
	}
	for _, decided := range t.Decisions {
		b.WriteString(s.Wrap(s.Dim(view.EscapeForTerminal("decided: "+replan.DecisionText(decided))), "  ") + "\n")
	}
	// A finished task has no next step.
	if d.Assessment != nil && !slices.Contains([]nexus.TaskStatus{nexus.Landed, nexus.Split, nexus.Skipped}, t.Status) {
		b.WriteString("  " + s.Dim(view.EscapeForTerminal(d.Assessment.SummaryLine())) + "\n")
	}
	if d.Plan.Brief != "" {
		b.WriteString("\n" + indentLines(view.EscapeLinesForTerminal(d.Plan.Brief)))
	}
	for _, c := range d.Plan.Criteria {
		check := ""
		if c.Check != "" {
			check = "  (" + view.EscapeForTerminal(c.Check) + ")"
		}
		fmt.Fprintf(&b, "  - %s%s\n", view.EscapeForTerminal(c.Text), s.Dim(check))
	}
	b.WriteString(drawQuestions(s, d.Asks))
	for _, a := range d.Attempts {
		drawAttempt(&b, s, a)
	}
	if d.Report == "" && d.Escalation != nil {
		d.Report = d.Escalation.FormatText()
	}
	if d.Report != "" {
		b.WriteString("\n" + s.Bold("report") + "\n" + indentLines(view.EscapeLinesForTerminal(d.Report)))
	}
	return s.Sanitize(b.String())
}

// drawQuestions draws the open questions, and how to answer them.
func drawQuestions(s view.OutputStyle, all []view.OpenQuestion) string {
	var b strings.Builder
	for _, q := range all {
		fmt.Fprintf(&b, "\n%s  %s\n  %s\n", s.Warn("question "+q.ID), view.EscapeForTerminal(q.Text), view.EscapeForTerminal(q.ReplyCommands()))
	}
	return b.String()
}

func drawAttempt(b *strings.Builder, s view.OutputStyle, a AttemptDetail) {
	end := string(a.Outcome)
	if end == "" {
		end = string(a.Stage)
	}
	fmt.Fprintf(b, "\n%s  %s\n", s.Bold("attempt "+string(a.ID)), view.WithReason(strings.Join([]string{string(a.Tier), view.FormatSeconds(a.Seconds), end}, s.Separator()), view.EscapeForTerminal(a.Why)))
	if a.Proof != nil {
		drawFact(b, s, *a.Proof, a.Proof.Findings)
	}
	for _, r := range a.Rounds {
		_, text := view.DescribeFact(nexus.RoundStarted{Round: r.Round, Role: r.Role, Cause: r.Cause})
		if text = view.EscapeForTerminal(text); r.Commit != "" {
			text += s.Separator() + s.Dim(view.ShortHash(r.Commit))
		}
		fmt.Fprintf(b, "  %s\n", text)
		for _, f := range r.Broken {
			drawFact(b, s, f, nil)
		}
		if r.Proof != nil {
			drawFact(b, s, *r.Proof, r.Proof.Findings)
		}
		for _, e := range r.Evidence {
			drawEvidence(b, s, e)
		}
		if r.Suspect != nil {
			drawFact(b, s, *r.Suspect, r.Suspect.Findings)
		}
		if r.Verified != nil {
			drawFact(b, s, *r.Verified, r.Verified.Findings)
		}
		for _, v := range r.Reviews {
			drawFact(b, s, v, v.Findings)
		}
	}
	if len(a.Network) > 0 {
		f := nexus.NetworkRequestsRecorded{Hosts: a.Network}
		_, text := view.DescribeFact(f)
		fmt.Fprintf(b, "  %s\n", s.TintFact(f, view.EscapeForTerminal(text)))
	}
	for _, c := range a.Sessions {
		fmt.Fprintf(b, "  session %s  %s\n", c.ID, s.Dim(strings.Join([]string{c.Model, view.CountWithNoun(c.Turns, "turn"), c.Spent.String()}, s.Separator())))
	}
}

// drawFact draws a fact about a round, with its findings.
func drawFact(b *strings.Builder, s view.OutputStyle, f nexus.Fact, found []nexus.Finding) {
	_, text := view.DescribeFact(f)
	fmt.Fprintf(b, "    %s\n", s.TintFact(f, view.EscapeForTerminal(text)))
	drawFindings(b, s, found)
}

func drawEvidence(b *strings.Builder, s view.OutputStyle, e nexus.GateEvidence) {
	text := fmt.Sprintf("%s: %s (%s)", e.Gate, e.State, view.FormatDuration(e.Duration))
	if e.Passed() {
		text = s.Good(text)
	} else {
		text = s.Bad(text)
	}
	fmt.Fprintf(b, "    %s  %s\n", text, s.Dim(view.EscapeForTerminal(e.Command)))
	for _, f := range e.Flaky {
		text := fmt.Sprintf("flaky: %s failed in %d of %d runs", f.Test, f.Failed, f.Runs)
		if f.Quarantine != "" {
			text = fmt.Sprintf("in quarantine: %s, %s", f.Test, f.Quarantine)
		}
		b.WriteString(s.TruncateLine("      "+view.EscapeForTerminal(text)) + "\n")
	}
	drawFindings(b, s, e.Findings)
}

// drawFindings draws the first ten.
func drawFindings(b *strings.Builder, s view.OutputStyle, all []nexus.Finding) {
	for i, f := range all {
		if i == 10 {
			fmt.Fprintf(b, "      %s\n", s.Dim("and "+view.CountWithNoun(len(all)-i, "more finding")))
			return
		}
		b.WriteString(s.TruncateLine("      "+view.EscapeForTerminal(view.FindingText(f))) + "\n")
	}
}

func indentLines(text string) string {
	return "  " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n  ") + "\n"
}

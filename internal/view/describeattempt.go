package view

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func describeAttempt(f nexus.Fact) (about, text string) {
	switch f := f.(type) {
	case nexus.SharedSessionGroupFormed:
		return f.Lane, sharedSessionText(f)
	case nexus.AttemptStarted:
		text = fmt.Sprintf("started, %s, %s", f.Tier, f.Strategy)
		if f.From != "" {
			text += fmt.Sprintf(", from round %d of %s", f.Round, f.From)
		}
		if f.Continues != "" {
			text += ", in the conversation of " + string(f.Continues)
		}
		return string(f.Attempt), text
	case nexus.StartingTreeRejected:
		return string(f.Attempt), WithReason("starts from scratch, without the work of earlier attempts", f.Why)
	case nexus.AttemptResumed:
		return string(f.Attempt), "continues from " + ShortHash(f.Base)
	case nexus.AgentTurnInterrupted:
		return string(f.Attempt), "interrupted" + byText(f.By)
	case nexus.AttemptLost:
		if f.Counted {
			return string(f.Attempt), WithReason("lost its worker", f.Why)
		}
		return string(f.Attempt), WithReason("stopped and not counted", f.Why)
	case nexus.AttemptInfrastructureFailed:
		return string(f.Attempt), WithReason("broken", f.Why)
	case nexus.AttemptEnded:
		return string(f.Attempt), WithReason(string(f.Outcome), f.Why)
	case nexus.RoundStarted:
		return string(f.Attempt), fmt.Sprintf("round %d, %s", f.Round, f.Role) + roundCause(f.Cause)
	case nexus.GateStarted:
		if text := describeWorkBeforePlan(f); text != "" {
			return "plan", text
		}
		return gateSubject(f.Attempt, f.Task, f.Base), f.Gate + " starts"
	case nexus.GateJudged:
		return describeGate(f)
	case nexus.GatesVerdictGiven:
		return string(f.Attempt), WithReason("gates: "+string(f.State), f.Why)
	case nexus.ReviewerVerdictGiven:
		return string(f.Attempt), describeReview(f)
	case nexus.TestsRunWithoutWork, nexus.RoleIsolationViolated, nexus.TamperSuspected, nexus.VerifierVerdictGiven:
		return describeTestsFirst(f)
	case nexus.TreeSnapshotted:
		if f.Fixed != "" {
			return string(f.Attempt), "fixed: " + EscapeForTerminal(f.Fixed)
		}
		return string(f.Attempt), "snapshot " + ShortHash(f.Commit)
	default:
		return "", ""
	}
}

// gateSubject names the subject of a gate.
func gateSubject(attempt nexus.AttemptID, task nexus.TaskID, base bool) string {
	switch {
	case base:
		return "base"
	case attempt != "":
		return string(attempt)
	}
	return string(task)
}

// describeWorkBeforePlan describes the work on the unchanged repository while a plan is made, which takes
// long in a large one. It is empty for other facts.
func describeWorkBeforePlan(f nexus.Fact) string {
	g, ok := f.(nexus.GateStarted)
	switch {
	case !ok || !g.Base || !strings.HasPrefix(string(g.Attempt), "plan."):
		return ""
	case g.Gate == nexus.WarmUpGate:
		return "compiling the repository as it is: its gates run on it first, for the planner"
	default:
		return g.Gate + " runs on the repository as it is"
	}
}

func describeGate(f nexus.GateJudged) (about, text string) {
	e := f.Evidence
	about = gateSubject(f.Attempt, f.Task, f.Base)
	text = fmt.Sprintf("%s: %s", e.Gate, e.State)
	if n := len(e.Findings); n > 0 {
		text += fmt.Sprintf(", %s, first %s", CountWithNoun(n, "finding"), FindingText(e.Findings[0]))
	} else if e.Why != "" {
		text += ", " + e.Why
	}
	if f.Base {
		text = WithReason(text, e.IncomparableReason())
	}
	if f.Cached {
		return about, text + " (cached)"
	}
	if f.WarmUp > 0 {
		return about, fmt.Sprintf("%s (%s, after compiling for %s)", text, FormatDuration(e.Duration), FormatDuration(f.WarmUp))
	}
	return about, fmt.Sprintf("%s (%s)", text, FormatDuration(e.Duration))
}

// describeTestsFirst describes a fact about tests that are written before the code.
func describeTestsFirst(f nexus.Fact) (about, text string) {
	switch f := f.(type) {
	case nexus.TestsRunWithoutWork:
		text = "new tests on the code without the work: " + string(f.Proof)
		if n := len(f.Tests); n > 0 {
			text += ", " + CountWithNoun(n, "failure") + " as expected"
		}
		if n := len(f.Beside); n > 0 {
			text += ", other files changed: " + strings.Join(f.Beside, ", ")
		}
		return string(f.Attempt), WithReason(text, f.Why)
	case nexus.RoleIsolationViolated:
		return string(f.Attempt), fmt.Sprintf("changes undone that the %s may not make: %s", f.Role, strings.Join(f.Files, ", "))
	case nexus.TamperSuspected:
		text = "changes its own tests or gates: "
		if !slices.ContainsFunc(f.Findings, func(one nexus.Finding) bool { return one.Code != repair.IndependentRed }) {
			text = "an independent check still fails: "
		}
		text += CountWithNoun(len(f.Findings), "finding")
		if len(f.Findings) > 0 {
			text += ", first " + FindingText(f.Findings[0])
		}
		return string(f.Attempt), text
	case nexus.VerifierVerdictGiven:
		switch {
		case !f.Read:
			return string(f.Attempt), WithReason("not verified", f.Why)
		case f.Category == "":
			return string(f.Attempt), WithReason("verified", f.Why)
		default:
			return string(f.Attempt), WithReason("the verifier rejected it, "+CountWithNoun(len(f.Findings), "finding"), f.Why)
		}
	default:
		return "", ""
	}
}

func describeReview(f nexus.ReviewerVerdictGiven) string {
	text := "review: approved"
	switch {
	case !f.Reviewed:
		text = "not reviewed"
	case f.SendsBack && f.Approved:
		text = "review: sent back, " + CountWithNoun(len(f.Findings), "finding") + " (the reviewer approved)"
	case !f.Approved && !f.SendsBack && !slices.ContainsFunc(f.Findings, isSerious):
		text = "review: nothing blocks landing, " + CountWithNoun(len(f.Findings), "finding") + " (the reviewer did not approve)"
	case !f.Approved:
		text = "review: rejected, " + CountWithNoun(len(f.Findings), "finding")
	}
	n := 0
	for _, x := range f.Findings {
		if x.Unverified != "" {
			n++
		}
	}
	if n > 0 {
		text += fmt.Sprintf(", %d not verified", n)
	}
	if n := len(f.Readers); n > 1 {
		text += ", " + CountWithNoun(n, "reader")
	}
	return WithReason(text, f.Summary)
}

// isSerious reports whether a finding can prevent a change from landing.
func isSerious(f nexus.Finding) bool {
	return f.Severity == nexus.Critical || f.Severity == nexus.Major
}

// FindingText returns the location and the text of a finding.
func FindingText(f nexus.Finding) string {
	text := FirstLine(strings.TrimPrefix(strings.TrimSpace(f.Message), fmt.Sprintf("%s:%d:", path.Base(f.File), f.Line)))
	if f.Test != "" {
		text = f.Test + ": " + text
	}
	if f.Persona != "" {
		text = f.Persona + ": " + text
	}
	if f.Unverified != "" {
		text += " (not verified: " + f.Unverified + ")"
	}
	switch {
	case f.File == "":
		return text
	case f.Line == 0:
		return f.File + ": " + text
	}
	return fmt.Sprintf("%s:%d: %s", f.File, f.Line, text)
}

// judgementText describes who allowed or refused a call, and by which rule.
func judgementText(j nexus.ToolCallDecision) string {
	if j == (nexus.ToolCallDecision{}) {
		return ""
	}
	word := ""
	if j.Refused {
		word = ", not run"
	}
	return fmt.Sprintf(" (%s by %s, %s%s)", j.Decision, j.By, j.Rule, word)
}

func describeSession(f nexus.Fact) (about, text string) {
	switch f := f.(type) {
	case nexus.SessionStarted:
		return string(f.Session), WithReason("session started with "+f.Model, f.About)
	case nexus.PromptSent:
		return string(f.Session), "prompt sent: " + f.Why
	case nexus.ModelTurnRecorded:
		return string(f.Session), WithReason(fmt.Sprintf("turn %d, %s", f.Turn, f.Stop), f.Says)
	case nexus.ToolCallStarted:
		return string(f.Session), f.Tool + " " + f.About
	case nexus.ToolCallEnded:
		word := "answered"
		if f.Failed {
			word = "refused or failed"
		}
		return string(f.Session), WithReason(fmt.Sprintf("%s after %s%s", word, FormatDuration(f.Duration.Round(time.Millisecond)), judgementText(f.Judged)), f.About)
	case nexus.ToolResultsSent:
		return string(f.Session), "tool results sent to the model"
	case nexus.SessionCompacted:
		return string(f.Session), fmt.Sprintf("compacted from about %s to %s tokens: %s", FormatNumber(f.Before), FormatNumber(f.After), f.Why)
	case nexus.SessionEnded:
		return string(f.Session), WithReason("session ended, "+string(f.Outcome), f.Why)
	case nexus.AgentConversationOpened:
		how := "starts"
		if f.Resumed {
			how = "resumes"
		}
		return string(f.Session), strings.TrimSpace(fmt.Sprintf("%s %s conversation %s %s", f.Agent, how, f.ID, f.Model))
	case nexus.AgentQuotaReported:
		until := f.Until.UTC().Format(time.RFC3339)
		return string(f.Session), fmt.Sprintf("%d%% of the %s limit of %s is used, until %s", f.Used, f.Window, f.Agent, until)
	case nexus.AgentLoginRenewed:
		if f.Kept == "" {
			return string(f.Session), fmt.Sprintf("%s renewed its login, and yours with it: %s", f.Agent, f.File)
		}
		return string(f.Session), fmt.Sprintf("%s changed its copy of your login, and yours stays as it is: %s (%s); "+
			"if it asks for a login later, log in again", f.Agent, f.Kept, f.File)
	case nexus.AgentProgramEnded:
		if f.Fault == "" {
			return string(f.Session), f.Agent + " is done"
		}
		return string(f.Session), WithReason(fmt.Sprintf("%s did not finish (%s)", f.Agent, f.Fault), f.Why)
	default:
		return "", ""
	}
}

// isAgentDone reports whether an agent program of another maker ended normally.
func isAgentDone(f nexus.Fact) bool {
	e, ok := f.(nexus.AgentProgramEnded)
	return ok && e.Fault == ""
}

// roundCause describes the cause of a round: a gate, or people's comments.
func roundCause(cause string) string {
	switch cause {
	case "":
		return ""
	case nexus.PersonCause:
		cause = "comments of a person"
	case nexus.AnswerCause:
		cause = "comments without an answer"
	}
	return ", because of " + cause
}

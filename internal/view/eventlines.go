package view

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/decide/replan"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// DrawEvent draws one event for `nexus logs`: time, subject, and text.
func DrawEvent(s OutputStyle, e nexus.Event) string {
	about, text := describeEvent(e)
	if s.Plain {
		return strings.Join([]string{e.At.UTC().Format(time.RFC3339Nano), nexus.FactKind(e.Fact), EscapeForTerminal(about), EscapeForTerminal(text)}, "\t")
	}
	return s.TruncateLine(fmt.Sprintf("%s %s %s", s.Dim(e.At.Local().Format(time.TimeOnly)), s.Bold(fmt.Sprintf("%-8s", EscapeForTerminal(about))), s.TintFact(e.Fact, EscapeForTerminal(text))))
}

// EventLineDrawer draws the events of a run for a reader of output that cannot be redrawn. It belongs to
// one goroutine; the zero Lines start anew.
type EventLineDrawer struct {
	Verbose bool // also the run's decisions: routes, lessons of other runs, accepted requests

	told    []printedReason // the newest last
	planner bool            // it was called: its work from then on is described with its result
}

// printedReason is a printed line, or its part after a colon.
type printedReason struct{ about, text string }

// mostTold limits the remembered reasons, and leastTold is the minimum length of a reason that is
// not repeated.
const (
	mostTold  = 100
	leastTold = 12
)

// Draw draws one event. It is empty for an event that is not worth a line. The reason of a
// failure is printed once, and not repeated for its consequences: the end of the attempt, the
// parked task, and the end of the run without it. Another attempt at the task that fails in the
// same way prints it again.
func (l *EventLineDrawer) Draw(s OutputStyle, e nexus.Event) string {
	if f, ok := e.Fact.(nexus.SessionStarted); ok && f.Role == nexus.Planner {
		l.planner = true
	}
	if before := !l.planner && describeWorkBeforePlan(e.Fact) != ""; !before && (!isNotable(e.Fact) || !l.Verbose && isRoutine(e.Fact)) {
		return ""
	}
	about, text := describeEvent(e)
	if about = EscapeForTerminal(about); about != "" {
		about += ": "
	}
	whole := about + text
	task, _, _ := strings.Cut(strings.TrimSuffix(about, ": "), ".")
	if _, begins := e.Fact.(nexus.AttemptStarted); begins {
		l.told = slices.DeleteFunc(l.told, func(r printedReason) bool { return r.about == task })
	}
	if followsPrintedFailure(e.Fact) {
		if _, again := e.Fact.(nexus.ReviewerVerdictGiven); again && slices.Contains(l.told, printedReason{task, whole}) {
			return ""
		}
		text = l.removePrintedReasons(task, text)
	}
	l.rememberReasons(task, whole)
	line := about + s.TintFact(e.Fact, EscapeForTerminal(text))
	switch {
	case s.Plain:
		return line
	case needsFullText(e.Fact):
		return s.wrapLimited(line)
	default:
		return s.TruncateLine(line)
	}
}

// removePrintedReasons removes reasons that were printed about a task; without a task, about any.
func (l *EventLineDrawer) removePrintedReasons(task, text string) string {
	known := slices.SortedStableFunc(slices.Values(l.told), func(a, b printedReason) int { return len(b.text) - len(a.text) })
	for _, r := range known {
		if task == "" || r.about == task {
			text = strings.ReplaceAll(text, ": "+r.text, "")
		}
	}
	return text
}

// rememberReasons remembers a line, and its part after each colon.
func (l *EventLineDrawer) rememberReasons(task, line string) {
	for more := true; more; _, line, more = strings.Cut(line, ": ") {
		if r := (printedReason{task, line}); len(line) >= leastTold && !slices.Contains(l.told, r) {
			l.told = append(l.told, r)
		}
	}
	l.told = l.told[max(0, len(l.told)-mostTold):]
}

// needsFullText reports whether people must read a line to its end: a question, or the reason why
// something does not continue normally.
func needsFullText(f nexus.Fact) bool {
	switch f := f.(type) {
	case nexus.QuestionAsked, nexus.PlanningFailed, nexus.PlanCoverageChecked, nexus.PlanRejected, nexus.InterviewRoundFailed, nexus.SpecWritingFailed, nexus.TaskParked, nexus.TaskEscalated, nexus.LandingRejected, nexus.TargetMergeRefused, nexus.UndoRefused, nexus.ResultPublished,
		nexus.RunDrainStarted, nexus.RunEnded, nexus.RunPaused, nexus.AttemptInfrastructureFailed, nexus.AttemptLost, nexus.BudgetRefused, nexus.ModelCallDelayed, nexus.QuotaExhausted, nexus.QuotaNearlyExhausted,
		nexus.SessionModelSwitched, nexus.AlertRaised:
		return true
	case nexus.RequestSettled:
		return !f.Granted
	default:
		return false
	}
}

// followsPrintedFailure reports whether a fact usually follows from a failure that was printed already.
func followsPrintedFailure(f nexus.Fact) bool {
	switch f := f.(type) {
	case nexus.AttemptEnded, nexus.AttemptLost, nexus.TaskParked, nexus.TaskEscalated, nexus.RunDrainStarted, nexus.RunEnded:
		return true
	case nexus.ReviewerVerdictGiven:
		return !f.Reviewed
	default:
		return false
	}
}

// describeEvent is like Describe, with the time of the event.
func describeEvent(e nexus.Event) (about, text string) {
	switch f := e.Fact.(type) {
	case nexus.QuotaExhausted:
		return "", WithReason(outOfQuotaText(f.Account, f.Until, e.At), f.Why)
	case nexus.QuotaNearlyExhausted:
		return "", WithReason(sessionHoldText(f.Account, f.Until, e.At), state.QuotaHoldReason(f))
	default:
		return DescribeFact(e.Fact)
	}
}

// isRoutine reports whether a fact is only about the run's internal steps.
func isRoutine(f nexus.Fact) bool {
	switch f := f.(type) {
	case nexus.ComplexityRatingStarted, nexus.ComplexityRatingEnded, nexus.StartTierChosen, nexus.ReviewModelChosen, nexus.OtherRunsSpendingRecorded, nexus.CheckpointMade, nexus.CheckpointDropped:
		return true
	case nexus.RequestSettled:
		return f.Granted
	default:
		return false
	}
}

// isNotable reports whether a fact matters to a person who waits for the run.
func isNotable(f nexus.Fact) bool {
	switch f := f.(type) {
	case nexus.GateJudged:
		if f.Base {
			return f.Evidence.IncomparableReason() != ""
		}
		return !f.Cached && (!f.Evidence.Passed() || len(f.Evidence.Flaky) > 0)
	case nexus.GatesVerdictGiven:
		return f.State == nexus.Pass // a failed gate was printed already
	case nexus.ModelCallDelayed:
		return f.Wait >= 5*time.Second || f.Wait == 0
	case nexus.NetworkRequestsRecorded:
		return networkRefused(f)
	case nexus.TreeSnapshotted:
		return f.Fixed != ""
	case nexus.AttemptEnded:
		return f.Outcome != nexus.Accepted // the review was printed already
	case nexus.HookRan:
		return f.State != nexus.HookOK
	case nexus.AgentLoginRenewed:
		return f.Kept != ""
	case nexus.PluginAnswered:
		return f.State != nexus.PluginOK || f.About != ""
	case nexus.RoundStarted:
		return f.Round > 1 // the attempt began with the first
	case nexus.StartHooksAsked, nexus.StartHooksAnswered, nexus.GateStarted, nexus.SessionStarted, nexus.PromptSent, nexus.ModelTurnRecorded, nexus.ToolCallStarted, nexus.ToolCallEnded,
		nexus.ToolResultsSent, nexus.SessionEnded, nexus.AgentConversationOpened, nexus.AgentQuotaReported, nexus.BudgetReserved, nexus.BudgetSettled,
		nexus.LandingQueued, nexus.LandingStarted, nexus.RunPrechecked, nexus.ResultPublishingStarted, nexus.FinalGatesStarted, nexus.PlanApproved:
		return false
	default:
		return !isAgentDone(f)
	}
}

// TintFact colours a line as good or bad news.
func (s OutputStyle) TintFact(f nexus.Fact, text string) string {
	good := func(ok bool) string {
		if ok {
			return s.Good(text)
		}
		return s.Bad(text)
	}
	switch f := f.(type) {
	case nexus.GateJudged:
		return good(f.Evidence.Passed())
	case nexus.ReviewerVerdictGiven:
		return good(f.Approved && !f.SendsBack)
	case nexus.VerifierVerdictGiven:
		return good(f.Read && f.Category == "")
	case nexus.TestsRunWithoutWork:
		return good(f.Proof == nexus.ProofRed)
	case nexus.RoleIsolationViolated, nexus.TamperSuspected:
		return s.Warn(text)
	case nexus.LandingCompleted:
		return s.Good(text)
	case nexus.AttemptEnded:
		return good(f.Outcome == nexus.Accepted)
	case nexus.RunEnded:
		return good(f.Status == nexus.StatusDone)
	case nexus.PlanningFailed, nexus.BudgetRefused, nexus.AttemptInfrastructureFailed, nexus.AlertRaised:
		return s.Bad(text)
	case nexus.TaskParked:
		if f.Failed {
			return s.Bad(text)
		}
		return s.Warn(text)
	case nexus.NetworkRequestsRecorded:
		if networkRefused(f) {
			return s.Warn(text)
		}
		return s.Dim(text)
	case nexus.LandingRejected, nexus.AttemptLost, nexus.QuestionAsked, nexus.ModelCallDelayed, nexus.QuotaExhausted, nexus.QuotaNearlyExhausted, nexus.SessionModelSwitched:
		return s.Warn(text)
	case nexus.ModelTurnRecorded, nexus.ToolCallStarted, nexus.ToolCallEnded, nexus.ToolResultsSent, nexus.PromptSent, nexus.SessionCompacted,
		nexus.GateStarted, nexus.BudgetReserved, nexus.BudgetSettled, nexus.TreeSnapshotted:
		return s.Dim(text)
	default:
		return text
	}
}

// DescribeFact returns the subject of a fact and a description, in words that may be from outside:
// see [EscapeForTerminal].
func DescribeFact(f nexus.Fact) (about, text string) {
	switch f := f.(type) {
	case nexus.RunPrechecked:
		return "", "checked the requirements: " + cmp.Or(strings.Join(f.Notices, "; "), "all met")
	case nexus.AlertRaised, nexus.AlertCleared:
		return describeAlert(f)
	case nexus.ReplanRequested:
		return string(f.Session), "asks for a new plan: " + f.Reason
	case nexus.ReplanDecided:
		return string(f.Task), replan.DecisionText(f)
	case nexus.GoalAccepted, nexus.RunStarted, nexus.RunRecovered, nexus.RunPaused, nexus.RunResumed, nexus.RunReopened,
		nexus.RunDrainStarted, nexus.FinalGatesJudged, nexus.FinalGatesStarted, nexus.ResultPublishingStarted, nexus.ResultPublished, nexus.RunEnded:
		return "", describeRun(f)
	case nexus.StartHooksAsked, nexus.StartHooksAnswered, nexus.HookRan, nexus.PluginAnswered:
		return "", describeHook(f)
	case nexus.RequestMade, nexus.RequestSettled, nexus.QuestionAsked, nexus.QuestionExpired, nexus.QuestionAnswered:
		return "", describeRequest(f)
	case nexus.PlanningStarted, nexus.PlanProposed, nexus.PlanningFailed, nexus.PlanApproved, nexus.PlanRejected, nexus.PlanRevised, nexus.PlanCoverageChecked:
		return "plan", describePlan(f)
	case nexus.SpecWritingStarted, nexus.SpecWritten, nexus.SpecWritingFailed,
		nexus.InterviewRoundStarted, nexus.InterviewRoundEnded, nexus.InterviewRoundFailed, nexus.RequirementCaptured, nexus.RequirementWithdrawn, nexus.SpecPartWithdrawn, nexus.SpecPartsCorrected, nexus.AssumptionStated, nexus.AssumptionConfirmed:
		return interviewFactSubject(f), describeInterview(f)
	case nexus.TaskPlanned, nexus.TaskParked, nexus.TaskSkipped, nexus.TaskPaused, nexus.TaskResumed, nexus.TaskRetried, nexus.StartTierChosen, nexus.TaskEscalated,
		nexus.LandingQueued, nexus.LandingStarted, nexus.LandingCompleted, nexus.LandingRejected:
		return describeTask(f)
	case nexus.TargetLandingRequested, nexus.TargetBranchMoved, nexus.TargetMergeStarted, nexus.TargetMergeCommitted, nexus.TargetMergeRefused:
		return "", describeLanding(f)
	case nexus.CheckpointMade, nexus.CheckpointDropped, nexus.RunRewound, nexus.TaskStateInherited, nexus.UndoStarted, nexus.UndoLanded, nexus.UndoRefused:
		return describeCheckpoint(f)
	case nexus.ComplexityRatingStarted, nexus.ComplexityRatingEnded:
		return "routing", describeRouting(f)
	case nexus.CriterionDiagnosisStarted, nexus.CriterionFaultsFound, nexus.FixTasksPlanned, nexus.CriterionRevised, nexus.TaskSplitStarted, nexus.TaskSplitCompleted, nexus.TaskSplitFailed:
		return "", describeFix(f)
	case nexus.AdditionPlanningStarted, nexus.AdditionTasksProposed, nexus.AdditionPlanningFailed, nexus.TasksAdded:
		return "plan", describeAddition(f)
	case nexus.ReviewModelChosen:
		return string(f.Role), fmt.Sprintf("%s reviews the work of %s: %s", f.Model, f.Author, f.Why)
	case nexus.SharedSessionGroupFormed, nexus.AttemptStarted, nexus.AttemptResumed, nexus.AgentTurnInterrupted, nexus.AttemptLost, nexus.AttemptInfrastructureFailed, nexus.AttemptEnded, nexus.StartingTreeRejected,
		nexus.RoundStarted, nexus.GateStarted, nexus.GateJudged, nexus.GatesVerdictGiven, nexus.ReviewerVerdictGiven, nexus.TreeSnapshotted,
		nexus.TestsRunWithoutWork, nexus.RoleIsolationViolated, nexus.TamperSuspected, nexus.VerifierVerdictGiven:
		return describeAttempt(f)
	case nexus.CriterionTestsFound, nexus.IndependentChecksRun, nexus.CriterionCommandTried, nexus.BaseFailuresCompared, nexus.CriteriaEvidenceRecorded:
		return describeProof(f)
	case nexus.SessionStarted, nexus.PromptSent, nexus.ModelTurnRecorded, nexus.ToolCallStarted, nexus.ToolCallEnded,
		nexus.ToolResultsSent, nexus.SessionCompacted, nexus.SessionEnded, nexus.AgentConversationOpened, nexus.AgentQuotaReported, nexus.AgentLoginRenewed, nexus.AgentProgramEnded:
		return describeSession(f)
	case nexus.WorkReturnedToAuthor, nexus.SuggestionsApplied, nexus.CommentsAnswered, nexus.ChangeRiskRated:
		return describeComments(f)
	case nexus.NetworkRequestsRecorded:
		return describeNetwork(f)
	case nexus.BudgetReserved, nexus.BudgetSettled, nexus.BudgetRefused, nexus.OtherRunsSpendingRecorded, nexus.BudgetPercentReached, nexus.ModelCallDelayed,
		nexus.QuotaExhausted, nexus.QuotaNearlyExhausted, nexus.QuotaReset, nexus.SessionModelSwitched:
		return describeMoney(f)
	case nexus.LoopRulesSet, nexus.ImproveCycleStarted, nexus.ImproveCycleSearched, nexus.ImproveCycleFailed, nexus.LoopPauseStarted,
		nexus.LoopItemWorkStarted, nexus.LoopItemWorkEnded, nexus.LoopItemLandingConfirmed, nexus.LoopItemLandingStarted, nexus.LoopItemLanded, nexus.CheckAfterLandingStarted, nexus.LandingCheckEnded, nexus.LoopItemRevertStarted, nexus.LoopItemReverted, nexus.LoopItemRevertFailed, nexus.WaitingResultDecided,
		nexus.PullRequestUpdateStarted, nexus.PullRequestUpdated, nexus.PullRequestUpdateFailed, nexus.PullRequestClosed:
		return describeLoop(f)
	case nexus.DependenciesInstalled:
		return "environment", fmt.Sprintf("%s is ready, %s: %s KB in %s", f.Key, f.Source, FormatNumber(f.Bytes>>10), FormatDuration(f.Duration))
	}
	return "", ""
}

// describeAlert describes an alert, or its end.
func describeAlert(f nexus.Fact) (about, text string) {
	if over, ok := f.(nexus.AlertCleared); ok {
		return over.Of, "alert over: " + ClearedText(over)
	}
	raised, _ := f.(nexus.AlertRaised)
	return raised.Of, "alert: " + AlertText(raised)
}

// describeProof describes the evidence for the work, or whether a check of the plan can provide
// it.
func describeProof(f nexus.Fact) (about, text string) {
	switch f := f.(type) {
	case nexus.CriterionTestsFound:
		return string(f.Attempt), describeChecks(f)
	case nexus.IndependentChecksRun:
		return string(f.Attempt), describeIndependentChecks(f)
	case nexus.CriterionCommandTried:
		return "plan", describeCheckTrial(f.Evidence)
	case nexus.BaseFailuresCompared:
		return string(f.Attempt), describeBaseFailures(f)
	case nexus.CriteriaEvidenceRecorded:
		return string(f.Attempt), describeCriteria(f)
	default:
		return "", ""
	}
}

// describeRouting describes how the difficulty of tasks is determined.
func describeRouting(f nexus.Fact) string {
	if told, ok := f.(nexus.ComplexityRatingEnded); ok {
		return WithReason(fmt.Sprintf("rated %s", CountWithNoun(len(told.Routes), "task")), told.Why)
	}
	sought, _ := f.(nexus.ComplexityRatingStarted)
	return fmt.Sprintf("asking how difficult %s are", CountWithNoun(len(sought.Tasks), "task"))
}

// describeTask describes a change of a task's status, from its plan to its landing.
func describeTask(f nexus.Fact) (about, text string) {
	switch f := f.(type) {
	case nexus.TaskPlanned:
		return string(f.Task.ID), "planned: " + f.Task.Title
	case nexus.TaskParked:
		if f.Failed {
			return string(f.Task), "failed: " + f.Why
		}
		return string(f.Task), "parked: " + f.Why
	case nexus.TaskSkipped:
		return string(f.Task), "skipped" + byText(f.By)
	case nexus.TaskPaused:
		return string(f.Task), "paused" + byText(f.By)
	case nexus.TaskResumed:
		return string(f.Task), "continues" + byText(f.By)
	case nexus.TaskRetried:
		text = "retried" + byText(f.By)
		if f.Round > 0 {
			text += fmt.Sprintf(", from round %d of %s", f.Round, f.Attempt)
		}
		if f.Fresh {
			text += ", from scratch"
		}
		return string(f.Task), text
	case nexus.StartTierChosen:
		text = fmt.Sprintf("%s, starts on tier %s: %s (%s)", f.Complexity, f.Tier, f.Why, f.By)
		if f.Strategy != "" {
			text += fmt.Sprintf("; strategy %s: %s", f.Strategy, f.Chosen)
		}
		return string(f.Task), text
	case nexus.TaskEscalated:
		if f.Strategy != "" {
			return string(f.Task), fmt.Sprintf("continues with strategy %s: %s", f.Strategy, f.Why)
		}
		return string(f.Task), fmt.Sprintf("moved from tier %s to %s: %s", f.From, f.To, f.Why)
	case nexus.LandingQueued:
		return string(f.Task), "waiting to land"
	case nexus.LandingStarted:
		return string(f.Task), "landing on " + ShortHash(f.Onto)
	case nexus.LandingCompleted:
		text = "landed as " + ShortHash(f.Commit)
		if f.Resolved {
			text += ", conflict resolved"
		}
		return string(f.Task), text
	case nexus.LandingRejected:
		return string(f.Task), "not landed: " + f.Why
	default:
		return "", ""
	}
}

// describeMoney describes the possible or actual cost of a call, and why it is not made.
func describeMoney(f nexus.Fact) (about, text string) {
	switch f := f.(type) {
	case nexus.BudgetReserved:
		return string(f.Task), fmt.Sprintf("reserved %s for %s", f.Money, f.Model)
	case nexus.BudgetSettled:
		return "", fmt.Sprintf("spent %s, %s tokens", f.Money, FormatNumber(f.Usage.TotalTokens()))
	case nexus.ModelCallDelayed:
		return string(f.Session), delayText(f)
	case nexus.QuotaExhausted:
		return "", WithReason(fmt.Sprintf("%s is out of quota until %s", f.Account, f.Until.UTC().Format(time.RFC3339)), f.Why)
	case nexus.QuotaNearlyExhausted:
		return "", WithReason(fmt.Sprintf("%s starts no session until %s", f.Account, f.Until.UTC().Format(time.RFC3339)), state.QuotaHoldReason(f))
	case nexus.QuotaReset:
		return "", f.Account + " has quota again"
	case nexus.SessionModelSwitched:
		return string(f.Session), WithReason(fmt.Sprintf("continues with %s instead of %s", f.To, f.From), f.Why)
	case nexus.OtherRunsSpendingRecorded:
		return "", fmt.Sprintf("other runs have used %s on %s", f.Others, f.Day)
	case nexus.BudgetPercentReached:
		return "", fmt.Sprintf("%d %% of the budget is used", f.Percent)
	case nexus.BudgetRefused:
		return string(f.Task), fmt.Sprintf("a call for %s was refused: %s of %s is spent or reserved (budget: %s)", f.Asked, f.Spent, f.Limit, f.Cap)
	default:
		return "", ""
	}
}

// delayText describes how long a call waits: a failed one, or one that is delayed before it is
// made.
func delayText(f nexus.ModelCallDelayed) string {
	switch {
	case f.Try > 0:
		return WithReason(fmt.Sprintf("%s is %s, retrying in %s", f.Model, f.Why, f.Wait.Round(time.Second)), f.Said)
	case f.Wait > 0:
		return WithReason(fmt.Sprintf("%s is %s, continuing in %s", f.Model, f.Why, FormatDuration(max(f.Wait, time.Second))), f.Said)
	default:
		return WithReason(fmt.Sprintf("%s is %s, waiting for its turn", f.Model, f.Why), f.Said)
	}
}

func byText(who string) string {
	if who == "" {
		return ""
	}
	return " by " + who
}

// WithReason appends a reason, if there is one.
func WithReason(text, why string) string {
	if why == "" {
		return text
	}
	return text + ": " + why
}

func describeRun(f nexus.Fact) string {
	switch f := f.(type) {
	case nexus.GoalAccepted:
		return "goal: " + GoalLine(f.Goal.Text)
	case nexus.RunStarted:
		return fmt.Sprintf("started by process %d on %s", f.Process.PID, f.Process.Host) + sandboxWarning(f.Sandbox)
	case nexus.RunRecovered:
		return fmt.Sprintf("taken over by process %d on %s", f.Process.PID, f.Process.Host) + sandboxWarning(f.Sandbox)
	case nexus.RunPaused:
		return WithReason("paused", f.Why)
	case nexus.RunResumed:
		return "resumed"
	case nexus.RunReopened:
		return WithReason("reopened", f.Why)
	case nexus.RunDrainStarted:
		return WithReason(fmt.Sprintf("finishing the running tasks, then ending as %s", f.To), f.Why)
	case nexus.FinalGatesStarted:
		return "all tasks ended; checking the result as a whole"
	case nexus.FinalGatesJudged:
		if f.Verdict.Passed {
			return describePassed(f.Verdict.Evidence)
		}
		return WithReason("the result does not pass", f.Verdict.Why)
	case nexus.ResultPublishingStarted:
		return "publishing " + ShortHash(f.Commit)
	case nexus.ResultPublished:
		if f.Branch == "" {
			return WithReason("not published", f.Why)
		}
		text := fmt.Sprintf("published %s at %s", f.Branch, ShortHash(f.Commit))
		if f.Target != "" {
			text += ", " + f.Target + " moved too"
		}
		if f.Merged != "" {
			text += " to " + ShortHash(f.Merged)
		}
		if f.Bare != "" {
			text += ", without evidence notes (" + f.Bare + ")"
		}
		return WithReason(text, f.Why)
	case nexus.RunEnded:
		return WithReason(string(f.Status), f.Why)
	default:
		return ""
	}
}

// describePassed describes the gaps in a result that passes its gates. It passes every gate only
// if each of them ran, gave a result, and found nothing.
func describePassed(evidence []nexus.GateEvidence) string {
	var open []string
	for _, e := range evidence {
		switch {
		case e.Apart:
		case e.Hangs:
			open = append(open, e.Gate+", which already hung before the work")
		case e.State == nexus.NotRun:
			open = append(open, e.Gate+", which did not run")
		case !e.Passed():
			open = append(open, fmt.Sprintf("%s, which is %s", e.Gate, e.State))
		case len(e.Old) > 0:
			open = append(open, fmt.Sprintf("%s, with the same findings as before the work: %s", e.Gate, joinFirst(e.Old)))
		case len(e.Flaky) > 0:
			open = append(open, e.Gate+", which has flaky tests")
		}
	}
	if len(open) > 0 {
		return "the result passes every gate except " + strings.Join(open, "; ")
	}
	if len(evidence) > 0 && !slices.ContainsFunc(evidence, func(e nexus.GateEvidence) bool { return !strings.HasPrefix(e.Gate, nexus.AcceptGate) }) {
		return "the result passes the commands of its criteria; there is no gate"
	}
	return "the result passes every gate"
}

func describeRequest(f nexus.Fact) string {
	switch f := f.(type) {
	case nexus.RequestMade:
		r := f.Request
		text := strings.TrimSpace(string(r.Verb) + " " + string(r.Task) + r.ID)
		return WithReason(text+" requested"+byText(r.By), r.Text)
	case nexus.RequestSettled:
		if f.Granted {
			return WithReason(fmt.Sprintf("request %d accepted", f.Seq), f.Why)
		}
		return WithReason(fmt.Sprintf("request %d refused", f.Seq), f.Why)
	case nexus.QuestionAsked:
		text := fmt.Sprintf("%s needs an answer: %s (%s)", f.ID, f.Text, replyCommands(f))
		if f.Deadline.IsZero() || humaninput.StaysOpenAfterDeadline(f.Trigger) {
			return text
		}
		return text + f.Deadline.Local().Format("; deadline 15:04:05")
	case nexus.QuestionExpired:
		return fmt.Sprintf("%s stays open: there was no answer", f.ID)
	case nexus.QuestionAnswered:
		return WithReason(fmt.Sprintf("%s answered%s: %s", f.ID, byText(f.By), f.Text), f.Why)
	default:
		return ""
	}
}

// replyCommands returns the commands that answer a question.
func replyCommands(q nexus.QuestionAsked) string {
	if q.Trigger == humaninput.PlanTrigger {
		return fmt.Sprintf("nexus approve %s, or nexus reject %s --why TEXT for another plan", q.ID, q.ID)
	}
	if q.Trigger == nexus.StepTrigger {
		return fmt.Sprintf("nexus answer %s yes, skip, stop, or TEXT for its agent", q.ID)
	}
	if humaninput.StaysOpenAfterDeadline(q.Trigger) {
		return fmt.Sprintf("nexus approve %s, or nexus reject %s", q.ID, q.ID)
	}
	return fmt.Sprintf("nexus answer %s TEXT; without an answer: %s", q.ID, q.Fallback)
}

func describePlan(f nexus.Fact) string {
	switch f := f.(type) {
	case nexus.PlanningStarted:
		return "planning"
	case nexus.PlanProposed:
		if f.Cover != nil {
			return CountWithNoun(f.Tasks, "task") + " proposed; " + coverageLine(f.Cover)
		}
		return CountWithNoun(f.Tasks, "task") + " proposed"
	case nexus.PlanCoverageChecked:
		return describeCoverageCheck(f.Cover)
	case nexus.PlanningFailed:
		return WithReason("planning failed", f.Why)
	case nexus.PlanApproved:
		return "approved" + byText(f.By)
	case nexus.PlanRejected:
		return WithReason("refused"+byText(f.By)+", making another one", f.Why)
	case nexus.PlanRevised:
		return "edited" + byText(f.By) + ": " + CountWithNoun(f.Tasks, "task")
	default:
		return ""
	}
}

// sandboxWarning returns a warning about a run's sandbox: empty if it confines the run as it
// should.
func sandboxWarning(sandbox string) string {
	switch sandbox {
	case "off":
		return ", without a sandbox: agents can change everything that you can"
	case "landlock":
		return ", with the weaker sandbox landlock: nexus doctor lists what it cannot stop"
	}
	return ""
}

// IsBadNews reports whether a fact is bad news.
func IsBadNews(f nexus.Fact) bool {
	s := OutputStyle{Color: true}
	return s.TintFact(f, "-") == s.Bad("-")
}

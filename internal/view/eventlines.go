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
func DrawEvent(s Style, e nexus.Event) string {
	about, text := describeEvent(e)
	if s.Plain {
		return strings.Join([]string{e.At.UTC().Format(time.RFC3339Nano), nexus.FactKind(e.Fact), Clean(about), Clean(text)}, "\t")
	}
	return s.TruncateLine(fmt.Sprintf("%s %s %s", s.Dim(e.At.Local().Format(time.TimeOnly)), s.Bold(fmt.Sprintf("%-8s", Clean(about))), s.TintFact(e.Fact, Clean(text))))
}

// EventLines draws the events of a run for a reader of output that cannot be redrawn. It belongs to
// one goroutine; the zero Lines start anew.
type EventLines struct {
	Verbose bool // also the run's decisions: routes, lessons of other runs, accepted requests

	told    []toldReason // the newest last
	planner bool         // it was called: its work from then on is described with its result
}

// toldReason is a printed line, or its part after a colon.
type toldReason struct{ about, text string }

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
func (l *EventLines) Draw(s Style, e nexus.Event) string {
	if f, ok := e.Fact.(nexus.SessionStarted); ok && f.Role == nexus.Planner {
		l.planner = true
	}
	if before := !l.planner && beforePlan(e.Fact) != ""; !before && (!isNotable(e.Fact) || !l.Verbose && isRoutine(e.Fact)) {
		return ""
	}
	about, text := describeEvent(e)
	if about = Clean(about); about != "" {
		about += ": "
	}
	whole := about + text
	task, _, _ := strings.Cut(strings.TrimSuffix(about, ": "), ".")
	if _, begins := e.Fact.(nexus.AttemptStarted); begins {
		l.told = slices.DeleteFunc(l.told, func(r toldReason) bool { return r.about == task })
	}
	if isConsequence(e.Fact) {
		if _, again := e.Fact.(nexus.ReviewGiven); again && slices.Contains(l.told, toldReason{task, whole}) {
			return ""
		}
		text = l.removeToldReasons(task, text)
	}
	l.rememberReasons(task, whole)
	line := about + s.TintFact(e.Fact, Clean(text))
	switch {
	case s.Plain:
		return line
	case needsFullText(e.Fact):
		return s.wrapLimited(line)
	default:
		return s.TruncateLine(line)
	}
}

// removeToldReasons removes reasons that were printed about a task; without a task, about any.
func (l *EventLines) removeToldReasons(task, text string) string {
	known := slices.SortedStableFunc(slices.Values(l.told), func(a, b toldReason) int { return len(b.text) - len(a.text) })
	for _, r := range known {
		if task == "" || r.about == task {
			text = strings.ReplaceAll(text, ": "+r.text, "")
		}
	}
	return text
}

// rememberReasons remembers a line, and its part after each colon.
func (l *EventLines) rememberReasons(task, line string) {
	for more := true; more; _, line, more = strings.Cut(line, ": ") {
		if r := (toldReason{task, line}); len(line) >= leastTold && !slices.Contains(l.told, r) {
			l.told = append(l.told, r)
		}
	}
	l.told = l.told[max(0, len(l.told)-mostTold):]
}

// needsFullText reports whether people must read a line to its end: a question, or the reason why
// something does not continue normally.
func needsFullText(f nexus.Fact) bool {
	switch f := f.(type) {
	case nexus.QuestionAsked, nexus.PlanFailed, nexus.PlanLooked, nexus.PlanRefused, nexus.InterviewFailed, nexus.SpecFailed, nexus.TaskParked, nexus.TaskEscalated, nexus.TrainRefused, nexus.LandingRefused, nexus.UndoRefused, nexus.ResultPublished,
		nexus.RunDrained, nexus.RunEnded, nexus.RunPaused, nexus.AttemptBroken, nexus.AttemptLost, nexus.BudgetRefused, nexus.CallDelayed, nexus.QuotaHit, nexus.QuotaHeld,
		nexus.ModelSwitched, nexus.AlertRaised:
		return true
	case nexus.RequestSettled:
		return !f.Granted
	default:
		return false
	}
}

// isConsequence reports whether a fact usually follows from a failure that was printed already.
func isConsequence(f nexus.Fact) bool {
	switch f := f.(type) {
	case nexus.AttemptEnded, nexus.AttemptLost, nexus.TaskParked, nexus.TaskEscalated, nexus.RunDrained, nexus.RunEnded:
		return true
	case nexus.ReviewGiven:
		return !f.Reviewed
	default:
		return false
	}
}

// describeEvent is like Describe, with the time of the event.
func describeEvent(e nexus.Event) (about, text string) {
	switch f := e.Fact.(type) {
	case nexus.QuotaHit:
		return "", WithReason(outOfQuotaText(f.Account, f.Until, e.At), f.Why)
	case nexus.QuotaHeld:
		return "", WithReason(sessionHoldText(f.Account, f.Until, e.At), state.QuotaHoldReason(f))
	default:
		return DescribeFact(e.Fact)
	}
}

// isRoutine reports whether a fact is only about the run's internal steps.
func isRoutine(f nexus.Fact) bool {
	switch f := f.(type) {
	case nexus.RoutesSought, nexus.RoutesTold, nexus.TaskRouted, nexus.RoleRouted, nexus.BudgetShared, nexus.CheckpointMade, nexus.CheckpointDropped:
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
	case nexus.VerdictGiven:
		return f.State == nexus.Pass // a failed gate was printed already
	case nexus.CallDelayed:
		return f.Wait >= 5*time.Second || f.Wait == 0
	case nexus.NetworkJudged:
		return networkRefused(f)
	case nexus.TreeSnapshotted:
		return f.Fixed != ""
	case nexus.AttemptEnded:
		return f.Outcome != nexus.Accepted // the review was printed already
	case nexus.HookRan:
		return f.State != nexus.HookOK
	case nexus.AgentRenewed:
		return f.Kept != ""
	case nexus.PluginAnswered:
		return f.State != nexus.PluginOK || f.About != ""
	case nexus.RoundStarted:
		return f.Round > 1 // the attempt began with the first
	case nexus.StartSought, nexus.StartJudged, nexus.GateStarted, nexus.SessionStarted, nexus.PromptSent, nexus.TurnTaken, nexus.ToolCalled, nexus.ToolAnswered,
		nexus.ToolsAnswered, nexus.SessionEnded, nexus.AgentOpened, nexus.AgentLimited, nexus.BudgetReserved, nexus.BudgetSpent,
		nexus.TrainBoarded, nexus.TrainDeparted, nexus.RunChecked, nexus.ResultOffered, nexus.ResultReviewed, nexus.PlanApproved:
		return false
	default:
		return !isAgentDone(f)
	}
}

// TintFact colours a line as good or bad news.
func (s Style) TintFact(f nexus.Fact, text string) string {
	good := func(ok bool) string {
		if ok {
			return s.Good(text)
		}
		return s.Bad(text)
	}
	switch f := f.(type) {
	case nexus.GateJudged:
		return good(f.Evidence.Passed())
	case nexus.ReviewGiven:
		return good(f.Approved && !f.SendsBack)
	case nexus.WorkVerified:
		return good(f.Read && f.Category == "")
	case nexus.TestsProved:
		return good(f.Proof == nexus.ProofRed)
	case nexus.IsolationBroken, nexus.TamperSuspected:
		return s.Warn(text)
	case nexus.TrainLanded:
		return s.Good(text)
	case nexus.AttemptEnded:
		return good(f.Outcome == nexus.Accepted)
	case nexus.RunEnded:
		return good(f.Status == nexus.StatusDone)
	case nexus.PlanFailed, nexus.BudgetRefused, nexus.AttemptBroken, nexus.AlertRaised:
		return s.Bad(text)
	case nexus.TaskParked:
		if f.Failed {
			return s.Bad(text)
		}
		return s.Warn(text)
	case nexus.NetworkJudged:
		if networkRefused(f) {
			return s.Warn(text)
		}
		return s.Dim(text)
	case nexus.TrainRefused, nexus.AttemptLost, nexus.QuestionAsked, nexus.CallDelayed, nexus.QuotaHit, nexus.QuotaHeld, nexus.ModelSwitched:
		return s.Warn(text)
	case nexus.TurnTaken, nexus.ToolCalled, nexus.ToolAnswered, nexus.ToolsAnswered, nexus.PromptSent, nexus.SessionCompacted,
		nexus.GateStarted, nexus.BudgetReserved, nexus.BudgetSpent, nexus.TreeSnapshotted:
		return s.Dim(text)
	default:
		return text
	}
}

// DescribeFact returns the subject of a fact and a description, in words that may be from outside:
// see [Clean].
func DescribeFact(f nexus.Fact) (about, text string) {
	switch f := f.(type) {
	case nexus.RunChecked:
		return "", "checked the requirements: " + cmp.Or(strings.Join(f.Notices, "; "), "all met")
	case nexus.AlertRaised, nexus.AlertCleared:
		return describeAlert(f)
	case nexus.ReplanAsked:
		return string(f.Session), "asks for a new plan: " + f.Reason
	case nexus.ReplanDecided:
		return string(f.Task), replan.DecisionText(f)
	case nexus.GoalAccepted, nexus.RunStarted, nexus.RunRecovered, nexus.RunPaused, nexus.RunResumed, nexus.RunReopened,
		nexus.RunDrained, nexus.ResultGated, nexus.ResultReviewed, nexus.ResultOffered, nexus.ResultPublished, nexus.RunEnded:
		return "", describeRun(f)
	case nexus.StartSought, nexus.StartJudged, nexus.HookRan, nexus.PluginAnswered:
		return "", describeHook(f)
	case nexus.RequestMade, nexus.RequestSettled, nexus.QuestionAsked, nexus.QuestionLeft, nexus.QuestionAnswered:
		return "", describeRequest(f)
	case nexus.PlanSought, nexus.PlanProposed, nexus.PlanFailed, nexus.PlanApproved, nexus.PlanRefused, nexus.PlanRevised, nexus.PlanLooked:
		return "plan", describePlan(f)
	case nexus.SpecSought, nexus.SpecWritten, nexus.SpecFailed,
		nexus.InterviewSought, nexus.InterviewHeard, nexus.InterviewFailed, nexus.RequirementCaptured, nexus.RequirementWithdrawn, nexus.PartWithdrawn, nexus.InterviewCorrected, nexus.AssumptionStated, nexus.AssumptionLocked:
		return aboutInterview(f), describeInterview(f)
	case nexus.TaskPlanned, nexus.TaskParked, nexus.TaskSkipped, nexus.TaskPaused, nexus.TaskResumed, nexus.TaskRetried, nexus.TaskRouted, nexus.TaskEscalated,
		nexus.TrainBoarded, nexus.TrainDeparted, nexus.TrainLanded, nexus.TrainRefused:
		return describeTask(f)
	case nexus.LandingAsked, nexus.TargetMoved, nexus.LandingSought, nexus.LandingMerged, nexus.LandingRefused:
		return "", describeLanding(f)
	case nexus.CheckpointMade, nexus.CheckpointDropped, nexus.RunRewound, nexus.TaskInherited, nexus.UndoSought, nexus.UndoLanded, nexus.UndoRefused:
		return describeCheckpoint(f)
	case nexus.RoutesSought, nexus.RoutesTold:
		return "routing", describeRouting(f)
	case nexus.FaultsSought, nexus.FaultsFound, nexus.FixesPlanned, nexus.CriterionRevised, nexus.SplitSought, nexus.TaskSplit, nexus.SplitFailed:
		return "", describeFix(f)
	case nexus.AdditionSought, nexus.AdditionProposed, nexus.AdditionFailed, nexus.TasksAdded:
		return "plan", describeAddition(f)
	case nexus.RoleRouted:
		return string(f.Role), fmt.Sprintf("%s reviews the work of %s: %s", f.Model, f.Author, f.Why)
	case nexus.LaneFormed, nexus.AttemptStarted, nexus.AttemptResumed, nexus.AttemptInterrupted, nexus.AttemptLost, nexus.AttemptBroken, nexus.AttemptEnded, nexus.StartForgone,
		nexus.RoundStarted, nexus.GateStarted, nexus.GateJudged, nexus.VerdictGiven, nexus.ReviewGiven, nexus.TreeSnapshotted,
		nexus.TestsProved, nexus.IsolationBroken, nexus.TamperSuspected, nexus.WorkVerified:
		return describeAttempt(f)
	case nexus.ChecksProved, nexus.ChecksReproduced, nexus.CheckTried, nexus.RedSeen, nexus.CriteriaWeighed:
		return describeProof(f)
	case nexus.SessionStarted, nexus.PromptSent, nexus.TurnTaken, nexus.ToolCalled, nexus.ToolAnswered,
		nexus.ToolsAnswered, nexus.SessionCompacted, nexus.SessionEnded, nexus.AgentOpened, nexus.AgentLimited, nexus.AgentRenewed, nexus.AgentEnded:
		return describeSession(f)
	case nexus.WorkReturned, nexus.CommentsApplied, nexus.CommentsAnswered, nexus.ChangeWeighed:
		return describeComments(f)
	case nexus.NetworkJudged:
		return describeNetwork(f)
	case nexus.BudgetReserved, nexus.BudgetSpent, nexus.BudgetRefused, nexus.BudgetShared, nexus.BudgetPressed, nexus.CallDelayed,
		nexus.QuotaHit, nexus.QuotaHeld, nexus.QuotaReset, nexus.ModelSwitched:
		return describeMoney(f)
	case nexus.LoopOpened, nexus.CycleStarted, nexus.CycleLooked, nexus.CycleFailed, nexus.LoopRested,
		nexus.ItemTaken, nexus.ItemWorked, nexus.ItemKept, nexus.ItemOffered, nexus.ItemLanded, nexus.LandingWatched, nexus.LandingWeighed, nexus.RevertSought, nexus.ItemReverted, nexus.RevertFailed, nexus.ResultSettled,
		nexus.PullSought, nexus.PullTold, nexus.PullFailed, nexus.PullClosed:
		return describeLoop(f)
	case nexus.EnvironmentPrepared:
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
	case nexus.ChecksProved:
		return string(f.Attempt), describeChecks(f)
	case nexus.ChecksReproduced:
		return string(f.Attempt), describeReproduced(f)
	case nexus.CheckTried:
		return "plan", describeTried(f.Evidence)
	case nexus.RedSeen:
		return string(f.Attempt), describeRed(f)
	case nexus.CriteriaWeighed:
		return string(f.Attempt), describeCriteria(f)
	default:
		return "", ""
	}
}

// describeRouting describes how the difficulty of tasks is determined.
func describeRouting(f nexus.Fact) string {
	if told, ok := f.(nexus.RoutesTold); ok {
		return WithReason(fmt.Sprintf("rated %s", Count(len(told.Routes), "task")), told.Why)
	}
	sought, _ := f.(nexus.RoutesSought)
	return fmt.Sprintf("asking how difficult %s are", Count(len(sought.Tasks), "task"))
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
	case nexus.TaskRouted:
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
	case nexus.TrainBoarded:
		return string(f.Task), "waiting to land"
	case nexus.TrainDeparted:
		return string(f.Task), "landing on " + ShortHash(f.Onto)
	case nexus.TrainLanded:
		text = "landed as " + ShortHash(f.Commit)
		if f.Resolved {
			text += ", conflict resolved"
		}
		return string(f.Task), text
	case nexus.TrainRefused:
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
	case nexus.BudgetSpent:
		return "", fmt.Sprintf("spent %s, %s tokens", f.Money, FormatNumber(f.Usage.TotalTokens()))
	case nexus.CallDelayed:
		return string(f.Session), delayText(f)
	case nexus.QuotaHit:
		return "", WithReason(fmt.Sprintf("%s is out of quota until %s", f.Account, f.Until.UTC().Format(time.RFC3339)), f.Why)
	case nexus.QuotaHeld:
		return "", WithReason(fmt.Sprintf("%s starts no session until %s", f.Account, f.Until.UTC().Format(time.RFC3339)), state.QuotaHoldReason(f))
	case nexus.QuotaReset:
		return "", f.Account + " has quota again"
	case nexus.ModelSwitched:
		return string(f.Session), WithReason(fmt.Sprintf("continues with %s instead of %s", f.To, f.From), f.Why)
	case nexus.BudgetShared:
		return "", fmt.Sprintf("other runs have used %s on %s", f.Others, f.Day)
	case nexus.BudgetPressed:
		return "", fmt.Sprintf("%d %% of the budget is used", f.Percent)
	case nexus.BudgetRefused:
		return string(f.Task), fmt.Sprintf("a call for %s was refused: %s of %s is spent or reserved (budget: %s)", f.Asked, f.Spent, f.Limit, f.Cap)
	default:
		return "", ""
	}
}

// delayText describes how long a call waits: a failed one, or one that is delayed before it is
// made.
func delayText(f nexus.CallDelayed) string {
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
	case nexus.RunDrained:
		return WithReason(fmt.Sprintf("finishing the running tasks, then ending as %s", f.To), f.Why)
	case nexus.ResultReviewed:
		return "all tasks ended; checking the result as a whole"
	case nexus.ResultGated:
		if f.Verdict.Passed {
			return describePassed(f.Verdict.Evidence)
		}
		return WithReason("the result does not pass", f.Verdict.Why)
	case nexus.ResultOffered:
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
func describePassed(evidence []nexus.Evidence) string {
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
	if len(evidence) > 0 && !slices.ContainsFunc(evidence, func(e nexus.Evidence) bool { return !strings.HasPrefix(e.Gate, nexus.AcceptGate) }) {
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
		if f.Deadline.IsZero() || humaninput.StaysOpen(f.Trigger) {
			return text
		}
		return text + f.Deadline.Local().Format("; deadline 15:04:05")
	case nexus.QuestionLeft:
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
	if humaninput.StaysOpen(q.Trigger) {
		return fmt.Sprintf("nexus approve %s, or nexus reject %s", q.ID, q.ID)
	}
	return fmt.Sprintf("nexus answer %s TEXT; without an answer: %s", q.ID, q.Fallback)
}

func describePlan(f nexus.Fact) string {
	switch f := f.(type) {
	case nexus.PlanSought:
		return "planning"
	case nexus.PlanProposed:
		if f.Cover != nil {
			return Count(f.Tasks, "task") + " proposed; " + coverLine(f.Cover)
		}
		return Count(f.Tasks, "task") + " proposed"
	case nexus.PlanLooked:
		return describeCoverageCheck(f.Cover)
	case nexus.PlanFailed:
		return WithReason("planning failed", f.Why)
	case nexus.PlanApproved:
		return "approved" + byText(f.By)
	case nexus.PlanRefused:
		return WithReason("refused"+byText(f.By)+", making another one", f.Why)
	case nexus.PlanRevised:
		return "edited" + byText(f.By) + ": " + Count(f.Tasks, "task")
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

// IsBad reports whether a fact is bad news.
func IsBad(f nexus.Fact) bool {
	s := Style{Color: true}
	return s.TintFact(f, "-") == s.Bad("-")
}

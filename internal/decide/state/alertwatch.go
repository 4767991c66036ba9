package state

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// window is the time over which refusals and failures are counted.
const window = time.Minute

// merge is the suffix of the ID of an attempt that resolves another one's merge conflict.
const merge = "-merge"

// RaisedAlert is an alert that was sent.
type RaisedAlert struct {
	nexus.AlertRaised
	At      time.Time `json:"at"`
	Cleared time.Time `json:"cleared,omitzero"` // when its cause was gone; zero while it is active
	Calm    string    `json:"calm,omitzero"`    // why it was cleared
}

// RunAlertWatch watches a run for problems that no rule refuses and no cap ends: agents that repeat
// forbidden calls, failures in a row, attempts that no longer print anything, tokens that run
// out, tasks with many rounds. It returns the alerts that are due, so the same events at the
// same times lead to the same alerts, after a crash as well.
//
// The zero value is ready to use. It belongs to the goroutine that applies the run's events.
type RunAlertWatch struct {
	Raised []RaisedAlert // in order

	denied []time.Time // refused calls of the last minute
	failed []time.Time
	what   string // the last refused call
	why    string // the last failure
	work   []watchedWorker
	usage  map[string]int64 // tokens of each session, and under "" of all without a price
	calls  map[string]nexus.BudgetReserved
	told   []string // owners of token budgets for which an alert was sent
	tasks  map[nexus.AttemptID]nexus.TaskID
	rounds map[nexus.TaskID]int // rounds of each task
	offers []string             // tasks for which an alert about rounds was sent
	hangs  []string             // gates that do not end, and did before the work began
	hung   []string             // those of hangs for which an alert was sent
	landed []nexus.TaskID
}

// watchedWorker is an attempt that has a worker.
type watchedWorker struct {
	id    string
	at    time.Time // last sign of life, or the time from which it counts
	waits string    // the question whose answer it waits for
	gates bool      // a gate runs for it, which prints nothing until it ends
	told  bool      // an alert was sent that it is stuck
}

// stuckAt returns the time at which it is stuck without a sign of life until then: a gate may
// compile for as long as a gate may run.
func (w watchedWorker) stuckAt(l nexus.Limits) time.Time {
	due := w.at.Add(l.Alerts.Stuck)
	if w.gates {
		due = due.Add(l.GateTime)
	}
	return due
}

// Apply applies an event.
func (b *RunAlertWatch) Apply(e nexus.Event) {
	switch f := e.Fact.(type) {
	case nexus.ToolCallEnded:
		if f.Judged.Refused {
			b.denied, b.what = addToWindow(b.denied, e.At), f.Judged.Rule
		}
	case nexus.ModelCallDelayed:
		if f.Try > 0 {
			b.failed, b.why = addToWindow(b.failed, e.At), f.Why
			if f.Said != "" {
				b.why += ": " + f.Said
			}
		}
		b.recordSignOfLife(attemptOfEvent(e.Fact), e.At.Add(f.Wait))
		return
	case nexus.AttemptInfrastructureFailed:
		b.failed, b.why = addToWindow(b.failed, e.At), f.Why
	case nexus.AttemptEnded:
		if f.Outcome != nexus.Accepted && f.Outcome != nexus.Stopped && f.Outcome != nexus.Refused {
			b.failed, b.why = addToWindow(b.failed, e.At), f.Why
		}
	case nexus.BudgetReserved, nexus.BudgetSettled:
		b.countTokens(f)
	case nexus.AttemptStarted, nexus.RoundStarted:
		b.countRound(f)
	case nexus.AlertRaised:
		b.raiseAlert(f, e.At)
		return
	case nexus.AlertCleared:
		b.clearAlert(f, e.At)
		return
	case nexus.GateJudged:
		if f.Evidence.Hangs && !slices.Contains(b.hangs, f.Evidence.Gate) {
			b.hangs = append(b.hangs, f.Evidence.Gate)
		}
	case nexus.QuestionAsked:
		if w := b.findWorker(string(f.Attempt)); w != nil {
			w.waits = f.ID
		}
	case nexus.QuestionAnswered:
		for i := range b.work {
			if b.work[i].waits == f.ID {
				b.work[i].waits = ""
				b.recordSignOfLife(b.work[i].id, e.At)
			}
		}
	case nexus.RunRecovered:
		b.told = nil // the budgets may have changed
		b.restartSilenceTimes(e.At)
	case nexus.RunResumed, nexus.QuotaReset:
		b.restartSilenceTimes(e.At)
	case nexus.RunEnded:
		b.work = nil
	default:
	}
	b.applyEvent(e)
}

// applyEvent updates the list of active workers.
func (b *RunAlertWatch) applyEvent(e nexus.Event) {
	switch f := e.Fact.(type) {
	case nexus.PlanningStarted:
		b.beginWorker(string(f.Attempt), e.At)
	case nexus.InterviewRoundStarted:
		b.beginWorker(string(f.Attempt), e.At)
	case nexus.SpecWritingStarted:
		b.beginWorker(string(f.Attempt), e.At)
	case nexus.AttemptStarted:
		b.beginWorker(string(f.Attempt), e.At)
	case nexus.AttemptResumed:
		b.beginWorker(string(f.Attempt), e.At)
	case nexus.PlanProposed, nexus.PlanningFailed:
		b.work = slices.DeleteFunc(b.work, func(w watchedWorker) bool { return strings.HasPrefix(w.id, "plan.") })
	case nexus.InterviewRoundEnded:
		b.endWorker(string(f.Attempt))
	case nexus.InterviewRoundFailed:
		b.endWorker(string(f.Attempt))
	case nexus.SpecWritten:
		b.endWorker(string(f.Attempt))
	case nexus.SpecWritingFailed:
		b.endWorker(string(f.Attempt))
	case nexus.AttemptLost:
		b.endWorker(string(f.Attempt))
	case nexus.AttemptInfrastructureFailed:
		b.endWorker(string(f.Attempt))
	case nexus.AttemptEnded:
		b.endWorker(string(f.Attempt))
	case nexus.LandingCompleted:
		b.endWorker(string(f.Attempt) + merge)
		b.landed = append(b.landed, f.Task)
	case nexus.LandingRejected:
		b.endWorker(string(f.Attempt) + merge)
	default:
		id := attemptOfEvent(f)
		b.recordSignOfLife(id, e.At)
		if w := b.findWorker(id); w != nil {
			_, w.gates = f.(nexus.GateStarted)
		}
	}
}

func (b *RunAlertWatch) beginWorker(id string, at time.Time) {
	b.endWorker(id)
	b.work = append(b.work, watchedWorker{id: id, at: at})
}

func (b *RunAlertWatch) endWorker(id string) {
	b.work = slices.DeleteFunc(b.work, func(w watchedWorker) bool { return w.id == id })
}

func (b *RunAlertWatch) findWorker(id string) *watchedWorker {
	i := slices.IndexFunc(b.work, func(w watchedWorker) bool { return w.id == id })
	if i < 0 {
		return nil
	}
	return &b.work[i]
}

// recordSignOfLife records a worker's sign of life at a time, which may be in the future.
func (b *RunAlertWatch) recordSignOfLife(id string, at time.Time) {
	if w := b.findWorker(id); w != nil {
		w.told = false
		if at.After(w.at) {
			w.at = at
		}
	}
}

// restartSilenceTimes restarts the time of all workers after a pause.
func (b *RunAlertWatch) restartSilenceTimes(at time.Time) {
	for i := range b.work {
		b.recordSignOfLife(b.work[i].id, at)
	}
}

// attemptOfEvent returns the attempt of an event, or "".
func attemptOfEvent(f nexus.Fact) string {
	id := ""
	switch f := f.(type) {
	case nexus.RoundStarted:
		return string(f.Attempt)
	case nexus.GateStarted:
		return string(f.Attempt)
	case nexus.GateJudged:
		return string(f.Attempt)
	case nexus.GatesVerdictGiven:
		return string(f.Attempt)
	case nexus.ReviewerVerdictGiven:
		return string(f.Attempt)
	case nexus.TreeSnapshotted:
		return string(f.Attempt)
	case nexus.SessionStarted:
		return string(f.Attempt)
	case nexus.PromptSent:
		id = string(f.Session)
	case nexus.ModelTurnRecorded:
		id = string(f.Session)
	case nexus.ToolCallStarted:
		id = string(f.Session)
	case nexus.ToolCallEnded:
		id = string(f.Session)
	case nexus.ToolResultsSent:
		id = string(f.Session)
	case nexus.SessionCompacted:
		id = string(f.Session)
	case nexus.SessionEnded:
		id = string(f.Session)
	case nexus.BudgetReserved:
		id = string(f.Session)
	case nexus.ModelCallDelayed:
		id = string(f.Session)
	default:
	}
	if i := strings.LastIndexByte(id, '/'); i >= 0 {
		id = id[:i]
	}
	return id
}

// countTokens adds up tokens.
func (b *RunAlertWatch) countTokens(f nexus.Fact) {
	if b.usage == nil {
		b.usage, b.calls = map[string]int64{}, map[string]nexus.BudgetReserved{}
	}
	switch f := f.(type) {
	case nexus.BudgetReserved:
		b.calls[f.ID] = f
	case nexus.BudgetSettled:
		r, ok := b.calls[f.ID]
		if !ok {
			return
		}
		delete(b.calls, f.ID)
		b.usage[string(r.Session)] += f.Usage.TotalTokens()
		if r.Tokens > 0 {
			b.usage[""] += f.Usage.TotalTokens()
		}
	default:
	}
}

// countRound counts the rounds of a task.
func (b *RunAlertWatch) countRound(f nexus.Fact) {
	if b.tasks == nil {
		b.tasks, b.rounds = map[nexus.AttemptID]nexus.TaskID{}, map[nexus.TaskID]int{}
	}
	switch f := f.(type) {
	case nexus.AttemptStarted:
		b.tasks[f.Attempt] = f.Task
	case nexus.RoundStarted:
		b.rounds[b.tasks[f.Attempt]]++
	default:
	}
}

// forgetAttempt removes the data of an attempt at a task that landed.
func (b *RunAlertWatch) forgetAttempt(a *AttemptState) {
	delete(b.tasks, a.ID)
	delete(b.rounds, a.Task)
}

// addToWindow adds a time and removes the times before the window.
func addToWindow(all []time.Time, at time.Time) []time.Time {
	all = slices.DeleteFunc(all, func(t time.Time) bool { return at.Sub(t) > window })
	return append(all, at)
}

func (b *RunAlertWatch) raiseAlert(f nexus.AlertRaised, at time.Time) {
	b.Raised = slices.DeleteFunc(b.Raised, func(r RaisedAlert) bool { return r.Cleared.IsZero() && r.Kind == f.Kind && r.Of == f.Of })
	b.Raised = append(b.Raised, RaisedAlert{AlertRaised: f, At: at})
	switch f.Kind {
	case nexus.AlertDenials:
		b.denied = nil // the alert is sent again after the same number of further refusals
	case nexus.AlertFailures:
		b.failed = nil
	case nexus.AlertStuck:
		if w := b.findWorker(f.Of); w != nil {
			w.told = true
		}
	case nexus.AlertTokens:
		b.told = append(b.told, f.Of)
	case nexus.AlertRounds:
		b.offers = append(b.offers, f.Of)
	case nexus.AlertHangs:
		b.hung = append(b.hung, f.Of)
	case nexus.AlertMemory, nexus.AlertDisk: // the component that measures them keeps their state
	}
}

// DueAlerts returns the alerts that are due and must be recorded. No worker is stuck in a run
// that is held: it is paused, or waits for quota.
func (b *RunAlertWatch) DueAlerts(l nexus.Limits, held bool, now time.Time) []nexus.AlertRaised {
	var all []nexus.AlertRaised
	a := l.Alerts
	if n := len(b.denied); a.Denials > 0 && n > a.Denials {
		all = append(all, nexus.AlertRaised{Kind: nexus.AlertDenials, Why: fmt.Sprintf("%d tool calls were refused within a minute, the last by %s", n, b.what)})
	}
	if n := len(b.failed); a.Failures > 0 && n > a.Failures {
		all = append(all, nexus.AlertRaised{Kind: nexus.AlertFailures, Why: fmt.Sprintf("%d failures within a minute, the last: %s", n, b.why)})
	}
	for _, w := range b.work {
		if a.Stuck > 0 && !held && w.waits == "" && !w.told && !now.Before(w.stuckAt(l)) {
			all = append(all, nexus.AlertRaised{Kind: nexus.AlertStuck, Of: w.id, Why: fmt.Sprintf("it has been silent for %s", w.stuckAt(l).Sub(w.at))})
		}
	}
	for _, gate := range b.hangs {
		if !slices.Contains(b.hung, gate) {
			all = append(all, nexus.AlertRaised{
				Kind: nexus.AlertHangs, Of: gate,
				Why: "it does not end, also without the work; tasks are judged only by the tests of what they change and by their criteria, and tasks with neither wait for a person",
			})
		}
	}
	return append(append(all, b.lowTokenAlerts(l)...), b.roundAlerts(l)...)
}

// roundAlerts returns alerts for tasks with many rounds, one for each: a person may see the
// problem long before the rounds are used up.
func (b *RunAlertWatch) roundAlerts(l nexus.Limits) []nexus.AlertRaised {
	var all []nexus.AlertRaised
	for _, id := range slices.Sorted(maps.Keys(b.rounds)) {
		if n := b.rounds[id]; l.Alerts.Rounds > 0 && n >= l.Alerts.Rounds && !slices.Contains(b.offers, string(id)) {
			all = append(all, nexus.AlertRaised{
				Kind: nexus.AlertRounds, Of: string(id),
				Why: fmt.Sprintf("it is not done after %d rounds; nexus status %s says what was tried, nexus tell %s TEXT can help it", n, id, id),
			})
		}
	}
	return all
}

// lowTokenAlerts returns alerts for token budgets that are nearly used up.
func (b *RunAlertWatch) lowTokenAlerts(l nexus.Limits) []nexus.AlertRaised {
	if l.Alerts.Tokens <= 0 {
		return nil
	}
	var all []nexus.AlertRaised
	near := func(of string, limit int64) {
		used := b.usage[of]
		if limit > 0 && used >= limit/100*int64(l.Alerts.Tokens)+limit%100*int64(l.Alerts.Tokens)/100 && used > 0 && !slices.Contains(b.told, of) {
			all = append(all, nexus.AlertRaised{Kind: nexus.AlertTokens, Of: of, Why: fmt.Sprintf("%d of %d tokens are used", used, limit)})
		}
	}
	near("", l.RunTokens)
	if l.SessionTokens > 0 {
		for _, w := range b.work {
			for _, of := range b.sessionsOfAttempt(w.id) {
				near(of, l.SessionTokens)
			}
		}
	}
	return all
}

// sessionsOfAttempt returns an attempt's sessions that used tokens, sorted.
func (b *RunAlertWatch) sessionsOfAttempt(attempt string) []string {
	var all []string
	for of := range b.usage {
		if strings.HasPrefix(of, attempt+"/") {
			all = append(all, of)
		}
	}
	slices.Sort(all)
	return all
}

// NextStuckTime returns the time at which a worker is stuck without a sign of life until
// then, or zero for never.
func (b *RunAlertWatch) NextStuckTime(l nexus.Limits, held bool) time.Time {
	var at time.Time
	if l.Alerts.Stuck <= 0 || held {
		return at
	}
	for _, w := range b.work {
		if due := w.stuckAt(l); w.waits == "" && !w.told && (at.IsZero() || due.Before(at)) {
			at = due
		}
	}
	return at
}

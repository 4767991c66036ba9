package view

import (
	"cmp"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view/failurecauses"
)

// RunView is the view of a run: the JSON output of `nexus status`, and the source of tables and
// reports.
type RunView struct {
	Schema  int                              `json:"schema"` // version of this object: 1
	ID      nexus.RunID                      `json:"run"`
	Goal    string                           `json:"goal"`
	Mode    nexus.PlanningMode               `json:"mode,omitzero"`
	Status  nexus.RunStatus                  `json:"status"`
	Why     string                           `json:"why,omitzero"`  // why it ended, or is about to
	Held    *nexus.RunProcess                `json:"held,omitzero"` // its conductor; absent: none
	Base    string                           `json:"base"`
	Target  string                           `json:"target,omitzero"`
	Branch  string                           `json:"branch,omitzero"` // branch with the landed changes
	Commit  string                           `json:"commit,omitzero"`
	Moved   string                           `json:"moved,omitzero"`   // target branch that was fast-forwarded
	Merged  string                           `json:"merged,omitzero"`  // the target's commit, if the target had moved
	Stayed  string                           `json:"stayed,omitzero"`  // why the target was not moved, though requested
	Started time.Time                        `json:"started,omitzero"` // when the goal was accepted
	Ended   time.Time                        `json:"ended,omitzero"`
	Seconds float64                          `json:"seconds"`         // time worked: without pauses, waits for consent, and times without a process
	Waited  float64                          `json:"waited,omitzero"` // those times, in seconds
	Money   RunMoney                         `json:"money"`
	Usage   nexus.Usage                      `json:"usage"`
	OverCap *nexus.BudgetRefused             `json:"over_cap,omitempty"` // the limit that ended it
	Rounds  int                              `json:"rounds"`
	Now     *CurrentActivity                 `json:"now,omitempty"`  // activity that belongs to no task
	Left    *SecondsRange                    `json:"left,omitempty"` // estimated remaining time; absent if unknown
	Counts  TaskCounts                       `json:"counts"`
	Result  *nexus.GatesVerdict              `json:"result,omitzero"`     // verdict of the gates on the landed tree
	Red     []string                         `json:"still_red,omitempty"` // failures from before the work that remain
	Tasks   []TaskView                       `json:"tasks"`
	Lanes   []nexus.SharedSessionGroupFormed `json:"lanes,omitempty"`   // small tasks that share a session
	Quota   []ExhaustedQuota                 `json:"quota,omitempty"`   // providers that accept no calls for now
	Windows []AccountLimitUsage              `json:"windows,omitempty"` // used shares of the limits of agent programs
	Alerts  []state.RaisedAlert              `json:"alerts,omitempty"`
	Cover   *nexus.PlanCoverage              `json:"cover,omitempty"`     // coverage check of the plan; absent: not checked
	Consent *PlanReactionView                `json:"plan,omitempty"`      // reaction of people to the plan; absent: none
	Waiting int                              `json:"waiting"`             // number of inbox items that wait for a person
	Asks    []OpenQuestion                   `json:"questions,omitempty"` // open questions
	Late    []LateGuidance                   `json:"too_late,omitempty"`  // guidance for agents that had finished
	Causes  []failurecauses.KnownCause       `json:"causes,omitempty"`    // why tasks did not land; set for a finished run after a search
	At      time.Time                        `json:"-"`                   // time at which it is shown; the clock of an interrupted run stops
}

// TaskByID returns the task with this ID, or false if there is none.
func (r RunView) TaskByID(id nexus.TaskID) (TaskView, bool) {
	i := slices.IndexFunc(r.Tasks, func(t TaskView) bool { return t.ID == id })
	if i < 0 {
		return TaskView{}, false
	}
	return r.Tasks[i], true
}

// ActiveAlerts returns the alerts whose cause still exists.
func (r RunView) ActiveAlerts() []state.RaisedAlert {
	return slices.DeleteFunc(slices.Clone(r.Alerts), func(a state.RaisedAlert) bool { return !a.Cleared.IsZero() })
}

// MarkInterrupted changes the view to that of an unfinished run without a conductor: nothing is in
// progress in it, and its tasks wait until it is resumed.
func (r *RunView) MarkInterrupted() {
	helped := r.Counts.Helped
	r.Status, r.Now, r.Left, r.Counts = nexus.StatusInterrupted, nil, nil, TaskCounts{Helped: helped}
	for i := range r.Tasks {
		t := &r.Tasks[i]
		t.Now, t.Left, t.Role, t.Doing = nil, nil, "", ""
		if t.isActive() {
			t.Status = nexus.Pending
		}
		r.Counts.countStatus(t.Status)
	}
}

// isActive reports whether the task is in progress.
func (t TaskView) isActive() bool {
	return t.Status == nexus.Running || t.Status == nexus.Reviewing || t.Status == nexus.Boarding
}

// LateGuidance is guidance that reached a task's agent after its last turn, so the task landed
// without it.
type LateGuidance struct {
	Task nexus.TaskID `json:"task"`
	Text string       `json:"text"`
}

// OpenQuestion is a question that waits for a person.
type OpenQuestion struct {
	ID       string          `json:"id"` // such as q1; argument of nexus approve, reject and answer
	Task     nexus.TaskID    `json:"task,omitzero"`
	Attempt  nexus.AttemptID `json:"attempt,omitzero"`
	Text     string          `json:"text"`
	Trigger  string          `json:"trigger"`
	Choices  []string        `json:"choices,omitempty"` // the only answers; none: any text
	Fallback string          `json:"fallback"`          // the default without an answer
	Asked    time.Time       `json:"asked"`
	Deadline time.Time       `json:"deadline,omitzero"` // when the run continues without an answer
}

// ReplyCommands returns the commands that answer the question.
func (q OpenQuestion) ReplyCommands() string {
	return replyCommands(nexus.QuestionAsked{ID: q.ID, Trigger: q.Trigger, Fallback: q.Fallback})
}

// WaitingQuestions returns the questions among the waiting items, in the order in which they were
// asked. An answered question does not wait.
func WaitingQuestions(s *state.State, waiting []humaninput.WaitingItem) []OpenQuestion {
	var all []OpenQuestion
	for _, q := range s.OpenQuestions() {
		n := slices.IndexFunc(waiting, func(i humaninput.WaitingItem) bool { return i.ID == q.ID && i.WaitingTask() == "" })
		if n < 0 {
			continue
		}
		t := humaninput.FindTrigger(q.Trigger)
		a := OpenQuestion{
			ID: q.ID, Attempt: q.Attempt, Text: q.Text, Trigger: t.Name, Choices: t.Choices,
			Fallback: humaninput.DefaultAnswerOf(q.QuestionAsked), Asked: q.At, Deadline: waiting[n].Deadline,
		}
		if q.Left {
			a.Deadline = time.Time{}
		}
		if t := s.AskingTask(q); t != nil {
			a.Task = t.ID
		}
		all = append(all, a)
	}
	return all
}

// ExhaustedQuota is a provider whose quota is used up, or nearly.
type ExhaustedQuota struct {
	Account string    `json:"account"`
	Until   time.Time `json:"until"`
	Seconds float64   `json:"seconds"` // remaining time
	Why     string    `json:"why"`
	Held    bool      `json:"held,omitzero"` // nearly used up: no session begins, others continue
}

// RunMoney is the cost of a run, in dollars.
type RunMoney struct {
	Spent    nexus.Money `json:"spent"`
	Reserved nexus.Money `json:"reserved"`
	Limit    nexus.Money `json:"limit"`
}

// moneyOf returns the money of a run. Before it begins, its limit is that of its goal.
func moneyOf(s *state.State) RunMoney {
	return RunMoney{s.Ledger.SpentMoney(), s.Ledger.ReservedMoney(), cmp.Or(s.Ledger.RunLimit(), s.Limits.RunMoney)}
}

// TaskCounts counts the run's tasks.
type TaskCounts struct {
	Total   int `json:"total"`
	Landed  int `json:"landed"`
	Active  int `json:"active"` // running, reviewing or in the landing queue
	Pending int `json:"pending"`
	Blocked int `json:"blocked"`
	Parked  int `json:"parked"`
	Failed  int `json:"failed"`
	Skipped int `json:"skipped"`
	Helped  int `json:"helped,omitzero"` // of all: a person helped with them
}

// TaskView is the view of a task.
type TaskView struct {
	ID       nexus.TaskID     `json:"id"`
	Title    string           `json:"title"`
	Status   nexus.TaskStatus `json:"status"`
	Why      string           `json:"why,omitzero"`
	Needs    []nexus.TaskID   `json:"needs,omitempty"`
	Tier     nexus.Tier       `json:"tier"`
	Attempts int              `json:"attempts"`
	Rounds   int              `json:"rounds"`
	Role     nexus.Role       `json:"role,omitzero"`  // role that works on it now
	Gate     string           `json:"gate,omitzero"`  // the last gate of the current round
	State    nexus.GateState  `json:"state,omitzero"` // its result
	Doing    string           `json:"doing,omitzero"` // the agent's last step
	Spent    nexus.Money      `json:"spent"`
	Usage    nexus.Usage      `json:"usage"`
	Seconds  float64          `json:"seconds"`        // time worked on it, without waits for providers and people
	Now      *CurrentActivity `json:"now,omitempty"`  // what it waits for at this moment
	Left     *SecondsRange    `json:"left,omitempty"` // estimated remaining time; absent if unknown
	Commit   string           `json:"commit,omitzero"`
	Critical []nexus.Finding  `json:"critical,omitempty"`  // files that a person should check
	Own      []string         `json:"own_tests,omitempty"` // criteria with no evidence but the change's own tests

	Paused string `json:"paused,omitzero"` // who paused it; empty: not paused, or it continues

	Decisions []nexus.ReplanDecided `json:"decisions,omitempty"` // continuations chosen at thresholds
}

// NewRunView returns the view of a run from its state and its waiting items. Interfaces get it from the
// projection, which has facts that the state does not. The state is not changed.
func NewRunView(s *state.State, waiting []humaninput.WaitingItem, now time.Time) RunView {
	r := RunView{
		Schema: 1, ID: s.Run, Goal: s.Goal.Goal.Text, Mode: s.Goal.Goal.Mode, Status: s.Status, Why: s.Why,
		Base: s.Goal.Base, Target: s.Goal.Target, Started: s.Accepted, Ended: s.Ended,
		Seconds: workSeconds(s.WorkedTime(now)), Waited: waitedSeconds(s, now),
		Money: moneyOf(s),
		Usage: s.Spending.Total().Usage, OverCap: s.OverCap, Tasks: []TaskView{}, Lanes: s.Lanes, Alerts: s.Alerts.Raised, Cover: s.Cover, At: now,
	}
	if s.Drain != nil && r.Why == "" {
		r.Why = s.Drain.Why
	}
	if p := s.Published; p != nil {
		r.Branch, r.Commit, r.Moved, r.Merged, r.Stayed = p.Branch, p.Commit, p.Target, p.Merged, p.Why
	}
	if s.Result != nil {
		r.Result, r.Red = &s.Result.Verdict, accept.RemainingBaseFailures(s.Result.Verdict.Evidence)
	}
	for _, p := range s.Parked {
		if !s.Status.HasEnded() && p.Until.After(now) {
			r.Quota = append(r.Quota, ExhaustedQuota{p.Account, p.Until, p.Until.Sub(now).Seconds(), p.Why, p.Held})
		}
	}
	r.Windows = OpenAccountLimits(s.Windows, now)
	r.Asks, r.Consent, r.Waiting = WaitingQuestions(s, waiting), PlanReactionOf(s), len(waiting)
	r.Now = runActivity(s, now)
	blockers := s.BlockerIndex()
	for _, t := range s.Tasks {
		row := buildTaskView(s, t, blockers, now)
		r.Rounds += row.Rounds
		r.Tasks = append(r.Tasks, row)
		r.Counts.countStatus(row.Status)
		if t.Helped && t.Status != nexus.Split {
			r.Counts.Helped++
		}
	}
	for _, g := range s.Guidance {
		if t := s.TaskByID(g.Task); t != nil && t.Status == nexus.Landed {
			r.Late = append(r.Late, LateGuidance{t.ID, g.Text})
		}
	}
	return r
}

func (c *TaskCounts) countStatus(s nexus.TaskStatus) {
	if s == nexus.Split {
		return // its parts count
	}
	c.Total++
	switch s {
	case nexus.Landed:
		c.Landed++
	case nexus.Running, nexus.Reviewing, nexus.Boarding:
		c.Active++
	case nexus.Blocked:
		c.Blocked++
	case nexus.Parked:
		c.Parked++
	case nexus.Failed:
		c.Failed++
	case nexus.Skipped:
		c.Skipped++
	default:
		c.Pending++
	}
}

// blockerLookup returns which task blocks which.
type blockerLookup interface {
	StatusOf(t *state.TaskState) nexus.TaskStatus
	BlockerOf(t *state.TaskState) (nexus.TaskID, bool)
}

func buildTaskView(s *state.State, t *state.TaskState, b blockerLookup, now time.Time) TaskView {
	row := TaskView{
		ID: t.ID, Title: t.Title, Status: b.StatusOf(t), Why: t.Why, Needs: t.Prerequisites(), Tier: t.Tier,
		Attempts: len(t.Attempts), Rounds: t.Rounds, Spent: t.Spent, Usage: t.Usage,
		Seconds: workSeconds(s.TaskWorkTime(t, now)), Decisions: t.Replans,
	}
	if blocker, ok := b.BlockerOf(t); ok && row.Status == nexus.Blocked {
		row.Why = "needs " + string(blocker)
	}
	if t.Landed != nil {
		row.Commit = t.Landed.Commit
	}
	a := t.CurrentAttempt()
	if a != nil {
		for e := range a.GateEvidence(false) {
			if e.Gate == humaninput.CriticalGate {
				row.Critical = e.Findings // the last round counts
			}
		}
	}
	row.Own = criteriaShownOnlyByOwnTests(t)
	if t.IsPaused() {
		row.Paused = t.Paused.By
	}
	if a == nil || row.Status.HasEnded() || s.Status.HasEnded() {
		return row
	}
	row.Tier, row.Now = a.Tier, taskActivity(s, t, row.Status, now)
	if last := a.LastRound(); last != nil && len(last.Evidence) > 0 {
		e := last.Evidence[len(last.Evidence)-1]
		row.Gate, row.State = e.Gate, e.State
	}
	for _, c := range slices.Backward(a.Sessions) {
		if !c.Over && c.Role != nexus.Scout {
			row.Role, row.Doing = c.Role, c.Doing
			break
		}
	}
	return row
}

func workSeconds(d time.Duration) float64 { return d.Round(time.Millisecond).Seconds() }

// waitedSeconds returns the part of a run's duration in which it did not work.
func waitedSeconds(s *state.State, now time.Time) float64 {
	if s.Started.IsZero() {
		return 0
	}
	end := now
	if !s.Ended.IsZero() {
		end = s.Ended
	}
	return workSeconds(max(0, end.Sub(s.Started)-s.WorkedTime(end)))
}

// SecondsBetween returns the seconds from start to end, or to now while there is no
// end; 0 before the start.
func SecondsBetween(start, end, now time.Time) float64 {
	if start.IsZero() {
		return 0
	}
	if end.IsZero() {
		end = now
	}
	return max(end.Sub(start).Round(time.Millisecond).Seconds(), 0)
}

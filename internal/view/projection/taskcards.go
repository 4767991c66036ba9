package projection

import (
	"cmp"
	"slices"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// silenceThreshold is the time without output of an agent after which that is shown.
const silenceThreshold = 30 * time.Second

// TaskCards returns the tasks in the plan's order. Split tasks are replaced by their parts.
func (p *RunProjection) TaskCards(now time.Time) []TaskCard {
	r, items, seen := p.Run(now), p.InboxItems(now), p.buildIndex()
	now = p.currentOrInterruptedTime(now)
	cards := make([]TaskCard, 0, len(r.Tasks))
	count := map[nexus.TaskID][]InboxItem{}
	for _, i := range items {
		if i.Task != "" {
			count[i.Task] = append(count[i.Task], i)
		}
	}
	for _, row := range r.Tasks {
		if row.Status != nexus.Split {
			cards = append(cards, p.taskCard(row, count[row.ID], seen, now))
		}
	}
	return cards
}

// BoardLanes returns all columns of the board with their tasks.
func (p *RunProjection) BoardLanes(now time.Time) []BoardLaneCards {
	by := map[BoardLane][]TaskCard{}
	for _, c := range p.TaskCards(now) {
		by[c.Lane] = append(by[c.Lane], c)
	}
	all := make([]BoardLaneCards, 0, len(Lanes))
	for _, l := range Lanes {
		cards := by[l]
		if cards == nil {
			cards = []TaskCard{}
		}
		if l == LaneRunning || l == LaneVerifying || l == LaneReview {
			slices.SortStableFunc(cards, func(a, b TaskCard) int { return a.Since.Compare(b.Since) })
		}
		all = append(all, BoardLaneCards{l, cards})
	}
	return all
}

// taskCard returns the list form of a task.
func (p *RunProjection) taskCard(row view.TaskView, items []InboxItem, seen runLookups, now time.Time) TaskCard {
	s := p.state
	t := s.TaskByID(row.ID)
	c := TaskCard{TaskView: row, Lane: p.boardLaneOf(t, row, items), Items: CountWaiting(items), Criteria: len(t.Criteria)}
	c.Stage = stageName(c.Lane, t)
	for n := range t.Criteria {
		if p.criterionOf(t, n+1, seen).State == CriterionMet {
			c.Met++
		}
	}
	if t.Landed != nil {
		c.Added, c.Deleted = t.Landed.Changes.Added, t.Landed.Changes.Deleted
	}
	a := t.CurrentAttempt()
	if a != nil && p.o.Place != nil {
		c.Worktree, c.Branch = p.o.Place(a.ID)
	}
	c.Since = p.enteredLaneAt(t, c.Lane, items, seen)
	switch {
	case row.Paused != "" && row.Now != nil:
		c.Step = "pauses after: " + row.Now.Text()
	case row.Paused != "":
		c.Step = "paused by " + view.EscapeForTerminal(row.Paused)
	case row.Now != nil:
		c.Step = row.Now.Text()
	}
	if a == nil || row.Status.HasEnded() {
		return c
	}
	if talk := a.CurrentSession(); talk != nil {
		c.Model = talk.Model
		p.addWaitAndSilence(&c, talk, a, now)
	}
	return c
}

// addWaitAndSilence fills in the time of the next try, and how long the agent has been silent, if the task
// waits for these.
func (p *RunProjection) addWaitAndSilence(c *TaskCard, talk *state.AgentSessionState, a *state.AttemptState, now time.Time) {
	if c.Now == nil || a.Stage != state.Working {
		return
	}
	switch c.Now.What {
	case view.DoingAccount:
		if q, ok := p.state.PausedAccountFor(talk.Model); ok && q.Until.After(now) {
			c.Retry = q.Until
		}
		if a.Rests.After(now) && a.Rests.After(c.Retry) {
			c.Retry = a.Rests
		}
	case view.DoingModel, view.DoingTool, view.DoingSetup:
		if heard := unixTime(p.lastSessionEvent(talk.Session)); !heard.IsZero() && now.Sub(heard) >= silenceThreshold {
			c.Silent = view.SecondsBetween(heard, time.Time{}, now)
		}
	default:
	}
}

func (p *RunProjection) lastSessionEvent(id nexus.SessionID) int64 {
	if t := p.trail.talks[id]; t != nil {
		return t.heard
	}
	return 0
}

// boardLaneOf returns the column of a task: who must act on it next.
func (p *RunProjection) boardLaneOf(t *state.TaskState, row view.TaskView, items []InboxItem) BoardLane {
	if CountWaiting(items) > 0 {
		return LaneNeedsYou
	}
	if row.Paused != "" && row.Now == nil {
		return LaneStopped
	}
	switch row.Status {
	case nexus.Landed:
		return LaneDone
	case nexus.Blocked:
		return LaneBlocked
	case nexus.Parked, nexus.Failed, nexus.Skipped:
		return LaneStopped
	case nexus.Boarding:
		return LaneLanding
	case nexus.Pending:
		return p.laneOfPendingTask(t)
	default:
	}
	if p.state.Status == nexus.StatusPaused {
		return LaneStopped
	}
	return activeLane(row)
}

// laneOfPendingTask returns the column of a task that is not in progress yet.
func (p *RunProjection) laneOfPendingTask(t *state.TaskState) BoardLane {
	if p.state.Status.HasEnded() && p.state.Status != nexus.StatusWaiting || p.IsInterrupted() && t.IsUnderway() {
		return LaneStopped
	}
	if p.state.IsReady(t) || t.Status != nexus.Pending {
		return LaneReady
	}
	return LaneBlocked
}

// activeLane returns the column of a task in progress.
func activeLane(row view.TaskView) BoardLane {
	switch n := row.Now; {
	case n == nil:
		return LaneRunning
	case n.What == view.DoingPerson:
		return LaneNeedsYou
	case n.What == view.DoingLanding:
		return LaneLanding
	case n.What == view.DoingGate:
		return LaneVerifying
	case roleStage(n.Role) == inReview:
		return LaneReview
	case row.Status == nexus.Reviewing && n.Role == "":
		return LaneReview
	}
	return LaneRunning
}

// stageName returns the progress of a task: plan, work, gate, review, land or done.
func stageName(l BoardLane, t *state.TaskState) string {
	switch {
	case t.Status == nexus.Landed:
		return "done"
	case l == LaneVerifying:
		return "gate"
	case l == LaneReview || t.Status == nexus.Reviewing:
		return "review"
	case t.Status == nexus.Boarding:
		return "land"
	case len(t.Attempts) == 0:
		return "plan"
	}
	return "work"
}

// enteredLaneAt returns when a task entered its column.
func (p *RunProjection) enteredLaneAt(t *state.TaskState, l BoardLane, items []InboxItem, seen runLookups) time.Time {
	a := t.CurrentAttempt()
	switch l {
	case LaneNeedsYou:
		for _, i := range items {
			if !i.Notice {
				return i.Asked
			}
		}
	case LaneDone:
		return t.Ended
	case LaneStopped, LaneBlocked, LaneReady:
		return p.idleSince(t, seen)
	case LaneVerifying, LaneReview, LaneLanding:
		if a != nil {
			if r := p.trail.rows[a.ID]; r != nil && len(r.open) > 0 {
				return unixTime(r.spans[r.open[len(r.open)-1]].from)
			}
		}
	default:
	}
	if a == nil {
		return p.idleSince(t, seen)
	}
	return a.Active
}

// idleSince returns the time since which a task is idle.
func (p *RunProjection) idleSince(t *state.TaskState, seen runLookups) time.Time {
	if !t.Ended.IsZero() {
		return t.Ended
	}
	at := p.state.Started
	for _, id := range t.Prerequisites() {
		if n := p.state.TaskByID(id); n != nil && n.Ended.After(at) {
			at = n.Ended
		}
	}
	if id, ok := seen.blockers.BlockerOf(t); ok {
		at = p.state.TaskByID(id).Ended
	}
	if a := t.CurrentAttempt(); a != nil && a.Finished.After(at) {
		at = a.Finished
	}
	return cmp.Or(at, p.state.Accepted)
}

package projection

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// CountWaiting counts the items that wait for a person: the number that every interface shows.
// Notices do not count.
func CountWaiting(all []InboxItem) int {
	n := 0
	for _, i := range all {
		if !i.Notice {
			n++
		}
	}
	return n
}

// InboxItems returns the items that wait for a person, the oldest first, and then the notices.
func (p *RunProjection) InboxItems(now time.Time) []InboxItem {
	all := []InboxItem{}
	for _, w := range humaninput.WaitingInRun(p.state, !p.about.Earlier) {
		all = append(all, p.inboxItem(w))
	}
	return append(all, p.noticeItems(p.currentOrInterruptedTime(now))...)
}

// inboxItem returns a waiting item with all known facts.
func (p *RunProjection) inboxItem(w humaninput.WaitingItem) InboxItem {
	i := InboxItem{WaitingItem: w, Kind: itemKind(w), Task: w.WaitingTask(), Title: firstLineTitle(w.Text)}
	if q := p.state.QuestionByID(w.ID); i.Task == "" && q != nil {
		if t := firstTask(p.state.AskingTask(q), p.state.TaskOfStepQuestion(q)); t != nil {
			i.Task = t.ID
		}
		i.Blocks = !q.Left && !p.state.Status.HasEnded()
	}
	if w.Trigger == humaninput.PlanTrigger {
		i.Estimate = PlanEstimate(p.state)
	}
	i.Actions = p.itemActions(i)
	return i
}

func firstTask(a, b *state.TaskState) *state.TaskState {
	if a != nil {
		return a
	}
	return b
}

// itemKind returns the kind of an item.
func itemKind(w humaninput.WaitingItem) InboxItemKind {
	if w.WaitingTask() != "" {
		switch w.Trigger {
		case humaninput.CostTrigger:
			return KindBudget
		case humaninput.ConflictTrigger:
			return KindConflict
		default:
			return KindFailure
		}
	}
	switch w.Trigger {
	case humaninput.AmbiguityTrigger, humaninput.InterviewTrigger:
		return KindQuestion
	case humaninput.ReviewTrigger, nexus.ChangeTrigger:
		return KindReview
	default:
		return KindApproval
	}
}

// firstLineTitle returns the first line of a text, made safe and shortened.
func firstLineTitle(text string) string {
	line := view.FirstLine(text)
	const most = 120
	if r := []rune(line); len(r) > most {
		return string(r[:most-3]) + "..."
	}
	return line
}

// noticeItems returns the items that a person should know about, but that nothing waits for.
func (p *RunProjection) noticeItems(now time.Time) []InboxItem {
	var all []InboxItem
	add := func(kind InboxItemKind, id string, severity humaninput.QuestionSeverity, at time.Time, text string) *InboxItem {
		all = append(all, InboxItem{
			WaitingItem: humaninput.WaitingItem{Run: p.state.Run, ID: id, Trigger: string(kind), Severity: severity, Text: text, Asked: at},
			Kind:        kind, Notice: true, Title: firstLineTitle(text), Actions: []PersonAction{},
		})
		return &all[len(all)-1]
	}
	s := p.state
	if !s.Status.HasEnded() {
		for _, q := range s.Parked {
			if q.Until.After(now) {
				text := fmt.Sprintf("%s accepts no calls until %s: %s", q.Account, q.Until.UTC().Format(time.RFC3339), q.Why)
				add(KindQuota, "quota "+q.Account, humaninput.Yellow, s.Updated, text).Deadline = q.Until
			}
		}
		for _, a := range s.Alerts.Raised {
			if a.Cleared.IsZero() {
				i := add(KindFailure, "alert "+string(a.Kind)+" "+a.Of, humaninput.Yellow, a.At, view.AlertText(a.AlertRaised))
				i.Task = p.taskOf(a.Of)
			}
		}
	}
	if s.OverCap != nil {
		i := add(KindBudget, "budget", humaninput.Red, s.Updated, reachedCapText(s.OverCap))
		i.Actions = p.runActions("resume")
	} else if s.Pressed >= 75 && !s.Status.HasEnded() {
		text := fmt.Sprintf("%d %% of the budget is spent: %s of %s", s.Pressed, s.Ledger.SpentMoney(), s.Ledger.RunLimit())
		add(KindBudget, "budget", humaninput.Yellow, s.Updated, text)
	}
	return append(all, p.signOffs()...)
}

func reachedCapText(r *nexus.BudgetRefused) string {
	of := strings.TrimSpace(r.Cap + " " + r.Of)
	return fmt.Sprintf("the cap of the %s is reached: %s of %s is used, and a call may take %s", of, r.Spent, r.Limit, r.Asked)
}

// taskOf returns the task of an attempt or session by its ID, empty for none.
func (p *RunProjection) taskOf(name string) nexus.TaskID {
	if a := p.state.AttemptByID(attemptOf(nexus.SessionID(name))); a != nil {
		return a.Task
	}
	return ""
}

// signOffs returns the criteria of the landed changes that only a person can judge.
func (p *RunProjection) signOffs() []InboxItem {
	s := p.state
	if s.Result == nil || len(s.Landings) == 0 {
		return nil
	}
	var all []InboxItem
	for _, r := range accept.BuildCriteriaTable(s, p.trail.waivers).Rows {
		t := s.TaskByID(r.Task)
		if r.Check != "" || r.State != accept.Unknown || r.Waived != nil || t == nil || t.Status != nexus.Landed {
			continue
		}
		i := InboxItem{
			WaitingItem: humaninput.WaitingItem{
				Run: s.Run, ID: r.ID, Trigger: string(KindSignOff), Severity: humaninput.Green, Text: r.Criterion,
				Asked: t.Ended,
			},
			Kind: KindSignOff, Task: r.Task, Notice: true, Title: firstLineTitle(r.Criterion),
		}
		i.Actions = p.itemActions(i)
		all = append(all, i)
	}
	return all
}

// itemsAbout returns the items of a task.
func itemsAbout(all []InboxItem, id nexus.TaskID) []InboxItem {
	return slices.DeleteFunc(slices.Clone(all), func(i InboxItem) bool { return i.Task != id })
}

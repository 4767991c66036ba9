package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// DrawStatus draws the status of a run: items that need a person first, then every task.
func DrawStatus(s OutputStyle, r RunView) string {
	var b strings.Builder
	b.WriteString(s.TruncateLine(s.Bold(string(r.ID))+"  "+s.colourStatus(r.Status)+"  "+GoalLine(r.Goal)) + "\n")
	if r.Why != "" {
		b.WriteString(s.TruncateLine("  "+EscapeForTerminal(r.Why)) + "\n")
	}
	figures := s.statusFigures(r)
	figures[0] = "  " + figures[0]
	b.WriteString(s.wrapFigures(figures, "  ") + "\n")
	if r.Held == nil && !r.Status.HasEnded() {
		b.WriteString("  " + s.Warn("not in progress; continue it with: nexus resume") + "\n")
	}
	b.WriteString(s.activityLine(r) + s.quotaLines(r) + s.providerWaits(r) + waitingItemsSection(s, r))
	if len(r.Tasks) > 0 {
		b.WriteString("\n" + taskTable(s, r.Tasks) + DrawSharedSessions(s, r.Lanes))
	}
	b.WriteString(lateGuidanceSection(s, r))
	if text := remedyLines(s, r); text != "" {
		b.WriteString("\n" + s.Bold("next") + "\n" + text)
	}
	for _, text := range r.Red {
		b.WriteString("\n" + s.Wrap("look at: "+EscapeForTerminal(text), "  ") + "\n")
	}
	if r.Branch != "" {
		b.WriteString("\n" + s.TruncateLine(fmt.Sprintf("branch %s at %s", r.Branch, ShortHash(r.Commit))) + "\n")
	}
	return s.Sanitize(b.String())
}

// statusFigures returns time, money, counts and the used shares of limits.
func (s OutputStyle) statusFigures(r RunView) []string {
	parts := []string{FormatSeconds(r.Seconds)}
	if r.Waited >= 1 {
		parts[0] += ", waited " + FormatSeconds(r.Waited)
	}
	if r.Left != nil {
		parts = append(parts, s.FormatRange(*r.Left)+" left")
	}
	parts = append(parts,
		fmt.Sprintf("%s of %s", r.Money.Spent, r.Money.Limit),
		fmt.Sprintf("%d of %d landed", r.Counts.Landed, r.Counts.Total),
	)
	add := func(n int, word string) {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, word))
		}
	}
	add(r.Counts.Active, "active")
	add(r.Counts.Pending, "pending")
	add(r.Counts.Blocked, "blocked")
	add(r.Counts.Parked, "parked")
	add(r.Counts.Failed, "failed")
	add(r.Counts.Skipped, "skipped")
	return append(parts, windowTexts(r.Windows)...)
}

// activityLine returns the line with the activity that belongs to no task.
func (s OutputStyle) activityLine(r RunView) string {
	if r.Now == nil {
		return ""
	}
	about := map[nexus.RunStatus]string{nexus.StatusPlanning: "plan: ", nexus.StatusReviewing: "result: "}[r.Status]
	return s.TruncateLine("  "+s.Busy(about+r.Now.Text())) + "\n"
}

// quotaLines draws a line for each of the last alerts, and for each provider that accepts no
// calls for now.
func (s OutputStyle) quotaLines(r RunView) string {
	var b strings.Builder
	for _, a := range r.Alerts[max(0, len(r.Alerts)-5):] {
		if a.Cleared.IsZero() {
			b.WriteString(s.TruncateLine("  "+s.Bad("alert")+" "+EscapeForTerminal(AlertText(a.AlertRaised))) + "\n")
			continue
		}
		over := ClearedText(nexus.AlertCleared{Kind: a.Kind, Of: a.Of, Why: a.Calm})
		b.WriteString(s.TruncateLine("  "+s.Dim("alert over "+EscapeForTerminal(over))) + "\n")
	}
	for _, q := range r.Quota {
		text := outOfQuotaText(q.Account, q.Until, q.Until.Add(-secondsToDuration(q.Seconds)))
		if q.Held {
			text = WithReason(sessionHoldText(q.Account, q.Until, q.Until.Add(-secondsToDuration(q.Seconds))), q.Why)
		}
		b.WriteString(s.TruncateLine("  "+s.Warn(EscapeForTerminal(text))) + "\n")
	}
	return b.String()
}

// providerWaits draws a line for each task whose next call waits for its provider.
func (s OutputStyle) providerWaits(r RunView) string {
	var b strings.Builder
	for _, t := range r.Tasks {
		if t.Status == nexus.Running && strings.HasPrefix(t.Doing, "waits ") {
			b.WriteString(s.TruncateLine("  "+s.Warn(string(t.ID)+" "+EscapeForTerminal(t.Doing))) + "\n")
		}
	}
	return b.String()
}

// waitingItemsSection lists the items that wait for a person.
func waitingItemsSection(s OutputStyle, r RunView) string {
	if s.Plain {
		text := ""
		for _, q := range r.Asks {
			text += fmt.Sprintf("  %s%s needs an answer: %s (%s)\n", q.ID, ofTaskText(q.Task), EscapeForTerminal(q.Text), EscapeForTerminal(q.ReplyCommands()))
		}
		return text
	}
	text := ""
	add := func(glyph, id, why string) {
		text += s.wrapLimited("  "+glyph+"  "+id+"  "+why) + "\n"
	}
	for _, q := range r.Asks {
		add(s.Warn("?"), q.ID, EscapeForTerminal(q.Text))
		text += s.Dim(s.WrapWords(EscapeForTerminal(q.ReplyCommands()), "     ")) + "\n"
	}
	for _, t := range r.Tasks {
		if t.Status == nexus.Parked || t.Status == nexus.Failed {
			add(s.StatusGlyph(t.Status), string(t.ID), EscapeForTerminal(t.Why))
		}
	}
	if text == "" {
		return ""
	}
	return "\n" + s.Bold("needs you") + "\n" + text
}

// taskTable draws the tasks with their current activity, and their cost so far.
func taskTable(s OutputStyle, all []TaskView) string {
	if s.Plain {
		return tasksForProgram(s, all)
	}
	limited := s.Width > 0
	cost, more := !limited || s.Width >= 80, !limited || s.Width >= 110
	left := cost && slices.ContainsFunc(all, func(t TaskView) bool { return t.Left != nil })
	pick := func(cells ...string) []string {
		row := slices.Clone(cells[:5])
		if left {
			row = append(row, cells[5])
		}
		if cost {
			row = append(row, cells[6])
		}
		if more {
			row = append(row, cells[7:]...)
		}
		return row
	}
	rows := make([][]string, 0, len(all))
	for _, t := range all {
		spent, until := "", ""
		if t.Seconds > 0 {
			spent = FormatSeconds(t.Seconds)
		}
		if t.Left != nil {
			until = s.FormatRange(*t.Left)
		}
		rows = append(rows, pick(t.statusGlyph(s), string(t.ID), EscapeForTerminal(t.Title), t.activityText(), spent, until, t.Spent.String(), fmt.Sprint(t.Rounds), string(t.Tier)))
	}
	return layOutTable(s, pick("", "task", "title", "now", "time", "left", "cost", "rounds", "tier"), rows, shrinkableColumn{column: 2, least: minTitleWidth})
}

// minTitleWidth is the minimum width of a task's title if the activity needs the space.
const minTitleWidth = 12

// tasksForProgram draws the tasks for a program.
func tasksForProgram(s OutputStyle, all []TaskView) string {
	rows := make([][]string, 0, len(all))
	for _, t := range all {
		rows = append(rows, []string{t.statusText(), string(t.ID), EscapeForTerminal(t.Title), t.phaseText(), fmt.Sprint(t.Rounds), string(t.Tier), t.Spent.String()})
	}
	return DrawTable(s, []string{"status", "task", "title", "state", "rounds", "tier", "cost"}, rows)
}

// needsPerson reports whether a person must answer before the task continues.
func (t TaskView) needsPerson() bool { return t.Now != nil && t.Now.What == DoingPerson }

func (t TaskView) statusGlyph(s OutputStyle) string {
	if t.needsPerson() {
		return s.Warn("?")
	}
	return s.StatusGlyph(t.Status)
}

func (t TaskView) statusText() string {
	if t.needsPerson() {
		return "waiting"
	}
	return string(t.Status)
}

// activityText describes the current activity of a task in a few words.
func (t TaskView) activityText() string {
	switch {
	case t.Paused != "" && t.Now != nil:
		return "pauses after: " + t.Now.Text()
	case t.Paused != "":
		return "paused by " + EscapeForTerminal(t.Paused)
	case t.Now != nil:
		return t.Now.Text()
	case t.Status == nexus.Pending && len(t.Needs) > 0:
		return "after " + nexus.JoinWords(t.Needs)
	case t.Status == nexus.Blocked && t.Why != "":
		return "blocked, " + t.Why
	default:
		return string(t.Status)
	}
}

// phaseText describes the phase of a task in a word or two.
func (t TaskView) phaseText() string {
	switch {
	case t.Paused != "" && t.Now == nil:
		return "paused"
	case t.Status != nexus.Running && t.Status != nexus.Reviewing:
		return string(t.Status)
	case t.Role != "":
		return string(t.Role)
	case t.Gate != "":
		return t.Gate + " " + string(t.State)
	default:
		return string(t.Status)
	}
}

func (s OutputStyle) colourStatus(status nexus.RunStatus) string {
	switch status {
	case nexus.StatusDone:
		return s.Good(string(status))
	case nexus.StatusFailed, nexus.StatusLimit:
		return s.Bad(string(status))
	case nexus.StatusPartial, nexus.StatusPaused, nexus.StatusStopped, nexus.StatusWaiting, nexus.StatusInterrupted:
		return s.Warn(string(status))
	default:
		return s.Busy(string(status))
	}
}

func secondsToDuration(f float64) time.Duration { return time.Duration(f * float64(time.Second)) }

// ofTaskText names the task of a question, if it has one.
func ofTaskText(t nexus.TaskID) string {
	if t == "" {
		return ""
	}
	return " of " + string(t)
}

package view

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/improveloop"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// ImproveLoopView is an improvement loop in its display form.
type ImproveLoopView struct {
	Run     nexus.RunID                     `json:"run"`
	Status  nexus.RunStatus                 `json:"status"` // running, or how it ended; interrupted: it has no conductor
	Why     string                          `json:"why,omitzero"`
	Target  string                          `json:"target"`
	Cycle   int                             `json:"cycle"`
	Money   RunMoney                        `json:"money"`
	Totals  improveloop.LoopWorkTotals      `json:"totals"`
	Items   []*improveloop.LoopItem         `json:"items"`
	Pulls   []*improveloop.ThemePullRequest `json:"pulls,omitempty"`
	Gone    []string                        `json:"gone,omitempty"` // deleted branches of waiting results
	Waiting int                             `json:"waiting"`        // results that wait for a person
	MostOf  int                             `json:"of"`             // limit of Waiting
	Left    []nexus.OmittedWorkFinding      `json:"left_out"`       // findings that are skipped
	Notes   []string                        `json:"notes,omitempty"`
	Rest    string                          `json:"rest,omitzero"`  // why the loop is idle now
	Until   time.Time                       `json:"until,omitzero"` // end of the idle time
}

// The statuses of an unfinished loop.
const (
	LoopRunning     nexus.RunStatus = "running"
	LoopInterrupted nexus.RunStatus = "interrupted"
)

// NewImproveLoopView returns the display form of a loop; running means that it has a conductor.
func NewImproveLoopView(l *improveloop.ImproveLoop, running bool, now time.Time) ImproveLoopView {
	v := ImproveLoopView{
		Run: l.Run, Status: l.Status, Why: l.Why, Target: l.Target, Cycle: l.Cycle, Totals: l.Totals, Items: []*improveloop.LoopItem{},
		Money: RunMoney{Spent: l.Spent, Limit: l.Rules.Budget}, Waiting: len(l.ItemsWaitingForPerson()), MostOf: l.Rules.Waiting, Left: l.OmittedFindings(now),
		Rest: l.Rest.Why, Until: l.Rest.Until, Pulls: l.Pulls,
	}
	v.Items = append(v.Items, l.Items...)
	switch {
	case v.Status == "" && running:
		v.Status = LoopRunning
	case v.Status == "":
		v.Status, v.Rest = LoopInterrupted, ""
	default:
		v.Rest = ""
	}
	if l.Looked != nil {
		v.Notes = l.Looked.Notes
	}
	if v.Left == nil {
		v.Left = []nexus.OmittedWorkFinding{}
	}
	return v
}

// mostShown limits the drawn items, and the drawn skipped findings.
const mostShown = 30

// DrawLoop draws a loop: its results, its reverted work, and its skipped findings with their
// reasons.
func DrawLoop(s OutputStyle, v ImproveLoopView) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", s.Bold("loop "+string(v.Run)+":"), WithReason(string(v.Status), EscapeForTerminal(v.Why)))
	t := v.Totals
	fmt.Fprintf(&b, "  %s, %d landed, %d reverted, %d kept, %d failed\n", CountWithNoun(v.Cycle, "cycle"), t.Landed, t.Reverted, t.Kept, t.Failed)
	fmt.Fprintf(&b, "  %s of %s spent\n", v.Money.Spent, v.Money.Limit)
	if v.Rest != "" {
		until := ""
		if !v.Until.IsZero() {
			until = " until " + v.Until.Local().Format("15:04:05")
		}
		fmt.Fprintf(&b, "  waiting%s: %s\n", until, EscapeForTerminal(v.Rest))
	}
	for _, n := range v.Notes {
		fmt.Fprintf(&b, "  %s\n", s.Warn("the search failed: "+EscapeForTerminal(n)))
	}
	items := v.Items[max(0, len(v.Items)-mostShown):]
	if len(items) > 0 {
		b.WriteString("\n")
		rows := make([][]string, len(items))
		for n, i := range items {
			rows[n] = []string{string(itemStatus(i)), EscapeForTerminal(string(i.ID)), i.Work.Spent.String(), EscapeForTerminal(i.Wanted.Title), EscapeForTerminal(v.outcomeText(i))}
		}
		b.WriteString(DrawTable(s, []string{"result", "run", "cost", "what", ""}, rows))
	}
	if v.Waiting > 0 {
		fmt.Fprintf(&b, "\n%s for a person (at most %d): merge its branch, or delete it to reject the work\n", resultsWaitText(v.Waiting), v.MostOf)
	}
	for _, p := range v.Pulls {
		switch {
		case p.Why != "":
			fmt.Fprintf(&b, "  %s\n", s.Warn(EscapeForTerminal(fmt.Sprintf("%s: the forge is not up to date: %s", p.Branch, p.Why))))
		case p.Number > 0:
			fmt.Fprintf(&b, "  %s: pull request %d, %s\n", EscapeForTerminal(p.Branch), p.Number, EscapeForTerminal(p.Web))
		}
	}
	if len(v.Left) > 0 {
		fmt.Fprintf(&b, "\n%s not touched:\n", CountWithNoun(len(v.Left), "finding"))
		for _, l := range v.Left[:min(len(v.Left), mostShown)] {
			fmt.Fprintf(&b, "  %s: %s (%s)\n", EscapeForTerminal(l.Finding), EscapeForTerminal(l.Title), EscapeForTerminal(l.Why))
		}
	}
	return b.String()
}

func resultsWaitText(n int) string {
	if n == 1 {
		return "1 result waits"
	}
	return fmt.Sprintf("%d results wait", n)
}

// itemStatus describes the current or final status of an item.
func itemStatus(i *improveloop.LoopItem) string {
	switch {
	case i.Rule == improveloop.RejectedBy:
		return string(i.Rule)
	case i.Result != "":
		return string(i.Result)
	}
	return string(i.Stage)
}

// outcomeText describes the result of an item, with the reason.
func (v ImproveLoopView) outcomeText(i *improveloop.LoopItem) string {
	switch {
	case i.Rule == improveloop.RejectedBy:
		return fmt.Sprintf("a person rejected it; it was on branch %s", i.ResultBranch())
	case i.Waits && slices.Contains(v.Gone, i.ResultBranch()):
		return fmt.Sprintf("it was on branch %s, which is gone: the next cycle finds out whether it was merged", i.ResultBranch())
	}
	switch i.Result {
	case improveloop.DoneLanded:
		return WithReason(fmt.Sprintf("%.9s on %s", i.Commit, i.Target), i.Why)
	case improveloop.DoneReverted:
		return fmt.Sprintf("reverted as %.9s: %s", i.Reverted, i.Why)
	case improveloop.DoneKept:
		return fmt.Sprintf("on branch %s: %s", i.Work.Branch, i.Why)
	default:
		return i.Why
	}
}

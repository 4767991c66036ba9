package view

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
)

// Going is a run that is not over, in a list of such runs.
type Going struct {
	Repository string `json:"repository"` // its directory
	Run
}

// NeedsYou reports whether the run waits for a person.
func (g Going) NeedsYou() bool { return g.Waiting > 0 }

// needs names a question that waits, or else says how many tasks do.
func (g Going) needs() string {
	switch more := g.Waiting - 1; {
	case len(g.Asks) == 0:
		return Count(g.Waiting, "task")
	case more > 0:
		return fmt.Sprintf("%s and %d more", g.Asks[0].ID, more)
	default:
		return g.Asks[0].ID
	}
}

// SortGoing orders runs by who has to act: first those that need a person, then
// those that go on, then those that nobody conducts; the order in each stays.
func SortGoing(all []Going) {
	slices.SortStableFunc(all, func(x, y Going) int { return urgency(x) - urgency(y) })
}

func urgency(g Going) int {
	switch {
	case g.NeedsYou():
		return 0
	case g.Held != nil:
		return 1
	default:
		return 2
	}
}

// DrawGoing draws a list of runs that are not over. With repositories, it says of
// which each is.
func DrawGoing(s Style, all []Going, repositories bool) string {
	if len(all) == 0 {
		return ""
	}
	head := []string{"run", "status", "needs you", "landed", "money", "time", "process", "goal"}
	if repositories {
		head = slices.Insert(head, 0, "repository")
	}
	rows := make([][]string, 0, len(all))
	for _, g := range all {
		needs, process := "-", "-"
		if g.NeedsYou() {
			needs = s.Warn(g.needs())
		}
		if g.Held != nil {
			process = strconv.Itoa(g.Held.PID)
		}
		row := []string{
			string(g.ID), s.status(g.Status), needs, fmt.Sprintf("%d/%d", g.Counts.Landed, g.Counts.Total),
			g.Money.Spent.String(), Duration(seconds(g.Seconds)), process, Goal(g.Goal),
		}
		if repositories {
			name := Clean(g.Repository)
			if !s.Plain {
				name = filepath.Base(name)
			}
			row = slices.Insert(row, 0, name)
		}
		rows = append(rows, row)
	}
	return s.Safe(Table(s, head, rows))
}

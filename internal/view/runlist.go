package view

import (
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
)

// UnfinishedRunRow is an unfinished run in a list.
type UnfinishedRunRow struct {
	Repository string `json:"repository"` // its directory
	RunView
}

// NeedsPerson reports whether the run waits for a person.
func (g UnfinishedRunRow) NeedsPerson() bool { return g.Waiting > 0 }

// waitingText names a waiting question, or else the number of waiting tasks.
func (g UnfinishedRunRow) waitingText() string {
	switch more := g.Waiting - 1; {
	case len(g.Asks) == 0:
		return CountWithNoun(g.Waiting, "task")
	case more > 0:
		return fmt.Sprintf("%s and %d more", g.Asks[0].ID, more)
	default:
		return g.Asks[0].ID
	}
}

// SortByUrgency sorts runs by who must act: first those that need a person, then those in
// progress, then those without a conductor. The order within each group stays.
func SortByUrgency(all []UnfinishedRunRow) {
	slices.SortStableFunc(all, func(x, y UnfinishedRunRow) int { return runUrgency(x) - runUrgency(y) })
}

func runUrgency(g UnfinishedRunRow) int {
	switch {
	case g.NeedsPerson():
		return 0
	case g.Held != nil:
		return 1
	default:
		return 2
	}
}

// DrawUnfinishedRuns draws a list of unfinished runs. With repositories, it adds the repository of each.
func DrawUnfinishedRuns(s OutputStyle, all []UnfinishedRunRow, repositories bool) string {
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
		if g.NeedsPerson() {
			needs = s.Warn(g.waitingText())
		}
		if g.Held != nil {
			process = strconv.Itoa(g.Held.PID)
		}
		row := []string{
			string(g.ID), s.colourStatus(g.Status), needs, fmt.Sprintf("%d/%d", g.Counts.Landed, g.Counts.Total),
			g.Money.Spent.String(), FormatSeconds(g.Seconds), process, GoalLine(g.Goal),
		}
		if repositories {
			name := EscapeForTerminal(g.Repository)
			if !s.Plain {
				name = filepath.Base(name)
			}
			row = slices.Insert(row, 0, name)
		}
		rows = append(rows, row)
	}
	return s.Sanitize(DrawTable(s, head, rows))
}

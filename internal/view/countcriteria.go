package view

import (
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// CriteriaCount counts the met, unmet and unknown criteria of a task. A waived one counts as met.
type CriteriaCount struct {
	Task    nexus.TaskID `json:"task"`
	Met     int          `json:"met"`
	Unmet   int          `json:"unmet"`
	Unknown int          `json:"unknown"`
	Waived  int          `json:"waived,omitempty"`
}

// CriteriaByTask counts the criteria of each task that has some, in the plan's order.
func CriteriaByTask(t accept.CriteriaTable) []CriteriaCount {
	var all []CriteriaCount
	for _, r := range t.Rows {
		if n := len(all); n == 0 || all[n-1].Task != r.Task {
			all = append(all, CriteriaCount{Task: r.Task})
		}
		c := &all[len(all)-1]
		switch {
		case r.Waived != nil:
			c.Waived++
		case r.State == accept.Met:
			c.Met++
		case r.State == accept.Unmet:
			c.Unmet++
		default:
			c.Unknown++
		}
	}
	return all
}

// CriteriaLines draws a line for each task, nothing without tasks.
func CriteriaLines(s OutputStyle, all []CriteriaCount) string {
	if len(all) == 0 {
		return ""
	}
	rows := make([][]string, 0, len(all))
	for _, c := range all {
		var parts []string
		add := func(n int, text string) {
			if n > 0 {
				parts = append(parts, fmt.Sprintf("%d %s", n, text))
			}
		}
		add(c.Met, s.Good("met"))
		add(c.Unmet, s.Bad("unmet"))
		add(c.Unknown, s.Warn("unknown"))
		add(c.Waived, "waived")
		rows = append(rows, []string{string(c.Task), strings.Join(parts, ", ")})
	}
	return "\n" + DrawTable(s, []string{"task", "criteria"}, rows)
}

package view

import (
	"cmp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// DrawLiveStatus draws the block that is redrawn while a run continues. It never has more lines than
// the terminal, and shows active tasks before idle ones.
func DrawLiveStatus(s OutputStyle, r RunView) string {
	var b strings.Builder
	figures := s.statusFigures(r)
	figures[0] = s.colourStatus(r.Status) + "  " + figures[0]
	head := s.wrapFigures(figures, "  ") + "\n" + s.activityLine(r) + s.quotaLines(r)
	b.WriteString(head)
	shown, rest := r.Tasks, 0
	if room := s.Height - 3 - strings.Count(head, "\n"); s.Height > 0 && len(shown) > max(room, 1) {
		shown = slices.Clone(shown)
		slices.SortStableFunc(shown, func(x, y TaskView) int { return cmp.Compare(activityRank(x), activityRank(y)) })
		rest = len(shown) - max(room, 1)
		shown = shown[:max(room, 1)]
	}
	if len(shown) > 0 {
		b.WriteString(taskTable(s, shown))
	}
	if rest > 0 {
		b.WriteString(s.Dim("  and "+CountWithNoun(rest, "more task")) + "\n")
	}
	return s.Sanitize(b.String())
}

// activityRank returns the rank of a task by its activity; less active ones rank higher.
func activityRank(t TaskView) int {
	switch t.Status {
	case nexus.Running, nexus.Reviewing, nexus.Boarding:
		return 0
	case nexus.Parked, nexus.Failed:
		return 1
	case nexus.Pending:
		return 2
	case nexus.Blocked:
		return 3
	default:
		return 4
	}
}

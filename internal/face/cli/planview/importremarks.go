package planview

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/plan/foreign"
)

// maxRemarks limits the printed lines about a plan.
const maxRemarks = 40

// SayRemarks prints, in short lines, which parts were not imported. The same remark about several
// tasks is printed once.
func SayRemarks(a *console.Console, remarks []foreign.ImportRemark) {
	lines := remarkLines(remarks)
	for _, line := range lines[:min(len(lines), maxRemarks)] {
		a.Say("  %s", view.EscapeForTerminal(line))
	}
	if more := len(lines) - maxRemarks; more > 0 {
		a.Say("  and %d more; nexus plan --json lists them", more)
	}
}

// remarkLines formats remarks.
func remarkLines(remarks []foreign.ImportRemark) []string {
	type same struct {
		kind      foreign.ImportRemarkKind
		what, why string
	}
	where := map[same]int{}
	items := map[same][]string{}
	var order []same
	for i, r := range remarks {
		k := same{r.Kind, r.What, r.Why}
		switch {
		case r.Item == "":
			k.what = fmt.Sprint(r.What, "\x00", i) // printed separately
		case r.Kind == foreign.Done:
			k.what, k.why = "", "left out"
		}
		if items[k] == nil {
			order = append(order, k)
			where[k] = i
		}
		if !slices.Contains(items[k], r.Item) {
			items[k] = append(items[k], r.Item)
		}
	}
	lines := make([]string, 0, len(order))
	for _, k := range order {
		r := remarks[where[k]]
		what, _, _ := strings.Cut(k.what, "\x00")
		line := fmt.Sprintf("%-8s", r.Kind)
		if r.File != "" {
			line += " " + r.File
			if r.Line > 0 {
				line += fmt.Sprintf(":%d", r.Line)
			}
		}
		if of := shortList(items[k]); of != "" {
			line += " " + of + ":"
		} else {
			line += ":"
		}
		switch {
		case what == "":
			line += " " + k.why
		case k.why == "":
			line += " " + what
		default:
			line += " " + what + " (" + k.why + ")"
		}
		lines = append(lines, line)
	}
	return lines
}

// shortList names the first of some tasks, and the number of others.
func shortList(items []string) string {
	const most = 4
	if len(items) > most+1 {
		return fmt.Sprintf("%s and %d more", strings.Join(items[:most], ", "), len(items)-most)
	}
	return strings.Join(items, ", ")
}

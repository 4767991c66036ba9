package view

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// DrawCriteria draws the table for people.
func DrawCriteria(s OutputStyle, t accept.CriteriaTable) string {
	rows := make([][]string, 0, len(t.Rows))
	for _, r := range t.Rows {
		rows = append(rows, []string{r.ID, colourCriterionState(s, r.State), EscapeForTerminal(r.Criterion), EscapeForTerminal(criterionEvidence(r))})
	}
	var b strings.Builder
	b.WriteString(DrawTable(s, []string{"criterion", "state", "text", "evidence"}, rows))
	fmt.Fprintf(&b, "%d met, %d unmet, %d unknown", t.Met, t.Unmet, t.Unknown)
	if t.Waived > 0 {
		fmt.Fprintf(&b, ", %d of them waived", t.Waived)
	}
	if t.Tree != "" {
		fmt.Fprintf(&b, "; for tree %.12s", t.Tree)
	}
	b.WriteString("\n")
	b.WriteString(DrawFeatureProgress(s, t.Groups))
	for _, text := range t.Red {
		b.WriteString(s.Wrap("look at: "+EscapeForTerminal(text), "  ") + "\n")
	}
	return b.String()
}

// DrawFeatureProgress draws a line for each group of tasks, with nested groups indented.
func DrawFeatureProgress(s OutputStyle, groups []accept.FeatureProgress) string {
	var b strings.Builder
	for _, g := range groups {
		name, indent := EscapeForTerminal(g.Name), ""
		if in := nexus.EnclosingGroups(g.Name); len(in) > 1 && !s.Plain {
			indent = strings.Repeat("  ", len(in)-1)
			name = strings.TrimPrefix(name, EscapeForTerminal(in[len(in)-2])+" / ")
		}
		fmt.Fprintf(&b, "%s%s: %s\n", indent, name, groupStatus(s, g))
	}
	return b.String()
}

// groupStatus describes the status of a group in a few words.
func groupStatus(s OutputStyle, g accept.FeatureProgress) string {
	text := fmt.Sprintf("%d of %d tasks landed, %d of %d criteria met", g.Landed, g.Tasks, g.Met, g.Met+g.Unmet+g.Unknown)
	if g.Done {
		return s.Good("done") + ", " + text
	}
	return s.Warn("not done") + ", " + text + ": " + EscapeForTerminal(g.Why)
}

func colourCriterionState(s OutputStyle, state accept.CriterionState) string {
	switch state {
	case accept.Met:
		return s.Good(string(state))
	case accept.Unmet:
		return s.Bad(string(state))
	default:
		return s.Warn(string(state))
	}
}

// criterionEvidence describes the evidence for a criterion, or why there is none.
func criterionEvidence(r accept.CriterionRow) string {
	var parts []string
	if r.Test != "" || r.File != "" {
		parts = append(parts, strings.TrimPrefix(strings.TrimSuffix(r.Test+" in "+r.File, " in "), " in "))
	}
	if e := r.Evidence; e != nil {
		text := fmt.Sprintf("%s: %s", cmp.Or(e.Command, e.Gate), e.State)
		if e.Counts != (nexus.TestCounts{}) {
			text += fmt.Sprintf(", %d passed, %d failed", e.Counts.Passed, e.Counts.Failed)
		}
		parts = append(parts, text)
		parts = append(parts, e.Files[:min(len(e.Files), 3)]...)
		if more := len(e.Files) - 3; more > 0 {
			parts = append(parts, fmt.Sprintf("and %d more", more))
		}
	}
	if r.Shown != nil && r.State == accept.Met {
		parts = append(parts, r.Shown.Why)
	}
	if r.Why != "" {
		parts = append(parts, r.Why)
	}
	for _, x := range r.Fixes {
		if x.Status != "" {
			parts = append(parts, fmt.Sprintf("%s should fix it and is %s", x.Task, x.Status))
		}
	}
	if w := r.Waived; w != nil {
		word := "waived"
		if w.Signed {
			word = "signed off"
		}
		parts = append(parts, fmt.Sprintf("%s by %s: %s", word, w.By, cmp.Or(w.Reason, "no reason given")))
	}
	return strings.Join(parts, "; ")
}

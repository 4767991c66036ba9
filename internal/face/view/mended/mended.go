// Package mended tells people what is done about criteria that are not met on
// what landed, and about tasks that are stuck.
package mended

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/criterion"
)

// Describe says what happened, in words that may be from outside. It is empty
// for other facts.
func Describe(f nexus.Fact) string {
	switch f := f.(type) {
	case nexus.FaultsSought:
		var names []string
		for _, x := range f.Faults {
			names = append(names, x.Criterion)
		}
		return "looking for what keeps " + strings.Join(names, ", ") + " from being met"
	case nexus.FaultsFound:
		var parts []string
		for _, x := range f.Faults {
			parts = append(parts, Fault(x))
		}
		return cmp.Or(strings.Join(parts, "; "), "nothing keeps a criterion from being met")
	case nexus.FixesPlanned:
		return fmt.Sprintf("round %d of fixes: %s", f.Round, nexus.Join(f.Tasks))
	case nexus.SplitSought:
		return fmt.Sprintf("%s is stuck and to be split: %s", f.Task, f.Why)
	case nexus.TaskSplit:
		return fmt.Sprintf("%s is split into %s", f.Task, nexus.Join(f.Parts))
	case nexus.SplitFailed:
		return fmt.Sprintf("%s is not split: %s", f.Task, f.Why)
	case nexus.CriterionRevised:
		return fmt.Sprintf("%s/AC-%d says now: %s", f.Task, f.Number, f.Criterion.Text)
	default:
		return ""
	}
}

// Fault says where a fault lies, and why.
func Fault(f criterion.Fault) string {
	where := "the work is wrong"
	switch f.Kind {
	case criterion.Test:
		where = "its check is wrong"
	case criterion.Both:
		where = "the work and its check are wrong"
	case criterion.Stale:
		where = "its check is stale"
	case criterion.Source:
	}
	text := f.Criterion + ": " + where
	if f.Why != "" {
		text += ": " + f.Why
	}
	return text
}

// Checks says what came of tests that were written for criteria.
func Checks(f nexus.ChecksProved) string {
	var parts []string
	for _, c := range f.Checks {
		text := fmt.Sprintf("criterion %d is shown by %s", c.Number, cmp.Or(c.Test, c.File, c.Command))
		switch {
		case c.Command == "":
			text = fmt.Sprintf("criterion %d is left to people: %s", c.Number, c.Why)
		case !c.Proved:
			text = fmt.Sprintf("criterion %d is not shown by %s: %s", c.Number, cmp.Or(c.Test, c.File, c.Command), c.Why)
		}
		parts = append(parts, text)
	}
	return cmp.Or(strings.Join(parts, "; "), "no criterion got a check")
}

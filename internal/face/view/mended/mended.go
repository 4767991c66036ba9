// Package mended tells people what is done about criteria that are not met on
// what landed.
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
	case criterion.Source:
	}
	text := f.Criterion + ": " + where
	if f.Why != "" {
		text += ": " + f.Why
	}
	return text
}

package accept

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// AddIndependentResults adds the results of independent checks to criteria that only tests of the
// change show. It is the row of [nexus.BlindBearing] in [EvidenceSources]: such a check is written
// and run only after all other evidence.
func AddIndependentResults(all []nexus.CriterionGateEvidence, p nexus.IndependentChecksRun) []nexus.CriterionGateEvidence {
	all = slices.Clone(all)
	for i := range all {
		s := &all[i]
		at := slices.IndexFunc(p.Checks, func(c nexus.CriterionTest) bool { return c.Number == s.Number && c.Of == s.Of })
		if !s.Own || at < 0 {
			continue
		}
		switch c := p.Checks[at]; {
		case c.Proved:
			s.Own, s.Tried, s.By, s.Tests, s.Seen = false, "", nexus.BlindBearing, []string{cmp.Or(c.Test, c.File)}, nil
			s.Why = fmt.Sprintf("%s fails without the change and passes with it, and its author saw nothing of the change", cmp.Or(c.Test, c.File))
		case c.Red:
			s.Tried = fmt.Sprintf("the independent check %s fails with the change: %s", cmp.Or(c.Test, c.File), c.Why)
		default:
			s.Tried = "no independent check: " + strings.TrimSpace(c.Why)
		}
	}
	return all
}

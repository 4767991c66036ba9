package gate

import (
	"cmp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/gosource"
)

// applyQuarantine ignores failures of tests in quarantine. If a runner counts more failed
// tests than it names, the list may be incomplete, and if no other test passed, the gate
// proves nothing.
func (r GateRunner) applyQuarantine(g QualityGate, raw, e nexus.GateEvidence) nexus.GateEvidence {
	if len(r.Quarantine.List) == 0 || !g.Tests {
		return e
	}
	wishes := accept.ParseMentions(r.Wanted)
	all := raw.Counts.Failed <= countNamedTests(raw)
	spared := r.Quarantine.ApplyQuarantine(e, cmp.Or(g.Of, g.Name), func(test string) bool {
		return !all || wishes.MatchesByName(nexus.Finding{Test: test}) || IsTestNamed(test, r.Wanted)
	})
	if g.Of == "" && e.State == nexus.Fail && spared.State == nexus.Pass && spared.Counts.Passed == 0 {
		spared.State, spared.Why = nexus.NotRun, "no test passed; "+spared.Why
	}
	return spared
}

// countNamedTests counts the tests that findings name. In Go, a test with a subtest that fails fails,
// too, and is not named.
func countNamedTests(e nexus.GateEvidence) int {
	tests := map[string]bool{}
	for _, f := range e.Findings {
		if f.Test == "" {
			continue
		}
		tests[f.Test] = true
		if pkg, name, ok := gosource.SplitTestName(f.Test); ok {
			for i := strings.LastIndexByte(name, '/'); i > 0; i = strings.LastIndexByte(name[:i], '/') {
				tests[pkg+"."+name[:i]] = true
			}
		}
	}
	return len(tests)
}

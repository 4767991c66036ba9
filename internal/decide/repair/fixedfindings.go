package repair

import (
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// FixedFindings returns earlier findings of a gate that are gone in the last of the rounds.
// If something prevented the gate from checking in that round, such as code that does not
// compile, the state is unknown, and it returns nothing.
func FixedFindings(rounds []*state.AttemptRound, gate string) []nexus.Finding {
	if len(rounds) == 0 {
		return nil
	}
	now, ok := gateEvidence(rounds[len(rounds)-1], gate)
	if !ok || now.State != nexus.Fail || slices.ContainsFunc(now.Findings, mayHideFindings) {
		return nil
	}
	for _, r := range slices.Backward(rounds[:len(rounds)-1]) {
		before, ok := gateEvidence(r, gate)
		if !ok {
			continue // an earlier gate failed it
		}
		if before.Command != now.Command {
			return nil // it checked something else
		}
		return slices.DeleteFunc(slices.Clone(before.Findings), func(f nexus.Finding) bool {
			return mayHideFindings(f) || slices.ContainsFunc(now.Findings, func(g nexus.Finding) bool { return isSameSubject(f, g) })
		})
	}
	return nil
}

// gateEvidence returns a gate's evidence in a round.
func gateEvidence(r *state.AttemptRound, gate string) (nexus.GateEvidence, bool) {
	i := slices.IndexFunc(r.Evidence, func(e nexus.GateEvidence) bool { return e.Gate == gate })
	if i < 0 {
		return nexus.GateEvidence{}, false
	}
	return r.Evidence[i], true
}

// mayHideFindings reports whether a finding may hide other findings.
func mayHideFindings(f nexus.Finding) bool {
	return slices.Contains([]string{"compile", "panic", "timeout", "vanished", "hang", "exit", "more", "environment", "missing-tool"}, f.Code)
}

// isSameSubject reports whether two findings are about the same problem: the same test, or the same
// text about the same file.
func isSameSubject(f, g nexus.Finding) bool {
	if f.Test != "" || g.Test != "" {
		return f.Test == g.Test
	}
	return f.File == g.File && f.Code == g.Code && strings.TrimSpace(f.Message) == strings.TrimSpace(g.Message)
}

package gate

import (
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
)

// markNotRunIfObstacle marks a red gate as not run if its output is about the environment and not
// about the tree, and none of its tests ran: its messages are no findings then.
func (r GateRunner) markNotRunIfObstacle(g QualityGate, e nexus.GateEvidence, res sandbox.Result) nexus.GateEvidence {
	red := e.State == nexus.Fail || e.State == nexus.Unverifiable || e.State == nexus.Environmental && !isToolMissing(e) && !e.WasRunnerStopped()
	if r.Box.Name() == string(sandbox.ModeOff) || !red || e.Counts.Passed > 0 {
		return e
	}
	o, line, ok := stack.ObstacleIn(string(res.Stdout) + "\n" + string(res.Stderr))
	if !ok {
		return e
	}
	dir := g.Dir
	if dir == "" {
		dir = "."
	}
	e.State, e.Why = nexus.NotRun, o.Name+": "+line
	e.Findings = []nexus.Finding{{
		Gate: g.Name, Severity: nexus.Minor, Code: parserbase.CodeObstacle, Message: e.Why, Advice: strings.ReplaceAll(o.Cure, "DIR", dir),
	}}
	return e
}

// GateObstacle is a gate that cannot judge in this environment, for a reason that is not in the tree.
type GateObstacle struct{ Gate, Cause, Cure string }

// EnvironmentObstacleOf returns why a gate cannot judge in this environment; false if no such reason is
// known.
func EnvironmentObstacleOf(e nexus.GateEvidence) (GateObstacle, bool) {
	i := slices.IndexFunc(e.Findings, func(f nexus.Finding) bool {
		return f.Code == parserbase.CodeObstacle || f.Code == parserbase.CodeGround
	})
	if i < 0 || e.State != nexus.NotRun {
		return GateObstacle{}, false
	}
	return GateObstacle{e.Gate, e.Findings[i].Message, e.Findings[i].Advice}, true
}

// MarkEnvironmentFault marks a gate that is red on the base in a run's environment and passes
// in the user's checkout: it does not judge in this run, and its findings on the base excuse
// nothing.
func MarkEnvironmentFault(e nexus.GateEvidence) nexus.GateEvidence {
	said := e.Why
	if said == "" {
		said = firstFinding(e.Findings)
	}
	e.State, e.Raw = nexus.NotRun, ""
	e.Why = fmt.Sprintf("it fails where runs work, and passes in your checkout: %s", said)
	e.Findings = []nexus.Finding{{
		Gate: e.Gate, Severity: nexus.Minor, Code: parserbase.CodeGround, Message: e.Why,
		Advice: "Compare with the untracked files, services and variables of your checkout. environment.link, environment.init and environment.variables give them to runs.",
	}}
	return e
}

// hasFindingWithCode reports whether evidence has a finding with a code.
func hasFindingWithCode(e nexus.GateEvidence, code string) bool {
	return slices.ContainsFunc(e.Findings, func(f nexus.Finding) bool { return f.Code == code })
}

// markGateNotRun marks a gate that does not judge in this run, or that meets the same obstacle as on
// the base, as not run; false if it judges.
func markGateNotRun(base, now nexus.GateEvidence) (nexus.GateEvidence, bool) {
	ground := hasFindingWithCode(base, parserbase.CodeGround) && base.State == nexus.NotRun && !now.Passed()
	met := hasFindingWithCode(base, parserbase.CodeObstacle) && hasFindingWithCode(now, parserbase.CodeObstacle) && base.State == nexus.NotRun && now.State == nexus.NotRun
	if !ground && !met {
		return now, false
	}
	now.State, now.Findings, now.Why = nexus.NotRun, nil, base.Why+", also on the base"
	return now, true
}

package mutate

import (
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Evidence returns a report as evidence of a tree. Where survivors block, they
// are a failure; else they are remarks on a pass.
func (r Report) Evidence(tree string, block bool) nexus.Evidence {
	e := nexus.Evidence{Gate: Gate, State: nexus.Pass, Tree: tree, Duration: r.Duration}
	severity := nexus.Minor
	if block {
		severity = nexus.Major
	}
	for _, x := range r.Results {
		if x.State != Survived {
			continue
		}
		e.Findings = append(e.Findings, nexus.Finding{
			Gate: Gate, File: x.File, Line: x.Line, Severity: severity, Code: "mutation." + code(x.Operator),
			Message: fmt.Sprintf("no test notices when %s becomes %s (%s)", short(x.Was), short(x.Now), x.Operator),
			Advice:  "let a test fail with this fault, or say why nobody could see it",
		})
	}
	killed, survived := r.Count(Killed)+r.Count(TimedOut), r.Count(Survived)
	e.Why = fmt.Sprintf("tests noticed %d of %d faults in new lines", killed, killed+survived)
	if other := len(r.Results) - killed - survived; other > 0 {
		e.Why += fmt.Sprintf(", %d told nothing", other)
	}
	if r.Why != "" {
		e.Why += "; " + r.Why
	}
	switch {
	case killed+survived == 0:
		e.State = nexus.NotRun
	case survived > 0 && block:
		e.State = nexus.Fail
	}
	return e
}

// code is an operator as one word.
func code(operator string) string {
	out := []byte(operator)
	for i, c := range out {
		if c == ' ' {
			out[i] = '-'
		}
	}
	return string(out)
}

package mutate

import (
	"fmt"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Evidence returns a report as evidence of a tree. If block is set, survivors are a failure;
// otherwise they are remarks on a pass.
func (r MutationReport) Evidence(tree string, block bool) nexus.GateEvidence {
	e := nexus.GateEvidence{Gate: Gate, State: nexus.Pass, Tree: tree, Duration: r.Duration}
	severity := nexus.Minor
	if block {
		severity = nexus.Major
	}
	for _, x := range r.Results {
		if x.State != Survived {
			continue
		}
		e.Findings = append(e.Findings, nexus.Finding{
			Gate: Gate, File: x.File, Line: x.Line, Severity: severity, Code: "mutation." + operatorCode(x.Operator),
			Message: fmt.Sprintf("no test notices when %s becomes %s (%s)", shortCodeSpan(x.Was), shortCodeSpan(x.Now), x.Operator),
			Advice:  "write a test that fails with this fault, or say why no test can",
		})
	}
	for _, m := range r.incompletelyTriedMutants() {
		e.Findings = append(e.Findings, nexus.Finding{
			Gate: Gate, File: m.File, Line: m.Line, Severity: nexus.Minor, Code: CodeUnseen,
			Message: fmt.Sprintf("not tried: it is unknown whether a test notices when %s becomes %s (%s)", shortCodeSpan(m.Was), shortCodeSpan(m.Now), m.Operator),
			Advice:  "check the tests of this line yourself",
		})
	}
	killed, survived := r.CountState(Killed)+r.CountState(TimedOut), r.CountState(Survived)
	e.Why = fmt.Sprintf("tests noticed %d of %d faults in new lines", killed, killed+survived)
	if other := len(r.Results) - killed - survived - len(r.incompletelyTriedMutants()) + len(r.Unseen); other > 0 {
		e.Why += fmt.Sprintf(", %d gave no result", other)
	}
	if n := len(r.incompletelyTriedMutants()); n > 0 {
		e.Why += fmt.Sprintf(", %d not tried", n)
	}
	if r.Why != "" {
		e.Why += "; " + r.Why
	}
	if r.Budget > 0 {
		e.Why += fmt.Sprintf("; time limit: %s", r.Budget.Round(time.Second))
	}
	switch {
	case killed+survived == 0:
		e.State = nexus.NotRun
	case survived > 0 && block:
		e.State = nexus.Fail
	}
	return e
}

// CodeUnseen is the code of a fault that was drawn and not tried for lack of time. It is no
// survivor, and no proof that tests notice it.
const CodeUnseen = "mutation.not-looked-at"

// incompletelyTriedMutants returns the faults that were drawn and not completely tried.
func (r MutationReport) incompletelyTriedMutants() []Mutant {
	var all []Mutant
	for _, x := range r.Results {
		if x.State == Unclear && x.Why == "the time was up" {
			all = append(all, x.Mutant)
		}
	}
	return append(all, r.Unseen...)
}

// operatorCode returns an operator as one word.
func operatorCode(operator string) string {
	out := []byte(operator)
	for i, c := range out {
		if c == ' ' {
			out[i] = '-'
		}
	}
	return string(out)
}

package repair

import (
	"cmp"
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// IndependentGate is the cause of a round in which an author answers to an independent
// check that fails with the work.
const IndependentGate = "independent"

// IndependentRed is the code of a finding that an independent check fails although the
// author of the work has heard of it.
const IndependentRed = "independent.red"

// When independent checks are asked for: the values of acceptance.independent.
const (
	IndependentAuto   = "auto"
	IndependentAlways = "always"
	IndependentOff    = "off"
)

// WantsIndependent returns the numbers of the criteria that an independent check is to
// show: those of all that only tests of the change itself show. Auto asks where that
// is a risk, which it is where code was changed that others use already: of a new
// feature the tests that came with it are all there can be, and a second reading of the
// goal costs more than it finds.
func WantsIndependent(when string, t nexus.Task, all []nexus.CriterionShown, edits bool) []int {
	var open []int
	for _, s := range all {
		if !s.Own || s.Number > len(t.Criteria) {
			continue
		}
		changes := t.Criteria[s.Number-1].Kind == "" && edits
		if when == IndependentAlways || when == IndependentAuto && changes {
			open = append(open, s.Number)
		}
	}
	return open
}

// independent decides on work that is green and shown only by tests of its own. Somebody
// who sees nothing of the change writes a check, once in an attempt, and it runs on
// each tree that is judged from then on. Where it fails, the author hears of it once.
// If that settles nothing, a verifier decides which of the two is wrong: it is among
// what has to be explained ([Doubted]).
func independent(t *state.Task, a *state.Attempt, l nexus.Limits, facts Facts) (Step, bool) {
	if len(facts.Independent) == 0 {
		return Step{}, false
	}
	if p := a.Reproduced; p == nil || p.Round != len(a.Rounds) || p.Tree != a.LastRound().Verdict.Tree {
		return Step{Move: Reproduce}, true
	}
	red := Refuted(*a.Reproduced)
	if len(red) == 0 || countRounds(a, IndependentGate) > 0 {
		return Step{}, false
	}
	step := beginRound(t, a, l, Step{
		Role: firstRole(t), Cause: IndependentGate, Findings: red,
		Why: "a check of the task that was written without knowing the change fails with it",
	})
	return step, step.Move == Write
}

// Refuted returns what independent checks found that fail with the work.
func Refuted(p nexus.ChecksReproduced) []nexus.Finding {
	var all []nexus.Finding
	for _, c := range p.Checks {
		if c.Red {
			all = append(all, nexus.Finding{
				Gate: IndependentGate, Test: c.Test, File: c.File, Severity: nexus.Major,
				Message: fmt.Sprintf("criterion %d: %s, run by `%s`, fails with the change: %s", c.Number, cmp.Or(c.Test, c.File), c.Command, c.Why),
			})
		}
	}
	return all
}

// Doubted returns what a verifier has to explain of independent checks that fail with
// the work although its author has heard of them.
func Doubted(a *state.Attempt, p nexus.ChecksReproduced) []nexus.Finding {
	if countRounds(a, IndependentGate) == 0 {
		return nil
	}
	all := Refuted(p)
	for i := range all {
		all[i].Code = IndependentRed
		all[i].Message += ". It was written from the task alone. Legitimate here means that the check asks for something that the task does not ask for"
	}
	return all
}

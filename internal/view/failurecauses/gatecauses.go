package failurecauses

import (
	"fmt"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// gateCausePatterns returns the patterns about gates and their tests.
func gateCausePatterns() []CausePattern {
	return []CausePattern{
		{"base-red", "a gate was red before the work began", redBaseCauses},
		{"flaky-tests", "tests failed and passed on one and the same tree", flakyTestCauses},
		{"gate-hangs", "a gate did not end", hangingGateCauses},
		{"gate-unreadable", "the output of a gate cannot be understood", unreadableGateCauses},
		{"no-gate", "no gate could tell whether the work is right", missingGateCauses},
		{"slow-gates", "gates took most of the time", slowGateCauses},
		{"secret", "the change adds what looks like a secret", secretCauses},
		{"tamper", "the work weakens the tests or gates that judge it", tamperCauses},
	}
}

func redBaseCauses(r *causeSearchInput) []KnownCause {
	return causesFromFacts(r, 1, func(f nexus.GateJudged) []factSubject {
		return subjectIf(f.Base && f.Evidence.State == nexus.Fail, "", f.Evidence.Gate)
	}, func(s typedFactGroup[nexus.GateJudged]) KnownCause {
		e := s.lastFact().Evidence
		what := reasonOrUsual(e.Command, e.Gate)
		if len(e.Findings) > 0 {
			what += ": " + firstLine(e.Findings[0].Message)
		}
		return KnownCause{
			Symptom: fmt.Sprintf("the gate %s is red on the commit that the work starts from", s.what),
			Why:     what,
			Fix: "earlier failures do not count against the work, but hide new ones; " +
				"nexus quick 'Make " + s.what + " pass' fixes it first",
		}
	})
}

func flakyTestCauses(r *causeSearchInput) []KnownCause {
	return causesFromFacts(r, 1, func(f nexus.GateJudged) []factSubject {
		var all []factSubject
		for _, x := range f.Evidence.Flaky {
			if x.Quarantine == "" {
				all = append(all, factSubject{"", x.Test})
			}
		}
		return all
	}, func(s typedFactGroup[nexus.GateJudged]) KnownCause {
		failed, runs := 0, 0
		for _, f := range s.facts {
			for _, x := range f.Evidence.Flaky {
				if x.Test == s.what {
					failed, runs = failed+x.Failed, runs+x.Runs
				}
			}
		}
		return KnownCause{
			Symptom: fmt.Sprintf("%s failed %d of %d times without a change", s.what, failed, runs),
			Why:     "the test is flaky: its result does not depend on the work",
			Fix:     "fix the test, or nexus quarantine add " + quoteForShell(s.what) + " --days 14 --why REASON",
		}
	})
}

func hangingGateCauses(r *causeSearchInput) []KnownCause {
	return causesFromFacts(r, 1, func(f nexus.GateJudged) []factSubject {
		return subjectIf(f.Evidence.HasHung(), r.taskOfGate(f), f.Evidence.Gate)
	}, func(s typedFactGroup[nexus.GateJudged]) KnownCause {
		e := s.lastFact().Evidence
		why := fmt.Sprintf("it was ended after %s", e.Duration.Round(time.Second))
		if s.lastFact().Base || e.Hangs {
			why += ", and hung on the base as well: the work is not at fault"
		}
		return KnownCause{
			Symptom: fmt.Sprintf("the gate %s did not end, %s", s.what, timesText(len(s.at))),
			Why:     why,
			Fix:     "raise limits.gate_time if it only needs longer; else find what waits: nexus check --gates " + s.what,
		}
	})
}

func unreadableGateCauses(r *causeSearchInput) []KnownCause {
	return causesFromFacts(r, 1, func(f nexus.GateJudged) []factSubject {
		return subjectIf(f.Evidence.State == nexus.Unverifiable, r.taskOfGate(f), f.Evidence.Gate)
	}, func(s typedFactGroup[nexus.GateJudged]) KnownCause {
		return KnownCause{
			Symptom: fmt.Sprintf("the gate %s ran, but its output says neither pass nor fail", s.what),
			Why:     reasonOrUsual(s.lastFact().Evidence.Why, "its output has no known format"),
			Fix: "set gates." + s.what + " to a command that exits 0 when all is well; " +
				"nexus check shows how it is read",
		}
	})
}

func missingGateCauses(r *causeSearchInput) []KnownCause {
	return causesFromFacts(r, 1, func(f nexus.AttemptEnded) []factSubject {
		return subjectIf(f.Outcome == nexus.Unverified && r.isUnlandedForGood(r.taskOfAttempt(f.Attempt)), r.taskOfAttempt(f.Attempt), "")
	}, func(s typedFactGroup[nexus.AttemptEnded]) KnownCause {
		return KnownCause{
			Symptom: "the work did not land because no evidence shows whether it is right",
			Why:     reasonOrUsual(s.lastFact().Why, "no gate ran a test that relates to it"),
			Fix: "give the criterion a check, nexus revise " + taskArgument(s.task) + "/AC-1 TEXT --check COMMAND; " +
				"or set gates.test",
		}
	})
}

// Thresholds from which gates count as slow: their share of the work on a task, and a minimum
// time.
const (
	slowShare = 0.5
	slowLeast = 10 * time.Minute
)

func slowGateCauses(r *causeSearchInput) []KnownCause {
	all := causesFromFacts(r, 1, func(f nexus.GateJudged) []factSubject {
		return subjectIf(!f.Cached && !f.Base && r.taskOfGate(f) != "", r.taskOfGate(f), "")
	}, func(s typedFactGroup[nexus.GateJudged]) KnownCause {
		t := r.state.TaskByID(s.task)
		if t == nil {
			return KnownCause{}
		}
		var took time.Duration
		by := map[string]time.Duration{}
		slowest := ""
		for _, f := range s.facts {
			took += f.Evidence.Duration
			by[f.Evidence.Gate] += f.Evidence.Duration
			if slowest == "" || by[f.Evidence.Gate] > by[slowest] {
				slowest = f.Evidence.Gate
			}
		}
		worked := r.state.TaskWorkTime(t, r.events[len(r.events)-1].At)
		if took < slowLeast || took.Seconds() < slowShare*worked.Seconds() {
			return KnownCause{}
		}
		return KnownCause{
			Symptom: fmt.Sprintf("gates took %s of the %s spent on it", took.Round(time.Second), worked.Round(time.Second)),
			Why:     fmt.Sprintf("the gate %s alone took %s", slowest, by[slowest].Round(time.Second)),
			Fix: "gates.related = \"task\" runs only tests that the change concerns; " +
				"or split the slow tests off into a gate of their own",
		}
	})
	return withoutEmptyCauses(all)
}

// withoutEmptyCauses removes causes without content.
func withoutEmptyCauses(all []KnownCause) []KnownCause {
	kept := all[:0]
	for _, c := range all {
		if c.Symptom != "" {
			kept = append(kept, c)
		}
	}
	return kept
}

func secretCauses(r *causeSearchInput) []KnownCause {
	return causesFromFacts(r, 1, func(f nexus.GateJudged) []factSubject {
		return subjectIf(f.Evidence.Gate == nexus.SecretsGate && f.Evidence.State == nexus.Fail, r.taskOfGate(f), "")
	}, func(s typedFactGroup[nexus.GateJudged]) KnownCause {
		why := "a new line looks like a key or a password"
		if f := s.lastFact().Evidence.Findings; len(f) > 0 {
			why = fmt.Sprintf("%s:%d: %s", f[0].File, f[0].Line, firstLine(f[0].Message))
		}
		return KnownCause{
			Symptom: fmt.Sprintf("the search for secrets stopped the work, %s", timesText(len(s.at))),
			Why:     why,
			Fix:     "let it read the secret from the environment: nexus tell " + taskArgument(s.task) + " TEXT",
		}
	})
}

func tamperCauses(r *causeSearchInput) []KnownCause {
	return causesFromFacts(r, 2, func(f nexus.TamperSuspected) []factSubject {
		return subjectIf(len(f.Findings) > 0, r.taskOfAttempt(f.Attempt), "")
	}, func(s typedFactGroup[nexus.TamperSuspected]) KnownCause {
		f := s.lastFact().Findings[0]
		return KnownCause{
			Symptom: fmt.Sprintf("the work changed its own tests or gates, %s", timesText(len(s.at))),
			Why:     reasonOrUsual(f.File, "a test") + ": " + firstLine(f.Message),
			Fix: "if the tests are wrong, say so: nexus tell " + taskArgument(s.task) + " TEXT; " +
				"else nexus retry " + taskArgument(s.task) + " --fresh",
		}
	})
}

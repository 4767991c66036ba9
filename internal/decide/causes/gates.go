package causes

import (
	"fmt"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// ofGates returns the patterns about gates and their tests.
func ofGates() []Pattern {
	return []Pattern{
		{"base-red", "a gate was red before the work began", baseRed},
		{"flaky-tests", "tests failed and passed on one and the same tree", flakyTests},
		{"gate-hangs", "a gate did not end", gateHangs},
		{"gate-unreadable", "the output of a gate cannot be understood", gateUnreadable},
		{"no-gate", "no gate could tell whether the work is right", noGate},
		{"slow-gates", "gates took most of the time", slowGates},
		{"secret", "the change adds what looks like a secret", secretFound},
		{"tamper", "the work weakens the tests or gates that judge it", tamper},
	}
}

func baseRed(r *record) []Cause {
	return causes(r, 1, func(f nexus.GateJudged) []mark {
		return only(f.Base && f.Evidence.State == nexus.Fail, "", f.Evidence.Gate)
	}, func(s typedGroup[nexus.GateJudged]) Cause {
		e := s.last().Evidence
		what := given(e.Command, e.Gate)
		if len(e.Findings) > 0 {
			what += ": " + firstLine(e.Findings[0].Message)
		}
		return Cause{
			Symptom: fmt.Sprintf("the gate %s is red on the commit that the work starts from", s.what),
			Why:     what,
			Fix: "earlier failures do not count against the work, but hide new ones; " +
				"nexus quick 'Make " + s.what + " pass' fixes it first",
		}
	})
}

func flakyTests(r *record) []Cause {
	return causes(r, 1, func(f nexus.GateJudged) []mark {
		var all []mark
		for _, x := range f.Evidence.Flaky {
			if x.Quarantine == "" {
				all = append(all, mark{"", x.Test})
			}
		}
		return all
	}, func(s typedGroup[nexus.GateJudged]) Cause {
		failed, runs := 0, 0
		for _, f := range s.facts {
			for _, x := range f.Evidence.Flaky {
				if x.Test == s.what {
					failed, runs = failed+x.Failed, runs+x.Runs
				}
			}
		}
		return Cause{
			Symptom: fmt.Sprintf("%s failed %d of %d times without a change", s.what, failed, runs),
			Why:     "the test is flaky: its result does not depend on the work",
			Fix:     "fix the test, or nexus quarantine add " + quote(s.what) + " --days 14 --why REASON",
		}
	})
}

func gateHangs(r *record) []Cause {
	return causes(r, 1, func(f nexus.GateJudged) []mark {
		return only(f.Evidence.Hung(), r.gated(f), f.Evidence.Gate)
	}, func(s typedGroup[nexus.GateJudged]) Cause {
		e := s.last().Evidence
		why := fmt.Sprintf("it was ended after %s", e.Duration.Round(time.Second))
		if s.last().Base || e.Hangs {
			why += ", and hung on the base as well: the work is not at fault"
		}
		return Cause{
			Symptom: fmt.Sprintf("the gate %s did not end, %s", s.what, times(len(s.at))),
			Why:     why,
			Fix:     "raise limits.gate_time if it only needs longer; else find what waits: nexus check --gates " + s.what,
		}
	})
}

func gateUnreadable(r *record) []Cause {
	return causes(r, 1, func(f nexus.GateJudged) []mark {
		return only(f.Evidence.State == nexus.Unverifiable, r.gated(f), f.Evidence.Gate)
	}, func(s typedGroup[nexus.GateJudged]) Cause {
		return Cause{
			Symptom: fmt.Sprintf("the gate %s ran, but its output says neither pass nor fail", s.what),
			Why:     given(s.last().Evidence.Why, "its output has no known format"),
			Fix: "set gates." + s.what + " to a command that exits 0 when all is well; " +
				"nexus check shows how it is read",
		}
	})
}

func noGate(r *record) []Cause {
	return causes(r, 1, func(f nexus.AttemptEnded) []mark {
		return only(f.Outcome == nexus.Unverified && r.left(r.attempt(f.Attempt)), r.attempt(f.Attempt), "")
	}, func(s typedGroup[nexus.AttemptEnded]) Cause {
		return Cause{
			Symptom: "the work did not land because no evidence shows whether it is right",
			Why:     given(s.last().Why, "no gate ran a test that relates to it"),
			Fix: "give the criterion a check, nexus revise " + name(s.task) + "/AC-1 TEXT --check COMMAND; " +
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

func slowGates(r *record) []Cause {
	all := causes(r, 1, func(f nexus.GateJudged) []mark {
		return only(!f.Cached && !f.Base && r.gated(f) != "", r.gated(f), "")
	}, func(s typedGroup[nexus.GateJudged]) Cause {
		t := r.state.Task(s.task)
		if t == nil {
			return Cause{}
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
		worked := r.state.WorkedOn(t, r.events[len(r.events)-1].At)
		if took < slowLeast || took.Seconds() < slowShare*worked.Seconds() {
			return Cause{}
		}
		return Cause{
			Symptom: fmt.Sprintf("gates took %s of the %s spent on it", took.Round(time.Second), worked.Round(time.Second)),
			Why:     fmt.Sprintf("the gate %s alone took %s", slowest, by[slowest].Round(time.Second)),
			Fix: "gates.related = \"task\" runs only tests that the change concerns; " +
				"or split the slow tests off into a gate of their own",
		}
	})
	return told(all)
}

// told removes causes without content.
func told(all []Cause) []Cause {
	kept := all[:0]
	for _, c := range all {
		if c.Symptom != "" {
			kept = append(kept, c)
		}
	}
	return kept
}

func secretFound(r *record) []Cause {
	return causes(r, 1, func(f nexus.GateJudged) []mark {
		return only(f.Evidence.Gate == nexus.SecretsGate && f.Evidence.State == nexus.Fail, r.gated(f), "")
	}, func(s typedGroup[nexus.GateJudged]) Cause {
		why := "a new line looks like a key or a password"
		if f := s.last().Evidence.Findings; len(f) > 0 {
			why = fmt.Sprintf("%s:%d: %s", f[0].File, f[0].Line, firstLine(f[0].Message))
		}
		return Cause{
			Symptom: fmt.Sprintf("the search for secrets stopped the work, %s", times(len(s.at))),
			Why:     why,
			Fix:     "let it read the secret from the environment: nexus tell " + name(s.task) + " TEXT",
		}
	})
}

func tamper(r *record) []Cause {
	return causes(r, 2, func(f nexus.TamperSuspected) []mark {
		return only(len(f.Findings) > 0, r.attempt(f.Attempt), "")
	}, func(s typedGroup[nexus.TamperSuspected]) Cause {
		f := s.last().Findings[0]
		return Cause{
			Symptom: fmt.Sprintf("the work changed its own tests or gates, %s", times(len(s.at))),
			Why:     given(f.File, "a test") + ": " + firstLine(f.Message),
			Fix: "if the tests are wrong, say so: nexus tell " + name(s.task) + " TEXT; " +
				"else nexus retry " + name(s.task) + " --fresh",
		}
	})
}

package view

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestDescribePassed says that a result passes every gate only where each ran and found nothing.
func TestDescribePassed(t *testing.T) {
	pass := nexus.GateEvidence{Gate: "test", State: nexus.Pass, Tree: "t"}
	with := func(edit func(*nexus.GateEvidence)) nexus.GateEvidence { e := pass; edit(&e); return e }
	for want, e := range map[string]nexus.GateEvidence{
		"":                                    pass,
		" except test, which did not run":     with(func(e *nexus.GateEvidence) { e.State = nexus.NotRun }),
		" except test, which is unverifiable": with(func(e *nexus.GateEvidence) { e.State = nexus.Unverifiable }),
		" except test, which already hung before the work":                 with(func(e *nexus.GateEvidence) { e.State, e.Hangs = nexus.Timeout, true }),
		" except test, with the same findings as before the work: m.TestA": with(func(e *nexus.GateEvidence) { e.Old = []string{"m.TestA"} }),
		" except test, which has flaky tests":                              with(func(e *nexus.GateEvidence) { e.Flaky = []nexus.FlakyTestCount{{Test: "m.TestA"}} }),
	} {
		if got := describePassed([]nexus.GateEvidence{{Gate: "lint", State: nexus.Pass, Tree: "t"}, e}); got != "the result passes every gate"+want {
			t.Error(got)
		}
	}
	if got := describePassed([]nexus.GateEvidence{{Gate: nexus.AcceptGate + "test -e a", State: nexus.Pass, Tree: "t"}}); got != "the result passes the commands of its criteria; there is no gate" {
		t.Error(got)
	}
	apart := with(func(e *nexus.GateEvidence) { e.State, e.Apart = nexus.NotRun, true })
	if got := describePassed([]nexus.GateEvidence{apart}); got != "the result passes every gate" {
		t.Errorf("the change does not concern it: %s", got)
	}
}

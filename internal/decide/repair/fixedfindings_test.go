package repair_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func TestMended(t *testing.T) {
	round := func(command string, found ...nexus.Finding) *state.AttemptRound {
		return &state.AttemptRound{Evidence: []nexus.GateEvidence{{Gate: "test", State: nexus.Fail, Command: command, Findings: found}}}
	}
	one, two := nexus.Finding{Test: "One", Message: "got 1", Line: 3}, nexus.Finding{File: "a.go", Message: "unused"}
	again := nexus.Finding{Test: "One", Message: "got 2", Line: 5}
	broken := nexus.Finding{File: "a.go", Code: "compile", Message: "no"}
	other := &state.AttemptRound{Evidence: []nexus.GateEvidence{{Gate: "lint", State: nexus.Fail}}}
	for name, c := range map[string]struct {
		rounds []*state.AttemptRound
		want   []nexus.Finding
	}{
		"no round":             {nil, nil},
		"the first":            {[]*state.AttemptRound{round("go test", one)}, nil},
		"one of two":           {[]*state.AttemptRound{round("go test", one, two), round("go test", again)}, []nexus.Finding{two}},
		"another gate between": {[]*state.AttemptRound{round("go test", one, two), other, round("go test", two)}, []nexus.Finding{one}},
		"nobody could look":    {[]*state.AttemptRound{round("go test", one, two), round("go test", broken)}, nil},
		"what hid the others":  {[]*state.AttemptRound{round("go test", broken), round("go test", one)}, []nexus.Finding{}},
		"other tests":          {[]*state.AttemptRound{round("go test ./a", one), round("go test ./b", two)}, nil},
	} {
		if diff := cmp.Diff(c.want, repair.FixedFindings(c.rounds, "test")); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

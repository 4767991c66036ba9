package testselection_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/testselection"
)

// TestReplaced takes all tests in place of some that could not be run, where
// they ran and passed, and nothing else.
func TestReplaced(t *testing.T) {
	some, all := gate.QualityGate{Name: "related", Of: "test", Tests: true}, gate.QualityGate{Name: "test", Tests: true}
	says := func(name string, state nexus.GateState) nexus.GateEvidence {
		return nexus.GateEvidence{Gate: name, State: state, Tree: "tree"}
	}
	none := says("related", nexus.NotRun)
	for name, c := range map[string]struct {
		gates []gate.QualityGate
		said  []nexus.GateEvidence
		want  bool
	}{
		"all passed":             {[]gate.QualityGate{some, all}, []nexus.GateEvidence{none, says("test", nexus.Pass)}, true},
		"all failed":             {[]gate.QualityGate{some, all}, []nexus.GateEvidence{none, says("test", nexus.Fail)}, false},
		"none ran either":        {[]gate.QualityGate{some, all}, []nexus.GateEvidence{none, says("test", nexus.NotRun)}, false},
		"stopped before":         {[]gate.QualityGate{some, all}, []nexus.GateEvidence{none}, false},
		"alone":                  {[]gate.QualityGate{some}, []nexus.GateEvidence{none}, false},
		"apart":                  {[]gate.QualityGate{some, all}, []nexus.GateEvidence{none, {Gate: "test", State: nexus.NotRun, Tree: "tree", Apart: true}}, false},
		"of another":             {[]gate.QualityGate{some, {Name: "test-web"}}, []nexus.GateEvidence{none, says("test-web", nexus.Pass)}, false},
		"some failed":            {[]gate.QualityGate{some, all}, []nexus.GateEvidence{says("related", nexus.Fail), says("test", nexus.Pass)}, false},
		"a gate of its own":      {[]gate.QualityGate{{Name: "related"}, all}, []nexus.GateEvidence{none, says("test", nexus.Pass)}, false},
		"two have the same name": {[]gate.QualityGate{some, all, {Name: "related"}}, []nexus.GateEvidence{none, says("test", nexus.Pass), none}, false},
	} {
		if got := testselection.ReplacedGates(c.gates, c.said); slices.Contains(got, "related") != c.want || len(got) > 1 {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// TestAnswered leaves out the gate whose tests some were of, if those could be
// judged, and the gate that would run tests again that do not end.
func TestAnswered(t *testing.T) {
	some, all := gate.QualityGate{Name: "related", Of: "test", Tests: true}, gate.QualityGate{Name: "test", Tests: true}
	again := gate.QualityGate{Name: "coverage", Again: "test"}
	says := func(name string, state nexus.GateState) nexus.GateEvidence {
		return nexus.GateEvidence{Gate: name, State: state}
	}
	for name, c := range map[string]struct {
		ran  gate.QualityGate
		said nexus.GateEvidence
		want string
	}{
		"some passed":          {some, says("related", nexus.Pass), "lint coverage"},
		"some failed":          {some, says("related", nexus.Fail), "lint coverage"},
		"some could not run":   {some, says("related", nexus.NotRun), "lint test coverage"},
		"of another":           {gate.QualityGate{Name: "related", Of: "test-web"}, says("related", nexus.Pass), "lint test coverage"},
		"no part of another":   {gate.QualityGate{Name: "build"}, says("build", nexus.Pass), "lint test coverage"},
		"all passed":           {all, says("test", nexus.Pass), "lint test coverage"},
		"all do not end":       {all, says("test", nexus.Timeout), "lint test"},
		"all hang":             {all, nexus.GateEvidence{Gate: "test", State: nexus.Fail, Hangs: true}, "lint test"},
		"another does not end": {gate.QualityGate{Name: "build"}, says("build", nexus.Timeout), "lint test coverage"},
	} {
		var got []string
		for _, g := range testselection.RemainingGates([]gate.QualityGate{{Name: "lint"}, all, again}, c.ran, c.said) {
			got = append(got, g.Name)
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: %q are left, want %q", name, got, c.want)
		}
	}
}

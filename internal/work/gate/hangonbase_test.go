package gate_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// TestHangsAsBefore judges trees whose tests do not end, on a base where they
// did not either: some of them and criteria judge in their place, and where
// neither does there is no pass.
func TestHangsAsBefore(t *testing.T) {
	const (
		green = "1..1\nok 1 - a\n"
		red   = "1..1\nnot ok 1 - a\n"
		no    = "1..0\n"
		never = "hangs"
	)
	for name, tt := range map[string]struct {
		some, accept   string // what they print; empty: there is no such gate
		was            string // what some printed on the base
		ends           bool   // all tests ended on the base
		passed         bool
		states, hanged string
	}{
		"some of its tests pass":                  {some: green, passed: true, states: "related=pass test=timeout", hanged: "test"},
		"a criterion passes":                      {accept: green, passed: true, states: "test=timeout accept: x=pass", hanged: "test"},
		"a criterion fails":                       {some: green, accept: red, states: "related=pass test=timeout accept: x=fail", hanged: "test"},
		"nothing else judges":                     {states: "test=timeout", hanged: "test"},
		"no test is concerned":                    {some: no, states: "related=not-run test=timeout", hanged: "test"},
		"some of its tests fail":                  {some: red, states: "related=fail"},
		"some of its tests hang, as before":       {some: never, was: never, states: "related=not-run test=timeout", hanged: "test"},
		"some of its tests hang, and did not":     {some: never, was: green, states: "related=timeout"},
		"some hang as before, a criterion passes": {some: never, was: never, accept: green, passed: true, states: "related=not-run test=timeout accept: x=pass", hanged: "test"},
		"some hang, and all ended before":         {some: never, was: never, ends: true, states: "related=timeout"},
		"they ended before":                       {some: green, accept: green, ends: true, states: "related=pass test=timeout"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tree := files(t, map[string]string{"some": tt.some, "accept": tt.accept, "all": never})
			base := files(t, map[string]string{"some": tt.was, "all": never})
			base.Hash = "base"
			if tt.ends {
				if err := os.WriteFile(filepath.Join(base.Dir, "all"), []byte(green), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			run := func(name, file, of string) gate.QualityGate {
				g := gate.QualityGate{Name: name, Of: of, Args: []string{"sh", "-c", "grep -q hangs " + file + " && exec sleep 1000; cat " + file + "; ! grep -q not " + file}, Format: "tap", Tests: true}
				if file == "all" && !tt.ends || tt.some == never && file == "some" {
					g.Timeout = 300 * time.Millisecond
				}
				if tt.was == green { // it has to end there
					g.Timeout = 3 * time.Second
				}
				return g
			}
			r := runner(t, sandbox.ModeOff)
			all := run("test", "all", "")
			before, err := r.RunGate(t.Context(), base, all)
			if err != nil || before.HasHung() == tt.ends {
				t.Fatalf("%+v, %v", before, err)
			}
			all.Timeout = 300 * time.Millisecond
			r.Base = func(name string) (nexus.GateEvidence, bool) { return before, name == "test" }
			other := r
			other.Base = nil
			r.Origin = &gate.OriginTree{Dir: base.Dir, Use: func(_ context.Context, do func(gate.GateRunner, gate.JudgedTreeDir) error) error {
				return do(other, base)
			}}
			var gates []gate.QualityGate
			if tt.some != "" {
				gates = append(gates, run("related", "some", "test"))
			}
			gates = append(gates, all)
			if tt.accept != "" {
				gates = append(gates, run(nexus.AcceptGate+"x", "accept", ""))
			}
			v, err := r.RunAll(t.Context(), tree, gates, nil)
			hanged := ""
			for _, e := range v.Evidence {
				if e.Hangs {
					hanged += e.Gate
				}
			}
			if err != nil || v.Passed != tt.passed || states(v) != tt.states || hanged != tt.hanged || v.Passed != (v.Why == "") {
				t.Errorf("passed %t with %s, %q hangs (%v): %s", v.Passed, states(v), hanged, err, v.Why)
			}
		})
	}
}

// TestHangsForTheWork does not take a hang for an old one where the work changed
// what keeps the runner, and never that of a gate without tests, which nothing
// else judges. A build does not stand for tests.
func TestHangsForTheWork(t *testing.T) {
	for name, tt := range map[string]struct {
		tests           bool
		changed, beside string
		hangs, passed   bool
	}{
		"old":                   {true, "a.py", nexus.AcceptGate + "x", true, true},
		"only a build beside":   {true, "a.py", "build", true, false},
		"in a file of the work": {true, "test_b.py", nexus.AcceptGate + "x", false, false},
		"a gate without tests":  {false, "a.py", nexus.AcceptGate + "x", false, false},
	} {
		tree := files(t, map[string]string{"test_b.py": ""})
		r := runner(t, sandbox.ModeOff)
		all := gate.QualityGate{Name: "all", Args: []string{"sh", "-c", "printf 'test_b.py .'; exec sleep 1000"}, Format: "pytest", Tests: tt.tests, Timeout: 300 * time.Millisecond}
		before := nexus.GateEvidence{Gate: "all", State: nexus.Timeout, Tree: "base", Findings: []nexus.Finding{{Gate: "all", Code: "timeout"}}}
		r.Base = func(name string) (nexus.GateEvidence, bool) { return before, name == "all" }
		r.Origin = &gate.OriginTree{Changed: []string{tt.changed}}
		v, err := r.RunAll(t.Context(), tree, []gate.QualityGate{all, {Name: tt.beside, Args: []string{"true"}, Format: "exit"}}, nil)
		if err != nil || v.Passed != tt.passed || v.Evidence[0].Hangs != tt.hangs {
			t.Errorf("%s: %v, %+v", name, err, v)
		}
	}
}

// TestVain says about which tests nobody measures what they go through.
func TestVain(t *testing.T) {
	hang := []nexus.Finding{{Code: "hang"}}
	for name, tt := range map[string]struct {
		e    nexus.GateEvidence
		vain bool
	}{
		"they pass":                        {e: nexus.GateEvidence{State: nexus.Pass}},
		"they fail":                        {e: nexus.GateEvidence{State: nexus.Fail, Findings: []nexus.Finding{{Code: "compile"}}}},
		"they are out of time":             {e: nexus.GateEvidence{State: nexus.Timeout}, vain: true},
		"they pass, and it does not exit":  {e: nexus.GateEvidence{State: nexus.Environmental, Findings: hang}, vain: true},
		"they fail, and it does not exit":  {e: nexus.GateEvidence{State: nexus.Fail, Findings: hang}, vain: true},
		"they hang as before":              {e: nexus.GateEvidence{State: nexus.Environmental, Hangs: true}, vain: true},
		"what they need is not there":      {e: nexus.GateEvidence{State: nexus.Environmental}},
		"others are out of time, not they": {e: nexus.GateEvidence{Gate: "test: b", State: nexus.Timeout}},
	} {
		if tt.e.Gate == "" {
			tt.e.Gate = "test"
		}
		if got := (gate.QualityGate{Name: "coverage: test", Again: "test"}).RepeatsHangingTests(tt.e); got != tt.vain {
			t.Errorf("%s: %v", name, got)
		}
		if (gate.QualityGate{Name: "lint"}).RepeatsHangingTests(tt.e) {
			t.Errorf("%s: a gate that measures nothing is in vain", name)
		}
	}
}

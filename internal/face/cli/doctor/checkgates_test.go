package doctor

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// TestTests says which runs need a person, since no gate tests their work.
func TestTests(t *testing.T) {
	build := gate.QualityGate{Name: "build", Args: []string{"make"}}
	pytest := gate.QualityGate{Name: "test", Args: []string{"pytest"}, Tests: true}
	both := pytest
	both.Else = "python3 -m unittest discover -v"
	set := func(name, line string) config.GateSettings {
		return config.GateSettings{Commands: map[string]string{name: line}}
	}
	for name, c := range map[string]struct {
		gates []gate.QualityGate
		gone  []string
		conf  config.GateSettings
		asked Options
		says  string // empty: nothing keeps a run from starting
		hint  string
	}{
		"tests":                       {gates: []gate.QualityGate{build, pytest}},
		"no gate":                     {says: "no gate runs tests", hint: "gates.test = false"},
		"only a build":                {gates: []gate.QualityGate{build}, says: "no gate runs tests"},
		"turned off":                  {gates: []gate.QualityGate{build}, conf: set("test", "")},
		"a command of the project":    {gates: []gate.QualityGate{{Name: "smoke", Args: []string{"sh", "-c", "./smoke"}}}, conf: set("smoke", "./smoke")},
		"a build of the project":      {gates: []gate.QualityGate{build}, conf: set("build", "make"), says: "no gate runs tests"},
		"tasks that bring theirs":     {asked: Options{Shown: true}},
		"no tool":                     {gates: []gate.QualityGate{build, pytest}, gone: []string{"pytest"}, says: "pytest is not found in the sandbox", hint: "Install pytest"},
		"no tool, and another way":    {gates: []gate.QualityGate{both}, gone: []string{"pytest"}, says: "pytest is not found", hint: `gates.test = "python3 -m unittest discover -v"`},
		"no tool for one of the two":  {gates: []gate.QualityGate{pytest, {Name: "test-web", Args: []string{"npm", "test"}, Tests: true}}, gone: []string{"pytest"}},
		"no tool for what was set up": {gates: []gate.QualityGate{pytest}, gone: []string{"pytest"}, conf: set("test", "pytest"), says: "pytest is not found"},
	} {
		got := checkTests(c.gates, c.gone, c.conf, c.asked)
		switch {
		case c.says == "" && len(got) > 0, c.says != "" && len(got) != 1:
			t.Errorf("%s: %+v", name, got)
		case c.says != "" && (got[0].State != Blocker || got[0].ask == "" || !strings.Contains(got[0].Detail, c.says) || !strings.Contains(got[0].Hint, c.hint)):
			t.Errorf("%s: %+v", name, got[0])
		}
	}
}

// TestAskPerson says that a person is asked only about what nothing else makes vain.
func TestAskPerson(t *testing.T) {
	open := Check{Name: "tests", State: Blocker, Detail: "none", ask: "Start?"}
	for name, c := range map[string]struct {
		more        []Check
		agrees      bool
		asked       int
		starts      bool
		wantsStrict bool
	}{
		"agreed":               {agrees: true, asked: 1, starts: true},
		"agreed, and strict":   {agrees: true, asked: 1, starts: true, wantsStrict: true},
		"refused":              {asked: 1},
		"vain":                 {more: []Check{checkOf("c", "", nil), {Name: "d", Detail: "bad"}}, agrees: true},
		"a notice beside that": {more: []Check{{Name: "e", State: Notice}}, agrees: true, asked: 1, starts: true},
	} {
		r := InspectionReport{Strict: c.wantsStrict, Checks: append([]Check{open}, c.more...)}
		asked := 0
		if err := r.AskPerson(func(Check, string) (bool, error) { asked++; return c.agrees, nil }); err != nil || asked != c.asked {
			t.Errorf("%s: asked %d times: %v", name, asked, err)
		}
		if got := r.BlockingError() == nil; got != c.starts {
			t.Errorf("%s: starts %t: %v", name, got, r.BlockingError())
		}
	}
}

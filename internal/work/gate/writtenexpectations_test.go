package gate_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// TestATestThatWritesWhatItExpects has shown nothing: its gate is red, whatever the
// runner says, unless the base does the same.
func TestATestThatWritesWhatItExpects(t *testing.T) {
	const tap = "printf 'TAP version 13\nok 1 - a\n1..1\n'"
	added := func(names ...string) gate.WrittenFiles { return gate.WrittenFiles{Added: names} }
	changed := func(names ...string) gate.WrittenFiles { return gate.WrittenFiles{Changed: names} }
	for name, c := range map[string]struct {
		wrote gate.WrittenFiles
		says  string
		want  nexus.GateState
		files []string
	}{
		"a new snapshot":             {added("src/__snapshots__/a.test.js.snap", "dist/a.js"), "true", nexus.Fail, []string{"src/__snapshots__/a.test.js.snap"}},
		"a golden with other files":  {added("b.golden", "a.golden", "log.txt"), "true", nexus.Fail, []string{"a.golden", "b.golden"}},
		"a golden that is written":   {changed("testdata/a.golden"), "true", nexus.Fail, []string{"testdata/a.golden"}},
		"a snapshot within a test":   {changed("src/a.test.ts"), "true", nexus.Fail, []string{"src/a.test.ts"}},
		"a new file that is a test":  {added("src/a.test.ts"), "true", nexus.Pass, nil},
		"a file of the code":         {changed("src/a.ts"), "true", nexus.Pass, nil},
		"nothing":                    {gate.WrittenFiles{}, "true", nexus.Pass, nil},
		"only the runner says so":    {gate.WrittenFiles{}, "echo '1 snapshot generated.'", nexus.Fail, []string{""}},
		"a test fails anyway":        {added("a.golden"), "printf 'not ok 2 - b\n'; exit 1", nexus.Fail, []string{"", "a.golden"}},
		"it says that none was made": {gate.WrittenFiles{}, "echo '0 snapshots generated.'", nexus.Pass, nil},
	} {
		r := runner(t, sandbox.ModeOff)
		r.Wrote = func(context.Context) (gate.WrittenFiles, error) { return c.wrote, nil }
		tree, g := files(t, nil), gate.QualityGate{Name: "test", Args: []string{"sh", "-c", tap + "; " + c.says}, Format: "tap", Tests: true}
		e, err := r.RunGate(t.Context(), tree, g)
		var found []string
		for _, f := range e.Findings {
			found = append(found, f.File)
		}
		if err != nil || e.State != c.want || !slices.Equal(found, c.files) {
			t.Errorf("%s: %s, %q, %+v, %v", name, e.State, e.Why, e.Findings, err)
		}
		if c.files == nil || len(e.Findings) == 0 {
			continue
		}
		if last := e.Findings[len(e.Findings)-1]; !strings.Contains(last.Advice, "keep the file") {
			t.Errorf("%s: %+v", name, last)
		}
		r.Base = func(string) (nexus.GateEvidence, bool) {
			base := e
			base.Tree = "base"
			return base, true
		}
		if w, err := r.JudgeAgainstBase(t.Context(), tree, g); err != nil || w.State != nexus.Pass {
			t.Errorf("%s: the base does it, too: %s, %q, %v", name, w.State, w.Why, err)
		}
	}
}

// TestGatesRunInCI unless the settings or the environment say otherwise.
func TestGatesRunInCI(t *testing.T) {
	for name, c := range map[string]struct {
		ci   bool
		env  []string
		want bool
	}{
		"it is the default":        {true, nil, true},
		"a project does not":       {false, nil, false},
		"a person has another one": {true, []string{"CI=false"}, false},
	} {
		r := runner(t, sandbox.ModeOff)
		r.CI, r.Env = c.ci, slices.Concat(slices.DeleteFunc(slices.Clone(r.Env), func(e string) bool { return strings.HasPrefix(e, "CI=") }), c.env)
		e, err := r.RunGate(t.Context(), files(t, nil), gate.QualityGate{Name: "own", Args: []string{"sh", "-c", `test "$CI" = true`}, Format: outputparser.Exit})
		if err != nil || (e.State == nexus.Pass) != c.want {
			t.Errorf("%s: %s, %v", name, e.State, err)
		}
	}
}

package gate_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// TestAMissingFileThatIsIgnored is explained by the rule, and no other is.
func TestAMissingFileThatIsIgnored(t *testing.T) {
	for name, c := range map[string]struct{ script, advice string }{
		"a file":                 {"cat build/x.txt", "build/x.txt is not there: .gitignore:2 (build/) ignores it"},
		"a module":               {"echo \"ModuleNotFoundError: No module named 'build.config'\"; exit 1", "build/config.py is not there: .gitignore:2 (build/) ignores it"},
		"only in the output":     {"cat build/x.txt; echo 'not ok 1 - a'; exit 1", "build/x.txt is not there: .gitignore:2 (build/) ignores it"},
		"another that is gone":   {"cat src/x.txt", ""},
		"one that is there":      {"cat build/here; echo 'build/here: not found'; exit 1", ""},
		"nothing that is a name": {"echo 'it is wrong'; exit 1", ""},
	} {
		r := runner(t, sandbox.ModeOff)
		r.Ignored = func(_ context.Context, paths []string) (map[string]string, error) {
			all := map[string]string{}
			for _, p := range paths {
				if strings.HasPrefix(p, "build/") {
					all[p] = ".gitignore:2 (build/)"
				}
			}
			return all, nil
		}
		g := gate.QualityGate{Name: "own", Args: []string{"sh", "-c", c.script}, Format: outputparser.Exit, Tests: true}
		e, err := r.RunGate(t.Context(), files(t, map[string]string{"build/here": ""}), g)
		explained := slices.ContainsFunc(e.Findings, func(f nexus.Finding) bool { return strings.Contains(f.Advice, "ignores it") })
		if err != nil || e.State == nexus.Pass || explained != (c.advice != "") || !slices.ContainsFunc(e.Findings, func(f nexus.Finding) bool { return strings.Contains(f.Advice, c.advice) }) {
			t.Errorf("%s: %s, %+v, %v", name, e.State, e.Findings, err)
		}
	}
	r := runner(t, sandbox.ModeOff)
	broken := errors.New("git is gone")
	r.Ignored = func(context.Context, []string) (map[string]string, error) { return nil, broken }
	if e, err := r.RunGate(t.Context(), files(t, nil), gate.QualityGate{Name: "own", Args: []string{"cat", "build/x.txt"}, Format: outputparser.Exit}); !errors.Is(err, broken) {
		t.Errorf("%+v, %v", e, err)
	}
}

package gate_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
)

const gradlew = `#!/bin/sh
echo "> Task :test"
echo "BUILD SUCCESSFUL in 1s"
mkdir -p build/test-results/test
test "$WRITE" != link || { rm build/test-results/test/a.xml; ln -s ../../../kept.xml build/test-results/test/a.xml; touch kept.xml; }
test "$WRITE" = no || test "$WRITE" = link || cat > build/test-results/test/a.xml <<'X'
<testsuite name="a" tests="2" failures="0"><testcase classname="a" name="one"/><testcase classname="a" name="two"/></testsuite>
X
`

// TestReportsSayMore runs a build tool that says nothing of its tests but
// writes a report; one that is old proves nothing, nor does a link to another.
func TestReportsSayMore(t *testing.T) {
	tree := files(t, map[string]string{"app/build.gradle": "", "app/gradlew": gradlew})
	if err := os.Chmod(filepath.Join(tree.Dir, "app", "gradlew"), 0o755); err != nil {
		t.Fatal(err)
	}
	gates, err := detect.DetectGates(tree.Dir, config.GateSettings{})
	if err != nil || len(gates) != 2 || gates[1].Name != "test-app" || gates[1].Dir != "app" {
		t.Fatalf("%+v, %v", gates, err)
	}
	r := runner(t, sandbox.ModeOff)
	e, err := r.RunGate(t.Context(), tree, gates[1])
	if err != nil || e.State != nexus.Pass || e.Counts.Passed != 2 {
		t.Errorf("%+v, %v", e, err)
	}
	report, err := os.ReadFile(filepath.Join(tree.Dir, "app/build/test-results/test/a.xml"))
	if err != nil || os.WriteFile(filepath.Join(tree.Dir, "app/kept.xml"), report, 0o600) != nil {
		t.Fatal(err)
	}
	for _, write := range []string{"no", "link"} {
		old := r
		old.Env = append(slices.Clone(r.Env), "WRITE="+write)
		e, err = old.RunGate(t.Context(), tree, gates[1])
		if err != nil || e.State != nexus.Unverifiable {
			t.Errorf("%s report is written: %+v, %v", write, e, err)
		}
	}
}

func TestConfigurationReplacesTheGatesOfAllPackages(t *testing.T) {
	tree := files(t, map[string]string{"go.mod": goMod, "m.go": code, "web/package.json": `{"scripts":{"test":"x","lint":"y"}}`})
	names := func(c map[string]string) string {
		gates, err := detect.DetectGates(tree.Dir, config.GateSettings{Commands: c})
		if err != nil {
			t.Fatal(err)
		}
		var all []string
		for _, g := range gates {
			all = append(all, g.Name)
		}
		return strings.Join(all, " ")
	}
	for _, tt := range []struct {
		commands map[string]string
		want     string
	}{
		{nil, "build lint lint-web test test-web"},
		{map[string]string{"test": "make test"}, "build lint lint-web test"},
		{map[string]string{"lint": ""}, "build test test-web"},
		{map[string]string{"test-web": ""}, "build lint lint-web test"},
	} {
		if got := names(tt.commands); got != tt.want {
			t.Errorf("%v: %s, want %s", tt.commands, got, tt.want)
		}
	}
}

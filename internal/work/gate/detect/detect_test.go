package detect_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
)

// tree writes a Go module with one of Python in a directory of it.
func tree(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "py"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"go.mod": "module e\n", "m.go": "package e\n", "m_test.go": "package e\n",
		"py/pytest.ini": "[pytest]\n", "py/test_m.py": "def test_m(): pass\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestOff(t *testing.T) {
	dir := tree(t)
	for _, c := range []struct {
		set  map[string]string
		want []string
	}{
		{nil, nil},
		{map[string]string{"test": ""}, []string{"test", "test-py"}},
		{map[string]string{"test-py": ""}, []string{"test-py"}},
		{map[string]string{"test": "", "test-py": "pytest py"}, []string{"test"}},
		{map[string]string{"test": "make test", "lint": ""}, []string{"lint"}},
		{map[string]string{"e2e": "", "secrets": "", "docs": ""}, nil}, // nothing here names them
	} {
		off, err := detect.DisabledGates(dir, config.GateSettings{Commands: c.set})
		if err != nil || !slices.Equal(off, c.want) {
			t.Errorf("%v switches off %v, want %v (%v)", c.set, off, c.want, err)
		}
	}
}

// TestPlace sees that what replaces tests must show that tests ran.
func TestPlace(t *testing.T) {
	gates, err := detect.DetectGates(tree(t), config.GateSettings{Commands: map[string]string{"test-py": "true", "docs": "true"}})
	if err != nil {
		t.Fatal(err)
	}
	for name, tests := range map[string]bool{"test-py": true, "docs": false} {
		i := slices.IndexFunc(gates, func(g gate.QualityGate) bool { return g.Name == name })
		if i < 0 || gates[i].Tests != tests {
			t.Errorf("%s: counts as tests: %v, want %v", name, i >= 0 && gates[i].Tests, tests)
		}
	}
}

func TestRefused(t *testing.T) {
	bad := &nexus.Error{Code: nexus.CodeInvalidConfig}
	for _, c := range []config.GateSettings{
		{Commands: map[string]string{"audit": "npm audit"}},
		{Commands: map[string]string{"coverage": "make cover"}},
		{Commands: map[string]string{"verify": "make verify"}},
		{UI: []string{"*.html", "web/[a"}},
		{Order: []string{"biuld"}},
	} {
		if _, err := detect.DetectGates(t.TempDir(), c); !errors.Is(err, bad) {
			t.Errorf("%+v: %v", c, err)
		}
	}
	for _, c := range []config.GateSettings{{Commands: map[string]string{"own-audit": "npm audit", "review": ""}}, {UI: []string{"*.{vue,html}", "web/**"}}} {
		if _, err := detect.DetectGates(t.TempDir(), c); err != nil {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestACommandStandsForItsStep in every package, and for nothing else.
func TestACommandStandsForItsStep(t *testing.T) {
	dir := tree(t)
	names := func(set map[string]string) (all []string, by map[string]gate.QualityGate) {
		t.Helper()
		gates, err := detect.DetectGates(dir, config.GateSettings{Commands: set})
		if err != nil {
			t.Fatal(err)
		}
		by = map[string]gate.QualityGate{}
		for _, g := range gates {
			all, by[g.Name] = append(all, g.Name), g
		}
		slices.Sort(all)
		return all, by
	}
	plain, _ := names(nil)
	if !slices.Contains(plain, "test") || !slices.Contains(plain, "test-py") || len(plain) < 4 {
		t.Fatalf("without commands: %q", plain)
	}
	want := slices.DeleteFunc(slices.Clone(plain), func(name string) bool { return name == "test-py" })
	got, by := names(map[string]string{"test": "make test"})
	if !slices.Equal(got, want) || !slices.Contains(by["test"].Args, "make test") {
		t.Errorf("with its own tests: %q by %q, want %q", got, by["test"].Args, want)
	}
	if _, by := names(map[string]string{"lint": "gofmt -l ."}); by["lint"].Format != "gofmt" {
		t.Errorf("gofmt is read as %q", by["lint"].Format)
	}
}

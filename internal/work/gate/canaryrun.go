package gate

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/stack/gosource"
)

// runCanary adds a test that must fail to the packages in dirs, without writing to the tree,
// runs them, and returns those in which its failure was not reported. Its name is new each
// time, so that no code can imitate it.
func (r GateRunner) runCanary(ctx context.Context, t JudgedTreeDir, g QualityGate, dirs []string, limit time.Duration) ([]string, error) {
	c, _ := gosource.ParseGoTestCommand(g.Args)
	tmp, err := os.MkdirTemp("", "nexus-canary-")
	if err != nil {
		return nil, fmt.Errorf("gate %s: %w", g.Name, err)
	}
	defer func() { _ = os.RemoveAll(tmp) }() // a few bytes in the system's temporary directory
	name := "TestNexus" + rand.Text()
	overlay := map[string]map[string]string{"Replace": {}}
	packages := map[string]string{}
	modules := gosource.GoModules(os.DirFS(t.Dir))
	for _, dir := range dirs {
		if !gosource.IsDirInModule(os.DirFS(t.Dir), g.Dir, dir) {
			continue // another gate's package
		}
		pkg, ok := gosource.PackageName(os.DirFS(t.Dir), dir)
		if !ok {
			continue
		}
		text := fmt.Sprintf("package %[1]s_test\n\nimport x%[2]s \"testing\"\n\nfunc %[2]s(t *x%[2]s.T) { t.Fatal(\"seen\") }\n", pkg, name)
		file := filepath.Join(tmp, fmt.Sprintf("%d_test.go", len(packages)))
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			return nil, fmt.Errorf("gate %s: %w", g.Name, err)
		}
		overlay["Replace"][filepath.Join(t.Dir, filepath.FromSlash(dir), "zz_"+strings.ToLower(name)+"_test.go")] = file
		packages[dir] = gosource.ImportPath(dir, modules)
	}
	if len(packages) == 0 {
		return nil, nil
	}
	data, err := json.Marshal(overlay)
	if err != nil {
		return nil, err
	}
	list := filepath.Join(tmp, "overlay.json")
	if err := os.WriteFile(list, data, 0o600); err != nil {
		return nil, fmt.Errorf("gate %s: %w", g.Name, err)
	}
	var args []string
	for _, dir := range dirs {
		if packages[dir] != "" {
			args = append(args, packages[dir])
		}
	}
	g.Args = c.CommandFor(args, nil, "-overlay="+list)
	_, read, err := r.runCommandAndRead(ctx, t, g, limit, tmp)
	if err != nil {
		return nil, err
	}
	failed := map[string]bool{}
	for _, test := range read.Tests {
		failed[test.Package] = failed[test.Package] || test.Name == name && test.State == "fail"
	}
	return slices.DeleteFunc(slices.Clone(dirs), func(dir string) bool {
		pkg := packages[dir]
		return pkg == "" || failed[pkg] && read.Ended[pkg] == "fail"
	}), nil
}

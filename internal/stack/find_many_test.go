package stack_test

import (
	"fmt"
	"testing"
	"testing/fstest"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// TestFindNamesGatesOfManyPackages holds that each gate has a name of its own, also
// where a tree has more packages than get gates.
func TestFindNamesGatesOfManyPackages(t *testing.T) {
	tree := fstest.MapFS{}
	for n := range 520 {
		tree[fmt.Sprintf("p%03d/Cargo.toml", n)] = &fstest.MapFile{Data: []byte("[package]\nname = \"p\"\n")}
	}
	found := stack.FindGateCommands(tree)
	names := map[string]bool{}
	for _, f := range found {
		if f.Name == "" || names[f.Name] {
			t.Errorf("the gate %s of %s is called %q", f.Gate, f.Dir, f.Name)
		}
		names[f.Name] = true
	}
	if len(found) < 500 || len(found) >= 3*520 {
		t.Errorf("%d gates", len(found))
	}
}

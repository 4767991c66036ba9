package stack_test

import (
	"slices"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// TestNeeds reads what manifests need: modules by how the cache spells them, and
// packages with those of programs first.
func TestNeeds(t *testing.T) {
	files := map[string]string{
		"go.mod": "module example.com/a\n\ngo 1.26\n\nrequire github.com/BurntSushi/toml v1.4.0\n\nrequire (\n\texample.com/b v0.1.0\n\t" +
			"example.com/c v0.2.0 // indirect\n)\n",
		"package.json": `{"devDependencies":{"b":"1"},"dependencies":{"z":"1","@a/c":"2"}}`,
	}
	got := stack.PackageSourceDirs(func(file string) string { return files[file] })
	want := []stack.PackageSourceDir{
		{Dir: "github.com/!burnt!sushi/toml@v1.4.0", Cached: true},
		{Dir: "example.com/b@v0.1.0", Cached: true},
		{Dir: "node_modules/@a/c"},
		{Dir: "node_modules/z"},
		{Dir: "node_modules/b"},
	}
	if !slices.Equal(got, want) {
		t.Errorf("%+v, want %+v", got, want)
	}
	if got := stack.PackageSourceDirs(func(string) string { return "" }); len(got) > 0 {
		t.Errorf("a tree without manifests needs %+v", got)
	}
}

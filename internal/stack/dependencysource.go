package stack

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/stack/gosrc"
)

// DependencySource is the location of the source of a package that a tree depends on directly.
type DependencySource struct {
	Dir    string // below a cache of fetched packages, or else in the tree
	Cached bool
}

// DependencySources returns the direct dependencies in the manifests at the root of a tree. The
// function text returns the content of a file, "" if it does not exist.
func DependencySources(text func(file string) string) []DependencySource {
	var all []DependencySource
	for _, s := range AllStacks() {
		if s.Needs != nil {
			all = append(all, s.Needs(text)...)
		}
	}
	return all
}

// goDependencySources returns the modules that a go.mod requires, in the module cache.
func goDependencySources(text func(file string) string) []DependencySource {
	var all []DependencySource
	required := regexp.MustCompile(`(?m)^\s*(?:require\s+)?([\w.~-]+\.[\w./~-]+)\s+(v[\w.+-]+)\s*$`)
	for _, m := range required.FindAllStringSubmatch(text(gosrc.Manifest), -1) {
		all = append(all, DependencySource{Dir: escapedModule(m[1]) + "@" + escapedModule(m[2]), Cached: true})
	}
	return all
}

// nodeDependencySources returns the packages that a package.json names, runtime dependencies first.
func nodeDependencySources(text func(file string) string) []DependencySource {
	var p struct{ Dependencies, DevDependencies map[string]string }
	_ = json.Unmarshal([]byte(text("package.json")), &p) // without them nothing is found
	var all []DependencySource
	for _, named := range []map[string]string{p.Dependencies, p.DevDependencies} {
		for _, name := range slices.Sorted(maps.Keys(named)) {
			all = append(all, DependencySource{Dir: "node_modules/" + name})
		}
	}
	return all
}

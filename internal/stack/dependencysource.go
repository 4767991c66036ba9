package stack

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/stack/gosrc"
)

// DependencySource is where the source of a package lies that a tree names itself.
type DependencySource struct {
	Dir    string // below a cache of fetched packages, or else in the tree
	Cached bool
}

// DependencySources returns what the manifests at the root of a tree need, by the text of its
// files, which is empty for one that is not there.
func DependencySources(text func(file string) string) []DependencySource {
	var all []DependencySource
	for _, s := range All() {
		if s.Needs != nil {
			all = append(all, s.Needs(text)...)
		}
	}
	return all
}

// goNeeds are the modules that a go.mod requires, in the module cache.
func goNeeds(text func(file string) string) []DependencySource {
	var all []DependencySource
	required := regexp.MustCompile(`(?m)^\s*(?:require\s+)?([\w.~-]+\.[\w./~-]+)\s+(v[\w.+-]+)\s*$`)
	for _, m := range required.FindAllStringSubmatch(text(gosrc.Manifest), -1) {
		all = append(all, DependencySource{Dir: escapedModule(m[1]) + "@" + escapedModule(m[2]), Cached: true})
	}
	return all
}

// nodeNeeds are the packages that a package.json names, those of programs first.
func nodeNeeds(text func(file string) string) []DependencySource {
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

package stack

import (
	"encoding/json"
	"maps"
	"regexp"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/stack/gosource"
)

// PackageSourceDir is the location of the source of a package that a tree depends on directly.
type PackageSourceDir struct {
	Dir    string // below a cache of fetched packages, or else in the tree
	Cached bool
}

// PackageSourceDirs returns the direct dependencies in the manifests at the root of a tree. The
// function text returns the content of a file, "" if it does not exist.
func PackageSourceDirs(text func(file string) string) []PackageSourceDir {
	var all []PackageSourceDir
	for _, s := range AllStacks() {
		if s.Needs != nil {
			all = append(all, s.Needs(text)...)
		}
	}
	return all
}

// goModuleSourceDirs returns the modules that a go.mod requires, in the module cache.
func goModuleSourceDirs(text func(file string) string) []PackageSourceDir {
	var all []PackageSourceDir
	required := regexp.MustCompile(`(?m)^\s*(?:require\s+)?([\w.~-]+\.[\w./~-]+)\s+(v[\w.+-]+)\s*$`)
	for _, m := range required.FindAllStringSubmatch(text(gosource.Manifest), -1) {
		all = append(all, PackageSourceDir{Dir: escapeModulePath(m[1]) + "@" + escapeModulePath(m[2]), Cached: true})
	}
	return all
}

// nodePackageSourceDirs returns the packages that a package.json names, runtime dependencies first.
func nodePackageSourceDirs(text func(file string) string) []PackageSourceDir {
	var p struct{ Dependencies, DevDependencies map[string]string }
	_ = json.Unmarshal([]byte(text("package.json")), &p) // without them nothing is found
	var all []PackageSourceDir
	for _, named := range []map[string]string{p.Dependencies, p.DevDependencies} {
		for _, name := range slices.Sorted(maps.Keys(named)) {
			all = append(all, PackageSourceDir{Dir: "node_modules/" + name})
		}
	}
	return all
}

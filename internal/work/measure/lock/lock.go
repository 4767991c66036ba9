// Package lock reads which packages lock files and manifests name. It runs
// nothing and resolves nothing: what a file does not say is not known.
package lock

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// The kinds of packages, by who manages them.
const (
	Go     = "go"
	Node   = "node"
	Python = "python"
	Rust   = "rust"
	Ruby   = "ruby"
	PHP    = "php"
	Maven  = "maven"
	NuGet  = "nuget"
)

// Package is one that a file names.
type Package struct {
	Kind     string
	Name     string
	Version  string // empty: the file does not say
	Line     int    // that names it; 0 is unknown
	Licences []string
}

// String names it as people do.
func (p Package) String() string { return p.Name + "@" + p.Version }

// Reader returns what reads the packages that a file names, nil for a file
// that names none. What it cannot understand is left out.
func Reader(file string) func(text string) []Package {
	base := path.Base(file)
	switch base {
	case "go.mod":
		return modules
	case "package-lock.json", "npm-shrinkwrap.json":
		return npm
	case "pnpm-lock.yaml":
		return pnpm
	case "yarn.lock":
		return yarn
	case "bun.lock":
		return bun
	case "Cargo.lock":
		return tables(Rust)
	case "uv.lock", "poetry.lock", "pdm.lock":
		return tables(Python)
	case "requirements.txt":
		return requirements
	case "Pipfile.lock":
		return pipfile
	case "Gemfile.lock":
		return gems
	case "composer.lock":
		return composer
	case "pom.xml":
		return pom
	case "gradle.lockfile":
		return gradle
	case "packages.lock.json":
		return nuget
	}
	if slices.Contains([]string{".csproj", ".fsproj", ".vbproj"}, path.Ext(base)) || base == "Directory.Packages.props" {
		return project
	}
	return nil
}

// Added returns the packages that are named now and were not, in any version.
func Added(before, now []Package) []Package {
	had := map[string]bool{}
	for _, p := range before {
		had[p.Kind+" "+p.Name] = true
	}
	var all []Package
	for _, p := range now {
		if !had[p.Kind+" "+p.Name] {
			all = append(all, p)
		}
	}
	return all
}

// sorted puts packages in the order of their names, each once.
func sorted(all []Package) []Package {
	slices.SortStableFunc(all, func(a, b Package) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Version, b.Version))
	})
	return slices.CompactFunc(all, func(a, b Package) bool { return a.Name == b.Name && a.Version == b.Version })
}

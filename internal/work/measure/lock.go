package measure

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

// The kinds of packages, by who manages them.
const (
	GoKind     = "go"
	NodeKind   = "node"
	PythonKind = "python"
	RustKind   = "rust"
	RubyKind   = "ruby"
	PHPKind    = "php"
	MavenKind  = "maven"
	NuGetKind  = "nuget"
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

// LockReader returns what reads the packages that a file names, nil for a file
// that names none. What it cannot understand is left out.
func LockReader(file string) func(text string) []Package {
	base := path.Base(file)
	switch base {
	case "go.mod":
		return goModules
	case "package-lock.json", "npm-shrinkwrap.json":
		return npm
	case "pnpm-lock.yaml":
		return pnpm
	case "yarn.lock":
		return yarn
	case "bun.lock":
		return bun
	case "Cargo.lock":
		return tomlTables(RustKind)
	case "uv.lock", "poetry.lock", "pdm.lock":
		return tomlTables(PythonKind)
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
		return projectFile
	}
	return nil
}

// AddedPackages returns the packages that are named now and were not, in any version.
func AddedPackages(before, now []Package) []Package {
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

// sortedPackages puts packages in the order of their names, each once.
func sortedPackages(all []Package) []Package {
	slices.SortStableFunc(all, func(a, b Package) int {
		return cmp.Or(strings.Compare(a.Name, b.Name), strings.Compare(a.Version, b.Version))
	})
	return slices.CompactFunc(all, func(a, b Package) bool { return a.Name == b.Name && a.Version == b.Version })
}

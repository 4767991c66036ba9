package stack

import (
	"encoding/json"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"

	"github.com/nexus-ai-builder/nexus/internal/stack/gosource"
)

// PackageNaming describes the names by which packages of a language in one repository refer to each
// other. The zero value contains no names: then any package may need any other.
type PackageNaming struct {
	// Own returns the names of the package in a directory, first the one that people use; none
	// if its manifest has none.
	Own func(tree fs.FS, dir string) []string
	// Used returns the names in a file that may refer to packages, with the part after Between.
	// All explains why the file may need any package, "" if it may not.
	Used func(file, text string) (names []string, all string)
	// Between separates the name of a package from the name of something in it.
	Between string
	// Lists returns the patterns of directories that the workspace in a directory lists.
	Lists func(tree fs.FS, dir string) []string
}

// IsManifest reports whether a file marks a package of some stack.
func IsManifest(file string) bool {
	return slices.ContainsFunc(AllStacks(), func(s Stack) bool { return !s.Alone && matchesAny(s.Markers, []string{path.Base(file)}) })
}

// IsPackage reports whether one of the names in a directory makes it a package of the stack.
func (s Stack) IsPackage(names []string) bool {
	return !s.Alone && matchesAny(s.Markers, names) && !matchesAny(s.Yields, names)
}

// DocsToolMarkers describes how to recognize documentation that a tool of the language builds. The zero
// value matches nothing.
type DocsToolMarkers struct {
	By     []string // configuration of such a tool
	Beside []string // markers of the stack that may be there, too: they list the tool's dependencies
}

// HoldsOnlyDocs reports whether the names in a directory show that it contains only documentation.
func (s Stack) HoldsOnlyDocs(names []string) bool {
	others := slices.DeleteFunc(slices.Clone(s.Markers), func(m string) bool { return slices.Contains(s.Docs.Beside, m) })
	return matchesAny(s.Docs.By, names) && !matchesAny(others, names)
}

// IsProse reports whether a file is text for people, which no program depends on.
func IsProse(file string) bool {
	switch path.Ext(file) {
	case ".md", ".rst", ".adoc":
		return true
	}
	base := path.Base(file)
	return base == "LICENSE" || base == ".gitignore" || base == "CODEOWNERS" || strings.HasPrefix(file, ".github/")
}

func goPackageNaming() PackageNaming {
	quoted := regexp.MustCompile("\"([^\"\\s\\\\]+)\"")
	return PackageNaming{
		Between: "/",
		Own: func(tree fs.FS, dir string) []string {
			if name := gosource.ModuleName(gosource.ReadRegularFile(tree, path.Join(dir, "go.mod"))); name != "" {
				return []string{name}
			}
			return nil
		},
		Used: func(file, text string) ([]string, string) {
			switch {
			case path.Base(file) == "go.mod":
				return strings.Fields(text), ""
			case path.Ext(file) == ".go":
				return uniqueGroups(quoted, text), ""
			}
			return nil, ""
		},
		Lists: gosource.WorkspaceDirsOf,
	}
}

func nodePackageNaming() PackageNaming {
	quoted := regexp.MustCompile("['\"`]([^'\"`\\s]+)['\"`]")
	return PackageNaming{
		Between: "/",
		Own: func(tree fs.FS, dir string) []string {
			var m struct{ Name string }
			if json.Unmarshal([]byte(gosource.ReadRegularFile(tree, path.Join(dir, "package.json"))), &m) != nil || m.Name == "" {
				return nil
			}
			return []string{m.Name}
		},
		Used: func(file, text string) ([]string, string) {
			switch ext := path.Ext(file); {
			case path.Base(file) == "package.json":
				return packageNamesInManifest(text), ""
			case slices.Contains(scriptExtensions(), ext):
				if hasComputedImport(text) {
					return uniqueGroups(quoted, text), "imports a module whose name is computed"
				}
				return uniqueGroups(quoted, text), ""
			case ext == ".json" || ext == ".jsonc" || ext == ".json5":
				return uniqueGroups(quoted, text), ""
			}
			return nil, ""
		},
		Lists: func(tree fs.FS, dir string) []string {
			return packageInspector{tree: tree, dir: dir}.workspacePatterns()
		},
	}
}

var (
	nodeComputed = regexp.MustCompile("\\b(?:require|import)\\s*\\(\\s*(?:/\\*[^*]*\\*/\\s*)*[^'\"`\\s)/]")
	nodeBegun    = regexp.MustCompile("\\b(?:require|import)\\s*\\(\\s*(?:/\\*[^*]*\\*/\\s*)*(?:`([^`$]*)\\$([^`]*)|['\"]([^'\"\n]*)['\"]\\s*\\+)")
)

// hasComputedImport reports whether a script imports a module by a name that is only known when it
// runs. A name that is put together after a directory, or after a scope such as @org/, is known
// well enough.
func hasComputedImport(text string) bool {
	if nodeComputed.MatchString(text) {
		return true
	}
	return slices.ContainsFunc(nodeBegun.FindAllStringSubmatch(text, -1), func(m []string) bool {
		begin := m[1] + m[3]
		scope := strings.HasPrefix(begin, "@") && strings.Index(begin, "/") == len(begin)-1 && !strings.ContainsAny(m[2], " \t\n")
		below := strings.HasPrefix(begin, "./") && !strings.Contains(begin, "..")
		above := strings.HasPrefix(begin, ".") && strings.HasSuffix(begin, "/")
		return !scope && !below && !above
	})
}

// packageNamesInManifest returns the words of a package.json that may name packages: its dependencies, and
// the words of its other values, including scripts.
func packageNamesInManifest(text string) []string {
	var m map[string]any
	if json.Unmarshal([]byte(text), &m) != nil {
		return nil
	}
	var names []string
	for _, section := range splitWords("dependencies devDependencies peerDependencies optionalDependencies") {
		of, _ := m[section].(map[string]any)
		for name := range of {
			names = append(names, name)
		}
	}
	delete(m, "name")
	var values func(v any)
	values = func(v any) {
		switch v := v.(type) {
		case string:
			names = append(names, CommandWords([]string{v})...)
			if name, ok := targetOfPackageAlias(v); ok {
				names = append(names, name)
			}
		case []any:
			for _, x := range v {
				values(x)
			}
		case map[string]any:
			for _, x := range v {
				values(x)
			}
		}
	}
	values(m)
	slices.Sort(names)
	return slices.Compact(names)
}

// targetOfPackageAlias returns the package behind a dependency under another name, such as
// workspace:@org/a@* or npm:a@^1.
func targetOfPackageAlias(version string) (name string, ok bool) {
	protocol, name, _ := strings.Cut(version, ":")
	at := strings.LastIndex(name, "@")
	if protocol != "workspace" && protocol != "npm" || at < 1 {
		return "", false
	}
	return name[:at], true
}

func pythonPackageNaming() PackageNaming {
	needs := regexp.MustCompile(`(?m)(?:^\s*|["'])([A-Za-z0-9][\w.-]*)`)
	dotted := regexp.MustCompile(`["']([A-Za-z_]\w*(?:\.\w+)+)["']`)
	computed := regexp.MustCompile(`\b(?:import_module|__import__)\s*\(\s*[^"'\s]`)
	return PackageNaming{
		Between: ".", Own: pythonPackageNames,
		Used: func(file, text string) (names []string, all string) {
			base := path.Base(file)
			if path.Ext(base) == ".py" {
				for _, i := range pythonImports(text) {
					if i.dots == 0 {
						names = append(names, i.name)
					}
				}
				names = append(names, uniqueGroups(dotted, text)...)
				if computed.MatchString(text) {
					all = "imports a module whose name is computed"
				}
			}
			if matchesAny(pythonStack().Markers, []string{base}) {
				for _, name := range uniqueGroups(needs, text) {
					names = append(names, pythonProject(name))
				}
			}
			return names, all
		},
	}
}

// pythonProject returns the normalized name of a project, which is the same for all spellings.
func pythonProject(name string) string {
	return strings.ToLower(regexp.MustCompile(`[-_.]+`).ReplaceAllString(name, "-"))
}

// pythonPackageNames returns the name of a project and its top-level modules.
func pythonPackageNames(tree fs.FS, dir string) []string {
	var own []string
	var m struct {
		Project struct{ Name string }
		Tool    struct{ Poetry struct{ Name string } }
	}
	_ = toml.Unmarshal([]byte(gosource.ReadRegularFile(tree, path.Join(dir, "pyproject.toml"))), &m) // an unreadable file names nothing
	named := regexp.MustCompile(`(?m)\bname\s*=\s*["']?([\w.-]+)`)
	for _, name := range append([]string{m.Project.Name, m.Tool.Poetry.Name},
		append(uniqueGroups(named, gosource.ReadRegularFile(tree, path.Join(dir, "setup.cfg"))), uniqueGroups(named, gosource.ReadRegularFile(tree, path.Join(dir, "setup.py")))...)...) {
		if name != "" {
			own = append(own, name, pythonProject(name))
		}
	}
	for _, at := range []string{dir, path.Join(dir, "src"), path.Join(dir, "lib")} {
		entries, _ := fs.ReadDir(tree, at)
		for _, e := range entries {
			name, py := strings.CutSuffix(e.Name(), ".py")
			below, _ := fs.Glob(tree, path.Join(at, e.Name(), "*.py"))
			if (py || e.IsDir() && len(below) > 0) && !slices.Contains(splitWords("test tests setup conftest docs doc examples scripts noxfile"), name) {
				own = append(own, name)
			}
		}
	}
	return own
}

func rustPackageNaming() PackageNaming {
	title := regexp.MustCompile(`(?m)^\[package\](?:\n[^\[]*?)?\nname\s*=\s*"([^"]+)"`)
	keys := regexp.MustCompile(`(?m)^"?([\w-]+)"?\s*[.=]|dependencies\.["']?([\w-]+)|\bpackage\s*=\s*"([\w-]+)"`)
	return PackageNaming{
		Own: func(tree fs.FS, dir string) []string {
			return uniqueGroups(title, strings.ReplaceAll(gosource.ReadRegularFile(tree, path.Join(dir, "Cargo.toml")), "\r\n", "\n"))
		},
		Used: func(file, text string) ([]string, string) {
			if path.Base(file) != "Cargo.toml" {
				return nil, "" // a crate cannot use one that its manifest does not name
			}
			return uniqueGroups(keys, text), ""
		},
		Lists: func(tree fs.FS, dir string) []string {
			var w struct{ Workspace struct{ Members []string } }
			_ = toml.Unmarshal([]byte(gosource.ReadRegularFile(tree, path.Join(dir, "Cargo.toml"))), &w) // an unreadable file names nothing
			return w.Workspace.Members
		},
	}
}

// uniqueGroups returns the texts that the groups of a pattern match, without duplicates.
func uniqueGroups(pattern *regexp.Regexp, text string) []string {
	var all []string
	seen := map[string]bool{"": true}
	for _, m := range pattern.FindAllStringSubmatch(text, -1) {
		for _, g := range m[1:] {
			if !seen[g] {
				seen[g] = true
				all = append(all, g)
			}
		}
	}
	return all
}

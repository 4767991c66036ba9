package gosource

import (
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strconv"
	"strings"
)

// GoImportGraph holds the imports between the Go packages of a tree.
type GoImportGraph struct {
	tree     fs.FS
	modules  map[string]string
	packages map[string]*goImportGraphPackage // by directory
}

// goImportGraphPackage is a directory with Go files.
type goImportGraphPackage struct {
	path    string   // its import path
	imports []string // of its code, with any build tags
	tests   []string // imports of its tests
	tested  bool     // it has tests
	embeds  []string // patterns of files that are built into it or its tests
}

// ReadImportGraph reads the imports of all Go files of a tree.
func ReadImportGraph(tree fs.FS) GoImportGraph {
	g := GoImportGraph{tree, GoModules(tree), map[string]*goImportGraphPackage{}}
	for _, f := range GoFiles(tree) {
		dir := path.Dir(f)
		if g.packages[dir] == nil {
			g.packages[dir] = &goImportGraphPackage{path: ImportPath(dir, g.modules)}
		}
		g.packages[dir].addFileImports(f, ReadRegularFile(tree, f))
	}
	return g
}

// addFileImports reads the imports of a file.
func (p *goImportGraphPackage) addFileImports(file, text string) {
	test := strings.HasSuffix(file, "_test.go")
	p.tested = p.tested || test
	for l := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(l, "//go:embed "); ok {
			p.embeds = append(p.embeds, strings.Fields(rest)...)
		}
	}
	f, err := parser.ParseFile(token.NewFileSet(), path.Base(file), text, parser.ImportsOnly)
	if err != nil {
		return // the compiler reports it
	}
	for _, i := range f.Imports {
		name, err := strconv.Unquote(i.Path.Value)
		switch {
		case err != nil:
		case test:
			p.tests = append(p.tests, name)
		default:
			p.imports = append(p.imports, name)
		}
	}
}

// owningPackage returns the package of a file that is not Go: one that embeds it, one that has it among
// its test data, or one that it is compiled into.
func (g GoImportGraph) owningPackage(file string) (dir string, ok bool) {
	for _, dir := range directoriesAbove(file) {
		p := g.packages[dir]
		if p == nil {
			continue
		}
		rest := strings.TrimPrefix(file, dir+"/")
		if strings.HasPrefix(rest, "testdata/") {
			return dir, true
		}
		if slices.Contains([]string{".s", ".S", ".c", ".h", ".cc", ".cpp", ".syso"}, path.Ext(rest)) && !strings.Contains(rest, "/") {
			return dir, true
		}
		for _, pattern := range p.embeds {
			pattern = strings.Trim(strings.TrimPrefix(pattern, "all:"), "\"`")
			for part := rest; part != "."; part = path.Dir(part) { // a directory is embedded with all that is in it
				if match, err := path.Match(pattern, part); match && err == nil {
					return dir, true
				}
			}
		}
	}
	return "", false
}

// AffectedPackages returns the packages of the module in a directory whose tests changed files
// affect, the number of packages with tests, or the reason why they are unknown. Elsewhere
// reports whether a file is code of another language, which Go ignores.
func (g GoImportGraph) AffectedPackages(module string, changed []string, elsewhere func(file string) bool) (hit []string, of int, why string) {
	code, tests, why := g.changedPackages(changed, elsewhere)
	if why != "" {
		return nil, 0, why
	}
	marked := g.markImporters(code)
	for dir, p := range g.packages {
		if !p.tested || p.path == "" || !IsDirInModule(g.tree, module, dir) {
			continue
		}
		of++
		if code[dir] || tests[dir] || slices.ContainsFunc(p.tests, func(name string) bool { return marked[name] }) {
			hit = append(hit, p.path)
		}
	}
	slices.Sort(hit)
	return hit, of, ""
}

// markImporters marks the packages that import a marked one, directly or indirectly, and returns their
// import paths.
func (g GoImportGraph) markImporters(marked map[string]bool) (paths map[string]bool) {
	paths = map[string]bool{}
	users := map[string][]string{}
	for dir, p := range g.packages {
		for _, name := range p.imports {
			users[name] = append(users[name], dir)
		}
	}
	var left []string
	for dir := range marked {
		left = append(left, dir)
	}
	for len(left) > 0 {
		dir := left[0]
		left = left[1:]
		name := ImportPath(dir, g.modules)
		paths[name] = true
		for _, user := range users[name] { // a deleted package has users too
			if !marked[user] {
				marked[user] = true
				left = append(left, user)
			}
		}
	}
	return paths
}

// changedPackages returns the directories whose code changed, and those in which only tests did, or the
// reason why they are unknown.
func (g GoImportGraph) changedPackages(changed []string, elsewhere func(file string) bool) (code, tests map[string]bool, why string) {
	code, tests = map[string]bool{}, map[string]bool{}
	for _, f := range changed {
		dir := path.Dir(f)
		if strings.HasPrefix(f, "vendor/") || strings.Contains(f, "/vendor/") {
			return nil, nil, f + " belongs to another module"
		}
		if path.Ext(f) == ".go" && !strings.Contains("/"+dir+"/", "/testdata/") {
			if strings.HasSuffix(f, "_test.go") {
				tests[dir] = true
			} else {
				code[dir] = true
			}
			continue
		}
		owner, ok := g.owningPackage(f)
		switch {
		case ok && strings.HasPrefix(strings.TrimPrefix(f, owner+"/"), "testdata/"):
			tests[owner] = true
		case ok:
			code[owner] = true
		case path.Ext(f) == ".md" || path.Base(f) == "LICENSE" || strings.HasPrefix(f, ".github/"):
		case elsewhere(f):
		default:
			return nil, nil, "it is unknown which tests " + f + " affects"
		}
	}
	return code, tests, ""
}

// directoriesAbove returns the directories of a file, the root last.
func directoriesAbove(file string) []string {
	dirs := []string{path.Dir(file)}
	for dir := dirs[0]; dir != "." && dir != "/"; dirs = append(dirs, dir) {
		dir = path.Dir(dir)
	}
	return dirs
}

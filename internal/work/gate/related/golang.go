package related

import (
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack/gosrc"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// goPackage is a directory with Go files.
type goPackage struct {
	path    string   // how others import it
	imports []string // of its code, whatever the build's tags
	tests   []string // imports of its tests
	tested  bool     // it has tests
	embeds  []string // patterns of files that are built into it or its tests
}

// goGraph are the packages of a tree by directory.
type goGraph map[string]*goPackage

func (s *survey) goPackages() goGraph {
	if s.golang != nil {
		return *s.golang
	}
	g := goGraph{}
	modules := gosrc.Modules(os.DirFS(s.dir))
	for _, f := range gosrc.Files(os.DirFS(s.dir)) {
		dir := path.Dir(f)
		if g[dir] == nil {
			g[dir] = &goPackage{path: gosrc.ImportPath(dir, modules)}
		}
		g[dir].add(s, f)
	}
	s.golang = &g
	return g
}

// add reads the imports of a file.
func (p *goPackage) add(s *survey, file string) {
	text := s.read(file)
	test := strings.HasSuffix(file, "_test.go")
	p.tested = p.tested || test
	for l := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(l, "//go:embed "); ok {
			p.embeds = append(p.embeds, strings.Fields(rest)...)
		}
	}
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Base(file), text, parser.ImportsOnly)
	if err != nil {
		return // the compiler will speak of it
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

// owner returns the package that a file which is not Go belongs to: one that
// embeds it, one that has it among its test data, or one that it is compiled
// into.
func (g goGraph) owner(file string) (dir string, ok bool) {
	for _, dir := range above(file) {
		p := g[dir]
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

// goTests finds the packages whose tests a change concerns, by what imports
// what.
func (s *survey) goTests(of gate.Gate) Choice {
	c, ok := gosrc.ParseTest(of.Args)
	if !ok || c.Picks {
		return every("its command selects tests itself")
	}
	g := s.goPackages()
	code, tests, why := s.touched(g)
	if why != "" {
		return every("%s", why)
	}
	marked := s.spread(g, code)
	var hit []string
	total := 0
	for dir, p := range g {
		if !p.tested || p.path == "" || !gosrc.Judges(os.DirFS(s.dir), of.Dir, dir) {
			continue
		}
		total++
		if code[dir] || tests[dir] || slices.ContainsFunc(p.tests, func(name string) bool { return marked[name] }) {
			hit = append(hit, p.path)
		}
	}
	slices.Sort(hit)
	switch {
	case len(hit) == 0:
		return none()
	case len(hit) == total:
		return every("the change affects all %d packages with tests", total)
	}
	return Choice{Some: true, Tests: hit}
}

// spread marks the packages that import a marked one, however far away, and
// returns how all of them are imported.
func (s *survey) spread(g goGraph, marked map[string]bool) (paths map[string]bool) {
	paths = map[string]bool{}
	users := map[string][]string{}
	for dir, p := range g {
		for _, name := range p.imports {
			users[name] = append(users[name], dir)
		}
	}
	modules := gosrc.Modules(os.DirFS(s.dir))
	var left []string
	for dir := range marked {
		left = append(left, dir)
	}
	for len(left) > 0 {
		dir := left[0]
		left = left[1:]
		name := gosrc.ImportPath(dir, modules)
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

// foreign reports whether a file is another stack's code, away from any Go or in
// a package of its own.
func (s *survey) foreign(file string) bool {
	if !(scripts{s}).mine(file) && !(python{s}).mine(file) && path.Ext(file) != ".rs" && path.Ext(file) != ".css" {
		return false
	}
	for _, dir := range above(file) {
		for _, f := range s.all() {
			switch {
			case path.Dir(f) != dir:
			case path.Ext(f) == ".go":
				return false
			case dir != "." && slices.Contains([]string{"package.json", "pyproject.toml", "setup.py", "Cargo.toml"}, path.Base(f)):
				return true
			}
		}
	}
	return true
}

// touched returns the directories whose code changed, and those whose tests
// alone did, or why that cannot be told.
func (s *survey) touched(g goGraph) (code, tests map[string]bool, why string) {
	code, tests = map[string]bool{}, map[string]bool{}
	for _, f := range s.changed {
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
		owner, ok := g.owner(f)
		switch {
		case ok && strings.HasPrefix(strings.TrimPrefix(f, owner+"/"), "testdata/"):
			tests[owner] = true
		case ok:
			code[owner] = true
		case path.Ext(f) == ".md" || path.Base(f) == "LICENSE" || strings.HasPrefix(f, ".github/"):
		case s.foreign(f):
		default:
			return nil, nil, "it is unknown which tests " + f + " affects"
		}
	}
	return code, tests, ""
}

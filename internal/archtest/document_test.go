package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// Documents for people who change the code, and what they name in backquotes.
var (
	documents  = []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "docs/extend.md"}
	codePath   = regexp.MustCompile("`((?:internal/|cmd/)?(?:nexus|stack|decide|view|sys|work|run|app|face|archtest|oracle|nexus-bench)(?:/[\\w/.*-]+)?)`")
	identifier = regexp.MustCompile("`([A-Z][a-z]\\w*(?:\\.\\w+)?|[a-z]+[A-Z]\\w*|[a-z]+\\.[A-Z]\\w*(?:\\.\\w+)?)(?:\\([^`]*\\))?`")
	makeTarget = regexp.MustCompile(`\bmake ([a-z]+)`)
)

// TestNamedCode holds that the documents name packages, files, identifiers and make targets
// that exist. A new contributor has nothing else to follow.
func TestNamedCode(t *testing.T) {
	code := declaredNames(t)
	makefile, err := os.ReadFile("../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	paths, identifiers, targets := 0, 0, 0
	for _, name := range documents {
		data, err := os.ReadFile("../../" + name)
		if err != nil {
			t.Fatal(err)
		}
		text := string(data)
		for _, m := range codePath.FindAllStringSubmatch(text, -1) {
			paths++
			if !pathExists(m[1]) {
				t.Errorf("%s names %s, which does not exist", name, m[1])
			}
		}
		for _, m := range identifier.FindAllStringSubmatch(text, -1) {
			identifiers++
			if !code[m[1]] {
				t.Errorf("%s names %s, which does not exist", name, m[1])
			}
		}
		for _, m := range makeTarget.FindAllStringSubmatch(text, -1) {
			targets++
			if !strings.Contains(string(makefile), "\n"+m[1]+":") {
				t.Errorf("%s names make %s, which does not exist", name, m[1])
			}
		}
		if name == "README.md" && (!strings.Contains(text, "make demo") || !strings.Contains(text, "make test")) {
			t.Error("README.md does not name the two commands of a new user, make demo and make test")
		}
	}
	if paths < 80 || identifiers < 30 || targets < 10 {
		t.Errorf("found only %d paths, %d identifiers and %d targets", paths, identifiers, targets)
	}
}

// declaredNames returns the names of the program's functions, types, values and fields: each alone, members
// with their type, and what packages export with their name, such as Console, Console.Ask and console.Console.
func declaredNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, p := range load(t) {
		for _, file := range p.GoFiles {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, file), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			add := func(owner, name string) {
				names[name] = true
				if owner != "" {
					names[owner+"."+name] = true
					name = owner + "." + name
				}
				names[f.Name.Name+"."+name] = true
			}
			for _, d := range f.Decls {
				addDeclared(d, add)
			}
		}
	}
	return names
}

// addDeclared calls add with the names of a declaration, and with those of members and their type.
func addDeclared(d ast.Decl, add func(owner, name string)) {
	switch d := d.(type) {
	case *ast.FuncDecl:
		owner := ""
		if d.Recv != nil {
			t := d.Recv.List[0].Type
			if star, ok := t.(*ast.StarExpr); ok {
				t = star.X
			}
			if index, ok := t.(*ast.IndexExpr); ok {
				t = index.X
			}
			if name, ok := t.(*ast.Ident); ok {
				owner = name.Name
			}
		}
		add(owner, d.Name.Name)
	case *ast.GenDecl:
		for _, s := range d.Specs {
			switch s := s.(type) {
			case *ast.ValueSpec:
				for _, name := range s.Names {
					add("", name.Name)
				}
			case *ast.TypeSpec:
				add("", s.Name.Name)
				ast.Inspect(s.Type, func(n ast.Node) bool {
					if field, ok := n.(*ast.Field); ok {
						for _, name := range field.Names {
							add(s.Name.Name, name.Name)
						}
					}
					return true
				})
			}
		}
	}
}

// pathExists reports whether a path of a document exists, below internal or the root. A path
// with a star names files by their pattern.
func pathExists(name string) bool {
	for _, root := range []string{"../../", "../../internal/"} {
		if found, err := filepath.Glob(root + name); err == nil && len(found) > 0 {
			return true
		}
	}
	return false
}

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
	documents  = []string{"README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"}
	codePath   = regexp.MustCompile("`((?:internal/|cmd/)?(?:nexus|stack|decide|view|sys|work|run|app|face|archtest|oracle|nexus-bench)(?:/[\\w/.*-]+)?)`")
	identifier = regexp.MustCompile("`([A-Z][a-z]\\w*(?:\\.\\w+)?|[a-z]+[A-Z]\\w*)`")
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
			last := m[1][strings.LastIndex(m[1], ".")+1:]
			if !code[last] {
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

// declaredNames returns the names of the program's functions, types, values and fields.
func declaredNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, p := range load(t) {
		for _, file := range p.GoFiles {
			f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, file), nil, parser.SkipObjectResolution)
			if err != nil {
				t.Fatal(err)
			}
			ast.Inspect(f, func(n ast.Node) bool {
				switch n := n.(type) {
				case *ast.FuncDecl:
					names[n.Name.Name] = true
				case *ast.TypeSpec:
					names[n.Name.Name] = true
				case *ast.ValueSpec:
					for _, name := range n.Names {
						names[name.Name] = true
					}
				case *ast.Field:
					for _, name := range n.Names {
						names[name.Name] = true
					}
				}
				return true
			})
		}
	}
	return names
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

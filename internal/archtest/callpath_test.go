package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// What a path of calls in ARCHITECTURE.md may come to.
const (
	maxSteps    = 12 // functions
	maxPackages = 8
)

// stepLine is a step of a path: a function, a method with its type, and the file
// that it is in.
var stepLine = regexp.MustCompile("(?m)^\\d+\\. `([\\w.]+)` in `([^`]+\\.go)`(.*)$")

// recorded ends the step after which a fact in the journal leads on, not a call.
const recorded = "(recorded)"

type step struct {
	name, file string
	recorded   bool
}

// TestCallPaths reads the paths of calls in ARCHITECTURE.md and holds them
// against the code: each function is in its file, and calls the next one or is
// called by it, unless a fact lies between them.
func TestCallPaths(t *testing.T) {
	data, err := os.ReadFile("../../ARCHITECTURE.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, _ := strings.Cut(string(data), "\n## Call paths\n")
	text, _, _ = strings.Cut(text, "\n## ")
	paths := strings.Split(text, "\n### ")[1:]
	if len(paths) != 3 {
		t.Fatalf("ARCHITECTURE.md has %d paths of calls, want 3", len(paths))
	}
	for _, p := range paths {
		title, _, _ := strings.Cut(p, "\n")
		t.Run(title, func(t *testing.T) {
			var steps []step
			for _, m := range stepLine.FindAllStringSubmatch(p, -1) {
				steps = append(steps, step{m[1], m[2], strings.Contains(m[3], recorded)})
			}
			checkPath(t, steps)
		})
	}
}

func checkPath(t *testing.T, steps []step) {
	t.Helper()
	packages := map[string]bool{}
	funcs := make([]*ast.FuncDecl, len(steps))
	for i, s := range steps {
		packages[path.Dir(s.file)] = true
		if funcs[i] = declared(t, s); funcs[i] == nil {
			t.Errorf("%s has no function %s", s.file, s.name)
		}
	}
	if len(steps) < 5 || len(steps) > maxSteps || len(packages) > maxPackages {
		t.Errorf("%d functions in %d packages, want at most %d in %d", len(steps), len(packages), maxSteps, maxPackages)
	}
	for i := 1; i < len(steps); i++ {
		if steps[i-1].recorded || funcs[i-1] == nil || funcs[i] == nil {
			continue
		}
		if !names(funcs[i-1], steps[i].name) && !names(funcs[i], steps[i-1].name) {
			t.Errorf("neither does %s call %s, nor is it called by it", steps[i-1].name, steps[i].name)
		}
	}
}

// declared returns the function of a step, nil where its file has none.
func declared(t *testing.T, s step) *ast.FuncDecl {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join("..", "..", filepath.FromSlash(s.file)), nil, 0)
	if err != nil {
		t.Error(err)
		return nil
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		name := fn.Name.Name
		if fn.Recv != nil {
			of := fn.Recv.List[0].Type
			if star, ok := of.(*ast.StarExpr); ok {
				of = star.X
			}
			if id, ok := of.(*ast.Ident); ok {
				name = id.Name + "." + name
			}
		}
		if name == s.name {
			return fn
		}
	}
	return nil
}

// names reports whether a function calls another of that name, or hands it on
// to be called.
func names(fn *ast.FuncDecl, name string) bool {
	name = name[strings.LastIndex(name, ".")+1:]
	found := false
	ast.Inspect(fn.Body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			switch f := n.Fun.(type) {
			case *ast.Ident:
				found = found || f.Name == name
			case *ast.SelectorExpr:
				found = found || f.Sel.Name == name
			}
			for _, arg := range n.Args {
				s, ok := arg.(*ast.SelectorExpr)
				found = found || ok && s.Sel.Name == name
			}
		}
		return !found
	})
	return found
}

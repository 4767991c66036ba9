package archtest

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// readByState are fields of the state that only its own methods read, for decisions.
func readByState() map[string]string {
	return map[string]string{
		"Gating": "State.InterruptProblem asks whether a gate judges a task",
	}
}

// TestStateIsReadByDecisions holds that each field of the state is read by a decision, a step of the work or
// the conductor. What only a screen needs belongs to view.
func TestStateIsReadByDecisions(t *testing.T) {
	fields, readers := stateFields(t), ""
	for _, floor := range []string{"decide", "work", "run", "app"} {
		err := filepath.WalkDir(filepath.Join("..", floor), func(path string, d fs.DirEntry, err error) error {
			slash := filepath.ToSlash(path)
			if err != nil || d.IsDir() || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") ||
				strings.Contains(slash, "decide/state/") || strings.Contains(slash, "run/sim/") {
				return err
			}
			data, err := os.ReadFile(path)
			readers += string(data)
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if len(fields) < 40 || len(fields) > 64 {
		t.Errorf("the state has %d fields", len(fields))
	}
	for _, name := range fields {
		_, excepted := readByState()[name]
		if read := regexp.MustCompile(`\.` + name + `\b`).MatchString(readers); read == excepted {
			t.Errorf("the field %s of the state: read by a decision %v, excepted %v", name, read, excepted)
		}
	}
}

// stateFields returns the exported fields of the state and of the parts that it embeds.
func stateFields(t *testing.T) []string {
	t.Helper()
	structs := map[string]*ast.StructType{}
	files, err := filepath.Glob(filepath.Join("..", "decide", "state", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			if spec, ok := n.(*ast.TypeSpec); ok {
				if s, ok := spec.Type.(*ast.StructType); ok {
					structs[spec.Name.Name] = s
				}
			}
			return true
		})
	}
	var fields []string
	var collect func(name string)
	collect = func(name string) {
		for _, f := range structs[name].Fields.List {
			if part, ok := f.Type.(*ast.Ident); ok && len(f.Names) == 0 {
				collect(part.Name)
			}
			for _, n := range f.Names {
				if n.IsExported() {
					fields = append(fields, n.Name)
				}
			}
		}
	}
	collect("State")
	return fields
}

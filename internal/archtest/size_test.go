package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/scanner"
	"go/token"
	"reflect"
	"strings"
	"testing"
)

// The bounds of a file and an interface. A package is as large as its idea, and
// a line as long as its reader likes: bounds on both were withdrawn, since they
// bent the code (docs/decisions/0046-alarms.md).
const (
	maxFile    = 500 // lines, with everything in them
	maxMethods = 5   // of an interface
	minRows    = 4   // of a list or a map in a function that is a table
)

// source is a file of Go, as the rules on sizes see it.
type source struct {
	lines int // all of them
	code  int // that hold code: no comments, blank lines or tables

	interfaces map[string]int // with more than maxMethods, and how many
}

// measure reads a file. A table is data: its lines are as long, and as many,
// as what it lists.
func measure(name, text string) (source, error) {
	fset := token.NewFileSet()
	file, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return source{}, err
	}
	s := source{lines: strings.Count(text, "\n")}
	table := tables(fset, file)
	for n := range codeLines(fset, text) {
		if !table[n] {
			s.code++
		}
	}
	ast.Inspect(file, func(n ast.Node) bool {
		t, ok := n.(*ast.TypeSpec)
		if !ok {
			return true
		}
		if i, ok := t.Type.(*ast.InterfaceType); ok && i.Methods.NumFields() > maxMethods {
			if s.interfaces == nil {
				s.interfaces = map[string]int{}
			}
			s.interfaces[t.Name.Name] = i.Methods.NumFields()
		}
		return true
	})
	return s, nil
}

// tables holds the numbers of the lines of data: what a package's variable or
// constant, or a list or a map of minRows lines and more, holds. A function in
// it is code.
func tables(fset *token.FileSet, file *ast.File) map[int]bool {
	table := map[int]bool{}
	mark := func(n ast.Node, is bool) {
		for at := fset.Position(n.Pos()).Line; at <= fset.Position(n.End()).Line; at++ {
			table[at] = is
		}
	}
	for _, d := range file.Decls {
		if g, ok := d.(*ast.GenDecl); ok && (g.Tok == token.VAR || g.Tok == token.CONST) {
			mark(g, true)
		}
	}
	ast.Inspect(file, func(n ast.Node) bool { // from the outside in
		switch n := n.(type) {
		case *ast.CompositeLit:
			_, list := n.Type.(*ast.ArrayType)
			_, byKey := n.Type.(*ast.MapType)
			if (list || byKey) && fset.Position(n.End()).Line-fset.Position(n.Pos()).Line >= minRows {
				mark(n, true)
			}
		case *ast.FuncLit:
			mark(n, false)
		}
		return true
	})
	return table
}

// codeLines holds the numbers of the lines that have a token on them.
func codeLines(fset *token.FileSet, text string) map[int]bool {
	var scan scanner.Scanner
	f := fset.AddFile("", fset.Base(), len(text))
	scan.Init(f, []byte(text), nil, 0) // comments are skipped
	lines := map[int]bool{}
	for {
		pos, tok, lit := scan.Scan()
		if tok == token.EOF {
			return lines
		}
		if tok == token.SEMICOLON && lit == "\n" {
			continue // put in by the scanner
		}
		first := f.Line(pos)
		for n := first; n <= first+strings.Count(lit, "\n"); n++ {
			lines[n] = true
		}
	}
}

// overdrawn compares what breaks a bound with what is excused. An exception
// is an upper limit: it may only shrink, and one that is not needed fails.
func overdrawn(found, excused map[string]int) []string {
	var wrong []string
	for name, n := range found {
		if limit, ok := excused[name]; !ok {
			wrong = append(wrong, fmt.Sprintf("%s: %d", name, n))
		} else if n > limit {
			wrong = append(wrong, fmt.Sprintf("%s: %d, which is more than the exception of %d: split it by subject, as exceptions (except_test.go) only shrink", name, n, limit))
		}
	}
	for name, limit := range excused {
		n := found[name]
		switch {
		case n == 0:
			wrong = append(wrong, name+": the exception is not needed any more: remove it")
		case n < limit*3/4:
			wrong = append(wrong, fmt.Sprintf("%s: lower the exception from %d to %d", name, limit, n))
		}
	}
	return wrong
}

// TestMeasure shows each bound on small sources, at it and over it.
func TestMeasure(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       source
	}{
		{"code", "package a\n\nfunc f() {\n}\n", source{lines: 4, code: 3}},
		{"comments are free", "// Package a.\n/*\nx\n*/\npackage a\n\n// x\nfunc f() {} // f\n", source{lines: 8, code: 2}},
		{"tables are free", "package a\n\nvar t = []string{\n\t\"a\",\n\t\"b\",\n}\n", source{lines: 6, code: 1}},
		{"a variable in a function is code", "package a\n\nfunc f() {\n\tvar s = \"a\"\n}\n", source{lines: 5, code: 4}},
		{"a list of some length is a table", "package a\n\nfunc f() []string {\n\treturn []string{\n\t\t\"a\",\n\t\t\"b\",\n\t\t\"c\",\n\t}\n}\n", source{lines: 9, code: 3}},
		{"a short list is code", "package a\n\nfunc f() []string {\n\treturn []string{\n\t\t\"a\",\n\t}\n}\n", source{lines: 7, code: 6}},
		{"a function in a table is code", "package a\n\nvar t = []func(){\n\tfunc() {\n\t\tf(\"a\")\n\t},\n}\n", source{lines: 7, code: 4}},
		{"a raw string has many lines", "package a\n\nfunc f() string {\n\treturn `a\nb\nc`\n}\n", source{lines: 7, code: 6}},
		{"five methods", "package a\n\ntype i interface {\n\ta()\n\tb()\n\tc()\n\td()\n\te()\n}\n", source{lines: 9, code: 8}},
		{"six methods", "package a\n\ntype i interface { a(); b(); c(); d(); e(); f() }\n", source{lines: 3, code: 2, interfaces: map[string]int{"i": 6}}},
	} {
		got, err := measure("a.go", c.text)
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v, want %+v", c.name, got, err, c.want)
		}
	}
}

// TestExceptions shows that an exception is a limit that may only shrink.
func TestExceptions(t *testing.T) {
	for _, c := range []struct {
		name           string
		found, excused map[string]int
		want           string
	}{
		{"nothing", nil, nil, ""},
		{"not excused", map[string]int{"a": 9}, nil, "a: 9"},
		{"excused", map[string]int{"a": 9}, map[string]int{"a": 9}, ""},
		{"grown", map[string]int{"a": 10}, map[string]int{"a": 9}, "a: 10, which is more than the exception of 9: split it by subject, as exceptions (except_test.go) only shrink"},
		{"shrunk", map[string]int{"a": 2}, map[string]int{"a": 9}, "a: lower the exception from 9 to 2"},
		{"mended", nil, map[string]int{"a": 9}, "a: the exception is not needed any more: remove it"},
	} {
		if got := strings.Join(overdrawn(c.found, c.excused), "\n"); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}

// TestSizes holds the tree against the bounds. Harnesses, which only tests and
// measurements need, are counted apart from the product.
func TestSizes(t *testing.T) {
	long, fat := map[string]int{}, map[string]int{}
	var product, harness, packages, harnesses int
	for _, p := range load(t) {
		code := 0
		for _, f := range p.sources(t) {
			if f.lines > maxFile {
				long[p.name()+"/"+f.name] = f.lines
			}
			if f.test {
				continue
			}
			code += f.code
			for i, n := range f.interfaces {
				fat[p.name()+"."+i] = n
			}
		}
		if isHarness(p.name()) {
			harness, harnesses = harness+code, harnesses+1
		} else {
			product, packages = product+code, packages+1
		}
	}
	t.Logf("product: %d lines of code in %d packages; harnesses: %d in %d", product, packages, harness, harnesses)
	for rule, wrong := range map[string][]string{
		fmt.Sprintf("files of more than %d lines", maxFile):           overdrawn(long, longFiles),
		fmt.Sprintf("interfaces of more than %d methods", maxMethods): overdrawn(fat, fatInterfaces),
	} {
		for _, w := range wrong {
			t.Errorf("%s: %s", rule, w)
		}
	}
}

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
	"unicode/utf8"
)

// The bounds of a file, a line and an interface. A package is as large as its
// idea.
const (
	maxFile    = 500 // lines, with everything in them
	maxColumns = 140 // runes; a tab is one
	maxMethods = 5   // of an interface
	minRows    = 4   // of a list or a map in a function that is a table
)

// source is a file of Go, as the rules on sizes see it.
type source struct {
	lines int   // all of them
	code  int   // that hold code: no comments, blank lines or tables
	wide  []int // numbers of lines of code with more than maxColumns

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
	lines := strings.Split(text, "\n")
	for n := range codeLines(fset, text) {
		if table[n] {
			continue
		}
		s.code++
		if utf8.RuneCountInString(lines[n-1]) > maxColumns {
			s.wide = append(s.wide, n)
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
			wrong = append(wrong, fmt.Sprintf("%s: %d, which is more than the exception of %d", name, n, limit))
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

// listed makes the list of packages with wide lines an exception for as many
// as there are; [maxWide] bounds them all.
func listed(found map[string]int) map[string]int {
	excused := map[string]int{}
	for _, name := range wideLines {
		excused[name] = found[name]
	}
	return excused
}

// TestMeasure shows each bound on small sources, at it and over it.
func TestMeasure(t *testing.T) {
	long := strings.Repeat("x", maxColumns)
	for _, c := range []struct {
		name, text string
		want       source
	}{
		{"code", "package a\n\nfunc f() {\n}\n", source{lines: 4, code: 3}},
		{"comments are free", "// Package a.\n/*\n" + long + "x\n*/\npackage a\n\n// " + long + "\nfunc f() {} // f\n", source{lines: 8, code: 2}},
		{"tables are free", "package a\n\nvar t = []string{\n\t\"" + long + "\",\n\t\"b\",\n}\n", source{lines: 6, code: 1}},
		{"a variable in a function is code", "package a\n\nfunc f() {\n\tvar s = \"" + long + "\"\n}\n", source{lines: 5, code: 4, wide: []int{4}}},
		{"a list of some length is a table", "package a\n\nfunc f() []string {\n\treturn []string{\n\t\t\"" + long + "\",\n\t\t\"b\",\n\t\t\"c\",\n\t}\n}\n", source{lines: 9, code: 3}},
		{"a short list is code", "package a\n\nfunc f() []string {\n\treturn []string{\n\t\t\"" + long + "\",\n\t}\n}\n", source{lines: 7, code: 6, wide: []int{5}}},
		{"a function in a table is code", "package a\n\nvar t = []func(){\n\tfunc() {\n\t\tf(\"" + long + "\")\n\t},\n}\n", source{lines: 7, code: 4, wide: []int{5}}},
		{"as wide as it may be", "package a\n\nfunc " + long[10:] + "(){}\n", source{lines: 3, code: 2}},
		{"wider", "package a\n\nfunc " + long[7:] + "(){}\n", source{lines: 3, code: 2, wide: []int{3}}},
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
		{"grown", map[string]int{"a": 10}, map[string]int{"a": 9}, "a: 10, which is more than the exception of 9"},
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
	long, wide, fat := map[string]int{}, map[string]int{}, map[string]int{}
	var product, harness, packages, harnesses int
	for _, p := range load(t) {
		code := 0
		for _, f := range p.sources(t) {
			if f.lines > maxFile {
				long[p.name()+"/"+f.name] = f.lines
			}
			if f.test {
				continue // long lines of tests are data, mostly
			}
			code += f.code
			if len(f.wide) > 0 {
				wide[p.name()] += len(f.wide)
			}
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
	total := 0
	for _, n := range wide {
		total += n
	}
	if total > maxWide || total < maxWide-maxWide/20 {
		t.Errorf("%d lines of code have more than %d columns; maxWide, %d, is to be a little above that, and may only shrink", total, maxColumns, maxWide)
	}
	for rule, wrong := range map[string][]string{
		fmt.Sprintf("files of more than %d lines", maxFile):                            overdrawn(long, longFiles),
		fmt.Sprintf("packages with lines of code of more than %d columns", maxColumns): overdrawn(wide, listed(wide)),
		fmt.Sprintf("interfaces of more than %d methods", maxMethods):                  overdrawn(fat, fatInterfaces),
	} {
		for _, w := range wrong {
			t.Errorf("%s: %s", rule, w)
		}
	}
}

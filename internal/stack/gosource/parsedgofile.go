// Package gosource reads Go sources and go test command lines without running anything, as far as
// needed to check the output of go test.
package gosource

import (
	"bytes"
	"go/ast"
	"go/build"
	"go/build/constraint"
	"go/parser"
	"go/token"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// ParsedGoFile is a parsed Go file.
type ParsedGoFile struct {
	name string
	text string
	file *ast.File
	fset *token.FileSet
}

// parsedFiles reads the Go files of a directory whose names end in suffix. It skips files that
// cannot be read or parsed; the compiler reports them.
func parsedFiles(tree fs.FS, dir, suffix string) []ParsedGoFile {
	entries, err := fs.ReadDir(tree, path.Clean(dir))
	if err != nil {
		return nil
	}
	var all []ParsedGoFile
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), suffix) || strings.HasPrefix(e.Name(), "_") || strings.HasPrefix(e.Name(), ".") {
			continue
		}
		if s, ok := ParseGoFile(tree, path.Join(dir, e.Name())); ok {
			all = append(all, s)
		}
	}
	return all
}

// ParseGoFile parses a Go file of a tree; ok is false if it is not a regular file or does not parse.
func ParseGoFile(tree fs.FS, name string) (ParsedGoFile, bool) {
	text := ReadRegularFile(tree, name)
	if text == "" {
		return ParsedGoFile{}, false
	}
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return ParsedGoFile{}, false
	}
	return ParsedGoFile{name: name, text: text, file: f, fset: fset}, true
}

// isUnconditional reports whether a file belongs to its package here under any build tags.
func (s ParsedGoFile) isUnconditional() bool {
	for l := range strings.Lines(s.text) {
		if l = strings.TrimSpace(l); constraint.IsGoBuild(l) || constraint.IsPlusBuild(l) {
			return false
		}
		if strings.HasPrefix(l, "package ") {
			break
		}
	}
	here := build.Default
	here.OpenFile = func(string) (io.ReadCloser, error) { return io.NopCloser(strings.NewReader(s.text)), nil }
	ok, err := here.MatchFile(path.Dir(s.name), path.Base(s.name))
	return ok && err == nil && s.importName("C") == ""
}

// importName returns the name by which a file imports a package, "" if it does not.
func (s ParsedGoFile) importName(pkg string) string {
	for _, i := range s.file.Imports {
		if strings.Trim(i.Path.Value, "\"`") != pkg {
			continue
		}
		if i.Name != nil {
			return i.Name.Name
		}
		return path.Base(pkg)
	}
	return ""
}

// PackageName returns the name of the file's package.
func (s ParsedGoFile) PackageName() string { return s.file.Name.Name }

// sourceText returns the source text of a node.
func (s ParsedGoFile) sourceText(n ast.Node) string {
	from, to := s.fset.Position(n.Pos()).Offset, s.fset.Position(n.End()).Offset
	if from < 0 || to > len(s.text) || from > to {
		return ""
	}
	return s.text[from:to]
}

// isTest reports whether the testing package runs a function as a test.
func isTest(f *ast.FuncDecl) bool {
	rest, ok := strings.CutPrefix(f.Name.Name, "Test")
	r, _ := utf8.DecodeRuneInString(rest)
	if !ok || f.Recv != nil || rest != "" && unicode.IsLower(r) || f.Type.Params.NumFields() != 1 || f.Type.TypeParams != nil {
		return false
	}
	star, ok := f.Type.Params.List[0].Type.(*ast.StarExpr)
	if !ok {
		return false
	}
	switch x := star.X.(type) {
	case *ast.SelectorExpr:
		return x.Sel.Name == "T"
	case *ast.Ident:
		return x.Name == "T"
	default:
		return false
	}
}

// ExpectedTests returns a function that lists the tests of a package which go test cannot omit.
func ExpectedTests(tree fs.FS, modules map[string]string) func(pkg string) []string {
	return func(pkg string) []string {
		dir, ok := PackageDir(pkg, modules)
		if !ok {
			return nil
		}
		var names []string
		for _, s := range parsedFiles(tree, dir, "_test.go") {
			if !s.isUnconditional() {
				continue
			}
			for _, d := range s.file.Decls {
				if f, ok := d.(*ast.FuncDecl); ok && isTest(f) {
					names = append(names, f.Name.Name)
				}
			}
		}
		return names
	}
}

// PackageDir returns the directory of a package below the root of its tree.
func PackageDir(pkg string, modules map[string]string) (string, bool) {
	best, dir := -1, ""
	for module, at := range modules {
		rest, ok := strings.CutPrefix(pkg, module)
		if ok && (rest == "" || rest[0] == '/') && len(module) > best {
			best, dir = len(module), path.Join(at, rest)
		}
	}
	return dir, best >= 0 && fs.ValidPath(path.Clean(dir))
}

// goTestDeclarations holds the declarations in the test files of a directory, by name.
type goTestDeclarations struct {
	tests, other map[string]string
}

func readTestDeclarations(tree fs.FS, dir string) goTestDeclarations {
	s := goTestDeclarations{map[string]string{}, map[string]string{}}
	for _, file := range parsedFiles(tree, dir, "_test.go") {
		for _, d := range file.file.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				switch {
				case isTest(d), d.Recv == nil && strings.HasPrefix(d.Name.Name, "Fuzz"), d.Recv == nil && strings.HasPrefix(d.Name.Name, "Example"):
					s.tests[d.Name.Name] = file.sourceText(d)
				case d.Recv != nil:
					s.other["method "+file.sourceText(d.Recv.List[0].Type)+"."+d.Name.Name] = file.sourceText(d)
				case d.Name.Name == "init":
					s.other["init "+file.sourceText(d)] = ""
				default:
					s.other["func "+d.Name.Name] = file.sourceText(d)
				}
			case *ast.GenDecl:
				if d.Tok != token.IMPORT {
					s.addDeclaration(file, d)
				}
			}
		}
	}
	return s
}

func (s goTestDeclarations) addDeclaration(file ParsedGoFile, d *ast.GenDecl) {
	for _, spec := range d.Specs {
		switch spec := spec.(type) {
		case *ast.TypeSpec:
			s.other["type "+spec.Name.Name] = file.sourceText(spec)
		case *ast.ValueSpec:
			for _, n := range spec.Names {
				s.other["var "+n.Name+map[bool]string{true: file.sourceText(spec)}[n.Name == "_"]] = file.sourceText(d)
			}
		}
	}
}

// IsTestTouched reports whether a change affects a test: its own lines, the code that all tests
// of its package share, or their data.
func IsTestTouched(base, now fs.FS, dir, test string, changed []string) bool {
	test, _, _ = strings.Cut(test, "/")
	was, is := readTestDeclarations(base, dir), readTestDeclarations(now, dir)
	if old, ok := was.tests[test]; !ok || old != is.tests[test] {
		return true
	}
	for name, text := range was.other {
		if is.other[name] != text {
			return true
		}
		delete(is.other, name)
	}
	for name := range is.other { // new helpers affect only tests that call them; these run by themselves
		if name == "func TestMain" || strings.HasPrefix(name, "init ") || strings.HasPrefix(name, "var ") {
			return true
		}
	}
	data := path.Join(dir, "testdata") + "/"
	return slices.ContainsFunc(changed, func(f string) bool { return strings.HasPrefix(f, data) })
}

// IsTestChanged reports whether a test's own lines differ from those on the base.
func IsTestChanged(base, now fs.FS, dir, test string) bool {
	was, is := readTestDeclarations(base, dir), readTestDeclarations(now, dir)
	old, ok := was.tests[test]
	return !ok || old != is.tests[test]
}

// CanFakeResults reports whether a file could make its test process report false results: by
// exiting, by writing where the testing package writes, or by choosing the tests that run. Most
// files for which it is true do not; see [gate.GateRunner.RunAll].
func (s ParsedGoFile) CanFakeResults() bool {
	own := strings.HasSuffix(s.name, "_test.go")
	for _, pkg := range []string{"syscall", "unsafe", "C", "plugin", "golang.org/x/sys/unix"} {
		if s.importName(pkg) != "" {
			return own || s.hasStartupCode()
		}
	}
	if own && (s.importName("flag") != "" || s.hasStartupCode()) {
		return true
	}
	name := s.importName("os")
	if name == "." || strings.Contains(s.text, "go:linkname") || strings.Contains(s.text, "--- PASS") {
		return true
	}
	lies := false
	ast.Inspect(s.file, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || name == "" {
			return true
		}
		x, ok := sel.X.(*ast.Ident)
		lies = lies || ok && x.Name == name && slices.Contains([]string{"Exit", "Stdout", "NewFile", "Args", "Getppid", "StartProcess"}, sel.Sel.Name)
		return true
	})
	return lies && (own || s.hasStartupCode())
}

// hasStartupCode reports whether a file runs code before the tests.
func (s ParsedGoFile) hasStartupCode() bool {
	for _, d := range s.file.Decls {
		if f, ok := d.(*ast.FuncDecl); ok && f.Recv == nil && (f.Name.Name == "init" || f.Name.Name == "TestMain") {
			return true
		}
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.VAR {
			continue
		}
		called := false
		ast.Inspect(g, func(n ast.Node) bool {
			f, ok := n.(*ast.CallExpr)
			if ok && !bytes.HasPrefix([]byte(s.sourceText(f.Fun)), []byte("regexp.")) && !bytes.HasPrefix([]byte(s.sourceText(f.Fun)), []byte("errors.")) {
				called = true
			}
			return true
		})
		if called {
			return true
		}
	}
	return false
}

// Package shape finds Go code by its shape, and puts other code in its place. A
// pattern is Go code in which $NAME stands for any expression, type or name, or
// for a statement of its own, and $$$NAME for any number of arguments,
// statements or parameters; $_ and $$$ stand for what nobody has to name. What
// a name stands for twice has to be the same twice.
package shape

import (
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sorting"
)

const (
	maxPattern = 4 << 10 // bytes of a pattern
	maxFile    = 4 << 20 // and of a file
	maxDepth   = 10_000  // nodes that are compared for one match
	oneMark    = "nexusOne_"
	manyMark   = "nexusMany_"
)

// Pattern is a shape of code.
type Pattern struct {
	node ast.Node   // an expression or a declaration
	list []ast.Stmt // or statements, one after the other
}

// Match is code of the pattern's shape.
type Match struct {
	From, To int               // bytes
	Line     int               // from 1
	Vars     map[string]string // what the names stand for
	tight    bool              // something binds it to what is around it
	loose    map[string]bool   // variables that stand for an operation
}

// variables returns code as Go reads it.
func variables(code string) string {
	re := regexp.MustCompile("`[^`]*`|\"(?:[^\"\\\\\n]|\\\\.)*\"|'(?:[^'\\\\\n]|\\\\.)*'|\\$\\$\\$[A-Z_][A-Z0-9_]*|\\$\\$\\$|\\$[A-Z_][A-Z0-9_]*")
	return re.ReplaceAllStringFunc(code, func(s string) string {
		switch {
		case s == "$$$":
			return manyMark + "_"
		case strings.HasPrefix(s, "$$$"):
			return manyMark + s[3:]
		case strings.HasPrefix(s, "$"):
			return oneMark + s[1:]
		default:
			return s
		}
	})
}

// Parse reads a pattern.
func Parse(code string) (Pattern, error) {
	if len(code) > maxPattern {
		return Pattern{}, fmt.Errorf("the pattern has more than %d bytes", maxPattern)
	}
	text := variables(strings.TrimSpace(code))
	if e, err := parser.ParseExpr(text); err == nil {
		if id, ok := e.(*ast.Ident); ok && (strings.HasPrefix(id.Name, oneMark) || strings.HasPrefix(id.Name, manyMark)) {
			return Pattern{}, errors.New("the pattern matches everything")
		}
		return Pattern{node: e}, nil
	}
	f, err := parser.ParseFile(token.NewFileSet(), "", "package p\nfunc _() {\n"+text+"\n}", parser.SkipObjectResolution)
	if err == nil && len(f.Decls) == 1 {
		if fn, ok := f.Decls[0].(*ast.FuncDecl); ok && len(fn.Body.List) > 0 {
			return statements(fn.Body.List)
		}
	}
	f, err2 := parser.ParseFile(token.NewFileSet(), "", "package p\n"+text, parser.SkipObjectResolution)
	if err2 == nil && len(f.Decls) == 1 {
		return Pattern{node: f.Decls[0]}, nil
	}
	if err == nil {
		err = errors.New("it is empty, or more than one declaration")
	}
	return Pattern{}, fmt.Errorf("the pattern is not an expression, statements or a declaration of Go: %w", err)
}

func statements(list []ast.Stmt) (Pattern, error) {
	for _, s := range list {
		if many(s) == "" && one(s) == "" {
			if d, ok := s.(*ast.DeclStmt); ok && len(list) == 1 {
				return Pattern{node: d.Decl}, nil // it may stand in a file as well
			}
			return Pattern{list: list}, nil
		}
	}
	return Pattern{}, errors.New("the pattern matches everything")
}

// file is a parsed file.
type file struct {
	src   string
	set   *token.FileSet
	ast   *ast.File
	begin token.Pos
}

func parse(src string) (*file, error) {
	if len(src) > maxFile {
		return nil, fmt.Errorf("it has more than %d bytes", maxFile)
	}
	f := &file{src: src, set: token.NewFileSet()}
	var err error
	if f.ast, err = parser.ParseFile(f.set, "", src, parser.SkipObjectResolution|parser.ParseComments); err != nil {
		return nil, err
	}
	f.begin = token.Pos(f.set.File(f.ast.Package).Base())
	return f, nil
}

func (f *file) offset(p token.Pos) int { return min(max(int(p-f.begin), 0), len(f.src)) }

func (f *file) text(n ast.Node) string { return f.src[f.offset(n.Pos()):f.offset(n.End())] }

// Find returns where a file of Go has the shape, in order. One match may lie in
// another.
func (p Pattern) Find(src string) ([]Match, error) {
	f, err := parse(src)
	if err != nil {
		return nil, err
	}
	var found []Match
	add := func(from, to token.Pos, m *matcher, tight bool) {
		found = append(found, Match{f.offset(from), f.offset(to), f.set.Position(from).Line, m.vars, tight, m.loose})
	}
	var above []ast.Node
	ast.Inspect(f.ast, func(n ast.Node) bool {
		if n == nil {
			above = above[:len(above)-1]
			return true
		}
		if p.list != nil {
			for _, list := range lists(n) {
				p.windows(f, list, add)
			}
		} else if m := newMatcher(f); m.node(p.node, n) {
			add(n.Pos(), n.End(), m, len(above) > 0 && binds(above[len(above)-1], n))
		}
		above = append(above, n)
		return true
	})
	sorting.By(found, func(a, b Match) int {
		if a.From != b.From {
			return a.From - b.From
		}
		return b.To - a.To
	})
	return found, nil
}

// windows looks for statements among others.
func (p Pattern) windows(f *file, list []ast.Stmt, add func(from, to token.Pos, m *matcher, tight bool)) {
	for i := 0; i < len(list); {
		m := newMatcher(f)
		n, ok := m.begins(p.list, list[i:])
		if !ok || n == 0 {
			i++
			continue
		}
		add(list[i].Pos(), list[i+n-1].End(), m, false)
		i += n
	}
}

// lists returns the lists of statements of a node.
func lists(n ast.Node) [][]ast.Stmt {
	switch n := n.(type) {
	case *ast.BlockStmt:
		return [][]ast.Stmt{n.List}
	case *ast.CaseClause:
		return [][]ast.Stmt{n.Body}
	case *ast.CommClause:
		return [][]ast.Stmt{n.Body}
	default:
		return nil
	}
}

// binds reports whether what stands around an expression binds more tightly than
// an operation in its place would.
func binds(around, n ast.Node) bool {
	switch a := around.(type) {
	case *ast.BinaryExpr, *ast.UnaryExpr, *ast.StarExpr, *ast.SelectorExpr, *ast.TypeAssertExpr:
		return true
	case *ast.CallExpr:
		return a.Fun == n
	case *ast.IndexExpr:
		return a.X == n
	case *ast.SliceExpr:
		return a.X == n
	default:
		return false
	}
}

// Replace puts other code in the place of each match that lies in no other one,
// and returns how many those are. Names in it stand for what they stand for in
// the match. What was formatted stays so.
func (p Pattern) Replace(src, to string) (string, int, error) {
	if len(to) > maxPattern {
		return "", 0, fmt.Errorf("the replacement has more than %d bytes", maxPattern)
	}
	found, err := p.Find(src)
	if err != nil {
		return "", 0, err
	}
	t := newTemplate(to)
	var b strings.Builder
	last, n := 0, 0
	for _, m := range found {
		if m.From < last {
			continue
		}
		text, err := t.fill(m)
		if err != nil {
			return "", 0, err
		}
		b.WriteString(src[last:m.From])
		b.WriteString(text)
		if last = m.To; b.Len() > 2*maxFile {
			return "", 0, errors.New("it would be too long")
		}
		n++
	}
	if n == 0 {
		return src, 0, nil
	}
	b.WriteString(src[last:])
	after := b.String()
	formatted, err := format.Source([]byte(after))
	if err != nil {
		return "", 0, fmt.Errorf("the result would not be valid Go: %w", err)
	}
	if was, err := format.Source([]byte(src)); err == nil && string(was) == src {
		after = string(formatted)
	}
	return after, n, nil
}

// template is code that takes the place of a match.
type template struct {
	text      string
	operation bool            // it binds less than what may stand around it
	tight     map[string]bool // variables that something binds in it
}

func newTemplate(to string) template {
	t := template{text: strings.TrimSpace(to), tight: map[string]bool{}}
	e, err := parser.ParseExpr(variables(t.text))
	if err != nil {
		return t // statements or declarations, where nothing is bound
	}
	t.operation = operation(e)
	var above []ast.Node
	ast.Inspect(e, func(n ast.Node) bool {
		if n == nil {
			above = above[:len(above)-1]
			return true
		}
		if id, ok := n.(*ast.Ident); ok && len(above) > 0 && binds(above[len(above)-1], n) {
			if name, ok := strings.CutPrefix(id.Name, oneMark); ok {
				t.tight[name] = true
			}
		}
		above = append(above, n)
		return true
	})
	return t
}

// operation reports whether an expression has to be put in parentheses where
// something binds it.
func operation(e ast.Node) bool {
	switch e.(type) {
	case *ast.BinaryExpr, *ast.UnaryExpr, *ast.StarExpr, *ast.FuncLit, *ast.CompositeLit:
		return true
	default:
		return false
	}
}

func (t template) fill(m Match) (string, error) {
	re := regexp.MustCompile(`\$(?:\$\$)?[A-Z_][A-Z0-9_]*`)
	var missing string
	text := re.ReplaceAllStringFunc(t.text, func(v string) string {
		name := strings.TrimLeft(v, "$")
		is, ok := m.Vars[name]
		switch {
		case !ok:
			missing = v
		case t.tight[name] && m.loose[name]:
			return "(" + is + ")"
		}
		return is
	})
	if missing != "" {
		return "", fmt.Errorf("%s is not in the pattern", missing)
	}
	if t.operation && m.tight {
		text = "(" + text + ")"
	}
	return text, nil
}

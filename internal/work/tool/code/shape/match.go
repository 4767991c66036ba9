package shape

import (
	"go/ast"
	"go/token"
	"reflect"
	"strings"
)

// matcher compares a pattern with code.
type matcher struct {
	file  *file
	vars  map[string]string
	loose map[string]bool
	steps int
}

func newMatcher(f *file) *matcher {
	return &matcher{file: f, vars: map[string]string{}, loose: map[string]bool{}}
}

// name returns the variable that a node of a pattern is, empty for none.
func name(n any, mark string) string {
	switch n := n.(type) {
	case *ast.Ident:
		if n != nil {
			if name, ok := strings.CutPrefix(n.Name, mark); ok {
				return name
			}
		}
	case *ast.ExprStmt:
		return name(n.X, mark)
	case *ast.Field:
		if len(n.Names) == 0 && n.Tag == nil {
			return name(n.Type, mark)
		}
	}
	return ""
}

func one(n any) string { return name(n, oneMark) }

func many(n any) string { return name(n, manyMark) }

// bind lets a variable stand for code; it may do so only for the same twice.
func (m *matcher) bind(v, text string, loose bool) bool {
	if v == "_" {
		return true
	}
	if old, ok := m.vars[v]; ok {
		return strings.Join(strings.Fields(old), " ") == strings.Join(strings.Fields(text), " ")
	}
	m.vars[v], m.loose[v] = text, loose
	return true
}

// node reports whether code has the shape of a pattern.
func (m *matcher) node(pattern, n ast.Node) bool {
	return m.value(reflect.ValueOf(pattern), reflect.ValueOf(n))
}

func (m *matcher) value(p, n reflect.Value) bool {
	if m.steps++; m.steps > maxDepth {
		return false
	}
	if !p.IsValid() || !n.IsValid() {
		return p.IsValid() == n.IsValid()
	}
	if p.Kind() == reflect.Interface {
		return m.value(p.Elem(), unwrap(n))
	}
	n = unwrap(n)
	if !n.IsValid() {
		return false
	}
	if p.Kind() == reflect.Pointer {
		if p.IsNil() || n.Kind() == reflect.Pointer && n.IsNil() {
			return p.IsNil() && n.Kind() == reflect.Pointer && n.IsNil()
		}
		if v := one(p.Interface()); v != "" {
			return m.variable(v, p, n)
		}
	}
	if p.Type() != n.Type() {
		return false
	}
	switch p.Kind() {
	case reflect.Pointer:
		return m.pointer(p, n)
	case reflect.Slice:
		return m.slice(p, n)
	case reflect.Struct:
		return m.fields(p, n)
	default:
		return p.Interface() == n.Interface()
	}
}

func unwrap(v reflect.Value) reflect.Value {
	if v.Kind() == reflect.Interface {
		return v.Elem()
	}
	return v
}

// variable lets a variable stand for a node, of the kind that can be there.
func (m *matcher) variable(v string, p, n reflect.Value) bool {
	node, ok := n.Interface().(ast.Node)
	if !ok {
		return false
	}
	switch p.Interface().(type) {
	case *ast.ExprStmt:
		_, ok = node.(ast.Stmt)
	case *ast.Field:
		_, ok = node.(*ast.Field)
	default:
		_, ok = node.(ast.Expr)
	}
	return ok && m.bind(v, m.file.text(node), operation(node))
}

func (m *matcher) pointer(p, n reflect.Value) bool {
	switch pattern := p.Interface().(type) {
	case *ast.CommentGroup, *ast.Object: //nolint:staticcheck // a field of the tree that says nothing of its shape
		return true
	case *ast.Ident:
		code, ok := n.Interface().(*ast.Ident)
		return ok && code.Name == pattern.Name
	case *ast.BasicLit:
		code, ok := n.Interface().(*ast.BasicLit)
		return ok && code.Kind == pattern.Kind && code.Value == pattern.Value
	}
	return m.value(p.Elem(), n.Elem())
}

// fields compares what nodes are made of. Where that stands says nothing, but
// for what only its place tells is there.
func (m *matcher) fields(p, n reflect.Value) bool {
	for i := range p.NumField() {
		field := p.Type().Field(i)
		if !field.IsExported() {
			continue
		}
		if at, ok := p.Field(i).Interface().(token.Pos); ok {
			is, _ := n.Field(i).Interface().(token.Pos)
			if (field.Name == "Ellipsis" || field.Name == "Assign") && at.IsValid() != is.IsValid() {
				return false
			}
			continue
		}
		if field.Name == "Doc" || field.Name == "Comment" {
			continue
		}
		if !m.value(p.Field(i), n.Field(i)) {
			return false
		}
	}
	return true
}

// slice compares lists, in which a variable may stand for any number.
func (m *matcher) slice(p, n reflect.Value) bool {
	if p.Type() != n.Type() {
		return false
	}
	length, ok := m.list(p, n, true)
	return ok && length == n.Len()
}

// begins reports whether statements begin a list, and how many of it they are.
func (m *matcher) begins(pattern, list []ast.Stmt) (int, bool) {
	return m.list(reflect.ValueOf(pattern), reflect.ValueOf(list), false)
}

// list matches as few as fit for a variable, but at the end of a whole list.
func (m *matcher) list(p, n reflect.Value, whole bool) (int, bool) {
	if m.steps++; m.steps > maxDepth {
		return 0, false
	}
	if p.Len() == 0 {
		return 0, !whole || n.Len() == 0
	}
	v := many(p.Index(0).Interface())
	if v == "" {
		if n.Len() == 0 || !m.value(p.Index(0), n.Index(0)) {
			return 0, false
		}
		length, ok := m.list(p.Slice(1, p.Len()), n.Slice(1, n.Len()), whole)
		return length + 1, ok
	}
	for took := 0; took <= n.Len(); took++ {
		try := *m
		try.vars, try.loose = clone(m.vars), clone(m.loose)
		if try.bind(v, m.span(n.Slice(0, took)), false) {
			if length, ok := try.list(p.Slice(1, p.Len()), n.Slice(took, n.Len()), whole); ok {
				*m = try
				return took + length, true
			}
		}
		if m.steps = try.steps; m.steps > maxDepth {
			return 0, false
		}
	}
	return 0, false
}

// span returns the code of a list.
func (m *matcher) span(list reflect.Value) string {
	if list.Len() == 0 {
		return ""
	}
	first, ok := list.Index(0).Interface().(ast.Node)
	last, ok2 := list.Index(list.Len() - 1).Interface().(ast.Node)
	if !ok || !ok2 {
		return ""
	}
	return m.file.src[m.file.offset(first.Pos()):m.file.offset(last.End())]
}

func clone[V any](m map[string]V) map[string]V {
	c := make(map[string]V, len(m))
	for k, v := range m {
		c[k] = v
	}
	return c
}

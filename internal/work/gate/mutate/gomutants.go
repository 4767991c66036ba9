package mutate

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strings"
)

// goMutants returns the faults of a Go file. A file that cannot be parsed has none.
func goMutants(f MutableFile) []Mutant {
	set := token.NewFileSet()
	parsed, err := parser.ParseFile(set, f.Path, f.Text, parser.SkipObjectResolution)
	if err != nil {
		return nil
	}
	g := goMutableFile{MutableFile: f, set: set, moot: map[ast.Node]bool{}}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.GenDecl:
			return n.Tok == token.VAR // constants and types have no behaviour of their own
		case *ast.FuncDecl:
			g.mutateReturnsOf(n.Type, n.Body)
		case *ast.FuncLit:
			g.mutateReturnsOf(n.Type, n.Body)
		case *ast.IfStmt:
			g.addReplacementMutant("negate condition", n.Cond, "!("+g.nodeText(n.Cond)+")")
			g.markErrorReturns(n)
		case *ast.BinaryExpr:
			g.mutateBinary(n)
		case *ast.IncDecStmt:
			g.addOperatorSwapMutant("arithmetic", n.TokPos, n.Tok)
		case *ast.AssignStmt:
			g.mutateAssignment(n)
		case *ast.ExprStmt:
			g.mutateCallStatement(n)
		case *ast.Ident:
			if other := map[string]string{"true": "false", "false": "true"}[n.Name]; other != "" && !g.moot[n] {
				g.addReplacementMutant("boolean", n, other)
			}
		}
		return true
	})
	return g.found
}

type goMutableFile struct {
	MutableFile
	set   *token.FileSet
	found []Mutant
	moot  map[ast.Node]bool // results that callers ignore
}

// markErrorReturns marks the results that a function returns beside a received error: its callers check
// only the error.
func (g *goMutableFile) markErrorReturns(n *ast.IfStmt) {
	cond, ok := n.Cond.(*ast.BinaryExpr)
	if !ok || cond.Op != token.NEQ || g.nodeText(cond.X) != "err" || g.nodeText(cond.Y) != "nil" {
		return
	}
	for _, s := range n.Body.List {
		if r, ok := s.(*ast.ReturnStmt); ok && len(r.Results) > 1 && g.isErrorExpression(r.Results[len(r.Results)-1]) {
			for _, one := range r.Results {
				g.moot[one] = true
			}
		}
	}
}

// isErrorExpression reports whether an expression is err, or an error about it.
func (g *goMutableFile) isErrorExpression(n ast.Expr) bool {
	if call, ok := n.(*ast.CallExpr); ok {
		return g.nodeText(call.Fun) == "fmt.Errorf" && len(call.Args) > 0 && g.nodeText(call.Args[len(call.Args)-1]) == "err"
	}
	return g.nodeText(n) == "err"
}

func (g *goMutableFile) nodeText(n ast.Node) string {
	return g.Text[g.set.Position(n.Pos()).Offset:g.set.Position(n.End()).Offset]
}

func (g *goMutableFile) addMutant(operator string, pos token.Pos, was, now, code string) {
	p := g.set.PositionFor(pos, false)
	if g.New[p.Line] && was != now && strings.HasPrefix(g.Text[p.Offset:], was) {
		g.found = append(g.found, Mutant{File: g.Path, Line: p.Line, Operator: operator, Was: was, Now: now, at: p.Offset, end: p.Offset + len(was), code: code})
	}
}

func (g *goMutableFile) addReplacementMutant(operator string, n ast.Node, now string) {
	g.addMutant(operator, n.Pos(), g.nodeText(n), now, now)
}

// addDroppedCodeMutant replaces code as replace does, and keeps uses of the old code's variables and imports:
// otherwise their last use might disappear, which the compiler refuses.
func (g *goMutableFile) addDroppedCodeMutant(operator string, n ast.Node, now, code string) {
	g.addMutant(operator, n.Pos(), g.nodeText(n), now, code)
}

// uncalledFunction returns a function literal with the code that is never called.
func uncalledFunction(results, code string) string { return "func() " + results + "{ " + code + " }" }

// swappedOperator returns the replacement of an operator.
func swappedOperator(t token.Token) (operator string, now token.Token) {
	switch t {
	case token.LSS:
		return "boundary", token.LEQ
	case token.LEQ:
		return "boundary", token.LSS
	case token.GTR:
		return "boundary", token.GEQ
	case token.GEQ:
		return "boundary", token.GTR
	case token.EQL:
		return "equality", token.NEQ
	case token.NEQ:
		return "equality", token.EQL
	case token.LAND:
		return "logic", token.LOR
	case token.LOR:
		return "logic", token.LAND
	case token.ADD, token.ADD_ASSIGN, token.INC:
		return "arithmetic", map[token.Token]token.Token{token.ADD: token.SUB, token.ADD_ASSIGN: token.SUB_ASSIGN, token.INC: token.DEC}[t]
	case token.SUB, token.SUB_ASSIGN, token.DEC:
		return "arithmetic", map[token.Token]token.Token{token.SUB: token.ADD, token.SUB_ASSIGN: token.ADD_ASSIGN, token.DEC: token.INC}[t]
	case token.MUL:
		return "arithmetic", token.QUO
	case token.QUO, token.REM:
		return "arithmetic", token.MUL
	default:
		return "", token.ILLEGAL
	}
}

func (g *goMutableFile) addOperatorSwapMutant(operator string, at token.Pos, t token.Token) {
	if what, now := swappedOperator(t); what == operator || what != "" && operator == "" {
		g.addMutant(what, at, t.String(), now.String(), now.String())
	}
}

func (g *goMutableFile) mutateBinary(n *ast.BinaryExpr) {
	for _, side := range []ast.Expr{n.X, n.Y} {
		if lit, ok := side.(*ast.BasicLit); ok && lit.Kind == token.STRING && n.Op == token.ADD {
			return // strings cannot be subtracted
		}
	}
	g.addOperatorSwapMutant("", n.OpPos, n.Op)
}

// mutateAssignment removes the effect of a plain assignment, and keeps the computation of its value.
func (g *goMutableFile) mutateAssignment(n *ast.AssignStmt) {
	switch {
	case n.Tok == token.ASSIGN && len(n.Lhs) == 1 && len(n.Rhs) == 1:
		if name, ok := n.Lhs[0].(*ast.Ident); !ok || name.Name != "_" {
			value := g.nodeText(n.Rhs[0])
			code := "_, _ = " + value + ", " + uncalledFunction("", g.nodeText(n))
			if value == "nil" {
				code = "_ = " + uncalledFunction("", g.nodeText(n)) // nil alone has no type
			}
			g.addDroppedCodeMutant("remove statement", n, "_ = "+value, code)
		}
	default:
		g.addOperatorSwapMutant("arithmetic", n.TokPos, n.Tok)
	}
}

// mutateCallStatement removes a call whose result is not used. Calls that only log are kept: few tests
// check them, and rightly so.
func (g *goMutableFile) mutateCallStatement(n *ast.ExprStmt) {
	call, ok := n.X.(*ast.CallExpr)
	if !ok {
		return
	}
	name := g.nodeText(call.Fun)
	if slices.ContainsFunc([]string{"log.", "slog.", "fmt.Print", "println", "print", "panic", "logger."}, func(p string) bool {
		return strings.HasPrefix(strings.ToLower(name), strings.ToLower(p))
	}) {
		return
	}
	g.addDroppedCodeMutant("remove statement", n, "{}", "_ = "+uncalledFunction("", g.nodeText(n)))
}

// mutateReturnsOf makes the returns of a function return zero values.
func (g *goMutableFile) mutateReturnsOf(t *ast.FuncType, body *ast.BlockStmt) {
	if body == nil || t.Results == nil {
		return
	}
	var zeros, types []string
	for _, r := range t.Results.List {
		for range max(1, len(r.Names)) {
			zeros, types = append(zeros, zeroValueText(r.Type)), append(types, g.nodeText(r.Type))
		}
	}
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false // it has its own results
		case *ast.ReturnStmt:
			if len(n.Results) == len(zeros) {
				g.mutateReturn(n, zeros, "("+strings.Join(types, ", ")+") ")
			}
		}
		return true
	})
}

func (g *goMutableFile) mutateReturn(n *ast.ReturnStmt, zeros []string, types string) {
	values := make([]string, len(zeros))
	changed := false
	for i, r := range n.Results {
		values[i] = g.nodeText(r)
		if zeros[i] != "" && values[i] != zeros[i] {
			values[i], changed = zeros[i], true
		}
	}
	if changed {
		now := "return " + strings.Join(values, ", ")
		g.addDroppedCodeMutant("return nothing", n, now, "_ = "+uncalledFunction(types, g.nodeText(n))+"; "+now)
	}
}

// zeroValueText returns the zero value of a type as source text, or "" if the type's name is not enough
// to know it.
func zeroValueText(t ast.Expr) string {
	switch t := t.(type) {
	case *ast.StarExpr, *ast.MapType, *ast.FuncType, *ast.ChanType, *ast.InterfaceType:
		return "nil"
	case *ast.ArrayType:
		if t.Len == nil {
			return "nil"
		}
	case *ast.Ident:
		switch t.Name {
		case "string":
			return `""`
		case "bool":
			return "false"
		case "error", "any":
			return "nil"
		case "int", "int8", "int16", "int32", "int64", "uint", "uint8", "uint16", "uint32", "uint64", "uintptr", "byte", "rune", "float32", "float64":
			return "0"
		}
	}
	return ""
}

package shell

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// FindHiddenOutput returns the first command of a line, among those selected by means, whose
// output is not visible: it goes into a file, into another command that only counts or
// searches, or into a word. It returns "" if all their output is visible.
func FindHiddenOutput(line string, means func(command string) bool) string {
	file, err := syntax.NewParser(syntax.Variant(syntax.LangPOSIX)).Parse(strings.NewReader(line), "")
	if err != nil {
		return ""
	}
	d := hiddenOutputScan{line: line, means: means}
	d.walk(file, false)
	return d.found
}

// hiddenOutputScan searches for invisible output.
type hiddenOutputScan struct {
	line  string
	means func(command string) bool
	found string
}

// walk visits a part of the line; off means that its output is not visible.
func (d *hiddenOutputScan) walk(n syntax.Node, off bool) {
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Stmt:
			return d.scanStatement(n, off)
		case *syntax.CmdSubst:
			for _, s := range n.Stmts {
				d.walk(s, true)
			}
			return false
		}
		return true
	})
}

// scanStatement reports whether its parts are still to be visited.
func (d *hiddenOutputScan) scanStatement(s *syntax.Stmt, off bool) bool {
	now := off || slices.ContainsFunc(s.Redirs, redirectsStdout)
	switch c := s.Cmd.(type) {
	case *syntax.BinaryCmd:
		if c.Op == syntax.Pipe {
			d.walk(c.X, now || printsNoInput(c.Y))
			d.walk(c.Y, now)
			return false
		}
	case *syntax.CallExpr:
		if text := d.line[c.Pos().Offset():c.End().Offset()]; now && d.found == "" && d.means(text) {
			d.found = text
		}
	}
	if now && !off && s.Cmd != nil {
		d.walk(s.Cmd, true)
		return false
	}
	return true
}

// redirectsStdout reports whether a redirection sends a command's output elsewhere.
func redirectsStdout(r *syntax.Redirect) bool {
	switch r.Op {
	case syntax.RdrOut, syntax.AppOut, syntax.RdrClob:
		return r.N == nil || r.N.Value == "1"
	default:
		return false
	}
}

// printsNoInput reports whether a command prints nothing of its input: it counts, or only tests for
// something.
func printsNoInput(s *syntax.Stmt) bool {
	call, ok := s.Cmd.(*syntax.CallExpr)
	if slices.ContainsFunc(s.Redirs, redirectsStdout) {
		return true
	}
	if !ok || len(call.Args) == 0 {
		return false
	}
	switch call.Args[0].Lit() {
	case "wc":
		return true
	case "grep", "egrep", "fgrep", "rg":
		return slices.ContainsFunc(call.Args[1:], func(w *syntax.Word) bool {
			flag := w.Lit()
			return flag == "--quiet" || flag == "--silent" || flag == "--count" ||
				strings.HasPrefix(flag, "-") && !strings.HasPrefix(flag, "--") && strings.ContainsAny(flag, "qc")
		})
	default:
		return false
	}
}

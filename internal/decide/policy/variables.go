package policy

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/pathkind"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/program"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/shell"
	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// loopVariable is a variable that is a file of the worktree within a loop.
type loopVariable struct {
	name     string
	from, to syntax.Pos
	listed   bool // its names come from a command
}

// judgeForLoop judges the words that a loop iterates over.
func (j *lineJudge) judgeForLoop(n *syntax.ForClause) {
	over, ok := n.Loop.(*syntax.WordIter)
	if !ok || over.Name == nil {
		return
	}
	if program.IsPowerfulVariable(over.Name.Value) {
		j.addAnswer(Deny, "env.programs", over.Name.Value+" decides which programs run or how")
	}
	plain, listed := len(over.Items) > 0 && !j.rebinds && countEqual(j.sets, over.Name.Value) == 1, false
	for _, item := range shell.ExpandAllBraces(over.Items) {
		w := j.evaluateWord(item)
		if !w.Listed {
			j.judgeReads([]shell.Word{w})
		}
		listed = listed || w.Listed
		at, name := j.locatePath(w)
		plain = plain && at == pathkind.Tree && (w.Listed || !w.Dynamic && w.Text != "" && name != "." && !strings.HasPrefix(w.Text, "-") &&
			strings.Trim(w.Text, "*.?[]!/") != "" && JudgePath(name, true).IsAllowed())
	}
	if plain {
		j.loops = append(j.loops, loopVariable{over.Name.Value, n.DoPos, n.DonePos, listed})
	}
}

// loopItemAt returns the value of a variable at a position, if that is a file of the worktree.
func (j *lineJudge) loopItemAt(name string, at syntax.Pos) (shell.Word, bool) {
	for _, l := range j.loops {
		if l.name == name && at.After(l.from) && l.to.After(at) {
			return shell.Word{Text: "item", Fixed: true, Listed: l.listed, Each: true}, true
		}
	}
	return shell.Word{}, false
}

// constantVariable is a variable that has one value throughout a part of the line.
type constantVariable struct {
	name     string
	value    *syntax.Word
	from, to syntax.Pos
}

// findConstants finds the variables that are set once, before everything else or before a
// part that runs only after success.
func (j *lineJudge) findConstants(file *syntax.File) {
	for _, s := range file.Stmts {
		j.findConstantsIn(s, settingScope{file.End(), s.End()})
	}
}

// settingScope is the range in which an assignment is valid: one that certainly runs, and one that
// only runs if the commands before it in a list succeed.
type settingScope struct{ certain, list syntax.Pos }

// findConstantsIn adds the assignments of a statement.
func (j *lineJudge) findConstantsIn(s *syntax.Stmt, up settingScope) {
	if s.Background || s.Negated || s.Coprocess {
		return
	}
	var sets []*syntax.Assign
	switch c := s.Cmd.(type) {
	case *syntax.CallExpr:
		if len(c.Args) == 0 {
			sets = c.Assigns
		}
	case *syntax.DeclClause:
		if c.Variant.Value == "export" {
			sets = c.Args
		}
	case *syntax.BinaryCmd:
		if c.Op == syntax.AndStmt {
			j.findConstantsIn(c.X, up)
			j.findConstantsIn(c.Y, settingScope{up.list, up.list})
		}
	}
	for _, a := range sets {
		if a.Name != nil && a.Value != nil && !a.Append && a.Index == nil {
			j.settled = append(j.settled, constantVariable{a.Name.Value, a.Value, s.End(), up.certain})
		}
	}
}

// variableValueAt returns the value of a variable at a position, if it is certain and one word.
func (j *lineJudge) variableValueAt(name string, at syntax.Pos) (shell.Word, bool) {
	if (name == "TMPDIR") && !slices.Contains(j.sets, name) {
		return shell.LiteralWord("/tmp"), true // private
	}
	if slices.Contains(stack.CommandsOf().Places, name) && !slices.Contains(j.sets, name) && !j.rebinds {
		return shell.LiteralWord(dependency), true
	}
	for _, s := range j.settled {
		if s.name != name || s.from.After(at) || at.After(s.to) || j.rebinds || countEqual(j.sets, name) != 1 {
			continue
		}
		v := j.evaluateWord(s.value)
		if v.Dynamic && !v.Fixed || v.Home || v.Glob || v.Listed || strings.ContainsAny(v.Text, " \t\n*?[{~") {
			return shell.Word{}, false
		}
		return v, true
	}
	return shell.Word{}, false
}

func countEqual(names []string, name string) (n int) {
	for _, other := range names {
		if other == name {
			n++
		}
	}
	return n
}

// recordRebinding records the variables that a command sets, or that it may set any.
func (j *lineJudge) recordRebinding(name string, args []*syntax.Word) {
	switch name {
	case "", "eval", "source", ".", "command", "builtin":
		j.rebinds = true
	case "read", "mapfile", "readarray", "getopts", "unset", "printf":
		for _, w := range args {
			text := w.Lit()
			j.rebinds = j.rebinds || name != "printf" && text == "" || name == "printf" && strings.HasPrefix(text, "-v")
			j.sets = append(j.sets, text)
		}
		j.sets = append(j.sets, "REPLY", "MAPFILE", "OPTARG")
	}
}

// recordNameReader records the statements that get names listed by a command: a program such as xargs,
// or a loop that reads them into a variable one by one.
func (j *lineJudge) recordNameReader(s *syntax.Stmt) {
	j.fed = append(j.fed, s)
	n, ok := s.Cmd.(*syntax.WhileClause)
	if !ok || len(n.Cond) != 1 || n.Until {
		return
	}
	c, ok := n.Cond[0].Cmd.(*syntax.CallExpr)
	if !ok || len(c.Args) < 2 || c.Args[0].Lit() != "read" {
		return
	}
	name := c.Args[len(c.Args)-1].Lit()
	for _, w := range c.Args[1 : len(c.Args)-1] {
		if w.Lit() != "-r" {
			return
		}
	}
	if name != "" && name != "-r" {
		j.loops = append(j.loops, loopVariable{name, n.DoPos, n.DonePos, true})
	}
}

package shell

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"

	"github.com/nexus-ai-builder/nexus/internal/nexus/pattern"
)

// directoryRange is a part of the command line that runs in a directory of the tree: the part after
// "cd sub &&" runs only if the cd succeeded.
type directoryRange struct {
	name     string
	from, to syntax.Pos
}

// CommandDirs are the directories in which parts of a command line certainly run.
type CommandDirs struct{ dirs, lists []directoryRange }

// AddList finds the directories of the parts of an && list that is not part of a longer one.
func (c *CommandDirs) AddList(n *syntax.BinaryCmd) {
	if n.Op != syntax.AndStmt || slices.ContainsFunc(c.lists, func(d directoryRange) bool { return !d.from.After(n.Pos()) && d.to.After(n.Pos()) }) {
		return
	}
	c.lists = append(c.lists, directoryRange{"", n.Pos(), n.End()})
	at := ""
	for _, s := range andListParts(n) {
		to, goes, sure := directoryChange(s)
		if !sure {
			return
		}
		if at != "" {
			c.dirs = append(c.dirs, directoryRange{at, s.Pos(), s.End()})
		}
		if !goes {
			continue
		}
		if at = path.Join(at, to); at == ".." || strings.HasPrefix(at, "../") {
			return
		}
		at = strings.TrimSuffix(at, ".")
	}
}

// directoryChange returns the new directory of a part that changes the directory, and whether it is
// certain.
func directoryChange(s *syntax.Stmt) (to string, goes, sure bool) {
	call, plain := s.Cmd.(*syntax.CallExpr)
	sure = !s.Background && !s.Negated
	if !plain || len(call.Args) == 0 || call.Args[0].Lit() != "cd" {
		syntax.Walk(s, func(n syntax.Node) bool {
			if c, ok := n.(*syntax.CallExpr); ok && len(c.Args) > 0 {
				sure = sure && !slices.Contains([]string{"", "cd", "pushd", "popd", "eval", "source", ".", "builtin", "command"}, c.Args[0].Lit())
			}
			return sure
		})
		return "", false, sure
	}
	if len(call.Args) != 2 || len(call.Assigns) > 0 {
		return "", true, false
	}
	to = call.Args[1].Lit()
	return to, true, sure && to != "" && !strings.ContainsAny(to, `~*?[\{$`) && !path.IsAbs(to) && !strings.HasPrefix(to, "-")
}

// andListParts returns the parts of an && list.
func andListParts(n *syntax.BinaryCmd) []*syntax.Stmt {
	all := []*syntax.Stmt{n.X, n.Y}
	for {
		b, ok := all[0].Cmd.(*syntax.BinaryCmd)
		if !ok || b.Op != syntax.AndStmt || all[0].Negated || len(all[0].Redirs) > 0 {
			return all
		}
		all = append([]*syntax.Stmt{b.X, b.Y}, all[1:]...)
	}
}

// DirectoryAt returns the directory in which a position of the command line runs, or "" for the root
// or an uncertain one.
func (c *CommandDirs) DirectoryAt(at syntax.Pos) string {
	for _, d := range c.dirs {
		if !d.from.After(at) && d.to.After(at) {
			return d.name
		}
	}
	return ""
}

// numbers matches a range such as {1..5} or {0..20..5}.
var numbers = pattern.LazyRegexp(`\{(\d+)\.\.(\d+)(?:\.\.\d+)?\}`)

// maxBraces limits the words that one word with braces expands to.
const maxBraces = 8

// ExpandAllBraces returns the expansion of words with braces.
func ExpandAllBraces(words []*syntax.Word) []*syntax.Word {
	var all []*syntax.Word
	for _, w := range words {
		all = append(all, ExpandBraces(w)...)
	}
	return all
}

// ExpandBraces returns the expansion of a word with braces; for a range of numbers only the first
// and the last, because the others differ only in digits.
func ExpandBraces(w *syntax.Word) []*syntax.Word {
	text := w.Lit()
	if ends := numbers().FindStringSubmatchIndex(text); ends != nil && strings.Count(text, "{") == 1 && !strings.ContainsAny(text, "\\$`") {
		var words []*syntax.Word
		for i := 2; i <= 4; i += 2 {
			lit := &syntax.Lit{ValuePos: w.Pos(), ValueEnd: w.End(), Value: text[:ends[0]] + text[ends[i]:ends[i+1]] + text[ends[1]:]}
			words = append(words, &syntax.Word{Parts: []syntax.WordPart{lit}})
		}
		return words
	}
	if n := strings.Count(text, ","); n == 0 || n > maxBraces || !strings.Contains(text, "{") || strings.Contains(text, "..") || strings.Contains(text, `\`) {
		return []*syntax.Word{w}
	}
	split := *w
	split.Parts = slices.Clone(w.Parts)
	if !syntax.SplitBraces(&split) {
		return []*syntax.Word{w}
	}
	var words []*syntax.Word
	for one, err := range expand.BracesSeq(nil, &split) {
		if err != nil {
			return []*syntax.Word{w}
		}
		words = append(words, one)
	}
	return words
}

package cli

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
)

// TestAdviceIsACommand holds that whatever tells people to run a command, a message, a
// hint, a fix of nexus diagnose, a page of help or of docs/, names one that there is,
// with flags that it has.
func TestAdviceIsACommand(t *testing.T) {
	t.Parallel()
	top := testRoot()
	seen := 0
	hold := func(where, text string) {
		for _, said := range adviceIn(text) {
			seen++
			if wrong := wrongAdvice(top, said); wrong != "" {
				t.Errorf("%s: nexus %s: %s", where, strings.Join(said, " "), wrong)
			}
		}
	}
	for _, tree := range []string{"../../../internal", "../../../cmd", "../../../docs", "../../../README.md", "../../../ARCHITECTURE.md", "../../../CONTRIBUTING.md"} {
		err := filepath.WalkDir(tree, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			switch {
			case strings.HasSuffix(path, "_test.go"), strings.Contains(path, "testdata"), strings.Contains(path, "decisions"):
			case strings.HasSuffix(path, ".go"):
				for at, text := range literals(t, path) {
					hold(path+":"+strconv.Itoa(at), text)
				}
			case strings.HasSuffix(path, ".txt"), strings.HasSuffix(path, ".md"), strings.HasSuffix(path, ".templ"):
				data, err := os.ReadFile(path)
				if err != nil {
					return err
				}
				hold(path, string(data))
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if seen < 1000 {
		t.Errorf("found %d commands that somebody is told to run, want more", seen)
	}
}

// literals are the texts of a file by their lines: texts that are put together are one,
// and what is no text in them is a dash.
func literals(t *testing.T, path string) map[int]string {
	t.Helper()
	files := token.NewFileSet()
	f, err := parser.ParseFile(files, path, nil, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	texts := map[int]string{}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.BinaryExpr, *ast.BasicLit:
			text, ok := joined(n.(ast.Expr))
			if ok {
				texts[files.Position(n.Pos()).Line] += text + "\n"
			}
			return !ok
		}
		return true
	})
	return texts
}

// joined is the text that an expression puts together, where it does.
func joined(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e.Kind != token.STRING {
			return "", false
		}
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		a, oka := joined(e.X)
		b, okb := joined(e.Y)
		if e.Op != token.ADD || !oka && !okb {
			return "", false
		}
		if !oka {
			a = "-"
		}
		if !okb {
			b = "-"
		}
		return a + b, true
	}
	return "", false
}

// advice is a command as texts have it: up to what ends a sentence, a line or a quote.
var advice = regexp.MustCompile(`(?m)(?:^|[^A-Za-z0-9_./:@-])nexus ((?:[A-Za-z0-9_/=%-]+(?:\.[A-Za-z0-9_/=%-]+)* ?)+)`)

// prose is what follows the name of the program where a sentence speaks of it.
var prose = []string{
	"%s", "=", "COMMAND", "account", "again", "cannot", "command", "cursor-agent", "did", "here", "http", "is", "may", "needs", "printed", "reads", "those", "was", "wrote",
}

func adviceIn(text string) [][]string {
	var all [][]string
	for _, m := range advice.FindAllStringSubmatch(text, -1) {
		words := strings.Fields(m[1])
		for i, w := range words {
			if w == "--" || w == "nexus" || i > 0 && w == "and" {
				words = words[:i]
				break
			}
		}
		if len(words) > 1 && words[0] == "help" {
			words = words[1:]
		}
		if len(words) > 0 && words[0] == "all" { // of nexus help all
			continue
		}
		if len(words) > 0 && !slices.Contains(prose, words[0]) && (words[0][0] < '0' || words[0][0] > '9') {
			all = append(all, words)
		}
	}
	return all
}

// wrongAdvice says why a command is none that there is.
func wrongAdvice(top *cobra.Command, said []string) string {
	c, rest := top, said
	for len(rest) > 0 {
		next, _, err := c.Find(rest[:1])
		if err != nil || next == c {
			break
		}
		c, rest = next, rest[1:]
	}
	if c == top && !strings.HasPrefix(said[0], "-") {
		return "there is no such command"
	}
	if console.IsHiddenAlias(c) && !slices.Contains(said, "is") { // what says that it is gone names it
		return "it is an old name"
	}
	for _, word := range rest {
		name, isFlag := strings.CutPrefix(word, "--")
		if name, _, _ = strings.Cut(name, "="); !isFlag || name == "help" {
			continue
		}
		if c.Flags().Lookup(name) == nil && c.InheritedFlags().Lookup(name) == nil {
			return c.CommandPath() + " has no --" + name
		}
	}
	return ""
}

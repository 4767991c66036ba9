package cli

import (
	"bytes"
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// TestCommandShape holds that a command is a package named after it with "cmd" that exports New
// and Options; a family is one package with NewVerify and VerifyOptions for "journal verify".
func TestCommandShape(t *testing.T) {
	exported := exportedNames(t)
	for _, command := range testRoot().Commands() {
		if console.IsHiddenAlias(command) {
			continue
		}
		name := command.Name()
		if missing := missingNames(command, exported[strings.ReplaceAll(name, "-", "")+"cmd"]); len(missing) > 0 {
			t.Errorf("nexus %s: package internal/face/cli/%scmd does not export %s; see costcmd for the shape", name, name, strings.Join(missing, ", "))
		}
	}
}

// missingNames returns the names that the package of a command should export and does not: New,
// and for each command that does something a function that makes it and its options.
func missingNames(command *cobra.Command, pkg []string) (missing []string) {
	need := func(name string) {
		if !slices.Contains(pkg, name) {
			missing = append(missing, name)
		}
	}
	need("New")
	walkAll(command, func(c *cobra.Command) {
		middle := ""
		for _, word := range strings.Fields(c.CommandPath())[2:] {
			middle += strings.ToUpper(word[:1]) + word[1:]
		}
		if middle != "" {
			need("New" + middle)
		}
		if !console.IsParentCommand(c) {
			need(middle + "Options")
		}
	})
	return missing
}

// exportedNames returns the exported functions and types of the packages of commands.
func exportedNames(t *testing.T) map[string][]string {
	t.Helper()
	dirs, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	for _, dir := range dirs {
		if !dir.IsDir() || !strings.HasSuffix(dir.Name(), "cmd") {
			continue
		}
		pkgs, err := parser.ParseDir(token.NewFileSet(), dir.Name(), func(i fs.FileInfo) bool { return !strings.HasSuffix(i.Name(), "_test.go") }, parser.SkipObjectResolution) //nolint:staticcheck // no build tags here
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range pkgs {
			for _, f := range p.Files {
				all[dir.Name()] = append(all[dir.Name()], declaredNames(f)...)
			}
		}
	}
	return all
}

func declaredNames(f *ast.File) (names []string) {
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				names = append(names, d.Name.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				if s, ok := s.(*ast.TypeSpec); ok {
					names = append(names, s.Name.Name)
				}
			}
		}
	}
	return names
}

// walkAll visits a command and those below it, hidden ones too, but no old names.
func walkAll(c *cobra.Command, f func(*cobra.Command)) {
	if console.IsHiddenAlias(c) {
		return
	}
	f(c)
	for _, child := range c.Commands() {
		walkAll(child, f)
	}
}

// TestWrongCommandLines gives every command an unknown flag, and more arguments than it takes: it
// does nothing, ends with 2 and says where the right command line is described.
func TestWrongCommandLines(t *testing.T) {
	for program, root := range map[string]func() *cobra.Command{"nexus": testRoot, "nexus-bench": benchRoot} {
		walkAll(root(), func(c *cobra.Command) {
			path := strings.Fields(c.CommandPath())[1:]
			if c.Short == "" || len(c.Short) >= 70 {
				t.Errorf("%s %v: the short description has %d characters, want 1 to 69: %s", program, path, len(c.Short), c.Short)
			}
			expectUsageError(t, root(), append(slices.Clone(path), "--no-such-flag"))
			if many := slices.Repeat([]string{"9"}, 20); c.Args(c, many) != nil || console.IsParentCommand(c) {
				expectUsageError(t, root(), append(slices.Clone(path), many...))
			}
		})
	}
}

// expectUsageError fails the test unless a command line is refused with a hint.
func expectUsageError(t *testing.T, root *cobra.Command, args []string) {
	t.Helper()
	root.SetArgs(args)
	err := root.ExecuteContext(t.Context())
	code := console.ExitCode(t.Context(), err)
	var hint string
	if err != nil {
		hint = new(console.Console).Failure(err).Hint
	}
	if code != console.CodeUsage || hint == "" {
		t.Errorf("%s %q: exit code %d, %v, hint %q", root.Name(), args, code, err, hint)
	}
}

// TestHiddenAlias holds that an old name works, says what replaces it, and is listed nowhere.
func TestHiddenAlias(t *testing.T) {
	var out, errs bytes.Buffer
	a := console.New(&console.ScriptedInput{}, &out, &errs, app.App{Env: os.Getenv, Set: map[string]string{}})
	root := newRoot(a)
	old := a.Command("bygone", "what it did", func(context.Context, []string) error { return a.Print("done\n") }, console.CodeOK, console.CodeUsage)
	old.AddCommand(a.Command("part", "what it did", func(context.Context, []string) error { return a.Print("partly\n") }, console.CodeOK, console.CodeUsage))
	old.GroupID = root.Groups()[0].ID
	root.AddCommand(a.HiddenAlias(old, "nexus status --report"))
	for args, want := range map[string]string{
		"bygone": "done\nnexus bygone is an old name, which the next release removes; use nexus status --report\n", "bygone part": "partly\nnexus bygone part is an old name, which the next release removes; use nexus status --report\n",
		"bygone -q": "done\n",
	} {
		out.Reset()
		errs.Reset()
		root.SetArgs(strings.Fields(args))
		if err := root.ExecuteContext(t.Context()); err != nil || out.String()+errs.String() != want {
			t.Errorf("%s: %v %s%s", args, err, &out, &errs)
		}
		a.Quiet = false
	}
	root.SetArgs([]string{"__complete", "by"})
	out.Reset()
	if err := root.ExecuteContext(t.Context()); err != nil || strings.Contains(out.String(), "bygone") {
		t.Errorf("completion: %v, %s", err, &out)
	}
	plain := view.OutputStyle{ASCII: true, Width: 80}
	for _, page := range []string{console.HelpPage(root, plain), console.CommandList(root, plain)} {
		if strings.Contains(page, "bygone") {
			t.Errorf("a list has the old name:\n%s", page)
		}
	}
	if page := console.HelpPage(old, plain); !strings.Contains(page, "use nexus status --report.") {
		t.Errorf("the help page does not name the replacement:\n%s", page)
	}
	walk(root, func(c *cobra.Command) {
		if c == old {
			t.Error("docs/cli has a page about the old name")
		}
	})
	if err := root.ExecuteContext(t.Context()); err != nil {
		t.Error(err)
	}
	root.SetArgs([]string{"bygonee"})
	if err := root.ExecuteContext(t.Context()); err == nil || strings.Contains(a.Failure(err).Hint, "bygone\"") {
		t.Errorf("suggested: %v", err)
	}
}

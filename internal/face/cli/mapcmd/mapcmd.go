// Package mapcmd implements the command "nexus map".
package mapcmd

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/monorepo"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/codemap"
)

// mapAnswer is the JSON output of `map`; it contains the requested parts.
type mapAnswer struct {
	Commit     string               `json:"commit"`
	Map        string               `json:"map,omitempty"`
	Declared   []codemap.SourceLine `json:"declared,omitempty"`
	Used       []codemap.SourceLine `json:"used,omitempty"`
	Dependents []string             `json:"dependents,omitempty"`
	Tests      []string             `json:"tests,omitempty"`
	History    *codemap.FileHistory `json:"history,omitempty"` // of --with
}

// packagesAnswer is the JSON output of `map --packages`.
type packagesAnswer struct {
	Packages []monorepo.MonorepoPackage `json:"packages"`
	Problems []monorepo.PackageProblem  `json:"problems"`
}

// workTreePackages returns the packages of the working tree.
func workTreePackages(a *console.Console, words string) (*packagesAnswer, error) {
	dir, err := a.WorkDir()
	if err != nil {
		return nil, err
	}
	if words != "" {
		return nil, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "both words and --packages were given",
			Hint: "Leave out the words: they are only for the map.",
		}
	}
	r := monorepo.ReadPackageGraph(os.DirFS(app.WorkTreeRoot(dir)))
	return &packagesAnswer{Packages: append([]monorepo.MonorepoPackage{}, r.Packages...), Problems: append([]monorepo.PackageProblem{}, r.Problems...)}, nil
}

// draw draws a table of the packages, and their problems.
func (u *packagesAnswer) draw(s view.OutputStyle) string {
	if len(u.Packages) == 0 {
		return "no directory is a package: none has a manifest of a language that Nexus knows\n"
	}
	var rows [][]string
	wide := ""
	for _, p := range u.Packages {
		needs := strings.Join(p.Needs, ", ")
		if p.Wide != "" && len(u.Packages) > 1 && p.Dir != "." {
			needs = "may need any"
			wide += fmt.Sprintf("%s may need any package: %s\n", view.EscapeForTerminal(p.Dir), view.EscapeForTerminal(p.Wide))
		}
		rows = append(rows, []string{view.EscapeForTerminal(p.Name), view.EscapeForTerminal(p.Dir), strings.Join(p.Kinds, ", "), view.EscapeForTerminal(needs), view.EscapeForTerminal(strings.Join(p.Users, ", "))})
	}
	text := view.DrawTable(s, []string{"package", "directory", "kind", "needs", "needed by"}, rows)
	if wide != "" {
		text += "\n" + wide
	}
	for _, p := range u.Problems {
		text += "\n" + s.Warn("problem: "+view.EscapeForTerminal(p.Text)) + "\n  " + view.EscapeForTerminal(p.Hint) + "\n"
	}
	return text
}

// Options are the options of the command. At most one question is given.
type Options struct {
	Console    *console.Console
	Task       string // words of a task that the map is for; empty: of any
	Tokens     int    // maximum size of the map
	Commit     string
	Query      string // symbol: where it is declared and used
	Callers    string // symbol: where it is used
	Dependents string // file: those that depend on it
	TestsOf    string // file: its tests
	With       string // file: those that changed together with it
	Packages   bool   // list the packages of the working tree instead
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = printMap
	}
	command := c.Command("map [WORDS] [flags]", "print a map of the code, or where a symbol is declared or used",
		func(ctx context.Context, args []string) error {
			o.Task = strings.Join(args, " ")
			return run(ctx, o)
		}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Args = console.ArgCount(0, -1)
	f := command.Flags()
	f.IntVar(&o.Tokens, "tokens", 2_000, "maximum size of the map, in `TOKENS`")
	f.StringVar(&o.Commit, "commit", "HEAD", "look at this `COMMIT`")
	f.StringVar(&o.Query, "query", "", "where this `SYMBOL` is declared and used")
	f.StringVar(&o.Callers, "callers", "", "the uses of this `SYMBOL`")
	f.StringVar(&o.Dependents, "dependents", "", "the files that depend on this `FILE`")
	f.StringVar(&o.TestsOf, "tests-of", "", "the tests of this `FILE`")
	f.StringVar(&o.With, "with", "", "the files that changed together with this `FILE`, and its last commits")
	f.BoolVar(&o.Packages, "packages", false, "list the packages of the working tree, and the dependencies of each")
	command.MarkFlagsMutuallyExclusive("query", "callers", "dependents", "tests-of", "with", "tokens", "packages")
	command.MarkFlagsMutuallyExclusive("commit", "packages")
	c.JSONFlag(command)
	return command
}

// printMap prints the map, the answer to a question about the code, or the packages.
func printMap(ctx context.Context, o *Options) error {
	if o.Packages {
		found, err := workTreePackages(o.Console, o.Task)
		if err != nil {
			return err
		}
		return o.Console.Answer(found, found.draw)
	}
	found, err := o.answerQuestion(ctx)
	if err != nil {
		return err
	}
	return o.Console.Answer(found, found.draw)
}

// answerQuestion surveys the commit and returns the requested parts.
func (o *Options) answerQuestion(ctx context.Context) (*mapAnswer, error) {
	dir, err := o.Console.WorkDir()
	if err != nil {
		return nil, err
	}
	repo, err := git.FindRepo(ctx, dir)
	if err != nil {
		return nil, err
	}
	commit, err := repo.Resolve(ctx, o.Commit)
	if err != nil {
		return nil, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("there is no commit %q", o.Commit), Cause: err,
			Hint: "Name a branch, a tag or a commit; the map shows only committed files.",
		}
	}
	if o.Task != "" && o.Query+o.Callers+o.Dependents+o.TestsOf+o.With != "" {
		return nil, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "both words and a question were given",
			Hint: "Leave out the words: they are only for the map.",
		}
	}
	s, err := codemap.SurveyCommit(ctx, repo, commit, nil)
	if err != nil {
		return nil, err
	}
	found := &mapAnswer{Commit: commit}
	switch {
	case o.Query != "" || o.Callers != "":
		found.Declared, found.Used, err = s.FindSymbol(ctx, o.Query+o.Callers)
		if o.Callers != "" {
			found.Declared = nil
		}
		if err == nil && len(found.Declared)+len(found.Used) == 0 {
			err = &nexus.Error{
				Code: nexus.CodeNotFound, Message: fmt.Sprintf("nothing of commit %.12s names %q", commit, o.Query+o.Callers),
				Hint: "Write the whole name, in the right case. Files that are ignored or not committed are not searched.",
			}
		}
	case o.Dependents != "":
		found.Dependents, err = s.FindDependents(ctx, o.Dependents)
	case o.TestsOf != "":
		found.Tests, err = s.FindTests(ctx, o.TestsOf)
	case o.With != "":
		found.History, err = o.fileHistory(ctx, s)
	default:
		found.Map, err = s.DrawMap(ctx, codemap.MapQuery{Task: o.Task}, o.Tokens)
	}
	return found, err
}

// fileHistory returns the history of a file: the files that change with it.
func (o *Options) fileHistory(ctx context.Context, s *codemap.CommitSurvey) (*codemap.FileHistory, error) {
	h, err := s.FileHistory(ctx, o.With, codemap.SurveyedCommits)
	return &h, err
}

// draw draws the results: files one per line, locations in a table.
func (m *mapAnswer) draw(s view.OutputStyle) string {
	var rows [][]string
	row := func(p codemap.SourceLine, what string) {
		rows = append(rows, []string{fmt.Sprintf("%s:%d", view.EscapeForTerminal(p.File), p.Line), what, view.EscapeForTerminal(strings.TrimSpace(p.Text))})
	}
	for _, p := range m.Declared {
		row(p, "declared")
	}
	for _, p := range m.Used {
		if p.In == "" {
			row(p, "used")
		} else {
			row(p, "used in "+view.EscapeForTerminal(p.In))
		}
	}
	if len(rows) > 0 {
		return view.DrawTable(s, []string{"where", "what", "line"}, rows)
	}
	text := m.Map
	if m.History != nil {
		if text = m.History.String(); text == "" {
			text = fmt.Sprintf("the last %s do not change it\n", view.CountWithNoun(m.History.Looked, "commit"))
		}
	}
	for _, f := range append(m.Dependents, m.Tests...) {
		text += view.EscapeForTerminal(f) + "\n"
	}
	return text
}

package inspect

import (
	"context"
	"fmt"
	"os"
	"slices"
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
	r := monorepo.Read(os.DirFS(app.WorkTreeRoot(dir)))
	return &packagesAnswer{Packages: slices.Concat([]monorepo.MonorepoPackage{}, r.Packages), Problems: slices.Concat([]monorepo.PackageProblem{}, r.Problems)}, nil
}

// draw draws a table of the packages, and their problems.
func (u *packagesAnswer) draw(s view.Style) string {
	if len(u.Packages) == 0 {
		return "no directory is a package: none has a manifest of a language that Nexus knows\n"
	}
	var rows [][]string
	wide := ""
	for _, p := range u.Packages {
		needs := strings.Join(p.Needs, ", ")
		if p.Wide != "" && len(u.Packages) > 1 && p.Dir != "." {
			needs = "may need any"
			wide += fmt.Sprintf("%s may need any package: %s\n", view.Clean(p.Dir), view.Clean(p.Wide))
		}
		rows = append(rows, []string{view.Clean(p.Name), view.Clean(p.Dir), strings.Join(p.Kinds, ", "), view.Clean(needs), view.Clean(strings.Join(p.Users, ", "))})
	}
	text := view.DrawTable(s, []string{"package", "directory", "kind", "needs", "needed by"}, rows)
	if wide != "" {
		text += "\n" + wide
	}
	for _, p := range u.Problems {
		text += "\n" + s.Warn("problem: "+view.Clean(p.Text)) + "\n  " + view.Clean(p.Hint) + "\n"
	}
	return text
}

// mapQuery holds the options of `nexus map`.
type mapQuery struct {
	tokens                         int
	commit                         string
	query, callers, dependents, of string
	with                           string
	packages                       bool
}

func mapCommand(a *console.Console) *cobra.Command {
	var m mapQuery
	short := "print a map of the code, or where a symbol is declared, used or tested"
	c := a.Command("map [WORDS] [flags]", short, func(ctx context.Context, args []string) error {
		if m.packages {
			found, err := workTreePackages(a, strings.Join(args, " "))
			if err != nil {
				return err
			}
			return a.Answer(found, func(s view.Style) string { return found.draw(s) })
		}
		found, err := m.runQuery(ctx, a, strings.Join(args, " "))
		if err != nil {
			return err
		}
		return a.Answer(found, func(s view.Style) string { return found.draw(s) })
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.ArgCount(0, -1)
	c.Flags().IntVar(&m.tokens, "tokens", 2_000, "maximum size of the map, in `TOKENS`")
	c.Flags().StringVar(&m.commit, "commit", "HEAD", "look at this `COMMIT`")
	c.Flags().StringVar(&m.query, "query", "", "where this `SYMBOL` is declared and used")
	c.Flags().StringVar(&m.callers, "callers", "", "the uses of this `SYMBOL`")
	c.Flags().StringVar(&m.dependents, "dependents", "", "the files that depend on this `FILE`")
	c.Flags().StringVar(&m.of, "tests-of", "", "the tests of this `FILE`")
	c.Flags().StringVar(&m.with, "with", "", "the files that changed together with this `FILE`, and its last commits")
	c.Flags().BoolVar(&m.packages, "packages", false, "list the packages of the working tree, and the dependencies of each")
	c.MarkFlagsMutuallyExclusive("query", "callers", "dependents", "tests-of", "with", "tokens", "packages")
	c.MarkFlagsMutuallyExclusive("commit", "packages")
	a.JSONFlag(c)
	return c
}

func (m mapQuery) runQuery(ctx context.Context, a *console.Console, words string) (*mapAnswer, error) {
	dir, err := a.WorkDir()
	if err != nil {
		return nil, err
	}
	repo, err := git.FindRepo(ctx, dir)
	if err != nil {
		return nil, err
	}
	commit, err := repo.Resolve(ctx, m.commit)
	if err != nil {
		return nil, &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("there is no commit %q", m.commit), Cause: err,
			Hint: "Name a branch, a tag or a commit; the map shows only committed files.",
		}
	}
	if words != "" && m.query+m.callers+m.dependents+m.of+m.with != "" {
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
	case m.query != "" || m.callers != "":
		found.Declared, found.Used, err = s.FindSymbol(ctx, m.query+m.callers)
		if m.callers != "" {
			found.Declared = nil
		}
		if err == nil && len(found.Declared)+len(found.Used) == 0 {
			err = &nexus.Error{
				Code: nexus.CodeNotFound, Message: fmt.Sprintf("nothing of commit %.12s names %q", commit, m.query+m.callers),
				Hint: "Write the whole name, in the right case. Files that are ignored or not committed are not searched.",
			}
		}
	case m.dependents != "":
		found.Dependents, err = s.FindDependents(ctx, m.dependents)
	case m.of != "":
		found.Tests, err = s.FindTests(ctx, m.of)
	case m.with != "":
		found.History, err = m.fileHistory(ctx, s)
	default:
		found.Map, err = s.DrawMap(ctx, codemap.MapQuery{Task: words}, m.tokens)
	}
	return found, err
}

// fileHistory returns the history of a file: the files that change with it.
func (m mapQuery) fileHistory(ctx context.Context, s *codemap.CommitSurvey) (*codemap.FileHistory, error) {
	h, err := s.FileHistory(ctx, m.with, codemap.SurveyedCommits)
	return &h, err
}

// draw draws the results: files one per line, locations in a table.
func (m *mapAnswer) draw(s view.Style) string {
	var rows [][]string
	row := func(p codemap.SourceLine, what string) {
		rows = append(rows, []string{fmt.Sprintf("%s:%d", view.Clean(p.File), p.Line), what, view.Clean(strings.TrimSpace(p.Text))})
	}
	for _, p := range m.Declared {
		row(p, "declared")
	}
	for _, p := range m.Used {
		if p.In == "" {
			row(p, "used")
		} else {
			row(p, "used in "+view.Clean(p.In))
		}
	}
	if len(rows) > 0 {
		return view.DrawTable(s, []string{"where", "what", "line"}, rows)
	}
	text := m.Map
	if m.History != nil {
		if text = m.History.String(); text == "" {
			text = fmt.Sprintf("the last %s do not change it\n", view.Count(m.History.Looked, "commit"))
		}
	}
	for _, f := range append(m.Dependents, m.Tests...) {
		text += view.Clean(f) + "\n"
	}
	return text
}

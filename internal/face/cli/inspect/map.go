package inspect

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/monorepo"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/work/codemap"
)

// mapped is the JSON output of `map`; it contains the requested parts.
type mapped struct {
	Commit     string           `json:"commit"`
	Map        string           `json:"map,omitempty"`
	Declared   []codemap.Place  `json:"declared,omitempty"`
	Used       []codemap.Place  `json:"used,omitempty"`
	Dependents []string         `json:"dependents,omitempty"`
	Tests      []string         `json:"tests,omitempty"`
	History    *codemap.History `json:"history,omitempty"` // of --with
}

// united is the JSON output of `map --packages`.
type united struct {
	Packages []monorepo.Package `json:"packages"`
	Problems []monorepo.Problem `json:"problems"`
}

// units returns the packages of the working tree.
func units(a *console.Console, words string) (*united, error) {
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
	return &united{Packages: slices.Concat([]monorepo.Package{}, r.Packages), Problems: slices.Concat([]monorepo.Problem{}, r.Problems)}, nil
}

// draw draws a table of the packages, and their problems.
func (u *united) draw(s view.Style) string {
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
	text := view.Table(s, []string{"package", "directory", "kind", "needs", "needed by"}, rows)
	if wide != "" {
		text += "\n" + wide
	}
	for _, p := range u.Problems {
		text += "\n" + s.Warn("problem: "+view.Clean(p.Text)) + "\n  " + view.Clean(p.Hint) + "\n"
	}
	return text
}

// mapping holds the options of `nexus map`.
type mapping struct {
	tokens                         int
	commit                         string
	query, callers, dependents, of string
	with                           string
	packages                       bool
}

func mapCommand(a *console.Console) *cobra.Command {
	var m mapping
	short := "print a map of the code, or where a symbol is declared, used or tested"
	c := a.Command("map [WORDS] [flags]", short, func(ctx context.Context, args []string) error {
		if m.packages {
			found, err := units(a, strings.Join(args, " "))
			if err != nil {
				return err
			}
			return a.Answer(found, func(s view.Style) string { return found.draw(s) })
		}
		found, err := m.look(ctx, a, strings.Join(args, " "))
		if err != nil {
			return err
		}
		return a.Answer(found, func(s view.Style) string { return found.draw(s) })
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.Takes(0, -1)
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

func (m mapping) look(ctx context.Context, a *console.Console, words string) (*mapped, error) {
	dir, err := a.WorkDir()
	if err != nil {
		return nil, err
	}
	repo, err := git.Find(ctx, dir)
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
	found := &mapped{Commit: commit}
	switch {
	case m.query != "" || m.callers != "":
		found.Declared, found.Used, err = s.Symbol(ctx, m.query+m.callers)
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
		found.Dependents, err = s.Dependents(ctx, m.dependents)
	case m.of != "":
		found.Tests, err = s.Tests(ctx, m.of)
	case m.with != "":
		found.History, err = m.together(ctx, a, s)
	default:
		found.Map, err = s.Draw(ctx, codemap.MapSubject{Task: words}, m.tokens)
	}
	return found, err
}

// together returns the history of a file: the files that change with it.
func (m mapping) together(ctx context.Context, a *console.Console, s *codemap.Survey) (*codemap.History, error) {
	settings, _, err := a.Settings()
	if err != nil {
		return nil, err
	}
	h, err := s.FileHistory(ctx, m.with, cmp.Or(settings.History, defaultHistory))
	return &h, err
}

// defaultHistory is the number of commits to read if agents get no history.
const defaultHistory = 2_000

// draw draws the results: files one per line, locations in a table.
func (m *mapped) draw(s view.Style) string {
	var rows [][]string
	row := func(p codemap.Place, what string) {
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
		return view.Table(s, []string{"where", "what", "line"}, rows)
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

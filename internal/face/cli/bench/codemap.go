package bench

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/decide/diffreview"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/codemap"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

func mapCommand(a *console.Console) *cobra.Command {
	var n, tokens int
	c := a.Command("map REPOSITORY [COMMIT...] [flags]", "measure whether code maps show what fixes changed", func(ctx context.Context, args []string) error {
		f, err := measureMaps(ctx, args[0], args[1:], n, tokens)
		if err != nil {
			return err
		}
		return a.Answer(f, func(s view.OutputStyle) string { return drawMaps(s, f) })
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.ArgCount(1, 100)
	c.Flags().IntVar(&n, "n", 5, "use the `N` newest fixes, if no commit is given")
	c.Flags().IntVar(&tokens, "tokens", 2_000, "maximum size of a map, in `TOKENS`")
	a.JSONFlag(c)
	return c
}

// MapFigures is the JSON output of `bench map`.
type MapFigures struct {
	Fixes   []MappedFix `json:"fixes"`
	Files   int         `json:"files"`   // fixes whose file the map shows
	Symbols int         `json:"symbols"` // fixes whose function or class the map also shows
	Tokens  int64       `json:"tokens"`  // of a map, on average
}

// MappedFix is a commit, and the result of asking a map of its parent about its subject.
type MappedFix struct {
	Commit  string `json:"commit"`
	Subject string `json:"subject"`
	File    string `json:"file"`   // with the most changed lines, without tests
	Symbol  string `json:"symbol"` // with the most of those lines
	Shown   bool   `json:"shown"`  // the map shows the file
	Named   bool   `json:"named"`  // the map shows the symbol
	Tokens  int64  `json:"tokens"`
}

func measureMaps(ctx context.Context, dir string, commits []string, n, tokens int) (m MapFigures, err error) {
	repo := git.Repo{Dir: dir}
	if found, err := git.FindRepo(ctx, dir); err == nil {
		repo = found
	}
	if repo.Dir, err = filepath.Abs(repo.Dir); err != nil {
		return m, err
	}
	if len(commits) == 0 {
		log, err := repo.Run(ctx, "log", "--no-merges", "--format=%H %s", "-n", "5000")
		if err != nil {
			return m, err
		}
		fixes := regexp.MustCompile(`(?i)\bfix(es|ed)?\b`)
		for line := range strings.Lines(log) {
			if id, subject, _ := strings.Cut(line, " "); fixes.MatchString(subject) {
				commits = append(commits, id)
			}
		}
	} else {
		n = len(commits)
	}
	var survey *codemap.CommitSurvey
	for _, c := range commits {
		if len(m.Fixes) == n {
			break
		}
		f, ok, err := readFix(ctx, repo, c)
		if err != nil {
			return m, err
		}
		if !ok {
			continue
		}
		parent, err := repo.Resolve(ctx, f.Commit+"^")
		if err != nil {
			return m, err
		}
		if survey, err = codemap.SurveyCommit(ctx, repo, parent, survey); err != nil {
			return m, err
		}
		text, err := survey.DrawMap(ctx, codemap.MapQuery{Task: f.Subject}, tokens)
		if err != nil {
			return m, err
		}
		f.Shown, f.Named = codemap.IsShownInMap(text, f.File, f.Symbol)
		f.Tokens = prompt.EstimateTokens(text)
		m.addFix(f)
	}
	if len(m.Fixes) == 0 {
		return m, &nexus.Error{Code: nexus.CodeNotFound, Message: "no fix was found in " + dir, Hint: "Name commits that change source files."}
	}
	m.Tokens /= int64(len(m.Fixes))
	return m, nil
}

func (m *MapFigures) addFix(f MappedFix) {
	m.Fixes = append(m.Fixes, f)
	m.Tokens += f.Tokens
	if f.Shown {
		m.Files++
	}
	if f.Named {
		m.Symbols++
	}
}

// readFix reads a commit. ok is false if the commit changes no source file, or too much to be one
// fix.
func readFix(ctx context.Context, repo git.Repo, commit string) (f MappedFix, ok bool, err error) {
	id, err := repo.Resolve(ctx, commit)
	if err != nil {
		return f, false, err
	}
	subject, err := repo.RunLine(ctx, "log", "-1", "--format=%s", id)
	if err != nil {
		return f, false, err
	}
	f = MappedFix{Commit: id, Subject: strings.TrimSpace(regexp.MustCompile(`\s*\(?#\d+\)?`).ReplaceAllString(subject, ""))}
	parent, err := repo.Resolve(ctx, id+"^")
	if err != nil {
		return f, false, nil //nolint:nilerr // the first commit fixes nothing
	}
	diff, err := repo.Run(ctx, "diff", "--no-color", "--no-ext-diff", "--no-renames", "--diff-filter=M", "-U0", parent, id)
	if err != nil {
		return f, false, err
	}
	all := map[string][]diffreview.DiffHunk{}
	for _, changed := range diffreview.ParseDiff(diff) {
		all[changed.Path] = changed.Hunks
	}
	best := 0
	for _, file := range slices.Sorted(maps.Keys(all)) {
		if stack.ServesTests(file) {
			continue
		}
		text, err := repo.Run(ctx, "cat-file", "blob", parent+":"+file)
		if err != nil {
			return f, false, err
		}
		in, sum := map[string]int{}, 0
		for _, h := range all[file] {
			name := codemap.EnclosingName(file, text, h.Old)
			if name != "" {
				in[name] += h.OldLen + h.NewLen
				sum += h.OldLen + h.NewLen
			}
		}
		if sum > best {
			best, f.File = sum, file
			names := slices.SortedStableFunc(maps.Keys(in), func(x, y string) int { return cmp.Or(cmp.Compare(in[y], in[x]), cmp.Compare(x, y)) })
			f.Symbol = names[0]
		}
	}
	return f, f.File != "" && best < 200, nil
}

func drawMaps(s view.OutputStyle, m MapFigures) string {
	yes := map[bool]string{true: "yes", false: "no"}
	var rows [][]string
	for _, f := range m.Fixes {
		rows = append(rows, []string{f.Commit[:min(len(f.Commit), 9)], view.EscapeForTerminal(f.Subject), view.EscapeForTerminal(f.File), view.EscapeForTerminal(f.Symbol), yes[f.Shown], yes[f.Named], view.FormatNumber(f.Tokens)})
	}
	return view.DrawTable(s, []string{"commit", "subject", "file", "symbol", "file shown", "symbol shown", "tokens"}, rows) +
		fmt.Sprintf("\nThe map shows the file of %d of %d fixes, and the symbol of %d, in %s tokens.\n", m.Files, len(m.Fixes), m.Symbols, view.FormatNumber(m.Tokens))
}

package changemetrics

import (
	"cmp"
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/definitionofdone"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/gosource"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// measureLines measures the test coverage of lines, of the whole tree and of those that a change
// adds. Tests, and files that the tree does not have, do not count.
func (m *ChangeMeasurer) measureLines(ctx context.Context, c MeasureRequest, found *definitionofdone.MeasuredChange) error {
	get := c.Taken.Get
	if get == nil {
		get = m.Get
	}
	if found.Cover == nil || found.Cover.Why != "" || get == nil {
		return nil
	}
	now, err := readTreeCoverage(ctx, c, c.Tree, get, func(p gateReportBlobs) string { return p.now })
	if err != nil || now == nil {
		return err
	}
	to := *found.Cover // the caller's value stays unchanged
	found.Cover = &to
	all := now.SumCoverage(needsCoverage)
	if all.Lines.Total == 0 {
		to.Why = "the coverage report names no file of the tree except tests: " + cmp.Or(to.Command, strings.Join(to.How, ", "))
		return nil
	}
	k := &nexus.TestCoverage{
		Lines: nexus.CoverageChange{CoverageShare: all.Lines}, Branches: nexus.CoverageChange{CoverageShare: all.Branches},
		Functions: nexus.CoverageChange{CoverageShare: all.Functions}, Statements: nexus.CoverageChange{CoverageShare: all.Statements},
	}
	to.Measured = k
	to.Now, _ = all.Lines.Percent()
	if err := addBaseCoverage(ctx, c, get, &to); err != nil {
		return err
	}
	for _, f := range found.Files {
		if err := m.measureFile(ctx, c, f, *now, k); err != nil {
			return err
		}
	}
	sortLongestFirst(k.Missed)
	return nil
}

// needsCoverage reports whether tests should cover a file.
func needsCoverage(file string) bool { return !stack.ServesTests(file) }

// addBaseCoverage adds the coverage on the base.
func addBaseCoverage(ctx context.Context, c MeasureRequest, get func(string) ([]byte, error), to *definitionofdone.CoveragePercentage) error {
	base, err := readTreeCoverage(ctx, c, c.Base, get, func(p gateReportBlobs) string { return p.before })
	if err != nil || base == nil {
		return err
	}
	was, k := base.SumCoverage(needsCoverage), to.Measured
	to.Before, to.Had = was.Lines.Percent()
	for _, s := range []struct {
		to  *nexus.CoverageChange
		was nexus.CoverageShare
	}{{&k.Lines, was.Lines}, {&k.Branches, was.Branches}, {&k.Functions, was.Functions}, {&k.Statements, was.Statements}} {
		if s.was.Total > 0 && s.to.Total > 0 {
			s.to.Before = &s.was
		}
	}
	return nil
}

// readTreeCoverage parses the reports of all gates, and maps their files to a tree. It returns nil if
// one is missing.
func readTreeCoverage(ctx context.Context, c MeasureRequest, rev string, get func(string) ([]byte, error), of func(gateReportBlobs) string) (*TreeCoverage, error) {
	if slices.ContainsFunc(c.Taken.parts, func(p gateReportBlobs) bool { return of(p) == "" }) {
		return nil, nil //nolint:nilnil // there is nothing to read, and nothing is wrong
	}
	tree, modules, err := treeLayout(ctx, c.Repo, rev)
	if err != nil {
		return nil, err
	}
	var all *TreeCoverage
	for _, p := range c.Taken.parts {
		data, err := get(of(p))
		if err != nil {
			return nil, err
		}
		at := PlaceCoverage(ReadCoverageReport(p.format, string(data)).WithDirectory(p.dir), tree, modules)
		if all == nil {
			all = &at
			continue
		}
		all.addReport(at)
	}
	return all, nil
}

// measureFile measures the new lines of one file.
func (m *ChangeMeasurer) measureFile(ctx context.Context, c MeasureRequest, f definitionofdone.FileChange, placed TreeCoverage, k *nexus.TestCoverage) error {
	if f.Gone || len(f.Added) == 0 || stack.ServesTests(f.Path) || m.isExemptFromCoverage(f.Path) || !placed.CoversFileKind(f.Path) || c.about != nil && !c.about(f.Path) {
		return nil
	}
	if hits := placed.LineHits(f.Path); hits != nil {
		lines := make([]ChangeAddedLine, len(f.Added))
		for i, l := range f.Added {
			lines[i] = ChangeAddedLine(l)
		}
		share, missed := MeasureAddedLines(f.Path, lines, hits)
		k.New.Covered += share.Covered
		k.New.Total += share.Total
		k.Missed = append(k.Missed, missed...)
		return nil
	}
	if !slices.ContainsFunc(f.Added, func(l definitionofdone.AddedPatchLine) bool { return isRunnable(l.Text) }) {
		return nil
	}
	if path.Ext(f.Path) == ".go" {
		source, err := readFileText(ctx, c.Repo, c.Tree, f.Path)
		if err != nil {
			return err
		}
		if !hasStatements(source) {
			return nil
		}
	}
	k.Unknown = append(k.Unknown, f.Path)
	return nil
}

// isExemptFromCoverage reports whether a file is excluded from coverage, or of a kind that no test loads:
// declarations of types, and configuration that is code.
func (m *ChangeMeasurer) isExemptFromCoverage(file string) bool {
	if strings.HasSuffix(file, ".d.ts") || regexp.MustCompile(`\.config\.[cm]?[jt]s$`).MatchString(file) {
		return true
	}
	return slices.ContainsFunc(m.Rules.Except, func(p string) bool {
		p = strings.TrimPrefix(p, "./")
		matched, _ := path.Match(p, file)
		return matched || p == file || strings.HasPrefix(file, strings.TrimSuffix(p, "/")+"/")
	})
}

// treeLayout returns the files of a tree, and the directories of its Go modules.
func treeLayout(ctx context.Context, repo git.Repo, rev string) (files []string, modules map[string]string, err error) {
	out, err := repo.Run(ctx, "ls-tree", "-r", "-z", "--name-only", "--full-tree", rev)
	if err != nil {
		return nil, nil, err
	}
	files = strings.FieldsFunc(out, func(r rune) bool { return r == 0 })
	modules = map[string]string{}
	for _, f := range files {
		if path.Base(f) != gosource.Manifest || stack.ServesTests(f) {
			continue
		}
		mod, err := readFileText(ctx, repo, rev, f)
		if err != nil {
			return nil, nil, err
		}
		if name := gosource.ModuleName(mod); name != "" {
			modules[name] = path.Dir(f)
		}
	}
	return files, modules, nil
}

// hasStatements reports whether a Go file has executable code. For an unreadable file that is
// assumed.
func hasStatements(source string) bool {
	f, err := parser.ParseFile(token.NewFileSet(), "", source, parser.SkipObjectResolution)
	if err != nil {
		return true
	}
	runs := false
	ast.Inspect(f, func(n ast.Node) bool {
		if b, ok := n.(*ast.BlockStmt); ok && len(b.List) > 0 {
			runs = true
		}
		return !runs
	})
	return runs
}

func readFileText(ctx context.Context, r git.Repo, rev, file string) (string, error) {
	out, _, err := r.ReadFile(ctx, rev, file, maxLock)
	return out, err
}

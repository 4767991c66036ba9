package measure

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/bounds"
	"github.com/nexus-ai-builder/nexus/internal/decide/testfile"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/evidence"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/work/measure/cover"
)

// lines measures which of the lines that a change adds tests go through.
func (m *Meter) lines(ctx context.Context, c Change, found *bounds.Measured) error {
	get := c.Taken.Get
	if get == nil {
		get = m.Get
	}
	if found.Cover == nil || found.Cover.Why != "" || get == nil || c.Taken.report == "" {
		return nil
	}
	data, err := get(c.Taken.report)
	if err != nil {
		return err
	}
	now := cover.Read(m.Rules.Format, string(data))
	k := &nexus.Coverage{
		Lines: evidence.Covered{Share: now.Lines}, Branches: evidence.Covered{Share: now.Branches},
		Functions: evidence.Covered{Share: now.Functions}, Statements: evidence.Covered{Share: now.Statements},
	}
	if found.Cover.Had && c.Taken.before != "" {
		data, err := get(c.Taken.before)
		if err != nil {
			return err
		}
		was := cover.Read(m.Rules.Format, string(data))
		for _, s := range []struct {
			to  *evidence.Covered
			was evidence.Share
		}{{&k.Lines, was.Lines}, {&k.Branches, was.Branches}, {&k.Functions, was.Functions}, {&k.Statements, was.Statements}} {
			if s.was.Total > 0 && s.to.Total > 0 {
				s.to.Before = &s.was
			}
		}
	}
	tree, modules, err := layout(ctx, c)
	if err != nil {
		return err
	}
	placed := cover.Place(now, tree, modules)
	for _, f := range found.Files {
		if err := m.file(ctx, c, f, placed, k); err != nil {
			return err
		}
	}
	cover.Longest(k.Missed)
	cover := *found.Cover // the caller's stays as it is
	cover.Measured = k
	found.Cover = &cover
	return nil
}

// file measures the new lines of one file.
func (m *Meter) file(ctx context.Context, c Change, f bounds.File, placed cover.Placed, k *nexus.Coverage) error {
	if f.Gone || len(f.Added) == 0 || testfile.Part(f.Path) || m.excepted(f.Path) || !placed.Tells(f.Path) {
		return nil
	}
	if hits := placed.Lines(f.Path); hits != nil {
		lines := make([]cover.Line, len(f.Added))
		for i, l := range f.Added {
			lines[i] = cover.Line(l)
		}
		share, missed := cover.Added(f.Path, lines, hits)
		k.New.Covered += share.Covered
		k.New.Total += share.Total
		k.Missed = append(k.Missed, missed...)
		return nil
	}
	if !slices.ContainsFunc(f.Added, func(l bounds.Line) bool { return cover.Runs(l.Text) }) {
		return nil
	}
	if path.Ext(f.Path) == ".go" {
		source, err := text(ctx, c.Repo, c.Tree, f.Path)
		if err != nil {
			return err
		}
		if !statements(source) {
			return nil
		}
	}
	k.Unknown = append(k.Unknown, f.Path)
	return nil
}

// excepted reports whether nobody wants a file to be tested, or it is of a kind
// that no test loads: declarations of types, and configuration that is code.
func (m *Meter) excepted(file string) bool {
	if strings.HasSuffix(file, ".d.ts") || regexp.MustCompile(`\.config\.[cm]?[jt]s$`).MatchString(file) {
		return true
	}
	return slices.ContainsFunc(m.Rules.Except, func(p string) bool {
		p = strings.TrimPrefix(p, "./")
		matched, _ := path.Match(p, file)
		return matched || p == file || strings.HasPrefix(file, strings.TrimSuffix(p, "/")+"/")
	})
}

// layout returns the files of a tree, and where the modules of Go begin in it.
func layout(ctx context.Context, c Change) (files []string, modules map[string]string, err error) {
	out, err := c.Repo.Run(ctx, "ls-tree", "-r", "-z", "--name-only", "--full-tree", c.Tree)
	if err != nil {
		return nil, nil, err
	}
	files = strings.FieldsFunc(out, func(r rune) bool { return r == 0 })
	modules = map[string]string{}
	for _, f := range files {
		if path.Base(f) != "go.mod" || testfile.Part(f) {
			continue
		}
		mod, err := text(ctx, c.Repo, c.Tree, f)
		if err != nil {
			return nil, nil, err
		}
		if name := module(mod); name != "" {
			modules[name] = path.Dir(f)
		}
	}
	return files, modules, nil
}

// module returns the path that a go.mod gives its module.
func module(mod string) string {
	for line := range strings.Lines(mod) {
		if name, ok := strings.CutPrefix(strings.TrimSpace(line), "module "); ok {
			name, _, _ = strings.Cut(name, "//")
			return strings.Trim(strings.TrimSpace(name), "\"`")
		}
	}
	return ""
}

// statements reports whether a Go file has something that can be run. Of one
// that cannot be read nobody knows.
func statements(source string) bool {
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

func text(ctx context.Context, r git.Repo, rev, file string) (string, error) {
	out, _, err := r.RunTo(ctx, maxLock, "cat-file", "blob", rev+":"+file)
	return out, err
}

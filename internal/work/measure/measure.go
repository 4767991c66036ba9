// Package measure reads what a change holds that the definition of done is
// about: its lines, and the licences of the dependencies that it adds. It runs
// nothing, and asks no network.
package measure

import (
	"context"
	"path"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/bounds"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/done"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// Meter measures changes. The zero Meter holds nothing to anything.
type Meter struct {
	Rules   done.Rules
	Modules string // directory of Go's module cache; empty: there is none
}

// Change is what is measured.
type Change struct {
	Repo  git.Repo
	Base  string   // commit
	Tree  string   // git tree
	Files []string // that the task's plan names; nil: there is no plan
	Run   bool     // it is what a run came to
	Taken Taken    // what gates measured
}

// Judge holds a change to the rules. It returns what was found of it, and of
// that what decides.
func (m *Meter) Judge(ctx context.Context, c Change) (all, decides []nexus.Evidence, err error) {
	if m == nil || len(m.Rules.Modes) == 0 {
		return nil, nil, nil
	}
	patch, whole, err := c.Repo.Patch(ctx, c.Base, c.Tree)
	if err != nil {
		return nil, nil, err
	}
	found := bounds.Measured{Tree: c.Tree, Files: bounds.Read(patch), Whole: whole, Planned: c.Files, Run: c.Run, Cover: c.Taken.Cover, Audit: c.Taken.Audit}
	if mode := m.Rules.Modes[done.Licences]; mode == done.Warn || mode == done.Block {
		if found.Deps, err = m.added(ctx, c, found.Files); err != nil {
			return nil, nil, err
		}
	}
	all = bounds.Judge(m.Rules, found)
	for _, e := range all {
		if bounds.Decides(m.Rules, e) {
			decides = append(decides, e)
		}
	}
	return all, decides, nil
}

// maxLock bounds a file of dependencies that is read.
const maxLock = 32 << 20

// added returns the dependencies that a change adds.
func (m *Meter) added(ctx context.Context, c Change, files []bounds.File) ([]bounds.Dependency, error) {
	var all []bounds.Dependency
	for _, f := range files {
		read := reader(path.Base(f.Path))
		if read == nil || f.Gone {
			continue
		}
		now, err := text(ctx, c.Repo, c.Tree, f.Path)
		if err != nil {
			return nil, err
		}
		var had []bounds.Dependency
		if !f.New {
			before, err := text(ctx, c.Repo, c.Base, f.Path)
			if err != nil {
				return nil, err
			}
			had = read(before)
		}
		for _, d := range read(now) {
			if slices.ContainsFunc(had, func(h bounds.Dependency) bool { return bare(h.Name) == bare(d.Name) }) {
				continue // another version of it
			}
			d.File = f.Path
			if d.Licence == "" && path.Base(f.Path) == "go.mod" {
				d.Licence = m.module(d.Name)
			}
			all = append(all, d)
		}
	}
	return all, nil
}

func text(ctx context.Context, r git.Repo, rev, file string) (string, error) {
	out, _, err := r.RunTo(ctx, maxLock, "cat-file", "blob", rev+":"+file)
	return out, err
}

package check

import (
	"cmp"
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/frame"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/related"
)

// changed returns the files of a working tree that are not as they were at a
// commit, new ones included, relative to dir.
func changed(ctx context.Context, dir, rev string) ([]string, error) {
	repo, err := git.Find(ctx, dir)
	if err != nil {
		return nil, err
	}
	commit, err := repo.Resolve(ctx, cmp.Or(rev, "HEAD"))
	if err != nil {
		return nil, err
	}
	was, err := repo.Run(ctx, "diff", "--name-only", "-z", "--no-renames", "--no-ext-diff", commit)
	if err != nil {
		return nil, err
	}
	fresh, err := repo.Run(ctx, "ls-files", "--others", "--exclude-standard", "-z", "--full-name", ":/")
	if err != nil {
		return nil, err
	}
	var files []string
	for name := range strings.SplitSeq(was+"\x00"+fresh, "\x00") {
		if name == "" {
			continue
		}
		if name, err = filepath.Rel(dir, filepath.Join(repo.Work, filepath.FromSlash(name))); err == nil && filepath.IsLocal(name) {
			files = append(files, filepath.ToSlash(name))
		}
	}
	slices.Sort(files)
	return slices.Compact(files), nil
}

// concerned puts the gates that run the tests which a change concerns before
// those that run all, and says where there are none.
func concerned(ctx context.Context, a *frame.App, dir, rev string, gates []gate.Gate) ([]gate.Gate, error) {
	files, err := changed(ctx, dir, rev)
	if err != nil {
		return nil, err
	}
	choices := related.Choose(dir, files, gates)
	for _, c := range choices {
		if !c.Some {
			a.Say("%s runs as a whole: %s", c.Of.Name, c.Why)
		}
	}
	return related.Before(gates, choices), nil
}

// answered returns the gates that are still to run after one: what judged some
// tests, and could, stands for the gate that runs all, and tests that do not end
// are not run once more.
func answered(rest []gate.Gate, g gate.Gate, e nexus.Evidence) []gate.Gate {
	return slices.DeleteFunc(rest, func(o gate.Gate) bool {
		return g.Of != "" && e.State != nexus.NotRun && o.Name == g.Of || o.Vain(e)
	})
}

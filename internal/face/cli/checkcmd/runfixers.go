package checkcmd

import (
	"cmp"
	"context"
	"os"
	"path/filepath"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/work/changeeffects"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

// runFixers, with --fix, lets the formatters and linters of a working tree change the files that
// differ from a commit, and prints which ones changed files.
func runFixers(ctx context.Context, a *console.Console, f Options, r gate.GateRunner, dir string, gates []gate.QualityGate) error {
	if !f.Fix {
		return nil
	}
	rev := f.Base
	names, err := changeeffects.ChangedFiles(ctx, dir, rev)
	if err != nil {
		return err
	}
	repo, err := git.FindRepo(ctx, dir)
	if err != nil {
		return err
	}
	var files []gate.FixedChangeFile
	for _, name := range names {
		if _, err := os.Lstat(filepath.Join(dir, name)); err != nil {
			continue // deleted
		}
		at, err := filepath.Rel(repo.Work, filepath.Join(dir, name))
		if err != nil {
			return err
		}
		was, err := repo.Run(ctx, "ls-tree", "--full-tree", "--name-only", cmp.Or(rev, "HEAD"), "--", filepath.ToSlash(at))
		if err != nil {
			return err
		}
		files = append(files, gate.FixedChangeFile{Path: name, New: was == ""})
	}
	done, err := gate.ApplyAutoFixes(ctx, r, gate.JudgedTreeDir{Dir: dir}, gates, files)
	if err != nil {
		return err
	}
	if text := done.String(); text != "" {
		a.Say("fixed: %s", text)
	}
	return nil
}

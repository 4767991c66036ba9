package check

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/frame"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
	"github.com/nexus-ai-builder/nexus/internal/work/look"
	"github.com/nexus-ai-builder/nexus/internal/work/mutate"
)

// mutants puts faults into the lines that are new since the base, and says
// last which of them no test notices. It works on a copy: the working tree is
// the user's.
func mutants(ctx context.Context, a *frame.App, f checkFlags, dir string, settings config.Config, all []nexus.Evidence) ([]nexus.Evidence, error) {
	repo, err := git.Find(ctx, dir)
	if err != nil {
		return nil, err
	}
	commit, err := repo.Resolve(ctx, cmp.Or(f.base, "HEAD"))
	if err != nil {
		return nil, err
	}
	files, err := look.Fresh(ctx, repo, commit)
	if err != nil {
		return nil, fmt.Errorf("look for new lines: %w", err)
	}
	box, err := sandbox.Find(ctx, sandbox.Mode(settings.Sandbox))
	if err != nil {
		return nil, err
	}
	cache := cacheOf(a, dir)
	if err := os.MkdirAll(cache, 0o700); err != nil {
		return nil, err
	}
	at, err := os.MkdirTemp(cache, "mutants-")
	if err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(at) }() // a copy
	lent, err := copyTree(ctx, repo, at)
	if err != nil {
		return nil, fmt.Errorf("copy the working tree: %w", err)
	}
	r, err := runner(a, box, at, filepath.Join(cache, "mutants"), settings)
	if err != nil {
		return nil, err
	}
	r.Readable = append(r.Readable, lent...)
	gates, err := detect.Gates(at, settings.Gates)
	if err != nil {
		return nil, err
	}
	report, err := mutate.Trial{
		Dir: at, Runner: r, Gates: tested(gates, f.gates), Seed: seed(commit, files), Sample: settings.Mutation.Sample, Time: settings.Mutation.Time, Now: a.Now,
		Heard: func(x mutate.Result) { a.Say("%s: %s", x.State, x.Mutant) },
	}.Run(ctx, files)
	if err != nil {
		return nil, err
	}
	if report.Possible == 0 {
		a.Say("%s: %s", mutate.Gate, report.Why)
		return all, nil
	}
	return append(all, report.Evidence("working tree", settings.Mutation.Mode == "block")), nil
}

// tested returns the gates that run tests, of those that were asked for.
func tested(gates []gate.Gate, names []string) []gate.Gate {
	var all []gate.Gate
	for _, g := range gates {
		picked := len(names) == 0 || slices.Contains(names, g.Name) || slices.Contains(names, detect.Step(g.Name))
		if g.Tests && picked {
			all = append(all, g)
		}
	}
	return all
}

// seed stands for a base and what is new since.
func seed(commit string, files []mutate.File) string {
	sum := sha256.New()
	for _, f := range append(files, mutate.File{Path: commit}) {
		_, _ = fmt.Fprintf(sum, "%s\x00%s\x00", f.Path, f.Text) // a hash takes all
	}
	return hex.EncodeToString(sum.Sum(nil))
}

// copyTree copies what git tracks, or would, and lends what is installed. It
// returns what is lent.
func copyTree(ctx context.Context, repo git.Repo, to string) (lent []string, err error) {
	out, err := repo.Run(ctx, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	if err != nil {
		return nil, err
	}
	from, err := os.OpenRoot(repo.Work)
	if err != nil {
		return nil, err
	}
	defer func() { _ = from.Close() }() // only read
	into, err := os.OpenRoot(to)
	if err != nil {
		return nil, err
	}
	defer func() { _ = into.Close() }() // every write was checked
	for name := range strings.SplitSeq(out, "\x00") {
		if name == "" {
			continue
		}
		if err := copyFile(from, into, name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
	}
	for _, name := range []string{"node_modules", ".venv", "venv", "vendor"} {
		info, missing := from.Stat(name)
		if _, there := into.Lstat(name); missing == nil && info.IsDir() && errors.Is(there, fs.ErrNotExist) {
			lent = append(lent, filepath.Join(repo.Work, name))
			if err := into.Symlink(filepath.Join(repo.Work, name), name); err != nil {
				return nil, err
			}
		}
	}
	return lent, nil
}

func copyFile(from, into *os.Root, name string) error {
	info, err := from.Lstat(name)
	if err != nil {
		return err
	}
	if err := into.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		return err
	}
	switch {
	case info.Mode()&fs.ModeSymlink != 0:
		target, err := from.Readlink(name)
		if err != nil {
			return err
		}
		return into.Symlink(target, name)
	case !info.Mode().IsRegular():
		return nil // a module of another repository
	}
	data, err := from.ReadFile(name)
	if err != nil {
		return err
	}
	return into.WriteFile(name, data, info.Mode().Perm()|0o600)
}

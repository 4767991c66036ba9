package newproject

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// founding is the message of the empty commit with which a new project starts.
const founding = "Begin"

// EmptyDir returns the working directory of a command, and whether a new project can begin there
// from a goal: it is empty and not part of a repository with commits, apart from the start commit
// of an earlier call that was interrupted. In that case the repository is closed if it was
// opened.
func EmptyDir(ctx context.Context, a *console.Console, p *app.Repository, opened error) (string, bool) {
	dir, err := a.WorkDir()
	if err != nil {
		return "", false
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return "", false
	}
	switch {
	case opened == nil && !hasOnlyInitialCommit(ctx, dir):
		return "", false
	case opened != nil && !errors.Is(opened, &nexus.Error{Code: nexus.CodeNotRepository}) &&
		!errors.Is(opened, &nexus.Error{Code: nexus.CodeNoCommits}):
		return "", false
	}
	ok := isEmptyDir(ctx, dir) || len(leftoverStacks(ctx, dir)) > 0
	if ok && opened == nil {
		p.Close()
	}
	return dir, ok
}

// hasOnlyInitialCommit reports whether a repository contains only the empty start commit of a new project.
func hasOnlyInitialCommit(ctx context.Context, dir string) bool {
	if !git.IsEmptyRepo(ctx, dir) {
		return false
	}
	said, err := git.Repo{Dir: filepath.Join(dir, ".git"), Work: dir}.RunLine(ctx, "log", "-1", "--format=%s")
	return err == nil && said == founding
}

// leftoverStacks returns the stacks of which a directory contains only the first files, because an
// earlier call was killed while their gates ran. Files that git ignores come from the gates.
func leftoverStacks(ctx context.Context, dir string) (stacks []string) {
	if !hasOnlyInitialCommit(ctx, dir) {
		return nil
	}
	there, err := git.Repo{Dir: filepath.Join(dir, ".git"), Work: dir}.Run(ctx, "ls-files", "-z", "--cached", "--others", "--exclude-standard")
	root, closed := os.OpenRoot(dir)
	if err != nil || closed != nil || there == "" {
		return nil
	}
	defer func() { _ = root.Close() }()
	for _, s := range stack.AllStacks() {
		files := s.Skeleton.FilesFor(projectName(dir))
		foreign := func(name string) bool {
			at := slices.IndexFunc(files, func(f stack.SkeletonFile) bool { return f.Path == name })
			data, err := root.ReadFile(name)
			// It may be half written.
			return err != nil || at < 0 || !strings.HasPrefix(files[at].Text, string(data))
		}
		if !slices.ContainsFunc(strings.Split(strings.TrimRight(there, "\x00"), "\x00"), foreign) {
			stacks = append(stacks, s.Name)
		}
	}
	return stacks
}

// prepareProjectDir returns the directory in which a project can begin. A directory with any
// content is refused, except an empty repository, or the remains of a killed call.
func prepareProjectDir(ctx context.Context, a *console.Console, dir string) (string, error) {
	if !filepath.IsAbs(dir) {
		here, err := a.WorkDir()
		if err != nil {
			return "", err
		}
		dir = filepath.Join(here, dir)
	}
	refuse := func(why, hint string, cause error) (string, error) {
		return "", &nexus.Error{Code: nexus.CodeInvalidInput, Message: view.QuoteForTerminal(dir) + " " + why, Hint: hint, Cause: cause}
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return refuse("cannot be made", "Give a directory that is empty or does not exist, where you may write.", err)
	}
	dir, err := filepath.EvalSymlinks(dir) // as git names it
	if err != nil {
		return refuse("cannot be read", "Give another directory.", err)
	}
	if isEmptyDir(ctx, dir) || len(leftoverStacks(ctx, dir)) > 0 {
		return dir, nil
	}
	if top := app.WorkTreeRoot(dir); top != dir && pathExists(filepath.Join(top, ".git")) {
		return refuse("is in the repository "+view.QuoteForTerminal(top), "Begin a project outside of others; for a part of that one, use nexus run there.", nil)
	}
	return refuse("is not empty", "Give a directory that is empty or does not exist. In a project that exists, commit it and use nexus run.", nil)
}

// isEmptyDir reports whether a directory is empty, or the root of an empty repository.
func isEmptyDir(ctx context.Context, dir string) bool {
	all, err := os.ReadDir(dir)
	if err != nil || len(all) > 1 {
		return false
	}
	if len(all) == 1 {
		return all[0].Name() == ".git" && all[0].IsDir() && git.IsEmptyRepo(ctx, dir)
	}
	top := app.WorkTreeRoot(dir)
	return !pathExists(filepath.Join(top, ".git"))
}

func pathExists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

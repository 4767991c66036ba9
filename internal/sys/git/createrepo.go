package git

import (
	"context"
	"fmt"
	"path/filepath"
)

// CreateRepo creates a repository of the files in dir, with one commit on the branch main.
func CreateRepo(ctx context.Context, dir string, by CommitIdentity, message string) error {
	r := Repo{Dir: filepath.Join(dir, ".git"), Work: dir, Env: by.gitEnviron()}
	for _, args := range [][]string{
		{"init", "--quiet", "--initial-branch=main", "--template=", dir},
		{"add", "-A"},
		{"commit", "--quiet", "-m", message},
	} {
		if _, err := r.Run(ctx, args...); err != nil {
			return fmt.Errorf("make a repository: %w", err)
		}
	}
	return nil
}

// CreateRepoWithEmptyCommit creates a repository with an empty commit, as the first base of work. In an existing
// repository without commits, it creates only that commit.
func CreateRepoWithEmptyCommit(ctx context.Context, dir string, by CommitIdentity, message string) error {
	r := Repo{Dir: filepath.Join(dir, ".git"), Work: dir, Env: by.gitEnviron()}
	all := [][]string{{"commit", "--quiet", "--allow-empty", "-m", message}}
	if _, err := locateRepo(ctx, dir); err != nil {
		all = append([][]string{{"init", "--quiet", "--initial-branch=main", "--template=", dir}}, all...)
	}
	for _, args := range all {
		if _, err := r.Run(ctx, args...); err != nil {
			return fmt.Errorf("make a repository: %w", err)
		}
	}
	return nil
}

// ReplaceEmptyCommit replaces the empty commit of [CreateRepoWithEmptyCommit] by one with all files of the work
// tree, and returns it.
func ReplaceEmptyCommit(ctx context.Context, dir string, by CommitIdentity, message string) (string, error) {
	r := Repo{Dir: filepath.Join(dir, ".git"), Work: dir, Env: by.gitEnviron()}
	if !r.isEmpty(ctx) {
		return "", invalidInputError(dir+" has commits already", "A project begins only in an empty repository.", nil)
	}
	for _, args := range [][]string{{"add", "-A"}, {"commit", "--quiet", "--amend", "-m", message}} {
		if _, err := r.Run(ctx, args...); err != nil {
			return "", fmt.Errorf("make the first commit: %w", err)
		}
	}
	return r.Resolve(ctx, "HEAD")
}

// IsEmptyRepo reports whether a directory is a repository without files in its commits: it has no
// commit, or an empty one.
func IsEmptyRepo(ctx context.Context, dir string) bool {
	r, err := locateRepo(ctx, dir)
	if err != nil || r.Work != dir {
		return false
	}
	return r.isEmpty(ctx)
}

func (r Repo) isEmpty(ctx context.Context) bool {
	commits, err := r.RunLine(ctx, "rev-list", "--count", "--all")
	if err != nil || commits == "0" {
		return err == nil
	}
	files, err := r.Run(ctx, "ls-tree", "--name-only", "HEAD")
	return err == nil && commits == "1" && files == ""
}

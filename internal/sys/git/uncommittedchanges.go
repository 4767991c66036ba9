package git

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// UncommittedChanges lists the differences between a checkout and its commit.
type UncommittedChanges struct {
	Changed []string // files that differ from their entry in the index
	Staged  []string // paths whose index entry differs from the commit
	New     []string // files that are neither tracked nor ignored
}

// IsEmpty reports whether there are no changes.
func (c UncommittedChanges) IsEmpty() bool {
	return len(c.Changed) == 0 && len(c.Staged) == 0 && len(c.New) == 0
}

// FindUncommittedChanges returns the changes of a checkout, whatever the state of its index: paths outside of
// a sparse checkout, or marked as unchanged in the index, are skipped. A file that was touched and
// that a filter changes counts as changed, since no filter runs.
func FindUncommittedChanges(ctx context.Context, r Repo) (UncommittedChanges, error) {
	if r.Work == "" {
		return UncommittedChanges{}, nil
	}
	if err := r.disableFilters(ctx); err != nil {
		return UncommittedChanges{}, err
	}
	out, err := r.Run(ctx, "status", "--porcelain=v2", "-z", "--untracked-files=normal", "--ignored=no", "--no-renames", "--ignore-submodules=all")
	return parseStatus(out), err
}

// disableFilters disables the filters that the repository's own configuration defines. They are
// passed in environment variables: a name may contain characters that an argument cannot.
func (r *Repo) disableFilters(ctx context.Context) error {
	out, err := r.Run(ctx, "config", "-z", "--name-only", "--get-regexp", `^filter\..*\.(clean|smudge|process|required)$`)
	if x, ok := errors.AsType[*ExitError](err); ok && x.Status == 1 {
		return nil // no filters
	}
	env, n := slices.Clone(r.Env), 0
	for key := range strings.SplitSeq(out, "\x00") {
		if key == "" {
			continue
		}
		value := ""
		if strings.HasSuffix(key, ".required") {
			value = "false"
		}
		env = append(env, fmt.Sprintf("GIT_CONFIG_KEY_%d=%s", n, key), fmt.Sprintf("GIT_CONFIG_VALUE_%d=%s", n, value))
		n++
	}
	r.Env = append(env, fmt.Sprintf("GIT_CONFIG_COUNT=%d", n))
	return err
}

// parseStatus parses the output of status --porcelain=v2 -z, without renames: NUL-terminated
// lines, one per path. Lines of unknown kinds are skipped.
func parseStatus(out string) (c UncommittedChanges) {
	for line := range strings.SplitSeq(out, "\x00") {
		kind, rest, _ := strings.Cut(line, " ")
		if kind == "?" && rest != "" {
			c.New = append(c.New, rest)
		}
		fields := map[string]int{"1": 8, "u": 10}[kind] // fields before the path
		words := strings.SplitN(line, " ", fields+1)
		if fields == 0 || len(words) <= fields || len(words[1]) != 2 || words[fields] == "" {
			continue
		}
		if words[1][0] != '.' && kind == "1" {
			c.Staged = append(c.Staged, words[fields])
		}
		if words[1][1] != '.' || kind == "u" {
			c.Changed = append(c.Changed, words[fields])
		}
	}
	return c
}

// OperationInProgress returns the operation that is in progress in the checkout, such as a merge, or "".
func OperationInProgress(r Repo) string {
	for _, s := range []struct{ file, is string }{
		{"MERGE_HEAD", "a merge"}, {"rebase-merge", "a rebase"}, {"rebase-apply", "a rebase"}, {"CHERRY_PICK_HEAD", "a cherry-pick"}, {"REVERT_HEAD", "a revert"}, {"BISECT_LOG", "a bisection"},
	} {
		if _, err := os.Lstat(filepath.Join(r.Dir, s.file)); err == nil {
			return s.is
		}
	}
	return ""
}

// ReadUserIdentity returns the user's name and mail address in git, as far as they are set; env looks up
// variables.
func ReadUserIdentity(ctx context.Context, r Repo, env func(string) string) (name, mail string) {
	home := env("HOME")
	get := func(key, variable string) string {
		if v := env(variable); v != "" {
			return v
		}
		for _, file := range []string{filepath.Join(home, ".gitconfig"), filepath.Join(cmp.Or(env("XDG_CONFIG_HOME"), filepath.Join(home, ".config")), "git", "config")} {
			r.Env = []string{"HOME=" + home, "GIT_CONFIG_GLOBAL=" + file}
			if v, err := r.RunLine(ctx, "config", "--get", key); err == nil && v != "" { // an unset key is an error
				return v
			}
		}
		return ""
	}
	return get("user.name", "GIT_AUTHOR_NAME"), get("user.email", "GIT_AUTHOR_EMAIL")
}

package git

import (
	"context"
	"fmt"
	"strings"
)

// RefsBelow returns the commits of the clone's refs below a prefix, by the refs'
// names.
func (c *PrivateClone) RefsBelow(ctx context.Context, prefix string) (map[string]string, error) {
	out, err := c.git.Run(ctx, "for-each-ref", "--format=%(refname) %(objectname)", prefix)
	if err != nil {
		return nil, err
	}
	all := map[string]string{}
	for line := range strings.Lines(out) {
		if name, commit, ok := strings.Cut(strings.TrimSpace(line), " "); ok {
			all[name] = commit
		}
	}
	return all, nil
}

// Bundle writes the commits of the clone's refs that base does not contain to a new file, and
// reports whether there are any.
func (c *PrivateClone) Bundle(ctx context.Context, file, base string, refs []string) (bool, error) {
	if len(refs) == 0 {
		return false, nil
	}
	stdin := strings.Join(refs, "\n") + "\n^" + base + "\n"
	n, err := c.git.RunWithInput(ctx, strings.NewReader(stdin), "rev-list", "--count", "--stdin")
	if err != nil || strings.TrimSpace(n) == "0" {
		return false, err
	}
	_, err = c.git.RunWithInput(ctx, strings.NewReader(stdin), "bundle", "create", "--quiet", file, "--stdin")
	return err == nil, err
}

// Unbundle imports the commits of a bundle and sets exactly the given refs. Every object is
// checked, and objects that a commit needs must not be missing. Without a file the commits must
// already be there.
func (c *PrivateClone) Unbundle(ctx context.Context, file string, refs map[string]string) error {
	if file != "" {
		if err := c.fetchBundle(ctx, file, refs); err != nil {
			return err
		}
	}
	var want, moves strings.Builder
	for ref, commit := range refs {
		if err := CheckRef(ref); err != nil {
			return err
		}
		want.WriteString(commit + "\n")
		fmt.Fprintf(&moves, "update %s %s\n", ref, commit)
	}
	if want.Len() == 0 {
		return nil
	}
	known := []string{"rev-list", "--objects", "--quiet", "--not", "--glob=refs/user", "--not", "--stdin"}
	if _, err := c.git.RunWithInput(ctx, strings.NewReader(want.String()), known...); err != nil {
		return fmt.Errorf("take in commits: %w", err)
	}
	_, err := c.git.RunWithInput(ctx, strings.NewReader(moves.String()), "update-ref", "--stdin")
	return err
}

// fetchBundle fetches from a bundle, whose refs must all be in the given ones.
func (c *PrivateClone) fetchBundle(ctx context.Context, file string, refs map[string]string) error {
	heads, err := c.git.Run(ctx, "bundle", "list-heads", file)
	if err != nil {
		return fmt.Errorf("take in commits: %w", err)
	}
	args := []string{
		"-c", "fetch.fsckObjects=true", "fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-maintenance",
		"--no-recurse-submodules", "--no-write-commit-graph", "--no-prune", "--end-of-options", file,
	}
	for line := range strings.Lines(heads) {
		commit, ref, _ := strings.Cut(strings.TrimSpace(line), " ")
		if refs[ref] != commit || CheckRef(ref) != nil {
			return fmt.Errorf("take in commits: %q is none of the refs that the file says it has", ref)
		}
		args = append(args, "+"+ref+":"+ref)
	}
	if _, err := c.git.Run(ctx, args...); err != nil {
		return fmt.Errorf("take in commits: %w", err)
	}
	return nil
}

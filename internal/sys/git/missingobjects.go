package git

import (
	"context"
	"strings"
)

// CountMissingObjects counts the objects of a commit's tree that a partial clone has not fetched, and
// returns the command that fetches exactly those. It fetches nothing itself.
func (r Repo) CountMissingObjects(ctx context.Context, commit string) (n int, command string, err error) {
	from, err := r.promisorRemote(ctx)
	if from == "" || err != nil {
		return 0, "", err
	}
	out, err := r.Run(ctx, "rev-list", "--objects", "--no-walk", "--missing=print", "--end-of-options", commit)
	for line := range strings.Lines(out) {
		if strings.HasPrefix(line, "?") {
			n++
		}
	}
	return n, "git rev-list --objects --no-walk --missing=print HEAD | sed -n 's/^?//p' | " +
		"git -c fetch.negotiationAlgorithm=noop fetch --no-tags --no-write-fetch-head --filter=blob:none --stdin " + from, err
}

// promisorRemote returns the remote with the missing objects of a partial clone, or "" if the repository
// is not partial.
func (r Repo) promisorRemote(ctx context.Context) (string, error) {
	c, err := r.readUserConfig(ctx)
	return c.promisor, err
}

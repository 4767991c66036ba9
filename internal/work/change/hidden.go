package change

import (
	"context"
	"path"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/ignore"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// Hidden returns what the ignore files of a commit keep from agents.
func Hidden(ctx context.Context, repo git.Repo, commit string) (ignore.Set, error) {
	listed, err := repo.Run(ctx, "ls-tree", "-r", "-z", "--name-only", "--full-tree", commit)
	if err != nil {
		return ignore.Set{}, err
	}
	texts := map[string]string{}
	for name := range strings.SplitSeq(listed, "\x00") {
		if path.Base(name) == ignore.File {
			texts[name] = textOf(ctx, repo, commit, name)
		}
	}
	return ignore.New(texts), nil
}

package changeeffects

import (
	"context"
	"fmt"
	"path"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/ignore"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// HiddenFilesAt returns the files that the ignore files of a commit hide from agents.
func HiddenFilesAt(ctx context.Context, repo git.Repo, commit string) (ignore.IgnoreSet, error) {
	listed, err := repo.Run(ctx, "ls-tree", "-r", "-z", "--full-tree", commit)
	if err != nil {
		return ignore.IgnoreSet{}, err
	}
	texts := map[string]string{}
	for line := range strings.SplitSeq(listed, "\x00") {
		head, name, _ := strings.Cut(line, "\t")
		if path.Base(name) != ignore.File {
			continue
		}
		if strings.HasPrefix(head, "120000 ") {
			return ignore.IgnoreSet{}, fmt.Errorf("%s of %.12s is a link, and not the file itself", name, commit)
		}
		text, err := FileTextAt(ctx, repo, commit, name)
		if err != nil {
			return ignore.IgnoreSet{}, fmt.Errorf("read %s of %.12s: %w", name, commit, err)
		}
		texts[name] = *text
	}
	return ignore.NewIgnoreSet(texts)
}

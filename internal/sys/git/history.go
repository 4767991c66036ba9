package git

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// HistoryCommit is a commit of the history with its changed files.
type HistoryCommit struct {
	ID      string
	Time    time.Time // when it was committed
	Subject string    // unmodified: it may contain any character except NUL and line breaks
	Files   []string  // by path; a moved file has both paths
}

// maxHistory limits the bytes that are read of the history; older commits are left out.
const maxHistory = 64 << 20

// CommitHistory returns at most `most` commits of a history, the newest first. Merges are left out,
// because the merged commits are in the history themselves. It does not read further commits,
// however small the returned ones are.
func (r Repo) CommitHistory(ctx context.Context, commit string, most int) ([]HistoryCommit, error) {
	if !IsObjectID(commit) {
		return nil, fmt.Errorf("history of %q: it is not the name of a commit", commit)
	}
	out, cut, err := r.RunWithLimit(ctx, maxHistory, "log", "-z", "--no-merges", "--raw", "--no-renames", "--no-abbrev", "--no-show-signature", "--no-notes",
		"--encoding=UTF-8", "--format=%H%n%ct%n%s", "-n", strconv.Itoa(most), "--end-of-options", commit)
	if err != nil {
		return nil, err
	}
	return parseHistory(out, cut)
}

// parseHistory parses the output of log -z --raw: a commit is its name, its time and its subject,
// a line each, and then the output of diff-tree for its files. Everything ends with a NUL. If the
// output was cut, the last commit is incomplete and left out.
func parseHistory(out string, cut bool) (all []HistoryCommit, err error) {
	for out != "" {
		token, rest, whole := strings.Cut(out, "\x00")
		token = strings.TrimPrefix(token, "\n")
		if strings.HasPrefix(token, ":") && len(all) > 0 {
			name, after, ok := strings.Cut(rest, "\x00")
			if rest, whole = after, whole && ok; whole {
				all[len(all)-1].Files = append(all[len(all)-1].Files, name)
			}
		} else if whole {
			p, err := parseCommit(token)
			if err != nil {
				return nil, err
			}
			all = append(all, p)
		}
		if !whole && !cut {
			return nil, fmt.Errorf("git log: cannot read %q", token)
		}
		if out = rest; !whole {
			break
		}
	}
	if cut && len(all) > 0 {
		all = all[:len(all)-1]
	}
	return slices.Clip(all), nil
}

func parseCommit(token string) (HistoryCommit, error) {
	parts := strings.SplitN(token, "\n", 3)
	if len(parts) != 3 || !IsObjectID(parts[0]) {
		return HistoryCommit{}, fmt.Errorf("git log: cannot read %q", token)
	}
	seconds, err := strconv.ParseInt(parts[1], 10, 64)
	if err != nil {
		return HistoryCommit{}, fmt.Errorf("git log: %q is no time", parts[1])
	}
	return HistoryCommit{ID: parts[0], Time: time.Unix(seconds, 0).UTC(), Subject: parts[2]}, nil
}

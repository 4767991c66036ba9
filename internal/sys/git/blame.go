package git

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
)

// BlameResult has the commits that wrote the lines of a file, by line number, and their times.
type BlameResult struct {
	Lines map[int]string
	Times map[string]time.Time
}

// Blame runs git blame on some ranges of a file, in the syntax of its options. If the history is
// incomplete, the result is empty.
func (r Repo) Blame(ctx context.Context, commit, file string, ranges []string) (BlameResult, error) {
	shallow, err := r.Run(ctx, "rev-parse", "--is-shallow-repository")
	if err != nil {
		return BlameResult{}, err
	}
	out, err := r.Run(ctx, slices.Concat([]string{"blame", "--porcelain"}, ranges, []string{commit, "--", file})...)
	if ctx.Err() != nil {
		return BlameResult{}, context.Cause(ctx)
	}
	if err != nil {
		return BlameResult{}, nil //nolint:nilerr // a line that git reads differently
	}
	return ParseBlame(out, strings.TrimSpace(shallow) == "true"), nil
}

// ParseBlame parses the output of git blame --porcelain. In a shallow clone, the oldest commits
// seem to have written all earlier lines, so their lines are left out.
func ParseBlame(out string, shallow bool) BlameResult {
	w := BlameResult{Lines: map[int]string{}, Times: map[string]time.Time{}}
	oldest := map[string]bool{}
	commit := ""
	for text := range strings.Lines(out) {
		words := strings.Fields(text)
		switch {
		case strings.HasPrefix(text, "\t"):
		case len(words) >= 3 && len(words[0]) >= 40 && strings.Trim(words[0], "0123456789abcdef") == "":
			commit = words[0]
			if n, err := strconv.Atoi(words[2]); err == nil {
				w.Lines[n] = commit
			}
		case len(words) == 1 && words[0] == "boundary":
			oldest[commit] = true
		case len(words) == 2 && words[0] == "author-time":
			if at, err := strconv.ParseInt(words[1], 10, 64); err == nil {
				w.Times[commit] = time.Unix(at, 0).UTC()
			}
		}
	}
	for n, of := range w.Lines {
		if _, timed := w.Times[of]; !timed || shallow && oldest[of] {
			delete(w.Lines, n)
		}
	}
	return w
}

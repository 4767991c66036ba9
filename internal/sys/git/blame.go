package git

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
)

// BlameResult says which commits wrote the lines of a file, by the number of a line, and when.
type BlameResult struct {
	Lines map[int]string
	Times map[string]time.Time
}

// Blame asks who wrote the lines of a file in some ranges, which are written as options of git blame. Where the history
// does not say it, nothing is known.
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

// ParseBlame reads git blame --porcelain. In a shallow clone the oldest commits have all lines that were there before,
// so they say nothing.
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

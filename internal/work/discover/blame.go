package discover

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
)

// written says which commits wrote the lines of a file.
type written struct {
	lines map[int]string // names of commits, by the number of a line
	times map[string]time.Time
}

// commit returns the commit that wrote a line, empty where that is not known.
func (w written) commit(line int) string { return w.lines[line] }

// blame asks who wrote the lines of some ranges, written as options of git blame. Where the history does not say it,
// nothing is known.
func (s *Site) blame(ctx context.Context, name string, ranges []string) (written, error) {
	shallow, err := s.o.Repo.Run(ctx, "rev-parse", "--is-shallow-repository")
	if err != nil {
		return written{}, err
	}
	args := slices.Concat([]string{"blame", "--porcelain"}, ranges, []string{s.o.Commit, "--", name})
	out, err := s.o.Repo.Run(ctx, args...)
	if ctx.Err() != nil {
		return written{}, context.Cause(ctx)
	}
	if err != nil {
		return written{}, nil //nolint:nilerr // a line that git reads differently
	}
	return blamed(out, strings.TrimSpace(shallow) == "true"), nil
}

// blamed reads git blame --porcelain. In a shallow clone the oldest commits have all lines that were there before,
// so they say nothing.
func blamed(out string, shallow bool) written {
	w := written{lines: map[int]string{}, times: map[string]time.Time{}}
	oldest := map[string]bool{}
	commit := ""
	for text := range strings.Lines(out) {
		words := strings.Fields(text)
		switch {
		case strings.HasPrefix(text, "\t"):
		case len(words) >= 3 && len(words[0]) >= 40 && strings.Trim(words[0], "0123456789abcdef") == "":
			commit = words[0]
			if n, err := strconv.Atoi(words[2]); err == nil {
				w.lines[n] = commit
			}
		case len(words) == 1 && words[0] == "boundary":
			oldest[commit] = true
		case len(words) == 2 && words[0] == "author-time":
			if at, err := strconv.ParseInt(words[1], 10, 64); err == nil {
				w.times[commit] = time.Unix(at, 0).UTC()
			}
		}
	}
	for n, of := range w.lines {
		if _, timed := w.times[of]; !timed || shallow && oldest[of] {
			delete(w.lines, n)
		}
	}
	return w
}

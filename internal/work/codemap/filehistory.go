package codemap

import (
	"cmp"
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// SurveyedCommits is the number of newest commits in which agents and people are shown what changes together.
// Reading them takes less than a second, and older ones say little about the code of today.
const SurveyedCommits = 2_000

// Thresholds for files that change together, and limits of the text about them.
const (
	leastTogether = 3   // commits that changed both
	leastShare    = 0.3 // least share of the commits that changed the other
	hugeCommit    = 30  // files; a commit with more files says little about their relation
	maxTogether   = 6   // most files that are listed
	maxCommits    = 5
	maxSubject    = 100 // most characters of a commit's subject
	historyBytes  = 1_500
)

// CoChangedFile is a file that often changed in the same commit as another one.
type CoChangedFile struct {
	File    string `json:"file"`
	With    string `json:"with"`
	Commits int    `json:"commits"` // number of commits that changed both
	Of      int    `json:"of"`      // number of commits that changed With
}

// FileCommit is a commit that changed one of the requested files.
type FileCommit struct {
	ID      string   `json:"id"`
	Day     string   `json:"day"`
	Subject string   `json:"subject"`
	Files   []string `json:"files"` // the requested files that it changed
}

// FileHistory is the history of some files.
type FileHistory struct {
	Looked   int             `json:"looked"` // number of commits that were read
	Together []CoChangedFile `json:"together"`
	Commits  []FileCommit    `json:"commits"` // the newest first
}

// FileHistory returns the history of a file in the last commits up to the survey's, at most
// most of them.
func (s *CommitSurvey) FileHistory(ctx context.Context, file string, most int) (FileHistory, error) {
	if _, err := s.findFile(file); err != nil {
		return FileHistory{}, err
	}
	past, err := s.repo.CommitHistory(ctx, s.commit, most)
	if err != nil {
		return FileHistory{}, err
	}
	return s.historyFromCommits(past, []string{file}), nil
}

// historyFromCommits returns the history of some files. Files that the survey does not have are omitted:
// deleted ones, and those that are hidden from agents.
func (s *CommitSurvey) historyFromCommits(past []git.HistoryCommit, files []string) FileHistory {
	h := FileHistory{Looked: len(past), Together: []CoChangedFile{}, Commits: []FileCommit{}}
	of := s.knownFiles(files)
	if len(of) == 0 {
		return h
	}
	changed, both := map[string]int{}, map[[2]string]int{}
	for _, p := range past {
		var own []string
		for _, f := range of {
			if slices.Contains(p.Files, f) {
				own = append(own, f)
			}
		}
		if len(own) == 0 {
			continue
		}
		if len(h.Commits) < maxCommits {
			h.Commits = append(h.Commits, FileCommit{p.ID, p.Time.Format(time.DateOnly), sanitize.TruncateText(printableText(p.Subject), maxSubject), own})
		}
		if len(p.Files) > hugeCommit {
			continue
		}
		for _, f := range own {
			changed[f]++
			for _, other := range p.Files {
				if !slices.Contains(of, other) {
					both[[2]string{f, other}]++
				}
			}
		}
	}
	h.Together = s.filesChangedTogether(changed, both)
	return h
}

// knownFiles returns the files that are in the survey, each once.
func (s *CommitSurvey) knownFiles(files []string) []string {
	var of []string
	for _, f := range files {
		if f = path.Clean(f); !slices.Contains(of, f) && s.hasFile(f) {
			of = append(of, f)
		}
	}
	return of
}

// filesChangedTogether returns the files that changed with others often enough, those with the strongest
// tie first. A file that changes with several is listed once.
func (s *CommitSurvey) filesChangedTogether(changed map[string]int, both map[[2]string]int) []CoChangedFile {
	all := []CoChangedFile{}
	for pair, n := range both {
		t := CoChangedFile{File: pair[1], With: pair[0], Commits: n, Of: changed[pair[0]]}
		if n >= leastTogether && float64(n) >= leastShare*float64(t.Of) && s.hasFile(t.File) {
			all = append(all, t)
		}
	}
	slices.SortStableFunc(all, func(a, b CoChangedFile) int {
		return cmp.Or(cmp.Compare(b.tieStrength(), a.tieStrength()), cmp.Compare(b.Commits, a.Commits), cmp.Compare(a.File, b.File), cmp.Compare(a.With, b.With))
	})
	seen := map[string]bool{}
	all = slices.DeleteFunc(all, func(t CoChangedFile) bool {
		was := seen[t.File]
		seen[t.File] = true
		return was
	})
	return all[:min(len(all), maxTogether)]
}

// tieStrength returns how reliably a file changes with the other: three commits of three count less
// than forty of fifty.
func (t CoChangedFile) tieStrength() float64 { return float64(t.Commits) / float64(t.Of+leastTogether) }

// hasFile reports whether the survey has a file that agents may see.
func (s *CommitSurvey) hasFile(name string) bool {
	_, ok := slices.BinarySearchFunc(s.files, name, func(f surveyedFile, name string) int { return cmp.Compare(f.path, name) })
	return ok
}

// String returns the history as lines, about 500 tokens at most. It is empty if there is none.
func (h FileHistory) String() string {
	var b strings.Builder
	for _, t := range h.Together {
		fmt.Fprintf(&b, "%s: changed in %d of the %s that changed %s\n", printableText(t.File), t.Commits, pluralCount(t.Of, "commit"), printableText(t.With))
	}
	for i, c := range h.Commits {
		if i == 0 && b.Len() > 0 {
			b.WriteByte('\n')
		}
		line := fmt.Sprintf("%s %.10s %s (%s)\n", c.Day, c.ID, c.Subject, printableText(strings.Join(c.Files, ", ")))
		if b.Len()+len(line) > historyBytes {
			break
		}
		b.WriteString(line)
	}
	return b.String()
}

// DescribeHistory returns, as text, the history of a commit for some files of another commit at which
// a session starts: the session's own snapshots are no history. It is empty if there is none.
func (m *RepositoryMapper) DescribeHistory(ctx context.Context, repo git.Repo, landed, commit string, files []string) (string, error) {
	if m == nil || m.Commits <= 0 || landed == "" || commit == "" || len(files) == 0 {
		return "", nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.surveyCommit(ctx, repo, commit); err != nil {
		return "", err
	}
	if m.landed != landed {
		past, err := repo.CommitHistory(ctx, landed, m.Commits)
		if err != nil {
			return "", err
		}
		m.past, m.landed = past, landed
	}
	return m.survey.historyFromCommits(m.past, files).String(), nil
}

// VisibleFiles returns those of the files that exist in a commit and that agents may see.
func (m *RepositoryMapper) VisibleFiles(ctx context.Context, repo git.Repo, commit string, files []string) ([]string, error) {
	if m == nil || commit == "" || len(files) == 0 {
		return nil, nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.surveyCommit(ctx, repo, commit); err != nil {
		return nil, err
	}
	var all []string
	for _, f := range files {
		if m.survey.hasFile(f) {
			all = append(all, f)
		}
	}
	return all, nil
}

package codemap

import (
	"context"
	"strings"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// Limits of a map that shares a small model's context with a task.
const (
	mapShare = 16  // the map may use one part in 16 of the model's context
	leastMap = 256 // tokens; a smaller map is of no use
)

// RepositoryMapper draws maps of the repository. A commit is surveyed once, and unchanged files are not
// read again for the next one. The zero Maps draws nothing; it may be used by many goroutines.
type RepositoryMapper struct {
	Tokens  int // most tokens of a map; 0: no map
	Commits int // commits of the history that are read; 0: none

	mu     sync.Mutex          // guards the fields below
	survey *CommitSurvey       // survey of the last requested commit
	past   []git.HistoryCommit // the history of landed
	landed string              // commit; empty: none was requested
}

// surveyCommit surveys a commit, unless it was surveyed last. The caller holds the lock.
func (m *RepositoryMapper) surveyCommit(ctx context.Context, repo git.Repo, commit string) error {
	if m.survey != nil && m.survey.commit == commit {
		return nil
	}
	s, err := SurveyCommit(ctx, repo, commit, m.survey)
	if err == nil {
		m.survey = s
	}
	return err
}

// DrawMap returns a map of a commit for a task, for a model with a context of holds tokens, 0 if
// unknown. Begun is the commit with which the run began: files that changed since then rank
// higher.
func (m *RepositoryMapper) DrawMap(ctx context.Context, repo git.Repo, begun, commit string, a MapQuery, holds int64) (string, error) {
	if m == nil || commit == "" {
		return "", nil
	}
	tokens := m.Tokens
	if holds > 0 && holds/mapShare < int64(tokens) {
		tokens = int(holds / mapShare)
	}
	if tokens < min(leastMap, m.Tokens) || tokens <= 0 {
		return "", nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.surveyCommit(ctx, repo, commit); err != nil {
		return "", err
	}
	if begun != "" && begun != commit {
		names, err := repo.Run(ctx, "diff", "--name-only", "-z", "--no-renames", begun, commit)
		if err != nil {
			return "", err
		}
		a.Landed = strings.Split(strings.TrimSuffix(names, "\x00"), "\x00")
	}
	return m.survey.DrawMap(ctx, a, tokens)
}

package codemap

import (
	"context"
	"strings"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// Of a map that has to share a small model with a task.
const (
	mapShare = 16  // of what a model holds, one part
	leastMap = 256 // tokens; a smaller one says nothing
)

// Maps draws maps of the repository. A commit is looked at once, and what is
// the same in the next one is not read again. The zero Maps draws nothing; it
// may be used by many goroutines.
type Maps struct {
	Tokens  int // most of a map; 0 for none
	Commits int // of the history that are read; 0 for none

	mu     sync.Mutex          // guards what follows
	survey *Survey             // of the last commit that was asked for
	past   []git.HistoryCommit // the history of landed
	landed string              // commit; empty: none was asked for
}

// look surveys a commit, unless it was surveyed last. The caller holds the lock.
func (m *Maps) look(ctx context.Context, repo git.Repo, commit string) error {
	if m.survey != nil && m.survey.commit == commit {
		return nil
	}
	s, err := SurveyCommit(ctx, repo, commit, m.survey)
	if err == nil {
		m.survey = s
	}
	return err
}

// Draw returns a map of a commit about a task, for a model that holds a number
// of tokens, 0 where that is unknown. Begun is the commit that the run began
// with: files that changed since then are likelier.
func (m *Maps) Draw(ctx context.Context, repo git.Repo, begun, commit string, a MapSubject, holds int64) (string, error) {
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
	if err := m.look(ctx, repo, commit); err != nil {
		return "", err
	}
	if begun != "" && begun != commit {
		names, err := repo.Run(ctx, "diff", "--name-only", "-z", "--no-renames", begun, commit)
		if err != nil {
			return "", err
		}
		a.Landed = strings.Split(strings.TrimSuffix(names, "\x00"), "\x00")
	}
	return m.survey.Draw(ctx, a, tokens)
}

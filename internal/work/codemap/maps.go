package codemap

import (
	"context"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// Of a map that has to share a small model with a task.
const (
	mapShare = 16  // of what a model holds, one part
	leastMap = 256 // tokens; a smaller one says nothing
	mapUnit  = 64  // tokens by which maps differ, so that few are drawn
)

// Maps draws maps of the repository: of the commit that the run began with,
// whatever landed since, so that all workers of a role begin alike, byte by
// byte, and a provider's cache is of use to them. A commit is looked at once.
// The zero Maps draws nothing; it may be used by many goroutines.
type Maps struct {
	Tokens int // most of a map; 0 for none

	mu     sync.Mutex // guards what follows
	survey *Survey
	base   string // commit of the survey
	drawn  map[int]string
}

// Draw returns the map of a commit for a model that holds a number of tokens,
// 0 where nobody knows.
func (m *Maps) Draw(ctx context.Context, repo git.Repo, base string, holds int64) (string, error) {
	if m == nil || base == "" {
		return "", nil
	}
	tokens := m.Tokens
	if holds > 0 && holds/mapShare < int64(tokens) {
		tokens = int(holds / mapShare / mapUnit * mapUnit)
	}
	if tokens < min(leastMap, m.Tokens) || tokens <= 0 {
		return "", nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.survey == nil || m.base != base {
		s, err := Look(ctx, repo, base)
		if err != nil {
			return "", err
		}
		m.survey, m.base, m.drawn = s, base, map[int]string{}
	}
	if _, ok := m.drawn[tokens]; !ok {
		m.drawn[tokens] = m.survey.Draw(tokens)
	}
	return m.drawn[tokens], nil
}

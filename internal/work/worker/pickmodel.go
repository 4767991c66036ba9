package worker

import (
	"context"
	"slices"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// RecordedReviewerPairs remembers which models read which models' work, so that each pair is
// recorded once. The zero value is empty; it may be used by many goroutines.
type RecordedReviewerPairs struct {
	mu   sync.Mutex // guards said
	said []nexus.ReviewModelChosen
}

// recordIfNew reports whether a pair is new, and remembers it.
func (r *RecordedReviewerPairs) recordIfNew(f nexus.ReviewModelChosen, said []nexus.ReviewModelChosen) bool {
	if r == nil {
		return true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if slices.Contains(said, f) || slices.Contains(r.said, f) {
		return false
	}
	r.said = append(r.said, f)
	return true
}

// pickModel picks the model of a conversation, and records the author whose work it reads.
func (s *AgentSessions) pickModel(ctx context.Context, t ConversationStretchRequest, tier nexus.Tier) (PricedModel, error) {
	if t.Author == "" || s.PickReader == nil {
		return s.Pick(t.Role, tier, t.Task.Model)
	}
	m, why, err := s.PickReader(t.Role, tier, t.Least, t.Author, t.Failed)
	if err != nil {
		return m, err
	}
	if f := (nexus.ReviewModelChosen{Role: t.Role, Model: m.Name, Author: t.Author, Why: why}); s.Readers.recordIfNew(f, t.Readers) {
		return m, t.Record(ctx, f)
	}
	return m, nil
}

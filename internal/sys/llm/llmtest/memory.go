package llmtest

import (
	"hash/maphash"
	"sync"
)

// memory knows the beginnings of all earlier prompts, as a provider's cache
// does: a part counts only if all parts before it were the same.
type memory struct {
	mu   sync.Mutex // guards seen
	seed maphash.Seed
	seen map[uint64]struct{}
}

// size returns the bytes of the prompt and how many of them, from its
// beginning, an earlier prompt to the same model had.
func (m *memory) size(model string, prompt []string) (total, kept int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var h maphash.Hash
	h.SetSeed(m.seed)
	_, _ = h.WriteString(model) // never fails
	for _, p := range prompt {
		_, _ = h.WriteString(p)
		_ = h.WriteByte(0)
		sum := h.Sum64()
		if _, known := m.seen[sum]; known { // with all before it, which are in the sum
			kept += len(p)
		}
		m.seen[sum] = struct{}{}
		total += len(p)
	}
	return total, kept
}

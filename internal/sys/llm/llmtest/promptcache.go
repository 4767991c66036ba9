package llmtest

import (
	"hash/maphash"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest/wireformat"
)

// cacheLookback is the number of blocks before a breakpoint in which a cache is searched.
const cacheLookback = 20

// simulatedPromptCache simulates a provider's cache of earlier prompts: a part counts only if all parts before
// it were the same, byte by byte, and only once the answer to the earlier prompt had begun. With
// breakpoints, a beginning is stored at each breakpoint, and found from a breakpoint at most
// twenty blocks later.
type simulatedPromptCache struct {
	mu   sync.Mutex // guards seen
	seed maphash.Seed
	seen map[uint64]struct{}
}

// measureKeptPrefix returns the bytes of the prompt, the bytes at its beginning that an earlier prompt to the
// same model had, and a function to call when the answer begins.
func (m *simulatedPromptCache) measureKeptPrefix(a wireformat.ReceivedModelRequest) (total, kept int, begin func()) {
	m.mu.Lock()
	defer m.mu.Unlock()
	var h maphash.Hash
	h.SetSeed(m.seed)
	_, _ = h.WriteString(a.Model) // never fails
	var write []uint64
	for i, p := range a.Prompt {
		_, _ = h.WriteString(p)
		_ = h.WriteByte(0)
		total += len(p)
		if _, known := m.seen[h.Sum64()]; known && isLookedUp(a, i) {
			kept = total
		}
		if a.Marks == nil || a.Marks[i] {
			write = append(write, h.Sum64())
		}
	}
	return total, kept, func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		for _, sum := range write {
			m.seen[sum] = struct{}{}
		}
	}
}

// isLookedUp reports whether the cache is searched for a beginning that ends with part i.
func isLookedUp(a wireformat.ReceivedModelRequest, i int) bool {
	blocks := 0
	for j := i; j < len(a.Marks) && blocks <= cacheLookback; j++ {
		if j > i {
			blocks += a.Blocks[j]
		}
		if a.Marks[j] && blocks <= cacheLookback {
			return true
		}
	}
	return a.Marks == nil
}

// Package agenttest provides an in-memory recorder and store for tests of code that works with
// agents.
package agenttest

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
)

// FakeSessionRecorder stores the recorded facts, in order, one second apart. Its zero value permits
// everything. It may be used by many goroutines.
type FakeSessionRecorder struct {
	Guidance []agent.Guidance           // delivered until a PromptSent names it
	Leave    func(n int) error          // called before the n-th reservation, from 1; nil permits
	Refuse   func(f []nexus.Fact) error // called before facts are stored; nil permits

	mu       sync.Mutex // guards the fields below
	batches  [][]nexus.Fact
	reserved int
}

// Record implements [agent.FakeSessionRecorder].
func (d *FakeSessionRecorder) Record(ctx context.Context, facts ...nexus.Fact) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.record(facts)
}

func (d *FakeSessionRecorder) record(facts []nexus.Fact) error {
	if d.Refuse != nil {
		if err := d.Refuse(facts); err != nil {
			return err
		}
	}
	d.batches = append(d.batches, slices.Clone(facts))
	for _, f := range facts {
		if p, ok := f.(nexus.PromptSent); ok && p.Request != 0 {
			d.Guidance = slices.DeleteFunc(d.Guidance, func(g agent.Guidance) bool { return g.Seq == p.Request })
		}
	}
	return nil
}

// Reserve implements [agent.FakeSessionRecorder].
func (d *FakeSessionRecorder) Reserve(ctx context.Context, r nexus.BudgetReserved, done ...nexus.Fact) ([]agent.Guidance, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.reserved++
	if d.Leave != nil {
		if err := d.Leave(d.reserved); err != nil {
			if len(done) > 0 {
				err = cmp.Or(d.record(done), err)
			}
			return nil, err
		}
	}
	if len(done) == 0 {
		d.batches = append(d.batches, []nexus.Fact{r})
	} else if err := d.record(append(slices.Clip(done), r)); err != nil {
		return nil, err
	}
	return slices.Clone(d.Guidance), nil
}

// RecordedFacts returns what was recorded.
func (d *FakeSessionRecorder) RecordedFacts() []nexus.Fact {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Concat(d.batches...)
}

// RecordedBatches returns what was recorded, one slice for each append.
func (d *FakeSessionRecorder) RecordedBatches() [][]nexus.Fact {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.batches)
}

// Events returns the recorded facts as events of a journal.
func (d *FakeSessionRecorder) Events() []nexus.Event {
	var events []nexus.Event
	for i, f := range d.RecordedFacts() {
		at := time.Date(2026, 1, 1, 0, 0, i, 0, time.UTC)
		events = append(events, nexus.Event{Seq: int64(i + 1), Run: "run", At: at, Fact: f})
	}
	return events
}

// InMemoryBlobStore stores blobs in memory. It may be used by many goroutines.
type InMemoryBlobStore struct {
	mu    sync.Mutex // guards blobs
	blobs map[string][]byte
}

// Put implements [agent.InMemoryBlobStore].
func (s *InMemoryBlobStore) Put(data []byte) (string, error) {
	sum := sha256.Sum256(data)
	hash := hex.EncodeToString(sum[:])
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.blobs == nil {
		s.blobs = map[string][]byte{}
	}
	s.blobs[hash] = slices.Clone(data)
	return hash, nil
}

// Get implements [agent.InMemoryBlobStore].
func (s *InMemoryBlobStore) Get(hash string) ([]byte, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	data, ok := s.blobs[hash]
	if !ok {
		return nil, fmt.Errorf("no blob %s", hash)
	}
	return slices.Clone(data), nil
}

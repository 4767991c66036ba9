package sim

import "github.com/nexus-ai-builder/nexus/internal/nexus"

// RecordRun plays a seed to its end and returns the events of its run, for tests that need many
// different runs. The same seed gives the same events.
func RecordRun(seed uint64) []nexus.Event {
	s := newSeedSim(seed)
	s.playRun(seed)
	return s.journal.events
}

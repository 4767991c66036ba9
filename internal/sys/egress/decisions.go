package egress

import (
	"cmp"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Decision is what became of one attempt to reach a host.
type Decision struct {
	Target
	Allowed bool
	Rule    string // that decided; empty where none fits
	Why     string // it was refused, or could not be reached
	Address string // that was dialled
	Up      int64  // bytes to the host
	Down    int64  // bytes from it
}

// DecisionCount is equal decisions, put together.
type DecisionCount struct {
	Decision
	Times int
}

// ReachedFacts returns what was counted as the journal holds it.
func ReachedFacts(all []DecisionCount) []nexus.HostReached {
	var facts []nexus.HostReached
	for _, t := range all {
		facts = append(facts, nexus.HostReached{
			Host: t.Host, Port: int(t.Port), Allowed: t.Allowed, Rule: t.Rule, Why: t.Why, Address: t.Address, Times: t.Times, Up: t.Up, Down: t.Down,
		})
	}
	return facts
}

// maxTally is how many different things are told apart; what comes later is
// counted as one.
const maxTally = 200

// DecisionLog puts decisions together. It may be used by many goroutines; the zero
// Ledger is empty.
type DecisionLog struct {
	mu  sync.Mutex
	all []DecisionCount
}

// Add counts a decision.
func (l *DecisionLog) Add(d Decision) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.merge(d) {
		return
	}
	if len(l.all) >= maxTally {
		d.Target, d.Rule, d.Why, d.Address = Target{Host: "others"}, "", "", ""
		if l.merge(d) {
			return
		}
	}
	l.all = append(l.all, DecisionCount{d, 1})
}

// merge adds a decision to those that are equal to it, if there is any.
func (l *DecisionLog) merge(d Decision) bool {
	for i := range l.all {
		if t := &l.all[i]; t.Target == d.Target && t.Allowed == d.Allowed && t.Rule == d.Rule && t.Why == d.Why {
			t.Times, t.Up, t.Down, t.Address = t.Times+1, t.Up+d.Up, t.Down+d.Down, cmp.Or(d.Address, t.Address)
			return true
		}
	}
	return false
}

// Take returns what was counted since it was last called, in the order of its
// first time.
func (l *DecisionLog) Take() []DecisionCount {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.all
	l.all = nil
	return all
}

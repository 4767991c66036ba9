package egress

import (
	"cmp"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// EgressDecision is the result of one attempt to reach a host.
type EgressDecision struct {
	HostTarget
	Allowed bool
	Rule    string // matching rule; empty if none matches
	Why     string // reason of the refusal or failure
	Address string // dialled address
	Up      int64  // bytes sent to the host
	Down    int64  // bytes received from it
}

// DecisionCount counts equal decisions.
type DecisionCount struct {
	EgressDecision
	Times int
}

// RequestedHostsOf converts the counts to the form of the journal.
func RequestedHostsOf(all []DecisionCount) []nexus.RequestedHost {
	var facts []nexus.RequestedHost
	for _, t := range all {
		facts = append(facts, nexus.RequestedHost{
			Host: t.Host, Port: int(t.Port), Allowed: t.Allowed, Rule: t.Rule, Why: t.Why, Address: t.Address, Times: t.Times, Up: t.Up, Down: t.Down,
		})
	}
	return facts
}

// maxTally limits the distinct decisions; all further ones are counted together.
const maxTally = 200

// DecisionLog counts decisions. It may be used by many goroutines; the zero DecisionLog is empty.
type DecisionLog struct {
	mu  sync.Mutex
	all []DecisionCount
}

// Add counts a decision.
func (l *DecisionLog) Add(d EgressDecision) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.mergeEqualDecision(d) {
		return
	}
	if len(l.all) >= maxTally {
		d.HostTarget, d.Rule, d.Why, d.Address = HostTarget{Host: "others"}, "", "", ""
		if l.mergeEqualDecision(d) {
			return
		}
	}
	l.all = append(l.all, DecisionCount{d, 1})
}

// mergeEqualDecision adds a decision to an equal one, and reports whether there was one.
func (l *DecisionLog) mergeEqualDecision(d EgressDecision) bool {
	for i := range l.all {
		if t := &l.all[i]; t.HostTarget == d.HostTarget && t.Allowed == d.Allowed && t.Rule == d.Rule && t.Why == d.Why {
			t.Times, t.Up, t.Down, t.Address = t.Times+1, t.Up+d.Up, t.Down+d.Down, cmp.Or(d.Address, t.Address)
			return true
		}
	}
	return false
}

// TakeCounts returns the counts since its last call, in the order of first occurrence.
func (l *DecisionLog) TakeCounts() []DecisionCount {
	l.mu.Lock()
	defer l.mu.Unlock()
	all := l.all
	l.all = nil
	return all
}

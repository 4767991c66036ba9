package state

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// DumpJSON returns the whole content of a state as JSON, always the same for equal states.
func (s *State) DumpJSON() (string, error) {
	type known struct {
		Key      string
		Evidence nexus.GateEvidence
	}
	all := struct {
		State    *State
		Phase    nexus.RunStatus
		Held     time.Duration
		Since    time.Time
		Heard    time.Time
		Reserved []nexus.BudgetReserved
		Spent    nexus.Money
		SetAside nexus.Money
		Attempts map[nexus.AttemptID]*AttemptState
		Sessions map[nexus.SessionID]*AgentSessionState
		Evidence []known
		Deliver  bool
		Rank     map[nexus.TaskID]int
		Asked    map[nexus.TaskID]bool
		Told     map[nexus.TaskID]nexus.ComplexityRating
		Waived   []string
		Pace     map[string][]time.Duration
	}{
		State: s, Phase: s.phase, Held: s.held, Since: s.since, Heard: s.heard,
		Spent: s.Ledger.SpentMoney(), SetAside: s.Ledger.ReservedMoney(),
		Attempts: s.attempts, Sessions: s.sessions,
		Deliver: s.deliver, Rank: s.rank, Asked: s.asked, Told: s.told, Waived: s.waived, Pace: s.pace,
	}
	for _, id := range s.Ledger.UnsettledIDs() {
		r, _ := s.Ledger.ReservationByID(id)
		all.Reserved = append(all.Reserved, r)
	}
	for _, k := range slices.SortedStableFunc(maps.Keys(s.evidence), func(a, b evidenceKey) int { return strings.Compare(a.joinedKey(), b.joinedKey()) }) {
		all.Evidence = append(all.Evidence, known{k.joinedKey(), s.evidence[k]})
	}
	data, err := json.Marshal(all)
	return string(data), err
}

func (k evidenceKey) joinedKey() string {
	return strings.Join([]string{k.tree, k.gate}, "\x00")
}

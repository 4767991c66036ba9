package accept

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// earlierPrefix starts the names of gates that check a criterion of an earlier run.
const earlierPrefix = "earlier: "

// EarlierRunCheck is a criterion that was met on the landed tree of an earlier run.
type EarlierRunCheck struct {
	Run    nexus.RunID
	ID     string // T1/AC-2
	Text   string
	Check  string    // its command
	Commit string    // the run's last landed commit
	Tree   string    // of that commit
	At     time.Time // when the run was accepted
}

// GateName returns the name of the gate that checks it.
func (e EarlierRunCheck) GateName() string { return earlierPrefix + string(e.Run) + " " + e.ID }

// EarlierChecks returns the criteria of a run that their own commands showed to be met on the
// landed tree.
func EarlierChecks(s *state.State) []EarlierRunCheck {
	t := BuildCriteriaTable(s, nil)
	var all []EarlierRunCheck
	for _, r := range t.Rows {
		if _, command := GateOfCriterion(nexus.Criterion{Text: r.Criterion, Check: r.Check}); !command || r.State != Met || t.Commit == "" || t.Tree == "" {
			continue
		}
		all = append(all, EarlierRunCheck{Run: s.Run, ID: r.ID, Text: r.Criterion, Check: r.Check, Commit: t.Commit, Tree: t.Tree, At: s.Accepted})
	}
	return all
}

// OrderEarlierChecks returns the criteria in the order in which they are checked, without repeated
// commands: criteria of the newest run alternate with criteria drawn at random from all runs.
// The same seed gives the same order.
func OrderEarlierChecks(all []EarlierRunCheck, seed string) []EarlierRunCheck {
	newest := slices.Clone(all)
	slices.SortStableFunc(newest, func(a, b EarlierRunCheck) int {
		return cmp.Or(b.At.Compare(a.At), strings.Compare(string(b.Run), string(a.Run)), strings.Compare(a.ID, b.ID))
	})
	drawn := slices.Clone(newest)
	slices.SortStableFunc(drawn, func(a, b EarlierRunCheck) int {
		return strings.Compare(checkOrderHash(seed, a), checkOrderHash(seed, b))
	})
	seen := map[string]bool{}
	var order []EarlierRunCheck
	for i := range newest {
		for _, e := range []EarlierRunCheck{newest[i], drawn[i]} {
			if key := strings.Join(strings.Fields(e.Check), " "); !seen[key] {
				seen[key] = true
				order = append(order, e)
			}
		}
	}
	return order
}

func checkOrderHash(seed string, e EarlierRunCheck) string {
	sum := sha256.Sum256([]byte(seed + "\x00" + e.GateName() + "\x00" + e.Check))
	return hex.EncodeToString(sum[:])
}

// EarlierRunCheckResult is the result of one such check.
type EarlierRunCheckResult struct {
	Run       nexus.RunID     `json:"run"`
	Criterion string          `json:"criterion"` // T1/AC-2
	Command   string          `json:"command"`
	State     nexus.GateState `json:"state"`
	Why       string          `json:"why,omitzero"`
	Tree      string          `json:"tree"` // tree on which it ran
}

// IsRed reports whether a criterion that was met is no longer met.
func (r EarlierRunCheckResult) IsRed() bool { return r.State == nexus.Fail }

// EarlierResults returns the results of the checks before a run, from its events. The last
// result of each counts.
func EarlierResults(events []nexus.Event) []EarlierRunCheckResult {
	var all []EarlierRunCheckResult
	for _, e := range events {
		if f, ok := e.Fact.(nexus.GateJudged); ok && f.Base {
			if r, ok := ReadEarlierResult(f.Evidence); ok {
				all = slices.DeleteFunc(all, func(o EarlierRunCheckResult) bool { return o.Run == r.Run && o.Criterion == r.Criterion })
				all = append(all, r)
			}
		}
	}
	return all
}

// ReadEarlierResult reads the evidence of a gate that checked such a criterion. It returns
// false for any other gate.
func ReadEarlierResult(e nexus.GateEvidence) (EarlierRunCheckResult, bool) {
	name, ok := strings.CutPrefix(e.Gate, earlierPrefix)
	run, id, two := strings.Cut(name, " ")
	if !ok || !two {
		return EarlierRunCheckResult{}, false
	}
	return EarlierRunCheckResult{Run: nexus.RunID(run), Criterion: id, Command: e.Command, State: e.State, Why: e.Why, Tree: e.Tree}, true
}

// SummarizeEarlierResults returns a short summary of the results.
func SummarizeEarlierResults(rows []EarlierRunCheckResult) string {
	met, red := 0, 0
	for _, r := range rows {
		switch {
		case r.IsRed():
			red++
		case r.State == nexus.Pass:
			met++
		}
	}
	text := fmt.Sprintf("%d of %d criteria of earlier runs are still met", met, len(rows))
	if len(rows) == 1 {
		text = fmt.Sprintf("%d of 1 criterion of an earlier run is still met", met)
	}
	if red > 0 {
		text += fmt.Sprintf(", %d red", red)
	}
	if other := len(rows) - met - red; other > 0 {
		text += fmt.Sprintf(", %d unknown", other)
	}
	return text
}

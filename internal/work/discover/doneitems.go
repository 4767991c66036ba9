package discover

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/backlogitem"
	"github.com/nexus-ai-builder/nexus/internal/decide/discoveredwork"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/filewrite"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/detect"
)

// checkedItemCache are the cached results of the items' checks on a tree.
type checkedItemCache struct {
	Tree  string                     `json:"tree"`
	Items map[string]nexus.GateState `json:"items"`
}

// alreadyDoneItems returns the waiting items that are already done: their finding is gone, and their
// check passes.
func (s *SourceTree) alreadyDoneItems(ctx context.Context, all []discoveredwork.WorkFinding, did []StrategyRunReport) ([]string, error) {
	name := filepath.Join(s.cacheDirectory(), "items.json")
	known := checkedItemCache{}
	if data, err := os.ReadFile(name); err != nil || json.Unmarshal(data, &known) != nil || known.Tree != s.o.Tree || known.Items == nil {
		known = checkedItemCache{Tree: s.o.Tree, Items: map[string]nexus.GateState{}}
	}
	changed := false
	var green []string
	for _, i := range s.o.Rules.Items {
		if i.State != backlogitem.Waiting || i.Finding == "" || i.Check == "" || !isFindingGone(i.Finding, all, did) {
			continue
		}
		state, ok := known.Items[i.ID]
		if !ok {
			var err error
			if state, err = s.runItemCheck(ctx, i); err != nil {
				return nil, err
			}
			known.Items[i.ID], changed = state, true
		}
		if state == nexus.Pass {
			green = append(green, i.ID)
		}
	}
	if !changed {
		return green, nil
	}
	data, err := json.Marshal(known)
	if err == nil {
		err = filewrite.ReplaceFile(name, data)
	}
	return green, err
}

// isFindingGone reports whether a finding no longer exists: its strategy examined everything, and did
// not find it.
func isFindingGone(id string, all []discoveredwork.WorkFinding, did []StrategyRunReport) bool {
	at := slices.IndexFunc(did, func(d StrategyRunReport) bool {
		return len(id) > len(d.Strategy) && id[:len(d.Strategy)+1] == d.Strategy+"/"
	})
	if at < 0 || !did[at].isComplete() {
		return false
	}
	return !slices.ContainsFunc(all, func(f discoveredwork.WorkFinding) bool { return f.ID == id && f.IsOpen() })
}

// runItemCheck returns the result of an item's check on the tree.
func (s *SourceTree) runItemCheck(ctx context.Context, i backlogitem.BacklogItem) (nexus.GateState, error) {
	b, err := s.checkOutTree(ctx)
	if err != nil {
		return "", err
	}
	g, ok := detect.CriterionGate(nexus.Criterion{Text: i.Title, Check: i.Check})
	if !ok {
		for _, own := range b.Gates {
			if own.Name == i.Check {
				e, _, err := s.runGate(ctx, own)
				return e.State, err
			}
		}
		return nexus.NotRun, nil
	}
	if b.May != nil && !b.May(i.Check) {
		return nexus.NotRun, nil
	}
	e, err := b.Runner.RunGate(ctx, b.Tree, g)
	return e.State, err
}

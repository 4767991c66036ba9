package local

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/worker/workertest"
)

// TestSampleIsOfWhatTheBaseHas tries again what earlier runs showed whose work
// is part of the base, by its commit or, after a squash, by its tree.
func TestSampleIsOfWhatTheBaseHas(t *testing.T) {
	s, base, _ := workertest.NewTestWorker(t)
	git := s.Trees.PrivateRepo()
	tree, err := git.TreeID(t.Context(), base)
	if err != nil {
		t.Fatal(err)
	}
	aside, err := s.Trees.Commit(t.Context(), tree, []string{base}, "aside", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	none := strings.Repeat("1", len(base))
	past := []accept.EarlierRunCheck{
		{Run: "by commit", Check: "one", Commit: base, Tree: none},
		{Run: "by tree", Check: "two", Commit: aside, Tree: tree},
		{Run: "of neither", Check: "three", Commit: none, Tree: none},
		{Run: "of neither, too", Check: "four", Commit: none, Tree: tree}, // its commit was looked at before
	}
	m := &LocalExecutor{Worker: s}
	m.Regression.Sample = 9
	m.Regression.Past = func(context.Context) ([]accept.EarlierRunCheck, error) { return past, nil }
	v := state.WorkerView{Run: "r", Goal: nexus.GoalAccepted{Base: base}}
	all, err := m.sampleEarlierChecks(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	var runs []string
	for _, e := range all {
		runs = append(runs, string(e.Run))
	}
	slices.Sort(runs)
	if !slices.Equal(runs, []string{"by commit", "by tree"}) {
		t.Errorf("tried again are %q", runs)
	}
	m.Regression.Sample = 1
	if all, err := m.sampleEarlierChecks(t.Context(), v); err != nil || len(all) != 1 {
		t.Errorf("%d of one, %v", len(all), err)
	}
	v.Goal.Base = none
	if all, err := m.sampleEarlierChecks(t.Context(), v); err == nil {
		t.Errorf("of a base that is not there: %v", all)
	}
	broken := errors.New("broken")
	m.Regression.Past = func(context.Context) ([]accept.EarlierRunCheck, error) { return past, broken }
	if all, err := m.sampleEarlierChecks(t.Context(), v); all != nil || !errors.Is(err, broken) {
		t.Errorf("%v, %v", all, err)
	}
}

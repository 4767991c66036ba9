package state_test

import (
	"slices"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func TestSplits(t *testing.T) {
	var b state.TaskSplitHistory
	sought := nexus.TaskSplitStarted{Attempt: "split.1", Task: "T1", Why: "stuck"}
	b.Apply(sought)
	b.Apply(sought) // it continues
	if e := b.SplitOfTask("T1"); b.Sought != 1 || e == nil || !e.IsOpen() || b.SplitOfTask("T2") != nil {
		t.Fatalf("%+v", b)
	}
	b.Apply(nexus.TaskSplitFailed{Attempt: "split.9", Task: "T1", Why: "another"})
	if !b.SplitOfTask("T1").IsOpen() {
		t.Error("another one's failure counts")
	}
	b.Apply(nexus.TaskSplitFailed{Attempt: "split.1", Task: "T1", Why: "no cut"})
	if e := b.SplitOfTask("T1"); e.IsOpen() || e.Refused != "no cut" {
		t.Errorf("%+v", e)
	}
	b.Apply(nexus.TaskRetried{Task: "T1"})
	b.Apply(nexus.TaskSplitCompleted{Attempt: "split.1", Task: "T1", Parts: []nexus.TaskID{"x"}})
	if b.SplitOfTask("T1") != nil || b.Sought != 1 {
		t.Error("a person gave it another chance, and that is not remembered")
	}
	b.Apply(nexus.TaskSplitStarted{Attempt: "split.2", Task: "T1"})
	b.Apply(nexus.TaskSplitCompleted{Attempt: "split.2", Task: "T1", Parts: []nexus.TaskID{"T1-1"}})
	if e := b.SplitOfTask("T1"); e.IsOpen() || b.Sought != 2 || len(b.All) != 1 {
		t.Errorf("%+v", e)
	}
}

func TestInstead(t *testing.T) {
	for _, c := range []struct{ needs, want []nexus.TaskID }{
		{[]nexus.TaskID{"A", "T", "B"}, []nexus.TaskID{"A", "P", "Q", "B"}},
		{[]nexus.TaskID{"T", "Q"}, []nexus.TaskID{"P", "Q"}},
		{[]nexus.TaskID{"A"}, []nexus.TaskID{"A"}},
		{nil, nil},
	} {
		old := slices.Clone(c.needs)
		if got := state.ReplaceNeedByParts(c.needs, "T", []nexus.TaskID{"P", "Q"}); !slices.Equal(got, c.want) || !slices.Equal(c.needs, old) {
			t.Errorf("%v: %v, want %v", old, got, c.want)
		}
	}
}

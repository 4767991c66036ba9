package memoryentry_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/memoryentry"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestCommon proposes what at least three tasks failed with, wherever that was, once.
func TestCommon(t *testing.T) {
	run := func(n int, rounds ...*state.AttemptRound) *state.State {
		s := task(&state.AttemptState{ID: "T1.1", Rounds: rounds})
		s.Run = nexus.RunID(fmt.Sprint("r", n))
		return s
	}
	var marks []memoryentry.LandedTaskFailure
	gather := func(s *state.State) { marks = memoryentry.MergeFailures(marks, memoryentry.LandedTaskFailures(s)) }
	for n := range 2 {
		first := round(1, fmt.Sprintf("lint=f%d.go:line %d is too long", n, n))
		gather(run(n, first, round(2, fmt.Sprintf("lint=g%d.go:line 7 is too long", n)), round(3, "lint")))
		gather(run(n, first)) // the same again
	}
	gather(run(5, round(1, "lint=h.go:something else"), round(2, "lint")))
	if got := memoryentry.CommonFailureEntries(marks); len(got) > 0 || len(marks) != 3 {
		t.Errorf("%d marks, %+v", len(marks), got)
	}
	parked := run(6, round(1, "lint=x.go:line 1 is too long"))
	parked.Tasks[0].Landed = nil
	gather(parked)
	if got := memoryentry.CommonFailureEntries(marks); len(got) > 0 {
		t.Errorf("what did not land counts: %+v", got)
	}
	gather(run(7, round(1, "lint=k.go:line 99 is too long"), round(2, "lint")))
	data, err := json.Marshal(marks)
	if err != nil {
		t.Fatal(err)
	}
	var kept []memoryentry.LandedTaskFailure
	if err := json.Unmarshal(data, &kept); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(marks, kept); diff != "" {
		t.Error(diff)
	}
	got := memoryentry.CommonFailureEntries(kept)
	if len(got) != 1 || got[0].Kind != memoryentry.Pattern || got[0].By != memoryentry.ByRun || len(got[0].From) != 3 || got[0].Learned.String() != "2026-11-25" {
		t.Fatalf("%+v", got)
	}
	const begins = "Work here often fails the gate lint at first: line 0 is too long\n\n3 tasks met that"
	if !strings.HasPrefix(got[0].Text, begins) || !strings.Contains(got[0].Text, "(r7 T1), in k.go") {
		t.Fatal(got[0].Text)
	}
	if _, err := memoryentry.ParseEntry(got[0].ID, []byte(got[0].String())); err != nil {
		t.Error(err)
	}
}

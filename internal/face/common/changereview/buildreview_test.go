package changereview

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/decide/state/eventtapetest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestShownIsWhole holds that what landed is shown with all its rounds, also by a state
// that keeps little of it, as that of a projection.
func TestShownIsWhole(t *testing.T) {
	text, err := os.ReadFile(filepath.Join("..", "..", "..", "decide", "state", "testdata", "life1.tape"))
	if err != nil {
		t.Fatal(err)
	}
	events, err := eventtapetest.ReadTape("r", string(text))
	if err != nil {
		t.Fatal(err)
	}
	full, small, landed := state.NewState("r"), state.NewState("r").DiscardLandedDetails(), 0
	for _, e := range events {
		for _, s := range []*state.State{full, small} {
			if err := s.Apply(e); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, task := range full.Tasks {
		if task.Status != nexus.Landed {
			continue
		}
		landed++
		want, got := attemptWithShownChange(full, task), attemptWithShownChange(small, small.TaskByID(task.ID))
		if len(want.Rounds) == 0 || len(got.Rounds) != len(want.Rounds) || got.ID != want.ID {
			t.Errorf("%s has %d rounds, and is shown with %d", task.ID, len(want.Rounds), len(got.Rounds))
		}
		if diff := cmp.Diff(weakenedTests(want), weakenedTests(got)); diff != "" {
			t.Errorf("%s: %s", task.ID, diff)
		}
	}
	if landed == 0 {
		t.Error("nothing landed")
	}
}

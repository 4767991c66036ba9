package schedule

import (
	"fmt"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestReasonOfRequest holds that the run says why a person paused or stopped it.
func TestReasonOfRequest(t *testing.T) {
	for verb, want := range map[nexus.RequestKind]string{nexus.VerbPause: "asked by ada: late", nexus.VerbStop: "stopped by ada: late"} {
		r := state.PendingRequest{Seq: 1, Request: nexus.Request{Verb: verb, By: "ada", Text: "late"}}
		yes := func(fs ...nexus.Fact) []nexus.Fact { return fs }
		no := func(string, ...any) []nexus.Fact { return nil }
		if got := fmt.Sprint(settleRunRequest(&state.State{}, r, no, yes)); !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", verb, got, want)
		}
	}
}

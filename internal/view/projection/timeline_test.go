package projection

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state/eventtapetest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestBaseGatesEnd draws gates of the base as long as they took: they are judged for
// all that wait for them, checks are tried in the plan's row, and a warm-up is over
// when work begins.
func TestBaseGatesEnd(t *testing.T) {
	evidence := func(gate string, s nexus.GateState) nexus.GateEvidence {
		return nexus.GateEvidence{Gate: gate, State: s, Tree: "t0"}
	}
	facts := []nexus.Fact{
		nexus.GoalAccepted{Goal: nexus.Goal{Text: "g"}, Base: "b0", Target: "main", Limits: nexus.DefaultLimits()},
		nexus.RunStarted{Process: nexus.RunProcess{PID: 7, Host: "h"}},
		nexus.PlanningStarted{Attempt: "plan.1"},
		nexus.GateStarted{Attempt: "plan.1", Base: true, Gate: nexus.WarmUpGate},
		nexus.SessionStarted{Session: "plan.1/planner.1", Attempt: "plan.1", Role: nexus.Planner, Model: "p/m"},
		nexus.GateStarted{Attempt: "plan.1", Base: true, Gate: "test"},
		nexus.GateJudged{Base: true, Evidence: evidence("test", nexus.Fail)},
		nexus.SessionEnded{Session: "plan.1/planner.1", Outcome: nexus.Accepted},
		nexus.GateStarted{Attempt: "plan.1", Base: true, Gate: "accept: a"},
		nexus.CriterionCommandTried{Attempt: "plan.1", Evidence: evidence("accept: a", nexus.Fail)},
	}
	p := NewProjection("r1", Options{})
	at := eventtapetest.TapeStartTime()
	for n, f := range facts {
		at = at.Add(time.Minute)
		if err := p.Apply(nexus.Event{Seq: int64(n + 1), Run: "r1", At: at, Fact: f}); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, row := range p.Timeline(at.Add(time.Hour)).Rows {
		for _, s := range row.Spans {
			if s.Label == "" { // nothing is done between the others
				continue
			}
			got = append(got, fmt.Sprint(row.Label, " ", s.Label, " ", s.State, " ends ", !s.To.IsZero()))
		}
	}
	const want = "plan.1 base: warm-up  ends true, plan.1 planner  ends true, plan.1 base: test fail ends true, plan.1 base: accept: a  ends true"
	if text := strings.Join(got, ", "); text != want {
		t.Errorf("%s\nwant %s", text, want)
	}
}

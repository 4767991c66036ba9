package schedule_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/schedule"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/decide/state/eventtapetest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestNearlyUsedUp holds who may go on with an account of which a window is nearly
// used up: a session under way may, a new one waits, or begins with another.
func TestNearlyUsedUp(t *testing.T) {
	const run = `goal.accepted base=c0 limits.run_money=1
run.started
plan.proposed tasks=1
task.planned task.id=T1
plan.approved
attempt.started attempt=T1.1 task=T1 base=c0 tier=fast
session.started session=T1.1/coder.1 attempt=T1.1 role=coder model=claude/default prompt=b0
turn.taken session=T1.1/coder.1 turn=1 message=b1
session.started session=T1.1/reviewer.1 attempt=T1.1 role=reviewer model=claude/default prompt=b0
quota.held account=claude window=5h used=96 until=2026-01-01T04:00:00Z
`
	const why = "claude starts no session: 96% of its 5h limit is used"
	for name, c := range map[string]struct {
		more    string
		session nexus.SessionID
		others  []string
		want    schedule.CallPermission
		why     string
	}{
		"under way":              {session: "T1.1/coder.1", others: []string{"codex/default"}, want: schedule.CallPermission{Granted: true}, why: why},
		"new":                    {session: "T1.1/reviewer.1", why: why},
		"not begun":              {session: "T1.1/reviewer.2", why: why},
		"new, another":           {session: "T1.1/reviewer.1", others: []string{"codex/default"}, want: schedule.CallPermission{Instead: "codex/default"}, why: why},
		"the first is held, too": {"quota.held account=codex window=7d used=99 until=2026-01-02T04:00:00Z", "T1.1/reviewer.1", []string{"codex/default", "m/x"}, schedule.CallPermission{Instead: "m/x"}, why},
		"and parked":             {"quota.hit account=codex until=2026-01-02T04:00:00Z why=x", "T1.1/reviewer.1", []string{"codex/default"}, schedule.CallPermission{}, why},
		"it resets in a minute":  {"@3h59m1s pressed", "T1.1/reviewer.1", []string{"codex/default"}, schedule.CallPermission{}, why},
		"used up":                {"quota.hit account=claude until=2026-01-01T03:00:00Z why=x", "T1.1/coder.1", []string{"codex/default"}, schedule.CallPermission{Instead: "codex/default"}, "claude is out of quota"},
		"it started anew":        {"@4h quota.reset account=claude held=true", "T1.1/reviewer.1", []string{"codex/default"}, schedule.CallPermission{Granted: true}, "claude is out of quota"},
	} {
		t.Run(name, func(t *testing.T) {
			events, err := eventtapetest.ReadTape("r", run+strings.Replace(c.more, "pressed", "budget.pressed percent=50", 1)+"\n")
			if err != nil {
				t.Fatal(err)
			}
			s := state.NewState("r")
			for _, e := range events {
				if err := s.Apply(e); err != nil {
					t.Fatal(err)
				}
			}
			r := nexus.BudgetReserved{ID: "R", Task: "T1", Session: c.session, Model: "claude/default", Else: c.others}
			if diff := cmp.Diff(c.want, schedule.MaySpend(s, r)); diff != "" {
				t.Errorf("-want +got\n%s", diff)
			}
			if got := schedule.OtherModelReason(s, r); got != c.why {
				t.Errorf("because %s, want %s", got, c.why)
			}
		})
	}
}

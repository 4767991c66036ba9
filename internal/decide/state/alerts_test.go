package state_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/decide/state/eventtapetest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// play plays a tape against a book. A line "? @10s" asks what is due then,
// with " held" behind it where the run is held; what is due is raised at once.
func play(t *testing.T, l nexus.Limits, text string) []string {
	t.Helper()
	var b state.RunAlertWatch
	var out []string
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" {
			continue
		}
		if ask, ok := strings.CutPrefix(line, "? @"); ok {
			at, held := strings.CutSuffix(ask, " held")
			d, err := time.ParseDuration(at)
			if err != nil {
				t.Fatal(err)
			}
			now := eventtapetest.TapeStartTime().Add(d)
			if again := b.NextStuckTime(l, held); !again.IsZero() && again.After(now) != (len(stuck(b.DueAlerts(l, held, now))) == 0) {
				t.Errorf("%s: it would wake at %s", line, again.Sub(eventtapetest.TapeStartTime()))
			}
			for _, f := range b.DueAlerts(l, held, now) {
				out = append(out, at+" "+view.AlertText(f))
				b.Apply(nexus.Event{At: now, Fact: f})
			}
			if more := b.DueAlerts(l, held, now); len(more) > 0 {
				t.Errorf("%s: %v is told twice", line, more)
			}
			continue
		}
		stamp, fact, _ := strings.Cut(line, " ")
		d, err := time.ParseDuration(strings.TrimPrefix(stamp, "@"))
		if err != nil {
			t.Fatal(err)
		}
		f, err := eventtapetest.ParseFact(fact)
		if err != nil {
			t.Fatal(err)
		}
		b.Apply(nexus.Event{At: eventtapetest.TapeStartTime().Add(d), Fact: f})
	}
	return out
}

func stuck(all []nexus.AlertRaised) []nexus.AlertRaised {
	return slices.DeleteFunc(all, func(f nexus.AlertRaised) bool { return f.Kind != nexus.AlertStuck })
}

func limits() nexus.Limits {
	return nexus.Limits{GateTime: 10 * time.Minute, Alerts: nexus.AlertThresholds{Denials: 3, Failures: 2, Stuck: 5 * time.Minute, Tokens: 90, Rounds: 3}, RunTokens: 1000, SessionTokens: 100}
}

func TestAlerts(t *testing.T) {
	const denied = ` tool.answered session=T1.1/coder.1 call=c judged={"decision":"deny","rule":"git.shared","by":"policy","refused":true}`
	const begins = "@0s attempt.started attempt=T1.1 task=T1 tier=fast\n"
	for name, c := range map[string]struct {
		tape string
		want []string
	}{
		"denials within a minute": {"@0s" + denied + "\n@20s" + denied + "\n@40s" + denied + "\n? @41s\n@59s" + denied + "\n? @59s\n? @60s", []string{
			"59s denials: 4 tool calls were refused within a minute, the last by git.shared",
		}},
		"denials over a longer time": {"@0s" + denied + "\n@40s" + denied + "\n@61s" + denied + "\n@90s" + denied + "\n? @90s", nil},
		"told again after as many more": {strings.Repeat("@1s"+denied+"\n", 4) + "? @1s\n" + strings.Repeat("@2s"+denied+"\n", 3) + "? @2s\n@3s" + denied + "\n? @3s", []string{
			"1s denials: 4 tool calls were refused within a minute, the last by git.shared",
			"3s denials: 4 tool calls were refused within a minute, the last by git.shared",
		}},
		"failures": {"@0s call.delayed session=T1.1/coder.1 try=1 why=overloaded\n@5s attempt.broken attempt=T2.1 why=x\n@6s call.delayed session=T1.1/coder.1 try=0 why=near\n? @7s\n@8s attempt.ended attempt=T3.1 outcome=no-progress why=y\n? @8s", []string{
			"8s failures: 3 failures within a minute, the last: y",
		}},
		"what a provider said": {"@0s attempt.broken attempt=T1.1 why=x\n@1s attempt.broken attempt=T2.1 why=x\n@2s call.delayed session=T1.1/coder.1 try=1 why=overloaded said=full\n? @3s", []string{
			"3s failures: 3 failures within a minute, the last: overloaded: full",
		}},
		"accepted and stopped are no failures": {strings.Repeat("@0s attempt.ended attempt=T1.1 outcome=accepted\n@0s attempt.ended attempt=T1.1 outcome=stopped\n", 5) + "? @1s", nil},
		"rounds of a task, over its attempts": {
			begins + strings.Repeat("@1s round.started attempt=T1.1 round=1 role=coder\n", 2) + "? @1s\n@2s attempt.ended attempt=T1.1 outcome=exhausted\n@3s attempt.started attempt=T1.2 task=T1 tier=fast\n@3s round.started attempt=T1.2 round=1 role=coder\n? @3s\n@4s round.started attempt=T1.2 round=2 role=coder\n? @4s",
			[]string{"3s rounds, T1: it is not done after 3 rounds; nexus status T1 says what was tried, nexus tell T1 TEXT can help it"},
		},
		"rounds of others do not count": {begins + "@0s attempt.started attempt=T2.1 task=T2 tier=fast\n" + strings.Repeat("@1s round.started attempt=T1.1 round=1 role=coder\n@1s round.started attempt=T2.1 round=1 role=coder\n", 2) + "? @1s", nil},
		"stuck": {begins + "@4m turn.taken session=T1.1/coder.1 turn=1\n? @5m\n? @9m\n? @10m\n@11m turn.taken session=T1.1/coder.1 turn=2\n? @15m\n? @16m", []string{
			"9m stuck, T1.1: it has been silent for 5m0s", "16m stuck, T1.1: it has been silent for 5m0s",
		}},
		"others do not count for it": {begins + "@0s attempt.started attempt=T2.1 task=T2 tier=fast\n@4m turn.taken session=T2.1/coder.1 turn=1\n? @5m", []string{
			"5m stuck, T1.1: it has been silent for 5m0s",
		}},
		"nor while a gate compiles":  {begins + "@1m gate.started attempt=T1.1 gate=test\n? @15m\n@15m gate.judged attempt=T1.1 evidence.gate=test evidence.state=pass\n? @19m\n? @20m", []string{"20m stuck, T1.1: it has been silent for 5m0s"}},
		"a gate past its own limit":  {begins + "@1m gate.started attempt=T1.1 gate=test\n? @15m59s\n? @16m", []string{"16m stuck, T1.1: it has been silent for 15m0s"}},
		"who is over is not stuck":   {begins + "@1s attempt.ended attempt=T1.1 outcome=accepted\n? @1h", nil},
		"nor who waits for a person": {begins + "@1s question.asked id=q attempt=T1.1 text=x fallback=y\n? @1h\n@2h question.answered id=q text=z by=ada\n? @2h4m\n? @2h5m", []string{"2h5m stuck, T1.1: it has been silent for 5m0s"}},
		"nor who waits for its turn": {begins + "@1s call.delayed session=T1.1/coder.1 try=1 wait=600000000000 why=overloaded\n? @14m\n? @15m1s", []string{"15m1s stuck, T1.1: it has been silent for 5m0s"}},
		"nor in a run that is held":  {begins + "? @1h held\n@1h run.resumed\n? @1h4m\n? @1h5m", []string{"1h5m stuck, T1.1: it has been silent for 5m0s"}},
		"the planner":                {"@0s plan.sought attempt=plan.1\n? @5m\n@6m plan.proposed tasks=1\n? @1h", []string{"5m stuck, plan.1: it has been silent for 5m0s"}},
		"tokens of a session": {begins + "@1s budget.reserved id=a session=T1.1/coder.1 model=p/m\n@2s budget.spent id=a usage.input=80 usage.output=9\n? @2s\n@3s budget.reserved id=b session=T1.1/coder.1 model=p/m\n@4s budget.spent id=b usage.output=1\n? @4s\n? @5s", []string{
			"4s tokens, T1.1/coder.1: 90 of 100 tokens are used",
		}},
		"tokens of the run": {"@1s budget.reserved id=a session=x/coder.1 model=p/m tokens=1000\n@2s budget.spent id=a usage.input=950\n? @2s\n@3s run.recovered\n? @3s", []string{
			"2s tokens: 950 of 1000 tokens are used", "3s tokens: 950 of 1000 tokens are used",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.want, play(t, limits(), c.tape)); d != "" {
				t.Error(d)
			}
			if got := play(t, nexus.Limits{RunTokens: 1, SessionTokens: 1}, c.tape); len(got) > 0 {
				t.Errorf("without bounds: %q", got)
			}
		})
	}
}

// TestHangs tells once of each gate that hangs as it did before, whatever the
// limits, and of none that only hangs now.
func TestHangs(t *testing.T) {
	const hangs = " gate.judged attempt=T1.1 evidence.gate=test evidence.state=timeout evidence.tree=t"
	want := []string{"2s hangs, test: it does not end, also without the work; tasks are judged only by the tests of what they change and by their criteria, and tasks with neither wait for a person"}
	got := play(t, nexus.Limits{}, "@0s"+hangs+"\n? @1s\n@2s"+hangs+" evidence.hangs=true\n@2s"+hangs+" evidence.hangs=true\n? @2s\n@3s"+hangs+" evidence.hangs=true\n? @3s")
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

package state_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/decide/state/eventtapetest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// settle plays a tape and decides in each second what is raised and cleared, as
// a run does; it checks that nobody would sleep past the moment of a clearing.
func settle(t *testing.T, l nexus.Limits, tape string, seconds int) []string {
	t.Helper()
	var b state.RunAlertWatch
	var out []string
	lines := strings.Split(strings.TrimSpace(tape), "\n")
	for s := range seconds {
		now := eventtapetest.TapeStartTime().Add(time.Duration(s) * time.Second)
		for len(lines) > 0 {
			stamp, text, _ := strings.Cut(strings.TrimSpace(lines[0]), " ")
			d, err := time.ParseDuration(strings.TrimPrefix(stamp, "@"))
			if err != nil {
				t.Fatal(err)
			}
			if eventtapetest.TapeStartTime().Add(d).After(now) {
				break
			}
			f, err := eventtapetest.ParseFact(text)
			if err != nil {
				t.Fatal(err)
			}
			b.Apply(nexus.Event{At: now, Fact: f})
			lines = lines[1:]
		}
		at := now.Sub(eventtapetest.TapeStartTime()).String() + " "
		for _, f := range b.DueAlerts(l, false, now) {
			out = append(out, at+"raised "+view.AlertText(f))
			b.Apply(nexus.Event{At: now, Fact: f})
		}
		due := b.NextClearTime(l)
		all := b.AlertsToClear(l, now)
		for _, f := range all {
			if counted := f.Kind == nexus.AlertFailures || f.Kind == nexus.AlertDenials; counted && due.After(now) {
				t.Errorf("%sit would sleep until %s", at, due)
			}
			out = append(out, at+"cleared "+view.ClearedText(f))
			b.Apply(nexus.Event{At: now, Fact: f})
		}
		if more := b.AlertsToClear(l, now); len(more) > 0 {
			t.Errorf("%s%v is cleared twice", at, more)
		}
	}
	return out
}

func TestCalm(t *testing.T) {
	const failed = " call.delayed session=T1.1/coder.1 model=p/m try=1 why=overloaded\n"
	l := limits()
	l.Alerts.Failures = 4
	many := strings.Repeat("@0s"+failed, 5)
	for name, c := range map[string]struct {
		tape    string
		seconds int
		want    []string
	}{
		"failures are over after a calm minute": {many, 200, []string{
			"0s raised failures: 5 failures within a minute, the last: overloaded",
			"1m0s cleared failures: at most 2 failures within a minute",
		}},
		"who comes and goes is told of once": {many + "@20s" + failed + "@40s" + failed + "@55s" + failed + "@70s" + failed + "@90s" + failed, 400, []string{
			"0s raised failures: 5 failures within a minute, the last: overloaded",
			"1m55s cleared failures: at most 2 failures within a minute",
		}},
		"stuck until it is heard of": {"@0s attempt.started attempt=T1.1 task=T1 tier=fast\n@310s turn.taken session=T1.1/coder.1 turn=1", 400, []string{
			"5m0s raised stuck, T1.1: it has been silent for 5m0s",
			"5m10s cleared stuck, T1.1: it responds again",
		}},
		"stuck until it is over": {"@0s attempt.started attempt=T1.1 task=T1 tier=fast\n@310s attempt.lost attempt=T1.1 why=x", 400, []string{
			"5m0s raised stuck, T1.1: it has been silent for 5m0s",
			"5m10s cleared stuck, T1.1: it is over",
		}},
		"tokens of a session that is over": {"@0s attempt.started attempt=T1.1 task=T1 tier=fast\n@1s budget.reserved id=a session=T1.1/coder.1 model=p/m\n@2s budget.spent id=a usage.input=95\n@9s attempt.ended attempt=T1.1 outcome=accepted", 20, []string{
			"2s raised tokens, T1.1/coder.1: 95 of 100 tokens are used",
			"9s cleared tokens, T1.1/coder.1: the session is over",
		}},
		"rounds until it landed": {"@0s attempt.started attempt=T1.1 task=T1 tier=fast\n" + strings.Repeat("@1s round.started attempt=T1.1 round=1 role=coder\n", 3) + "@5s train.landed task=T1 attempt=T1.1 commit=c tree=t parent=p", 20, []string{
			"1s raised rounds, T1: it is not done after 3 rounds; nexus status T1 says what was tried, nexus tell T1 TEXT can help it",
			"5s cleared rounds, T1: it has landed",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			if d := cmp.Diff(c.want, settle(t, l, c.tape, c.seconds)); d != "" {
				t.Error(d)
			}
		})
	}
}

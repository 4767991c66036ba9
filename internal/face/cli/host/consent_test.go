package host_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/host"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestShown holds that who agrees to a text that is cut knows that it is.
func TestShown(t *testing.T) {
	if got := host.ShownText(" a\nb "); got != "a b" {
		t.Error(got)
	}
	if got := host.ShownText(strings.Repeat("y", 10_000)); len(got) > 1600 || !strings.HasSuffix(got, "y... (cut here; it has 10,000 bytes)") {
		t.Errorf("%d bytes: %s", len(got), got[len(got)-60:])
	}
}

// TestYesTakes holds that a question stays as it was asked while the run spends: a yes to
// another one is none.
func TestYesTakes(t *testing.T) {
	s := state.NewState("r")
	at := int64(0)
	apply := func(f nexus.Fact) {
		at++
		if err := s.Apply(nexus.Event{Seq: at, Run: "r", At: time.Unix(0, 0), Fact: f}); err != nil {
			t.Fatal(err)
		}
	}
	apply(nexus.GoalAccepted{Goal: nexus.Goal{Text: "Write."}, Land: true, Target: "main", Limits: nexus.Limits{RunMoney: 5 * nexus.Dollar}})
	apply(nexus.RunStarted{})
	asked := host.YesEffect(s, true)
	if want := "It may spend up to $5.00 in all, and moves main to the result."; !strings.HasSuffix(asked, want) {
		t.Error(asked)
	}
	apply(nexus.BudgetReserved{ID: "1", Money: nexus.Dollar})
	apply(nexus.BudgetSettled{ID: "1", Money: nexus.Dollar})
	if s.Ledger.SpentMoney() != nexus.Dollar {
		t.Fatal("nothing is spent")
	}
	if now := host.YesEffect(s, true); now != asked {
		t.Errorf("after it spent: %s", now)
	}
}

// TestOutline holds that who agrees to a plan has seen every check of it.
func TestOutline(t *testing.T) {
	var tasks []nexus.Task
	for i := range 100 {
		check := fmt.Sprintf("sh check-%d.sh", i)
		id := nexus.TaskID(fmt.Sprintf("T%d", i))
		tasks = append(tasks, nexus.Task{ID: id, Title: strings.Repeat("x", 100), Criteria: []nexus.Criterion{{Text: "It works", Check: check}}})
	}
	text, err := host.PlanOutline(strings.Repeat("y", 10_000), tasks)
	if err != nil || len(text) > 30_000 {
		t.Fatalf("%d bytes, %v", len(text), err)
	}
	for i := range tasks {
		if !strings.Contains(text, fmt.Sprintf("checked by: sh check-%d.sh\n", i)) {
			t.Errorf("check %d is not shown", i)
		}
	}
	tasks[99].Criteria[0].Check = strings.Repeat("z", 2000) + "; rm -rf ."
	if _, err := host.PlanOutline("a goal", tasks); err == nil {
		t.Error("a check that is cut can be agreed to")
	}
	for i := range tasks {
		tasks[i].Title, tasks[i].Criteria = strings.Repeat("x", 1400), []nexus.Criterion{{Check: strings.Repeat("z", 1400)}}
	}
	if _, err := host.PlanOutline("a goal", tasks); err == nil {
		t.Error("a plan of 280,000 bytes can be agreed to")
	}
}

package schedule_test

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/decide/strategy"
	"github.com/nexus-ai-builder/nexus/internal/decide/tape"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// ends are all ways in which an attempt ends that is not accepted.
func ends() []nexus.AttemptEnded {
	return []nexus.AttemptEnded{
		{Outcome: nexus.NoProgress, Category: nexus.IsolationViolation},
		{Outcome: nexus.NoProgress, Category: nexus.GreenfieldNoTests},
		{Outcome: nexus.NoProgress, Category: nexus.TestsFailing},
		{Outcome: nexus.NoProgress},
		{Outcome: nexus.Exhausted, Category: nexus.SessionFailure},
		{Outcome: nexus.Exhausted, Category: nexus.VerifierRejected},
		{Outcome: nexus.GaveUp},
		{Outcome: nexus.Unverified},
		{Outcome: nexus.Unverified, Category: nexus.VerifierRejected},
		{Outcome: nexus.Inapplicable},
		{Outcome: nexus.Conflicted},
	}
}

// TestEnds drives every strategy into every end, again and again, and holds
// the way that a task takes to the table.
func TestEnds(t *testing.T) {
	var b strings.Builder
	b.WriteString("# What follows when every attempt of a task with a strategy ends in the same way: each attempt as\n" +
		"# strategy@tier, and how the task is left. One attempt a tier, so that each step of the ladder shows.\n")
	for _, s := range nexus.Strategies() {
		for _, end := range ends() {
			fmt.Fprintf(&b, "%s, %s: %s\n", s, strings.TrimSuffix(string(end.Outcome)+"/"+string(end.Category), "/"), way(t, s, end))
		}
	}
	golden(t, "ends.golden", b.String())
}

// way plays a task whose attempts all end alike.
func way(t *testing.T, s nexus.Strategy, end nexus.AttemptEnded) string {
	t.Helper()
	p := &player{t: t, state: state.New("r"), now: tape.Start()}
	limits := nexus.Limits{Parallel: 1, RunMoney: nexus.Dollar, PerTier: map[nexus.Tier]int{nexus.Fast: 1, nexus.Balanced: 1, nexus.Strong: 1}}
	for _, f := range []nexus.Fact{
		nexus.GoalAccepted{Base: "c0", Limits: limits},
		nexus.PlanProposed{Tasks: 1},
		nexus.TaskPlanned{Task: nexus.Task{ID: "T1", Strategy: s, Reason: "words"}},
		nexus.RunStarted{},
	} {
		p.fold(f)
	}
	var steps []string
	for range 30 {
		p.decide()
		task := p.state.Task("T1")
		a := task.Current()
		if task.Status.Ended() {
			return strings.Join(append(steps, string(task.Status)), " > ")
		}
		steps = append(steps, fmt.Sprintf("%s@%s", a.Strategy, a.Tier))
		end.Attempt, end.Why = a.ID, "as before"
		p.fold(end)
	}
	t.Fatalf("%s, %v: it never ends: %v", s, end, steps)
	return ""
}

// TestChoices holds the automatic choice of a strategy to its table.
func TestChoices(t *testing.T) {
	var b strings.Builder
	b.WriteString("# Which strategy a task is given, and why. The plan's own word comes first, then the run's.\n")
	row := func(name string, r nexus.Routing, task nexus.Task, c nexus.Complexity) {
		chosen, why := strategy.Choose(r, task, c)
		fmt.Fprintf(&b, "%s: %s (%s)\n", name, chosen, why)
	}
	for _, c := range []nexus.Complexity{nexus.Simple, nexus.Medium, nexus.Complex, nexus.Expert} {
		row(string(c), nexus.Routing{}, nexus.Task{}, c)
		row(string(c)+", a word of risk", nexus.Routing{}, nexus.Task{Title: "Check the password"}, c)
		row(string(c)+", no test in the repository", nexus.Routing{Untested: true}, nexus.Task{Title: "Check the password"}, c)
		for _, tag := range []string{"ui", "layout", "cli", "integration", "polyglot", "other"} {
			row(string(c)+", tag "+tag, nexus.Routing{}, nexus.Task{Tags: []string{tag}}, c)
		}
	}
	for _, s := range nexus.Strategies() {
		row("the run says "+string(s), nexus.Routing{Strategy: s}, nexus.Task{}, nexus.Expert)
		row("the plan says "+string(s), nexus.Routing{Strategy: nexus.TestAfter, Untested: true}, nexus.Task{Strategy: s}, nexus.Simple)
	}
	row("a task of words", nexus.Routing{Strategy: nexus.TDDStrict}, nexus.Task{Kind: nexus.DocsTask}, nexus.Expert)
	row("a task of tests", nexus.Routing{Strategy: nexus.TDDStrict}, nexus.Task{Kind: nexus.TestTask}, nexus.Expert)
	for _, s := range nexus.Strategies() {
		less, ok := strategy.Lower(s)
		fmt.Fprintf(&b, "less than %s: %s\n", s, cmp.Or(map[bool]string{true: string(less)}[ok], "nothing"))
	}
	for _, c := range []nexus.Category{nexus.IsolationViolation, nexus.SessionFailure, nexus.TestsFailing, nexus.VerifierRejected, nexus.GreenfieldNoTests} {
		fmt.Fprintf(&b, "left with %s: %s\n", c, map[bool]string{true: "a person must say", false: "failed"}[c.NeedsPerson()])
	}
	golden(t, "choices.golden", b.String())
}

// TestTapesDriveEveryEnd holds that no outcome, category or strategy is without
// a tape that tells what follows.
func TestTapesDriveEveryEnd(t *testing.T) {
	files, err := filepath.Glob("testdata/*.tape")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	lines := strings.Split(all.String(), "\n")
	need := []string{"parked", "failed=true"}
	for _, end := range ends() {
		need = append(need, "outcome="+string(end.Outcome))
		if end.Category != "" {
			need = append(need, "category="+string(end.Category))
		}
	}
	for _, s := range nexus.Strategies() {
		need = append(need, "strategy="+string(s))
	}
	for _, word := range need {
		if !slices.ContainsFunc(lines, func(l string) bool { return !strings.HasPrefix(l, "#") && strings.Contains(l+" ", word) }) {
			t.Errorf("no tape has %s", word)
		}
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(want), got); diff != "" {
		t.Errorf("-want +got\n%s", diff)
	}
}

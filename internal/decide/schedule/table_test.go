package schedule_test

import (
	"bufio"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/route"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/decide/state/eventtapetest"
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
		{Outcome: nexus.Exhausted},
		{Outcome: nexus.GaveUp, Category: nexus.IsolationViolation},
		{Outcome: nexus.GaveUp},
		{Outcome: nexus.Unverified},
		{Outcome: nexus.Unverified, Category: nexus.VerifierRejected},
		{Outcome: nexus.Inapplicable},
		{Outcome: nexus.Conflicted},
		{Outcome: nexus.NoProgress, Category: nexus.Resubmitted},
		{Outcome: nexus.NoProgress, Category: nexus.VerifierRejected},
	}
}

func endName(o nexus.Outcome, c nexus.AttemptFailureCategory) string {
	return strings.TrimSuffix(string(o)+"/"+string(c), "/")
}

// played plays all tapes and returns the states that they end in.
func played(t *testing.T) map[string]*state.State {
	t.Helper()
	files, err := filepath.Glob("testdata/*.tape")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	all := map[string]*state.State{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p := &player{t: t, state: state.NewState("r"), now: eventtapetest.TapeStartTime()}
		p.play(string(text))
		all[file] = p.state
	}
	return all
}

// held holds rows to a golden file both ways: each of its rows was met, and
// what was met has a row. What a tape must reach is met by tapes alone.
func held(t *testing.T, name, head string, onTape, decided map[string]bool) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if *update {
		text := head + strings.Join(slices.Sorted(maps.Keys(onTape)), "\n") + "\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows := map[string]bool{}
	for s := bufio.NewScanner(f); s.Scan(); {
		if line := s.Text(); line != "" && !strings.HasPrefix(line, "#") {
			rows[line] = true
		}
	}
	for _, row := range slices.Sorted(maps.Keys(rows)) {
		if !onTape[row] {
			t.Errorf("%s: no tape reaches the row %s", name, row)
		}
	}
	for which, met := range map[string]map[string]bool{"a tape": onTape, "a decision": decided} {
		for _, row := range slices.Sorted(maps.Keys(met)) {
			if !rows[row] {
				t.Errorf("%s: %s has no row: %s", name, which, row)
			}
		}
	}
}

// TestEnds drives every strategy into every end, again and again, and holds
// the way that a task takes to the table; each row has a tape.
func TestEnds(t *testing.T) {
	onTape, decided := map[string]bool{}, map[string]bool{}
	for _, s := range nexus.Strategies() {
		for _, end := range ends() {
			decided[fmt.Sprintf("%s, %s: %s", s, endName(end.Outcome, end.Category), way(t, s, end))] = true
		}
	}
	for file, s := range played(t) {
		if !strings.HasPrefix(filepath.Base(file), "ends-") {
			continue
		}
		for _, task := range s.Tasks {
			var steps []string
			for _, a := range task.Attempts {
				steps = append(steps, fmt.Sprintf("%s@%s", a.Strategy, a.Tier))
				if first := task.Attempts[0]; a.Outcome != first.Outcome || a.Category != first.Category {
					t.Fatalf("%s: %s ends in several ways", file, task.ID)
				}
			}
			a := task.Attempts[0]
			onTape[fmt.Sprintf("%s, %s: %s > %s", task.Strategy, endName(a.Outcome, a.Category), strings.Join(steps, " > "), task.Status)] = true
		}
	}
	held(t, "ends.golden", "# What follows when every attempt of a task with a strategy ends in the same way: each attempt as\n"+
		"# strategy@tier, and how the task is left. One attempt a tier, so that each step of the ladder shows.\n", onTape, decided)
}

// TestEndsAreAll holds that no attempt ends in a way that the table has no
// row for: those that an attempt decides itself are in the table of what
// follows in it.
func TestEndsAreAll(t *testing.T) {
	text, err := os.ReadFile("../repair/testdata/table.golden")
	if err != nil {
		t.Fatal(err)
	}
	have := map[string]bool{string(nexus.Accepted): true}
	for _, end := range ends() {
		have[endName(end.Outcome, end.Category)] = true
	}
	n := 0
	for line := range strings.Lines(string(text)) {
		if _, end, ok := strings.Cut(strings.TrimSpace(line), ": end "); ok {
			n++
			if !have[strings.ReplaceAll(end, " ", "/")] {
				t.Errorf("no strategy is driven into %q", end)
			}
		}
	}
	if n < 100 {
		t.Errorf("%d ends in the table of attempts", n)
	}
}

// way plays a task whose attempts all end alike.
func way(t *testing.T, s nexus.WritingStrategy, end nexus.AttemptEnded) string {
	t.Helper()
	p := &player{t: t, state: state.NewState("r"), now: eventtapetest.TapeStartTime()}
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
		task := p.state.TaskByID("T1")
		a := task.CurrentAttempt()
		if task.Status.HasEnded() {
			return strings.Join(append(steps, string(task.Status)), " > ")
		}
		steps = append(steps, fmt.Sprintf("%s@%s", a.Strategy, a.Tier))
		end.Attempt, end.Why = a.ID, "as before"
		p.fold(end)
	}
	t.Fatalf("%s, %v: it never ends: %v", s, end, steps)
	return ""
}

// choice names the row of a choice.
func choice(r nexus.StartTierRules, task nexus.Task, c nexus.Complexity, chosen nexus.WritingStrategy, why string) string {
	name := string(c)
	switch {
	case task.Strategy != "":
		name = "the plan says " + string(task.Strategy)
	case task.Kind == nexus.DocsTask:
		name = "a task of words"
	case task.Kind == nexus.TestTask:
		name = "a task of tests"
	case r.Strategy != "":
		name = "the run says " + string(r.Strategy)
	case r.Untested:
		name += ", no test in the repository"
	case renames(task):
		name = "a rename"
	default:
		if route.RiskWord(task) != "" {
			name += ", a word of risk"
		}
		for _, tag := range task.Tags {
			name += ", tag " + tag
		}
	}
	return fmt.Sprintf("%s: %s (%s)", name, chosen, why)
}

func renames(task nexus.Task) bool {
	_, is := repair.RenamesOf(task)
	return is
}

// choices are those of all tasks and runs there can be, by what decides.
func choices() map[string]bool {
	all := map[string]bool{}
	none := []nexus.WritingStrategy{""}
	for _, c := range []nexus.Complexity{nexus.Simple, nexus.Medium, nexus.Complex, nexus.Expert} {
		for _, title := range []string{"Rename it", "Check the permission", "Rename Foo to Bar"} {
			for _, tags := range [][]string{nil, {"ui"}, {"layout"}, {"cli"}, {"integration"}, {"polyglot"}, {"other"}} {
				for _, kind := range []nexus.TaskKind{nexus.CodeTask, nexus.DocsTask, nexus.TestTask} {
					for _, plan := range slices.Concat(none, nexus.Strategies()) {
						for _, run := range slices.Concat(none, nexus.Strategies()) {
							for _, untested := range []bool{false, true} {
								task := nexus.Task{Title: title, Tags: tags, Kind: kind, Strategy: plan}
								r := nexus.StartTierRules{Strategy: run, Untested: untested}
								chosen, why := repair.ChooseStrategy(r, task, nexus.StartTierChosen{Complexity: c})
								all[choice(r, task, c, chosen, why)] = true
							}
						}
					}
				}
			}
		}
	}
	for _, s := range nexus.Strategies() {
		less, ok := repair.LowerStrategy(s)
		if !ok {
			less = "nothing"
		}
		all[fmt.Sprintf("less than %s: %s", s, less)] = true
	}
	for _, c := range []nexus.AttemptFailureCategory{nexus.IsolationViolation, nexus.SessionFailure, nexus.TestsFailing, nexus.VerifierRejected, nexus.GreenfieldNoTests} {
		all[fmt.Sprintf("left with %s: %s", c, map[bool]string{true: "parked", false: "failed"}[c.NeedsPerson()])] = true
	}
	return all
}

// TestChoices holds the automatic choice of a strategy, and of less of it, to
// the table; each row has a tape.
func TestChoices(t *testing.T) {
	onTape := map[string]bool{}
	for file, s := range played(t) {
		for _, task := range s.Tasks {
			base := filepath.Base(file)
			if strings.HasPrefix(base, "choices") {
				onTape[choice(s.Goal.Routing, task.Task, task.Route.Complexity, task.Route.Strategy, task.Route.Chosen)] = true
			}
			if !strings.HasPrefix(base, "ends-") || !task.Status.HasEnded() {
				continue
			}
			for i, a := range task.Attempts {
				last := i == len(task.Attempts)-1
				switch {
				case a.Tier != nexus.Strong, a.Category.NeedsPerson(): // for such a reason nothing is lowered
				case last:
					onTape[fmt.Sprintf("less than %s: nothing", a.Strategy)] = true
				case task.Attempts[i+1].Strategy != a.Strategy:
					onTape[fmt.Sprintf("less than %s: %s", a.Strategy, task.Attempts[i+1].Strategy)] = true
				}
				if last && a.Category != "" {
					onTape[fmt.Sprintf("left with %s: %s", a.Category, task.Status)] = true
				}
			}
		}
	}
	held(t, "choices.golden", "# Which strategy a task is given, and why. The plan's own word comes first, then the run's.\n", onTape, choices())
}

// TestTapesDriveEveryEnd holds that no outcome, category or strategy is without
// a tape that tells what follows in a run of several tasks.
func TestTapesDriveEveryEnd(t *testing.T) {
	files, err := filepath.Glob("testdata/*.tape")
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, file := range files {
		if strings.HasPrefix(filepath.Base(file), "ends-") {
			continue
		}
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

package repair_test

import (
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/decide/state/eventtapetest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

var update = flag.Bool("update", false, "rewrite the table and what the tapes expect")

// limits are those of the table. A few rounds are enough to use them up.
func limits() nexus.Limits {
	return nexus.Limits{Rounds: 4, Same: 2, ReviewRounds: 2, MajorsBlock: 1}
}

// player plays a tape: an attempt begins with attempt.started, "?",
// "? tested" or "? untouched" asks what follows, and after ">" stand the row of the
// table and what it decides. The rest is what the world says.
type player struct {
	stand
	rows map[string]bool
	out  strings.Builder
}

func (p *player) play(t *testing.T, text string) string {
	t.Helper()
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		if strings.HasPrefix(line, ">") {
			continue
		}
		p.out.WriteString(line + "\n")
		word, rest, _ := strings.Cut(line, " ")
		if line == "" || word == "#" {
			continue
		}
		if word == "?" {
			has := func(what string) bool { return slices.Contains(strings.Fields(rest), what) }
			p.facts = repair.AttemptTreeFacts{Tested: has("tested"), Untouched: has("untouched"), Unchecked: has("unchecked"), Claimed: has("claimed"), Revised: has("revised")}
			if has("independent") {
				p.facts.Independent = []int{1}
			}
			if has("meddled") {
				p.facts.Meddled = "a_test.go"
			}
			p.rows[p.row()] = true
			p.out.WriteString("> " + p.row() + "\n")
			for _, f := range p.begins(p.next()) {
				p.a.Apply(f, time.Time{})
			}
			continue
		}
		f, err := eventtapetest.ParseFact(line)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		switch f := f.(type) {
		case nexus.TaskPlanned:
			p.task = f.Task
		case nexus.AttemptStarted:
			p.a = &state.AttemptState{ID: f.Attempt, Task: f.Task, Tier: f.Tier, Strategy: f.Strategy}
		default:
			p.a.Apply(f, time.Time{})
		}
	}
	return p.out.String()
}

// taped plays all tapes and returns the rows that they reach.
func taped(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("testdata/*.tape")
	if err != nil || len(files) == 0 {
		t.Fatal(err, files)
	}
	rows := map[string]bool{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		p := &player{stand: stand{limits: limits()}, rows: rows}
		got := p.play(t, string(text))
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		} else if diff := cmp.Diff(string(text), got); diff != "" {
			t.Errorf("%s: -want +got\n%s", file, diff)
		}
	}
	return rows
}

// kinds are the tasks that the table is of, by strategy.
func kinds() []stand {
	var all []stand
	for _, s := range nexus.Strategies() {
		all = append(all, stand{task: nexus.Task{ID: "T1", Strategy: s}, a: with(s), limits: limits()})
	}
	for _, k := range []nexus.TaskKind{nexus.DocsTask, nexus.TestTask} {
		all = append(all, stand{task: nexus.Task{ID: "T1", Kind: k}, a: with(nexus.TestAfter), limits: limits()})
	}
	return all
}

// visit takes every way that an attempt can take, up to a number of steps.
func (s stand) visit(habit string, steps int, meets func(stand)) {
	meets(s)
	if steps == 0 {
		return
	}
	step := s.next()
	for _, facts := range s.does(step, habit) {
		then := s
		then.a = s.a.Clone()
		for _, f := range slices.Concat(s.begins(step), facts) {
			then.a.Apply(f, time.Time{})
		}
		then.visit(habit, steps-1, meets)
	}
}

// reachable returns the rows that ways of an attempt lead to.
func reachable(steps int) map[string]bool {
	rows := map[string]bool{}
	for _, s := range kinds() {
		for _, s.facts = range []repair.AttemptTreeFacts{{}, {Tested: true}, {Untouched: true}} {
			for _, habit := range []string{"failure", "tree", "more"} {
				s.visit(habit, steps, func(s stand) { rows[s.row()] = true })
			}
		}
	}
	return rows
}

// TestTable holds the table to the tapes and to all ways that an attempt can
// take: each row has a tape that reaches it, and no decision is without a row.
func TestTable(t *testing.T) {
	const file = "testdata/table.golden"
	onTape := taped(t)
	if *update {
		text := "# What follows in an attempt, by strategy and by where it stands.\n" + strings.Join(slices.Sorted(maps.Keys(onTape)), "\n") + "\n"
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	rows, decided := map[string]bool{}, map[string]string{}
	for line := range strings.Lines(string(text)) {
		if line = strings.TrimSpace(line); line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		rows[line] = true
		name, step, _ := strings.Cut(line, ": ")
		if other := decided[name]; other != "" {
			t.Errorf("two rows for %s: %s, and %s", name, other, step)
		}
		decided[name] = step
		if !onTape[line] {
			t.Errorf("no tape reaches the row %s", line)
		}
	}
	for _, row := range slices.Sorted(maps.Keys(onTape)) {
		if !rows[row] {
			t.Errorf("a tape decides without a row: %s", row)
		}
	}
	steps := 6
	if os.Getenv("NEXUS_NIGHTLY") != "" {
		steps = 9 // more than that finds no more
	}
	for _, row := range slices.Sorted(maps.Keys(reachable(steps))) {
		if !rows[row] {
			t.Errorf("an attempt comes to what has no row: %s", row)
		}
	}
}

// TestTableIsWhole holds that every move, outcome and category of an attempt's
// own is in the table.
func TestTableIsWhole(t *testing.T) {
	text, err := os.ReadFile("testdata/table.golden")
	if err != nil {
		t.Fatal(err)
	}
	for _, w := range []string{
		string(repair.Write), string(repair.Judge), string(repair.Check), string(repair.Forgo), string(repair.Reproduce), string(repair.Prove), string(repair.Verify), string(repair.Review), string(repair.End),
		string(nexus.Accepted), string(nexus.NoProgress), string(nexus.Exhausted), string(nexus.Unverified), string(nexus.GaveUp), string(nexus.Inapplicable),
		string(nexus.IsolationViolation), string(nexus.SessionFailure), string(nexus.TestsFailing), string(nexus.VerifierRejected), string(nexus.GreenfieldNoTests), string(nexus.Resubmitted),
	} {
		if !strings.Contains(string(text), w) {
			t.Errorf("no row has %s", w)
		}
	}
}

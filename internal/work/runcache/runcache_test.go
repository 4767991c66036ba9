package runcache

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/runhistory"
	"github.com/nexus-ai-builder/nexus/internal/decide/state/eventtapetest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

// played returns the facts of a run with two tasks that land, and some turns.
func played(tb testing.TB, turns int) []nexus.Fact {
	tb.Helper()
	text := `
goal.accepted base=c0 limits.parallel=2 limits.run_money=1000000000
run.started
plan.proposed plan=p tasks=1
task.planned task.id=T1 task.title="Do it" task.files=["a.go"]
plan.approved by=policy
attempt.started attempt=T1.1 base=c0 strategy=test-after task=T1 tier=fast
session.started session=T1.1/coder.1 attempt=T1.1 role=coder model=p/m
`
	for i := range turns {
		text += fmt.Sprintf("budget.reserved id=b%d session=T1.1/coder.1 task=T1 role=coder money=10\nbudget.spent id=b%d money=5\n", i, i)
	}
	text += `attempt.ended attempt=T1.1 outcome=accepted commit=x1
train.boarded attempt=T1.1 task=T1
train.departed attempt=T1.1 onto=c0 task=T1
train.landed task=T1 attempt=T1.1 commit=c1 parent=c0
run.ended status=done
`
	events, err := eventtapetest.ReadTape("r", text)
	if err != nil {
		tb.Fatal(err)
	}
	var facts []nexus.Fact
	for _, e := range events {
		facts = append(facts, e.Fact)
	}
	return facts
}

func write(tb testing.TB, j *journal.Journal, run string, facts ...nexus.Fact) {
	tb.Helper()
	l, err := j.Acquire(tb.Context(), nexus.RunID(run), journal.CallingProcess(), time.Minute)
	if err != nil {
		tb.Fatal(err)
	}
	if _, err := l.Append(tb.Context(), facts...); err != nil {
		tb.Fatal(err)
	}
	if err := l.Release(tb.Context()); err != nil {
		tb.Fatal(err)
	}
}

func open(tb testing.TB, dir string) *journal.Journal {
	tb.Helper()
	j, err := journal.Open(tb.Context(), filepath.Join(dir, "journal.db"), journal.Options{Now: time.Now})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = j.Close() })
	return j
}

func TestWhatIsFoldedIsKept(t *testing.T) {
	dir := t.TempDir()
	j := open(t, dir)
	facts := played(t, 2)
	last := len(facts) - 1
	write(t, j, "r1", facts...)
	write(t, j, "r2", facts[:last]...)
	read := func(folded int) RunsReadResult {
		t.Helper()
		r, err := ReadPastRuns(t.Context(), j, dir)
		if err != nil || r.Folded != folded || len(r.Broken) > 0 {
			t.Fatalf("folded %d, want %d; broken %v, %v", r.Folded, folded, r.Broken, err)
		}
		return r
	}
	first := read(2)
	if len(first.Runs) != 2 || first.Runs[0].Tasks[0].Status != nexus.Landed || first.Runs[0].Money != 10*nexus.Dollar {
		t.Fatalf("%+v", first.Runs)
	}
	if d := cmp.Diff(first.Runs, read(0).Runs); d != "" {
		t.Errorf("what is kept differs from what was folded: %s", d)
	}
	// A run that goes on is folded anew, and no other is.
	write(t, j, "r2", facts[last])
	if r := read(1); r.Runs[1].Status != nexus.StatusDone {
		t.Errorf("%+v", r.Runs[1])
	}
	// The same number of other events is another run.
	other := t.TempDir()
	o := open(t, other)
	changed := append([]nexus.Fact{}, facts...)
	changed[3] = nexus.TaskPlanned{Task: nexus.Task{ID: "T1", Title: "Do something else"}}
	write(t, o, "r1", changed...)
	data, err := os.ReadFile(filepath.Join(dir, File))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(other, File), data, 0o600); err != nil {
		t.Fatal(err)
	}
	r, err := ReadPastRuns(t.Context(), o, other)
	if err != nil || r.Folded != 1 || r.Runs[0].Tasks[0].Title != "Do something else" {
		t.Errorf("%+v, %v", r, err)
	}
	// What is damaged is made again.
	for _, text := range []string{"", "{", `{"version":0,"runs":{}}`, "null", `{"version":1,"runs":{"r1":{"run":{"id":"r9"}}}}`} {
		if err := os.WriteFile(filepath.Join(dir, File), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		read(2)
	}
}

// TestThousandRuns holds that a thousand runs are known within a second once they
// were folded.
func TestThousandRuns(t *testing.T) {
	dir, j := thousand(t)
	cold := time.Now()
	if r, err := ReadPastRuns(t.Context(), j, dir); err != nil || r.Folded != 1000 {
		t.Fatal(r.Folded, err)
	}
	took := time.Since(cold)
	best := time.Hour
	for range 5 { // the machine may be busy with something else
		warm := time.Now()
		r, err := ReadPastRuns(t.Context(), j, dir)
		if err != nil || r.Folded != 0 || runhistory.SummarizeRuns(r.Runs).Of.Landed != 1000 {
			t.Fatal(r.Folded, err)
		}
		best = min(best, time.Since(warm))
	}
	t.Logf("1,000 runs of %d events: %s cold, %s warm", len(played(t, 20)), took.Round(time.Millisecond), best.Round(time.Millisecond))
	if best > time.Second && !testenv.IsRaceEnabled() {
		t.Errorf("1,000 runs take %s once they are folded", best)
	}
}

func thousand(tb testing.TB) (string, *journal.Journal) {
	tb.Helper()
	dir := tb.TempDir()
	j := open(tb, dir)
	facts := played(tb, 20)
	for i := range 1000 {
		write(tb, j, fmt.Sprintf("run-%04d", i), facts...)
	}
	return dir, j
}

func BenchmarkHistory(b *testing.B) {
	dir, j := thousand(b)
	if _, err := ReadPastRuns(b.Context(), j, dir); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		r, err := ReadPastRuns(b.Context(), j, dir)
		if err != nil || r.Folded != 0 {
			b.Fatal(r.Folded, err)
		}
		runhistory.SummarizeRuns(r.Runs)
	}
}

// FuzzParse reads what may lie in the file: anything.
func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"version":1,"runs":{"r":{"events":1,"hash":"A","run":{"id":"r","tasks":[{"id":"T1","tries":[{"tier":"fast"}]}]}}}}`))
	f.Add([]byte(`{"version":1,"runs":{"r":null}}`))
	f.Fuzz(func(_ *testing.T, data []byte) {
		var runs []runhistory.RunRecord
		for _, l := range parseRunCache(data).Runs {
			runs = append(runs, l.Run)
		}
		runhistory.SummarizeRuns(runs)
	})
}

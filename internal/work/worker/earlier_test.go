package worker_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/flaky"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/testselection"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
	"github.com/nexus-ai-builder/nexus/internal/work/worker/workertest"
)

// TestEarlier tries what was true of an earlier tree once, and once more where it
// is red; what is known of this very tree and command it takes over.
func TestEarlier(t *testing.T) {
	for _, c := range []struct {
		name, line string
		known      func(e *nexus.GateEvidence) // nil: nothing is
		want       nexus.GateState
		why        string
		runs       int
	}{
		{"holds", "true", nil, nexus.Pass, "", 1},
		{"does not", "false", nil, nexus.Fail, "it was true before", 2},
		{"does not, at first", "test $(grep -c ran LOG) -gt 1", nil, nexus.Flaky, "passed when it was tried again", 2},
		{"cannot be tried again", "test $(grep -c ran LOG) -eq 1 && exit 1; no-such-program-at-all", nil, nexus.Environmental, "", 2},
		{"is known", "false", func(*nexus.GateEvidence) {}, nexus.Pass, "as known", 0},
		{"is known of another tree", "true", func(e *nexus.GateEvidence) { e.Tree = "other" }, nexus.Pass, "", 1},
		{"is known of another command", "true", func(e *nexus.GateEvidence) { e.Command = "other" }, nexus.Pass, "", 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s, base, _ := workertest.NewTestWorker(t)
			log := filepath.Join(t.TempDir(), "log")
			line := "test ! -e dirt && echo x >dirt && echo ran >>" + log + " && { " + strings.ReplaceAll(c.line, "LOG", log) + "; }"
			old := worker.EarlierPassedCommand{QualityGate: gate.QualityGate{Name: nexus.AcceptGate + "x", Args: []string{"sh", "-c", line}}, Why: "it was true before"}
			hash, err := s.Trees.PrivateRepo().TreeID(t.Context(), base)
			if err != nil {
				t.Fatal(err)
			}
			d := &judged{}
			if c.known != nil {
				e := nexus.GateEvidence{Gate: old.Name, Tree: hash, Command: old.Command(), State: nexus.Pass, Why: "as known"}
				c.known(&e)
				d.known = map[string]nexus.GateEvidence{e.Tree + e.Gate: e}
			}
			all, err := s.Judge.Bases.RunEarlierCommands(t.Context(), s.Judge, base, []worker.EarlierPassedCommand{old}, time.Hour, d)
			if err != nil || len(all) != 1 || all[0].State != c.want || !strings.Contains(all[0].Why, c.why) {
				t.Errorf("%+v, %v", all, err)
			}
			text, _ := os.ReadFile(log)
			if runs := strings.Count(string(text), "ran"); runs != c.runs {
				t.Errorf("it ran %d times, want %d", runs, c.runs)
			}
			if c.runs == 0 != (len(d.all) == 0) || c.runs > 0 && (!d.all[0].Base || d.all[0].Evidence.State != c.want || d.all[0].Evidence.Tree != hash) {
				t.Errorf("on record: %+v", d.all)
			}
		})
	}
}

// TestEarlierEndsInTime leaves what there is no time for, and no single one has
// longer than is left or than a gate may take.
func TestEarlierEndsInTime(t *testing.T) {
	hang := func(n int) (all []worker.EarlierPassedCommand) {
		for i := range n {
			all = append(all, worker.EarlierPassedCommand{QualityGate: gate.QualityGate{Name: fmt.Sprint("accept: ", i), Args: []string{"sh", "-c", "sleep 20"}}})
		}
		return all
	}
	const short = 50 * time.Millisecond
	for name, c := range map[string]struct {
		within, gate, step time.Duration // step: how far the clock goes each time that somebody looks
		want               int
	}{
		"a gate's time":              {time.Hour, short, 0, 2},
		"a gate's time and no other": {0, short, time.Hour, 2},
		"not a second left":          {time.Second, short, time.Millisecond, 0},
		"a second left":              {1001 * time.Millisecond, short, time.Millisecond, 1},
	} {
		s, base, _ := workertest.NewTestWorker(t)
		now := time.Unix(0, 0)
		s.Site.Now = func() time.Time { now = now.Add(c.step); return now }
		s.Judge.GateTime = c.gate
		all, err := s.Judge.Bases.RunEarlierCommands(t.Context(), s.Judge, base, hang(2), c.within, &judged{})
		if err != nil || len(all) != c.want {
			t.Errorf("%s: %+v, %v", name, all, err)
		}
		for _, e := range all {
			if e.State != nexus.Timeout {
				t.Errorf("%s: %+v", name, e)
			}
		}
	}
}

// TestAChangeOfTheQuarantineIsRed before any gate runs: who wrote the work does
// not say which tests count. The record of the base is no change.
func TestAChangeOfTheQuarantineIsRed(t *testing.T) {
	record := "[[test]]\ntest = \"TestA\"\nreason = \"the clock\"\nsince = 2026-11-01\nuntil = 2026-11-20\n"
	for name, c := range map[string]struct {
		was, now string
		red      bool
	}{
		"written": {"", record, true}, "changed": {record, record + "\n", true}, "as it was": {record, record, false}, "none": {"", "", false},
	} {
		s, base, _ := workertest.NewTestWorker(t, gate.QualityGate{Name: "lint", Args: []string{"true"}})
		if c.was != "" {
			base, _ = workertest.CommitFiles(t, s, "base", base, map[string]string{flaky.QuarantineFile: c.was})
		}
		one, _ := change(t, s, "T1.1", base)
		if c.now != "" {
			gittest.WriteFiles(t, one.Tree.Dir, map[string]string{flaky.QuarantineFile: c.now})
		}
		var err error
		if _, one.Hash, err = one.Tree.Snapshot(t.Context(), "work"); err != nil {
			t.Fatal(err)
		}
		one.Mark = func(f nexus.GateJudged) nexus.GateJudged { f.Attempt = "T1.1"; return f }
		d := &judged{}
		all, err := s.Judge.RunGates(t.Context(), one, d)
		want := "lint pass"
		if c.red {
			want = flaky.QuarantineGate + " fail"
		}
		if err != nil || len(all) != 1 || fmt.Sprint(all[0].Gate, " ", all[0].State) != want || all[0].Tree != one.Hash {
			t.Errorf("%s: %+v, %v", name, all, err)
		}
		last := d.all[len(d.all)-1]
		if last.Attempt != "T1.1" || last.Base || fmt.Sprint(last.Evidence.Gate, " ", last.Evidence.State) != want {
			t.Errorf("%s, on record: %+v", name, last)
		}
	}
}

// TestSpared asks the record of the commit, today.
func TestSpared(t *testing.T) {
	s, base, _ := workertest.NewTestWorker(t)
	record := "[[test]]\ntest = \"TestA\"\nreason = \"the clock\"\nsince = 2026-11-01\nuntil = 2026-11-20\n"
	with, _ := workertest.CommitFiles(t, s, "base", base, map[string]string{flaky.QuarantineFile: record})
	day := func(text string) {
		at, err := time.Parse(time.DateOnly, text)
		if err != nil {
			t.Fatal(err)
		}
		s.Site.Now = func() time.Time { return at }
	}
	for _, c := range []struct {
		commit, day, test string
		want              bool
	}{
		{with, "2026-11-10", "TestA", true}, {with, "2026-11-10", "TestB", false}, {with, "2026-12-10", "TestA", false}, {base, "2026-11-10", "TestA", false},
	} {
		day(c.day)
		if got := s.Judge.QuarantineFunc(t.Context(), c.commit)("test", c.test); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

// TestWaits says of an accepted tree whether some of its tests may not have run.
func TestWaits(t *testing.T) {
	s, _, _ := workertest.NewTestWorker(t)
	some, red, all := nexus.GateEvidence{Gate: testselection.Name, State: nexus.Pass, Tree: "tree"}, nexus.GateEvidence{Gate: testselection.Name, State: nexus.Fail}, nexus.GateEvidence{Gate: "test", State: nexus.Pass}
	for _, c := range []struct {
		way   worker.RelatedTestsMode
		known []nexus.GateEvidence
		want  bool
	}{
		{worker.RelatedDeferred, nil, true},
		{worker.RelatedPerTask, nil, false},
		{worker.RelatedPerTask, []nexus.GateEvidence{some}, true},
		{worker.RelatedPerTask, []nexus.GateEvidence{some, all}, false},
		{worker.RelatedPerTask, []nexus.GateEvidence{red}, false},
		{worker.RelatedOff, []nexus.GateEvidence{all}, false},
	} {
		s.Judge.Related = c.way
		d := &desk{known: map[string]nexus.GateEvidence{}}
		for _, e := range c.known {
			d.known["tree"+e.Gate] = e
		}
		if got := s.Judge.HasPendingTests(t.Context(), "tree", d); got != c.want {
			t.Errorf("%+v: %v", c, got)
		}
	}
}

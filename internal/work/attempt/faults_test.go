package attempt_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/attempt"
	"github.com/nexus-ai-builder/nexus/internal/work/changemetrics"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/mutate"
)

// TestFaultsAreTriedInWorkThatTheGatesLetThrough, and what comes of them counts as
// the configuration says.
func TestFaultsAreTriedInWorkThatTheGatesLetThrough(t *testing.T) {
	for _, c := range []struct {
		name, mode string
		files      map[string]string
		want       string
	}{
		{"they are remarks", "warn", map[string]string{"one": "1\n"}, "gate test pass, gate mutation pass, verdict pass"},
		{"they block", "block", map[string]string{"one": "1\n"}, "gate test pass, gate mutation fail, verdict fail, round 2 coder mutation"},
		{"nobody asks", "off", map[string]string{"one": "1\n"}, "gate test pass, verdict pass"},
		{"it is red already", "block", nil, "gate test fail, verdict fail, round 2 coder test"},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := newJob(t, map[string]string{"go.mod": "module m\n"}, newTest())
			j.Judge.Faults, j.view.Task.Kind = mutate.MutationCheckSettings{Mode: c.mode, Sample: 1, Time: time.Minute}, ""
			j.view.Attempt.Strategy = nexus.TDDStrict
			files := map[string]string{"new_test.go": "package m\n", "add.go": "package m\n\nfunc Add(a, b int) int { return a + b }\n"}
			for name, text := range c.files {
				files[name] = text
			}
			j.written(1, files)
			j.over(nexus.Tester, 1, nexus.Accepted, map[string]string{"summary": "Done.", "status": "done"})
			j.view.Attempt.Proof = &nexus.TestsRunWithoutWork{Proof: nexus.ProofRed, Tree: j.view.Attempt.Snapshot.Tree}
			if facts, err := j.work(); !errors.Is(err, &nexus.Error{Code: nexus.CodeNoKey}) || len(facts) > 0 {
				t.Error(facts, err)
			}
			if got := j.desk.told(); !strings.HasPrefix(got, c.want) {
				t.Errorf("%s, want %s", got, c.want)
			}
			began := slices.ContainsFunc(facts[nexus.GateStarted](j), func(f nexus.GateStarted) bool { return f.Gate == mutate.Gate && f.Attempt == "T1.1" })
			if began != strings.Contains(c.want, "mutation") {
				t.Errorf("it is said that faults are tried: %v", began)
			}
		})
	}
}

// TestACheckThatCannotTellIsTakenBack, and the gates judge without it.
func TestACheckThatCannotTellIsTakenBack(t *testing.T) {
	j := newJob(t, nil, lint("exit 0"))
	const check = "true || pytest tests"
	j.view.Task.Criteria = []nexus.Criterion{{Text: "one is there", Check: "test -e one"}, {Text: "it is tested", Check: check}}
	j.written(1, one)
	j.over(nexus.Reviewer, 1, nexus.Accepted, approved())
	if f := j.ended(); f.Outcome != nexus.Accepted {
		t.Errorf("%+v: %s", f, j.desk.told())
	}
	if f := facts[nexus.CriterionRevised](j); len(f) != 1 || f[0].Task != "T1" || f[0].Number != 2 || f[0].Criterion.Was != check || f[0].Criterion.Check != "" {
		t.Errorf("%+v", f)
	}
	if got := j.view.Task.Criteria[1].Check; got != check {
		t.Errorf("the criterion of whoever else has the task became %q", got)
	}
}

// TestWhatIsTakenAwayIsExplained by who submitted, in this round or before.
func TestWhatIsTakenAwayIsExplained(t *testing.T) {
	explains := map[string]any{"summary": "Done.", "status": "done", "explains": []nexus.RemovalExplanation{{Name: "bad", Why: "nobody needs it"}}}
	for name, c := range map[string]struct {
		set func(*job)
		why string
	}{
		"nobody":     {func(*job) {}, ""},
		"the coder":  {func(j *job) { j.over(nexus.Coder, 1, nexus.Accepted, explains) }, "nobody needs it"},
		"the tester": {func(j *job) { j.over(nexus.Tester, 1, nexus.Accepted, explains) }, "nobody needs it"},
		"an editor":  {func(j *job) { j.over(nexus.Editor, 1, nexus.Accepted, explains) }, "nobody needs it"},
		"a round before": {func(j *job) {
			j.written(1, map[string]string{"bad": ""})
			r := j.view.Attempt.LastRound()
			r.Verdict = &nexus.GatesVerdictGiven{Attempt: "T1.1", Tree: j.view.Attempt.Snapshot.Tree, State: nexus.Fail, Gate: "lint"}
			r.Evidence = []nexus.GateEvidence{{Gate: nexus.DonePrefix + nexus.DeletionBound, Findings: []nexus.Finding{{Name: "bad", Explained: "it was said"}}}}
		}, "it was said"},
	} {
		t.Run(name, func(t *testing.T) {
			j := newJob(t, nil, lint("exit 0"))
			j.Judge.Meter = &changemetrics.ChangeMeasurer{Rules: nexus.DefinitionOfDone{Modes: map[string]nexus.BoundMode{nexus.DeletionBound: nexus.BoundBlock}}}
			c.set(j)
			j.written(len(j.view.Attempt.Rounds)+1, map[string]string{"bad": "", "one": "1\n"})
			if facts, err := j.work(); err == nil {
				t.Error(facts)
			}
			i := slices.IndexFunc(facts[nexus.GateJudged](j), func(f nexus.GateJudged) bool { return f.Evidence.Gate == nexus.DonePrefix+nexus.DeletionBound })
			if i < 0 {
				t.Fatal(j.desk.told())
			}
			if e := facts[nexus.GateJudged](j)[i].Evidence; len(e.Findings) != 1 || e.Findings[0].Explained != c.why {
				t.Errorf("%+v", e)
			}
		})
	}
}

// TestACommandRunsOnceOnATreeWithoutTheWork, however often it is asked for.
func TestACommandRunsOnceOnATreeWithoutTheWork(t *testing.T) {
	for _, file := range []string{"one", "bad"} { // it fails on the base, and passes there
		log := filepath.Join(t.TempDir(), "log")
		j := newJob(t, nil, lint("exit 0"))
		j.view.Task.Criteria = []nexus.Criterion{{Text: "it is there", Check: "test -e one || echo ran >>" + log + "; test -e " + file}}
		j.plays(map[nexus.Role][]nextRole{nexus.Coder: {{files: one}, {}}, nexus.Reviewer: {{handin: approved()}}})
		if facts, err := j.work(); err != nil {
			t.Error(facts, err)
		}
		if text, err := os.ReadFile(log); err != nil || string(text) != "ran\n" {
			t.Errorf("%s: %q, %v", file, text, err)
		}
	}
}

// TestAChangeThatIsTooLargeIsNotReviewed, and nothing is said to a reviewer.
func TestAChangeThatIsTooLargeIsNotReviewed(t *testing.T) {
	j := newJob(t, nil, lint("exit 0"))
	j.written(1, map[string]string{"one": strings.Repeat(strings.Repeat("x", 99)+"\n", 21_000)})
	j.plays(nil)
	if u, err := attempt.PreviewPrompt(t.Context(), j.AttemptWorker, j.view, nexus.Reviewer); !errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) || !strings.Contains(err.Error(), "too large") {
		t.Errorf("%+v, %v", u, err)
	}
	if f := j.ended(); f.Outcome != nexus.Unverified || !strings.Contains(f.Why, "bytes, the maximum is 2000000") {
		t.Errorf("%+v", f)
	}
}

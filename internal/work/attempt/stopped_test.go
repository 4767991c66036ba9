package attempt_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/mutate"
)

// told names what was recorded of the attempt itself, in order.
func (d *desk) told() string {
	var all []string
	for _, f := range d.facts {
		switch f := f.(type) {
		case nexus.GateJudged:
			if f.Attempt != "" {
				all = append(all, fmt.Sprintf("gate %s %s", f.Evidence.Gate, f.Evidence.State))
			}
		case nexus.GatesVerdictGiven:
			all = append(all, "verdict "+string(f.State))
		case nexus.RoundStarted:
			all = append(all, fmt.Sprintf("round %d %s %s", f.Round, f.Role, f.Cause))
		case nexus.TreeSnapshotted:
			all = append(all, "snapshot")
		case nexus.ReviewerVerdictGiven:
			all = append(all, fmt.Sprintf("review %v", f.Approved))
		case nexus.StartingTreeRejected:
			all = append(all, "forgone")
		case nexus.TamperSuspected:
			all = append(all, "tamper")
		default:
		}
	}
	return strings.Join(all, ", ")
}

// moment says which of the facts it is after which git is needed; empty for the
// others.
func moment(f nexus.Fact) string {
	switch f := f.(type) {
	case nexus.GateJudged:
		if f.Attempt != "" {
			return "a gate says " + string(f.Evidence.State)
		}
	case nexus.GatesVerdictGiven:
		return "the verdict"
	case nexus.CriteriaEvidenceRecorded:
		return "criteria are weighed"
	case nexus.TestsRunWithoutWork:
		return "tests are proved"
	case nexus.CriterionTestsFound:
		return "checks are proved"
	case nexus.RoundStarted:
		return "a round of the " + string(f.Role)
	case nexus.TamperSuspected:
		return "tampering is suspected"
	case nexus.StartingTreeRejected:
		return "earlier work is put aside"
	default:
	}
	return ""
}

// came says what came of work: how it ended, and the kinds of facts on the way.
func came(facts []nexus.Fact, j *job) string {
	text := ""
	for _, f := range j.desk.facts {
		text += fmt.Sprintf("%T ", f)
	}
	for _, f := range facts {
		if f, ok := f.(nexus.AttemptEnded); ok {
			text += string(f.Outcome) + ": " + f.Why
		}
	}
	return text
}

// agrees is a verifier's verdict that criteria are met, and that the work may change
// a test.
func agrees(test string, met ...int) map[string]any {
	criteria := []any{}
	for _, n := range met {
		criteria = append(criteria, map[string]any{"criterion": n, "met": true})
	}
	return map[string]any{"approved": true, "criteria": criteria, "quality": map[string]any{"rating": "good"}, "reasoning": "so", "testModifications": map[string]any{"files": []string{test}, "legitimate": true, "reasoning": "so"}}
}

// aside is a story in which what an earlier attempt left is put aside.
func aside() story {
	return story{"earlier work is put aside", func(t *testing.T) *job {
		t.Helper()
		j := newJob(t, map[string]string{"go.mod": "module m\n"}, newTest())
		a := j.view.Attempt
		a.Strategy, j.view.Task.Kind, a.From, a.FromRound = nexus.TDDStrict, "", "T1.0", 1
		a.Start, _ = j.tree("T1.0", j.base, map[string]string{"two": "2\n"})
		j.plays(map[nexus.Role][]nextRole{nexus.Tester: {{files: map[string]string{"new_test.go": "package m\n"}}}, nexus.Coder: {{files: one}}, nexus.Verifier: {{handin: agrees("old_test.sh")}}, nexus.Reviewer: {{handin: approved()}}})
		return j
	}}
}

// TestWorkStopsWhereGitCannotBeRead, whatever comes next: what git cannot say is
// never taken for nothing. Work does not end then, unless nothing is left to be
// read, and it ends as it would have.
func TestWorkStopsWhereGitCannotBeRead(t *testing.T) {
	red := story{"tests of its own are red", func(t *testing.T) *job {
		t.Helper()
		j := newJob(t, map[string]string{"go.mod": "module m\n"}, newTest())
		j.written(1, map[string]string{"new_test.go": "package m\n"})
		j.view.Limits.Rounds = 1
		return j
	}}
	tampered := story{"a test is taken away", func(t *testing.T) *job {
		t.Helper()
		j := newJob(t, map[string]string{"old_test.sh": "test -e one\n"}, lint("exit 0"))
		j.written(1, map[string]string{"one": "1\n", "old_test.sh": "true\n"})
		j.plays(map[nexus.Role][]nextRole{nexus.Verifier: {{handin: agrees("old_test.sh")}}, nexus.Reviewer: {{handin: approved()}}})
		return j
	}}
	for _, c := range []story{red, tampered, aside()} {
		t.Run(c.name, func(t *testing.T) {
			j := c.make(t)
			facts, err := j.work()
			if err != nil {
				t.Fatal(facts, err)
			}
			whole := came(facts, j)
			tried := map[string]bool{}
			for _, f := range j.desk.facts {
				at := moment(f)
				if at == "" || tried[at] {
					continue
				}
				tried[at] = true
				j := c.make(t)
				objects := filepath.Join(j.Trees.PrivateRepo().Dir, "objects")
				j.desk.heard = func(f nexus.Fact) {
					if moment(f) == at {
						_ = os.Rename(objects, objects+".away") // it is away already at the second
					}
				}
				facts, err := j.work()
				if (err == nil || len(facts) > 0) && came(facts, j) != whole {
					t.Errorf("gone when %s: %+v, %v", at, facts, err)
				}
				if err := os.Rename(objects+".away", objects); err != nil {
					t.Error(at, err)
				}
			}
		})
	}
}

// TestWorkStopsWhereGitFailsOnce, whatever it was asked for: what git cannot do
// is never taken for done because all that is asked of it later can be. By day, one
// call of five fails, other ones in each case; by night, each does.
func TestWorkStopsWhereGitFailsOnce(t *testing.T) {
	git := breaks(t)
	all := whole()
	for at, c := range slices.Delete(all, 2, 3) { // what the third asks of git, the second does too
		t.Run(c.name, func(t *testing.T) {
			make := func() *job {
				git.fails(0)
				j := c.make(t)
				j.Judge.Faults = mutate.MutationCheckSettings{} // they may read less and try less
				return j
			}
			j := make()
			git.fails(0)
			facts, err := j.work()
			if err != nil {
				t.Fatal(facts, err)
			}
			whole := came(facts, j)
			all := git.calls()
			if all < 10 {
				t.Fatal(all)
			}
			every := 5
			if testenv.RunsNightly() {
				every = 1
			}
			for n := at % every; n < all; n += every {
				j := make()
				git.fails(n + 1)
				facts, err := j.work()
				did := git.failed()
				if err == nil && (slices.ContainsFunc([]string{"quarantine.toml", " cat-file -p ", " check-ignore "}, func(s string) bool { return strings.Contains(did, s) }) || did == "") && came(facts, j) == whole {
					continue // nothing is set aside where that cannot be read, nothing taken for a rename, and no note made of a rule
				}
				if err == nil || len(facts) > 0 || !strings.Contains(err.Error(), gittest.BrokenMessage) {
					t.Errorf("git fails at call %d of %d, %s: %+v, %v: %s", n+1, all, did, facts, err, j.desk.told())
				}
			}
		})
	}
}

// TestARoundThatCannotBeNamed stops the attempt before anybody judges it.
func TestARoundThatCannotBeNamed(t *testing.T) {
	for name, strategy := range map[string]nexus.WritingStrategy{"the gates come next": nexus.NoTest, "its tests are proved next": nexus.TDDStrict} {
		t.Run(name, func(t *testing.T) {
			j := newJob(t, map[string]string{"go.mod": "module m\n"}, newTest())
			j.written(1, map[string]string{"new_test.go": "package m\n"})
			a := j.view.Attempt
			a.Strategy, j.view.Task.Kind = strategy, ""
			if strategy != nexus.NoTest {
				a.Rounds[0].Role, a.Rounds[0].Session, a.Sessions = nexus.Tester, "T1.1/tester.1", nil
				j.over(nexus.Tester, 1, nexus.Accepted, map[string]string{"summary": "Done.", "status": "done"})
			}
			ref := filepath.Join(j.Trees.PrivateRepo().Dir, filepath.FromSlash(worktree.RoundRef("r", a.ID, 1)))
			if err := os.MkdirAll(filepath.Join(ref, "in the way"), 0o755); err != nil {
				t.Fatal(err)
			}
			if facts, err := j.work(); err == nil || !strings.Contains(err.Error(), "round") || len(facts)+len(j.desk.facts) > 0 {
				t.Errorf("%+v, %v: %s", facts, err, j.desk.told())
			}
		})
	}
}

// TestWorkStopsWithTheRun wherever it does what costs nothing to do again, and
// says why. Nothing of that is taken for the work's fault. Where nothing had to
// be done it ends as it would have.
func TestWorkStopsWithTheRun(t *testing.T) {
	stops := errors.New("the run stops")
	for _, c := range whole() {
		t.Run(c.name, func(t *testing.T) {
			j, all := c.make(t), 0
			j.desk.spared = func(paid bool) error {
				if all++; paid {
					t.Error("a gate of an attempt is said to hold up paid work")
				}
				return nil
			}
			facts, err := j.work()
			if err != nil || all == 0 {
				t.Fatal(facts, err, all)
			}
			whole := came(facts, j)
			for n := range all {
				j := c.make(t)
				j.desk.spared = func(bool) error {
					if n--; n == -1 {
						return stops
					}
					return nil
				}
				if facts, err := j.work(); (!errors.Is(err, stops) || len(facts) > 0) && came(facts, j) != whole {
					t.Errorf("%+v, %v: %s", facts, err, j.desk.told())
				}
			}
		})
	}
}

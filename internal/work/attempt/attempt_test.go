package attempt_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/attempt"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
	"github.com/nexus-ai-builder/nexus/internal/work/worker/workertest"
)

// desk keeps what is recorded, and may do something when it hears of a fact.
type desk struct {
	facts   []nexus.Fact
	heard   func(nexus.Fact)
	refuses error                  // to spend; nil: spends
	fails   func(nexus.Fact) error // to record; nil: records
	spared  func(paid bool) error  // why what costs nothing to do again is given up; nil: it is not
}

func (d *desk) Record(_ context.Context, facts ...nexus.Fact) error {
	for _, f := range facts {
		if d.fails != nil {
			if err := d.fails(f); err != nil {
				return err
			}
		}
	}
	d.facts = append(d.facts, facts...)
	for _, f := range facts {
		if d.heard != nil {
			d.heard(f)
		}
	}
	return nil
}

func (d *desk) Known(_ context.Context, tree, name string) (nexus.GateEvidence, bool) {
	for _, f := range slices.Backward(d.facts) {
		if f, ok := f.(nexus.GateJudged); ok && f.Evidence.Tree == tree && f.Evidence.Gate == name {
			return f.Evidence, true
		}
	}
	return nexus.GateEvidence{}, false
}

func (d *desk) Reserve(context.Context, nexus.BudgetReserved, ...nexus.Fact) ([]state.Guidance, error) {
	return nil, d.refuses
}

func (*desk) Ask(context.Context, nexus.QuestionAsked) (string, error) { return "", nil }

func (d *desk) Spare(ctx context.Context, paid bool) (context.Context, context.CancelFunc) {
	ctx, stop := context.WithCancelCause(ctx)
	if d.spared != nil {
		if err := d.spared(paid); err != nil {
			stop(err)
		}
	}
	return ctx, func() { stop(nil) }
}

// job is a task that a coder has submitted its first round of.
type job struct {
	*worker.AttemptWorker
	t    *testing.T
	user git.Repo
	base string
	desk *desk
	view state.WorkerView
}

// newJob has files on the base besides the worker's.
func newJob(t *testing.T, onBase map[string]string, gates ...gate.QualityGate) *job {
	t.Helper()
	s, base, user := workertest.NewTestWorker(t, gates...)
	j := &job{AttemptWorker: s, t: t, user: user, base: base, desk: &desk{}}
	if len(onBase) > 0 {
		j.base, _ = j.tree("base", base, onBase)
	}
	s.Sessions.Roles = map[nexus.Role]agent.RoleDefinition{nexus.Coder: {}, nexus.Tester: {}, nexus.Verifier: {}, nexus.Reviewer: {}}
	s.Sessions.Pick = func(role nexus.Role, _ nexus.Tier, _ string) (worker.PricedModel, error) {
		return worker.PricedModel{}, &nexus.Error{Code: nexus.CodeNoKey, Message: "no model for the " + string(role)}
	}
	j.view = state.WorkerView{
		Run: "r", Tip: j.base, Goal: nexus.GoalAccepted{Base: j.base}, Limits: nexus.Limits{Rounds: 5, Same: 3},
		Task:    state.TaskState{Task: nexus.Task{ID: "T1", Title: "Write one", Kind: nexus.DocsTask}},
		Attempt: &state.AttemptState{ID: "T1.1", Task: "T1", Base: j.base, Strategy: nexus.NoTest},
	}
	return j
}

// tree returns a commit with files beside those of a commit, and its tree.
func (j *job) tree(id nexus.AttemptID, from string, files map[string]string) (commit, hash string) {
	j.t.Helper()
	return workertest.CommitFiles(j.t, j.AttemptWorker, id, from, files)
}

// written lets the coder have submitted files in its n-th round.
func (j *job) written(n int, files map[string]string) {
	j.t.Helper()
	a := j.view.Attempt
	commit, hash := j.tree("T1.1", j.base, files)
	if a.LastSession(nexus.Coder) == nil {
		j.over(nexus.Coder, 1, nexus.Accepted, map[string]string{"summary": "Done.", "status": "done"})
	}
	a.Rounds = append(a.Rounds, &state.AttemptRound{
		RoundStarted: nexus.RoundStarted{Attempt: a.ID, Round: n, Role: nexus.Coder, Session: "T1.1/coder.1"},
		Base:         j.base, From: j.base, Commit: commit, Prompted: true,
	})
	a.Snapshot = nexus.TreeSnapshotted{Attempt: a.ID, Commit: commit, Tree: hash}
}

// over adds a conversation that is over.
func (j *job) over(role nexus.Role, n int, o nexus.Outcome, handin any) {
	j.t.Helper()
	data, err := json.Marshal(handin)
	result, bad := j.Site.Blobs.Put(data)
	if err = errors.Join(err, bad); err != nil {
		j.t.Fatal(err)
	}
	a := j.view.Attempt
	a.Sessions = append(a.Sessions, &state.AgentSessionState{
		SessionStarted: nexus.SessionStarted{Session: nexus.SessionID(fmt.Sprintf("%s/%s.%d", a.ID, role, n)), Attempt: a.ID, Role: role},
		Over:           true, Outcome: o, Result: result, Why: "why",
	})
}

func (j *job) work() ([]nexus.Fact, error) {
	ctx, stop := context.WithTimeout(j.t.Context(), time.Minute) // what turns in circles ends, too
	defer stop()
	return attempt.RunAttempt(ctx, j.AttemptWorker, j.view, j.desk)
}

// ended works, and returns how the attempt ended.
func (j *job) ended() nexus.AttemptEnded {
	j.t.Helper()
	facts, err := j.work()
	if err != nil || len(facts) != 1 {
		j.t.Fatal(facts, err, j.desk.told())
	}
	f, ok := facts[0].(nexus.AttemptEnded)
	if !ok || f.Attempt != "T1.1" {
		j.t.Fatalf("%T %+v", facts[0], facts[0])
	}
	return f
}

// dir is the attempt's worktree.
func (j *job) dir() string { return filepath.Join(j.Site.State, "trees", "r", "T1.1", "tree") }

func (j *job) files(rev string) string {
	j.t.Helper()
	out, err := j.Trees.PrivateRepo().Run(j.t.Context(), "ls-tree", "-r", "--name-only", rev)
	if err != nil {
		j.t.Fatal(err)
	}
	return strings.Join(strings.Fields(out), " ")
}

func lint(text string) gate.QualityGate {
	return gate.QualityGate{Name: "lint", Args: []string{"sh", "-c", text}}
}

func approved() map[string]any { return map[string]any{"approved": true, "summary": "fine"} }

var one = map[string]string{"one": "1\n"}

// TestWhatWasJudgedIsAccepted continues after the coder submitted: the gates judge
// its snapshot, a reviewer reads it, and that very tree is the work.
func TestWhatWasJudgedIsAccepted(t *testing.T) {
	j := newJob(t, nil, lint("test -e one"))
	j.written(1, one)
	j.over(nexus.Reviewer, 1, nexus.Accepted, approved())
	snap := j.view.Attempt.Snapshot
	f := j.ended()
	if f.Outcome != nexus.Accepted || f.Why != "fine" || f.Commit != snap.Commit || f.Tree != snap.Tree {
		t.Errorf("%+v, want %+v", f, snap)
	}
	if got, want := j.desk.told(), "gate lint pass, verdict pass, review true"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	for _, f := range j.desk.facts {
		switch f := f.(type) {
		case nexus.GatesVerdictGiven:
			if f.Tree != snap.Tree || f.Attempt != "T1.1" {
				t.Errorf("%+v", f)
			}
		case nexus.ReviewerVerdictGiven:
			if f.Tree != snap.Tree || f.Attempt != "T1.1" || f.SendsBack {
				t.Errorf("%+v", f)
			}
		default:
		}
	}
	if at, err := j.Trees.PrivateRepo().Resolve(t.Context(), worktree.RoundRef("r", "T1.1", 1)); err != nil || at != snap.Commit {
		t.Errorf("round 1 is at %s, %v", at, err)
	}
	if _, err := os.Stat(j.dir()); err != nil {
		t.Error("accepted work has no worktree to land from", err)
	}
}

// TestATreeThatChangedAfterItWasJudgedIsNotAccepted lets something that was left
// running write into the worktree, at each moment after the gates said yes.
func TestATreeThatChangedAfterItWasJudgedIsNotAccepted(t *testing.T) {
	for _, c := range []struct {
		name, file string
		after      func(nexus.Fact) bool
	}{
		{"after the verdict", "late", func(f nexus.Fact) bool { _, ok := f.(nexus.GatesVerdictGiven); return ok }},
		{"after the review", "late", func(f nexus.Fact) bool { _, ok := f.(nexus.ReviewerVerdictGiven); return ok }},
		{"in a file that was judged", "one", func(f nexus.Fact) bool { _, ok := f.(nexus.ReviewerVerdictGiven); return ok }},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := newJob(t, nil, lint("test -e one"))
			j.written(1, one)
			j.over(nexus.Reviewer, 1, nexus.Accepted, approved())
			j.desk.heard = func(f nexus.Fact) {
				if c.after(f) {
					gittest.WriteFiles(t, j.dir(), map[string]string{c.file: "nobody judged this\n"})
				}
			}
			facts, err := j.work()
			if err == nil || len(facts) > 0 || !strings.Contains(err.Error(), "changed after it was judged") {
				t.Error(facts, err)
			}
		})
	}
}

// TestTheTreeIsPinnedBeforeItIsJudged where no snapshot is on record yet, and so
// is what appeared in it until then.
func TestTheTreeIsPinnedBeforeItIsJudged(t *testing.T) {
	j := newJob(t, nil, lint("test -e one"))
	j.written(1, one)
	a := j.view.Attempt
	start := a.Snapshot
	a.Start, a.Snapshot, a.Rounds[0].Commit = start.Commit, nexus.TreeSnapshotted{}, ""
	j.over(nexus.Reviewer, 1, nexus.Accepted, approved())
	f := j.ended()
	if got, want := j.desk.told(), "snapshot, gate lint pass, verdict pass, review true"; got != want || f.Tree != start.Tree {
		t.Errorf("%s, want %s: %+v", got, want, f)
	}
	snap, ok := j.desk.facts[slices.IndexFunc(j.desk.facts, func(f nexus.Fact) bool { _, ok := f.(nexus.TreeSnapshotted); return ok })].(nexus.TreeSnapshotted)
	if !ok || snap.Commit != f.Commit || snap.Tree != f.Tree || snap.Attempt != "T1.1" {
		t.Errorf("%+v, %+v", snap, f)
	}
}

// TestAProcessThatDiedIsGoneOnFrom puts the worktree back to the last snapshot,
// whatever the dead process left there, pins that again, and does not judge again
// what was judged.
func TestAProcessThatDiedIsGoneOnFrom(t *testing.T) {
	for _, c := range []struct {
		name    string
		verdict bool // was given
		want    string
	}{
		{"before the verdict", false, "snapshot, gate lint pass, verdict pass, review true"},
		{"after the verdict", true, "review true, snapshot"},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := newJob(t, nil, lint("test ! -e dirt && test -e one"))
			j.written(1, one)
			a := j.view.Attempt
			left, err := j.Trees.AddTree(t.Context(), "r", a.ID, j.base)
			if err != nil {
				t.Fatal(err)
			}
			gittest.WriteFiles(t, left.Dir, map[string]string{"dirt": "", "bad": "half\n"})
			if c.verdict {
				a.Rounds[0].Verdict = &nexus.GatesVerdictGiven{Attempt: a.ID, Tree: a.Snapshot.Tree, State: nexus.Pass}
			}
			j.over(nexus.Reviewer, 1, nexus.Accepted, approved())
			f := j.ended()
			if f.Outcome != nexus.Accepted || f.Tree != a.Snapshot.Tree || j.files(f.Tree) != "bad one" || j.desk.told() != c.want {
				t.Errorf("%+v with %s: %s", f, j.files(f.Tree), j.desk.told())
			}
		})
	}
}

// TestARedTreeGoesBackToItsWriter in a new round that names the gate, until its
// rounds are used up or the failure does not change.
func TestARedTreeGoesBackToItsWriter(t *testing.T) {
	red := lint("test -e one || exit 0; echo one:1:1: no; exit 1")
	j := newJob(t, nil, red)
	j.written(1, one)
	facts, err := j.work()
	if !errors.Is(err, &nexus.Error{Code: nexus.CodeNoKey}) || !strings.Contains(err.Error(), "coder") || len(facts) > 0 {
		t.Error(facts, err)
	}
	if got, want := j.desk.told(), "gate lint fail, verdict fail, round 2 coder lint"; got != want {
		t.Errorf("%s, want %s", got, want)
	}

	var found []nexus.Finding
	for _, f := range j.desk.facts {
		if f, ok := f.(nexus.GateJudged); ok && f.Attempt != "" {
			found = f.Evidence.Findings
		}
	}

	j = newJob(t, nil, red)
	j.written(1, one)
	j.view.Limits.Rounds = 1
	if f := j.ended(); f.Outcome != nexus.Exhausted || f.Tree != j.view.Attempt.Snapshot.Tree || f.Commit == "" {
		t.Errorf("%+v", f)
	}
	if _, err := os.Stat(j.dir()); !os.IsNotExist(err) {
		t.Error("the worktree of work that was not accepted is still there", err)
	}

	j = newJob(t, nil, red)
	for n := range 3 {
		j.written(n+1, map[string]string{"one": fmt.Sprint(n)})
		if n < 2 {
			r := j.view.Attempt.LastRound()
			r.Evidence = []nexus.GateEvidence{{Gate: "lint", State: nexus.Fail, Tree: j.view.Attempt.Snapshot.Tree, Findings: found}}
			r.Verdict = &nexus.GatesVerdictGiven{Attempt: "T1.1", Tree: j.view.Attempt.Snapshot.Tree, State: nexus.Fail, Gate: "lint"}
		}
	}
	if f := j.ended(); f.Outcome != nexus.NoProgress || f.Category != nexus.TestsFailing {
		t.Errorf("%+v: %s", f, j.desk.told())
	}
}

// TestOnlyOwnTestsAreRed says about a red tree whether it breaks what was there.
func TestOnlyOwnTestsAreRed(t *testing.T) {
	for _, c := range []struct {
		name, says string
		own        bool
	}{
		{"a test that came with it", "--- FAIL: TestNew (0.00s)\n    new_test.go:3: no\nFAIL\nFAIL\tm\t0.1s\n", true},
		{"a test that was there", "--- FAIL: TestOld (0.00s)\n    old_test.go:3: no\nFAIL\nFAIL\tm\t0.1s\n", false},
		{"something else", "one:1:1: no\n", false},
		{"a test file that does not compile", "# m [m.test]\n./new_test.go:3:2: undefined: add\nFAIL\tm [build failed]\nFAIL\n", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := newJob(t, map[string]string{"old_test.go": "package m\n", "go.mod": "module m\n"}, gate.QualityGate{Name: "test", Format: "go", Args: []string{"sh", "-c", "test -e one || exit 0; printf '%b' '" + strings.ReplaceAll(strings.ReplaceAll(c.says, "\n", `\n`), "\t", `\t`) + "'; exit 1"}})
			j.view.Limits.Rounds = 1
			j.written(1, map[string]string{"one": "", "new_test.go": "package m\n"})
			j.ended()
			i := slices.IndexFunc(j.desk.facts, func(f nexus.Fact) bool { _, ok := f.(nexus.GatesVerdictGiven); return ok })
			if i < 0 || j.desk.facts[i].(nexus.GatesVerdictGiven).State != nexus.Fail || j.desk.facts[i].(nexus.GatesVerdictGiven).Own != c.own {
				t.Errorf("%+v", j.desk.facts)
			}
		})
	}
}

// TestAnUntouchedTreeIsNotAccepted though the gates pass it.
func TestAnUntouchedTreeIsNotAccepted(t *testing.T) {
	j := newJob(t, nil, lint("exit 0"))
	j.written(1, nil)
	j.over(nexus.Reviewer, 1, nexus.Accepted, approved())
	if f := j.ended(); f.Outcome != nexus.Unverified || f.Why != state.Unchanged {
		t.Errorf("%+v", f)
	}
}

// TestATaskWhoseTimeIsOverEnds and keeps the work, which nobody judges any more.
// What was accepted by then is.
func TestATaskWhoseTimeIsOverEnds(t *testing.T) {
	for _, left := range []time.Duration{time.Minute, 0, -time.Minute} {
		j := newJob(t, nil, lint("exit 0"))
		j.written(1, one)
		j.over(nexus.Reviewer, 1, nexus.Accepted, approved())
		began := time.Unix(1700000000, 0)
		j.view.Limits.TaskTime, j.view.Attempt.Active = time.Hour, began
		j.view.Attempt.Rested = time.Minute // that does not count
		j.Site.Now = func() time.Time { return began.Add(time.Hour + time.Minute - left) }
		f := j.ended()
		if want := map[bool]nexus.Outcome{true: nexus.Accepted, false: nexus.Exhausted}[left > 0]; f.Outcome != want || f.Commit != j.view.Attempt.Snapshot.Commit {
			t.Errorf("with %s left: %+v", left, f)
		}
		if told := j.desk.told(); (told == "") != (left <= 0) {
			t.Errorf("with %s left: %s", left, told)
		}
		if at, err := j.Trees.PrivateRepo().Resolve(t.Context(), worktree.RoundRef("r", "T1.1", 1)); err != nil || at != f.Commit {
			t.Errorf("with %s left: round 1 is at %s, %v", left, at, err)
		}
	}
	j := newJob(t, nil, lint("exit 0"))
	j.written(1, one)
	j.over(nexus.Reviewer, 1, nexus.Accepted, approved())
	began, over := time.Unix(1700000000, 0), time.Duration(0)
	j.view.Limits.TaskTime, j.view.Attempt.Active = time.Hour, began
	j.Site.Now = func() time.Time { return began.Add(over) }
	j.desk.heard = func(f nexus.Fact) {
		if _, ok := f.(nexus.ReviewerVerdictGiven); ok {
			over = 2 * time.Hour
		}
	}
	if f := j.ended(); f.Outcome != nexus.Accepted {
		t.Errorf("the time is over once it is reviewed: %+v", f)
	}
}

// TestWhatAnEarlierAttemptLeftIsMergedOntoTheBase, and put aside where that
// cannot be done, unless a person asked for it.
func TestWhatAnEarlierAttemptLeftIsMergedOntoTheBase(t *testing.T) {
	for _, c := range []struct {
		name   string
		landed map[string]string
		from   nexus.AttemptID
		asked  bool
		want   string // what is told
		files  string
		ended  bool
	}{
		{"merges", map[string]string{"two": "2\n"}, "T1.0", false, "snapshot, round 1 coder ", "bad one two", false},
		{"conflicts", map[string]string{"one": "other\n"}, "T1.0", false, "forgone, round 1 coder ", "bad one", false},
		{"conflicts and was asked for", map[string]string{"one": "other\n"}, "T1.0", true, "", "", true},
		{"conflicts and is no attempt's", map[string]string{"one": "other\n"}, "", false, "", "", true},
	} {
		t.Run(c.name, func(t *testing.T) {
			j := newJob(t, nil, lint("exit 0"))
			a := j.view.Attempt
			a.Since, a.From, a.Asked = j.base, c.from, c.asked
			a.Start, _ = j.tree("T1.0", j.base, one)
			a.Base, _ = j.tree("landed", j.base, c.landed)
			if c.ended {
				if f := j.ended(); f.Outcome != nexus.Conflicted || !strings.Contains(f.Why, "does not merge with what landed since: one") || len(j.desk.facts) > 0 {
					t.Errorf("%+v, %+v", f, j.desk.facts)
				}
				return
			}
			if facts, err := j.work(); !errors.Is(err, &nexus.Error{Code: nexus.CodeNoKey}) || len(facts) > 0 {
				t.Error(facts, err)
			}
			if j.desk.told() != c.want {
				t.Errorf("%q, want %q", j.desk.told(), c.want)
			}
			w, err := j.Trees.AddTree(t.Context(), "r", a.ID, a.Base)
			if err != nil {
				t.Fatal(err)
			}
			commit, _, err := w.Snapshot(t.Context(), "look")
			if err != nil || j.files(commit) != c.files {
				t.Errorf("it starts from %s, want %s, %v", j.files(commit), c.files, err)
			}
			if text, err := os.ReadFile(filepath.Join(w.Dir, "one")); err != nil || c.landed["one"] != "" && string(text) != c.landed["one"] {
				t.Errorf("%q, %v", text, err)
			}
		})
	}
}

// TestOldFailuresAreNotHeldAgainstTheWork is red on the base already.
func TestOldFailuresAreNotHeldAgainstTheWork(t *testing.T) {
	j := newJob(t, nil, lint("cat bad; exit 1"))
	j.written(1, one)
	j.over(nexus.Reviewer, 1, nexus.Accepted, approved())
	if f := j.ended(); f.Outcome != nexus.Accepted {
		t.Errorf("%+v: %s", f, j.desk.told())
	}
}

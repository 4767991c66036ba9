package land

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/gate/testselection"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
	"github.com/nexus-ai-builder/nexus/internal/work/worker/workertest"
)

// desk keeps what is recorded, and knows what it was told gates said.
type desk struct {
	facts []nexus.Fact
	known map[string]nexus.GateEvidence // by tree and gate
	heard func(nexus.Fact)
	none  error                  // why no call may be paid; nil: it may
	fails func(nexus.Fact) error // to record; nil: records

	spared []bool // whether paid work waited for each thing that costs nothing to do again
}

func (d *desk) Record(_ context.Context, facts ...nexus.Fact) error {
	for _, f := range facts {
		if d.fails == nil {
			break
		}
		if err := d.fails(f); err != nil {
			return err
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
	e, ok := d.known[tree+name]
	return e, ok
}

func (d *desk) Reserve(context.Context, nexus.BudgetReserved, ...nexus.Fact) ([]state.Guidance, error) {
	return nil, d.none
}
func (*desk) Ask(context.Context, nexus.QuestionAsked) (string, error) { return "", nil }

func (d *desk) Spare(ctx context.Context, paid bool) (context.Context, context.CancelFunc) {
	d.spared = append(d.spared, paid)
	return ctx, func() {}
}

// judged returns the trees that lint judged for the task that lands.
func (d *desk) judged() []string {
	var all []string
	for _, f := range d.facts {
		if f, ok := f.(nexus.GateJudged); ok && f.Task == "T1" && f.Evidence.Gate == "lint" {
			all = append(all, f.Evidence.Tree)
		}
	}
	return all
}

// train is a run whose branch is at the user's commit.
type train struct {
	*worker.AttemptWorker
	t    *testing.T
	base string
	desk *desk
}

func newTrain(t *testing.T, gates ...gate.QualityGate) *train {
	t.Helper()
	s, base, _ := workertest.NewTestWorker(t, gates...)
	s.Site.Now = func() time.Time { return time.Unix(1700000000, 0) }
	r := &train{s, t, base, &desk{}}
	r.move(base, "")
	return r
}

func (r *train) move(to, from string) {
	r.t.Helper()
	if err := r.Trees.MoveRef(r.t.Context(), RunBranchRef("r"), to, from); err != nil {
		r.t.Fatal(err)
	}
}

// tip is where the run's branch is.
func (r *train) tip() string {
	r.t.Helper()
	at, err := r.Trees.PrivateRepo().Resolve(r.t.Context(), RunBranchRef("r"))
	if err != nil {
		r.t.Fatal(err)
	}
	return at
}

// tree returns a commit with files beside those of a commit, and its tree.
func (r *train) tree(id nexus.AttemptID, from string, files map[string]string) (commit, hash string) {
	r.t.Helper()
	return workertest.CommitFiles(r.t, r.AttemptWorker, id, from, files)
}

// commit puts a tree on parents, as what somebody committed.
func (r *train) commit(hash, message string, parents ...string) string {
	r.t.Helper()
	commit, err := r.Trees.Commit(r.t.Context(), hash, parents, message, r.Site.Now())
	if err != nil {
		r.t.Fatal(err)
	}
	return commit
}

// accepted returns the view of a landing of files that are new on the base.
func (r *train) accepted(files map[string]string) state.WorkerView {
	r.t.Helper()
	commit, hash := r.tree("T1.1", r.base, files)
	task := nexus.Task{ID: "T1", Title: "Add one"}
	return state.WorkerView{
		Run: "r", Tip: r.base, Goal: nexus.GoalAccepted{Base: r.base}, Task: state.TaskState{Task: task},
		Attempt: &state.AttemptState{ID: "T1.1", Task: "T1", Base: r.base, Outcome: nexus.Accepted, Commit: commit, Tree: hash},
		Merge:   &state.AttemptState{ID: state.MergerAttemptID("T1.1"), Base: r.base},
	}
}

// meanwhile lands files before the view's change does.
func (r *train) meanwhile(v *state.WorkerView, files map[string]string) {
	r.t.Helper()
	_, hash := r.tree("T0.1", r.base, files)
	v.Tip = r.commit(hash, "meanwhile\n", r.base)
	r.move(v.Tip, r.base)
}

func (r *train) land(v state.WorkerView) nexus.Fact {
	r.t.Helper()
	facts, err := LandAttempt(r.t.Context(), r.AttemptWorker, v, r.desk)
	if err != nil || len(facts) != 1 {
		r.t.Fatal(facts, err)
	}
	if _, err := os.Stat(filepath.Join(r.Site.State, "trees", "r", string(v.Merge.ID))); !os.IsNotExist(err) {
		r.t.Errorf("the worktree of the landing is still there: %v", err)
	}
	return facts[0]
}

// landed checks that a fact says that files landed right on the view's tip.
func (r *train) landed(v state.WorkerView, f nexus.Fact, files ...string) nexus.LandingCompleted {
	r.t.Helper()
	got, ok := f.(nexus.LandingCompleted)
	if !ok {
		r.t.Fatalf("%T %+v", f, f)
	}
	git := r.Trees.PrivateRepo()
	out, err := git.Run(r.t.Context(), "show", "-s", "--format=%T %P", r.tip())
	if want := got.Tree + " " + v.Tip; err != nil || strings.TrimSpace(out) != want || got.Commit != r.tip() || got.Parent != v.Tip {
		r.t.Errorf("%+v, and the branch is at %s, %v", got, out, err)
	}
	out, err = git.Run(r.t.Context(), "ls-tree", "--name-only", got.Tree)
	if err != nil || !slices.Equal(strings.Fields(out), files) {
		r.t.Errorf("landed with %q, want %v, %v", out, files, err)
	}
	return got
}

// refused checks that a fact says that nothing landed, and why.
func (r *train) refused(v state.WorkerView, f nexus.Fact, why string) nexus.LandingRejected {
	r.t.Helper()
	got, ok := f.(nexus.LandingRejected)
	if !ok {
		r.t.Fatalf("%T %+v", f, f)
	}
	if got.Onto != v.Tip || got.Task != "T1" || got.Attempt != "T1.1" || !strings.Contains(got.Why, why) {
		r.t.Errorf("%+v", got)
	}
	if r.tip() != v.Tip {
		r.t.Errorf("the branch moved to %s", r.tip())
	}
	return got
}

func lint(text string) gate.QualityGate {
	return gate.QualityGate{Name: "lint", Args: []string{"sh", "-c", text}}
}

// TestTheTreeThatWasAcceptedLands without another look, and what its author
// submitted is its message; unless not all its tests ran.
func TestTheTreeThatWasAcceptedLands(t *testing.T) {
	passed, failed := nexus.GateEvidence{State: nexus.Pass}, nexus.GateEvidence{State: nexus.Fail}
	for _, c := range []struct {
		name    string
		related worker.RelatedTestsMode
		known   map[string]nexus.GateEvidence // of its tree
		red     bool                          // the gate is asked
	}{
		{"all ran", worker.RelatedPerTask, map[string]nexus.GateEvidence{"test": passed, testselection.Name: passed}, false},
		{"none apart", worker.RelatedOff, nil, false},
		{"only some ran", worker.RelatedOff, map[string]nexus.GateEvidence{testselection.Name: passed}, true},
		{"only some ran, and failed", worker.RelatedOff, map[string]nexus.GateEvidence{testselection.Name: failed}, false},
		{"others wait for this", worker.RelatedDeferred, nil, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newTrain(t, lint("test ! -e one || exit 1"))
			v := r.accepted(map[string]string{"one": ""})
			r.Judge.Related, r.desk.known = c.related, map[string]nexus.GateEvidence{}
			for name, e := range c.known {
				e.Tree = v.Attempt.Tree
				r.desk.known[e.Tree+name] = e
			}
			v.Attempt.Sessions = []*state.AgentSessionState{r.session("T1.1", nexus.Coder, nexus.Accepted, tool.DefaultWorkSubmission{Subject: "Write one", Summary: "It is new."})}
			f := r.land(v)
			if c.red {
				if got := r.refused(v, f, "gate lint, which runs at the landing, fails"); got.Tree != v.Attempt.Tree || got.Conflict {
					t.Errorf("%+v", got)
				}
				return
			}
			got := r.landed(v, f, "bad", "one")
			if got.Tree != v.Attempt.Tree || got.Resolved || len(r.desk.judged()) > 0 {
				t.Errorf("%+v, judged %v", got, r.desk.judged())
			}
			message, err := r.Trees.PrivateRepo().Run(t.Context(), "show", "-s", "--format=%B", got.Commit)
			if want := "Write one\n\nIt is new.\n\nNexus-Task: T1\nNexus-Attempt: r/T1.1"; err != nil || strings.TrimSpace(message) != want {
				t.Errorf("%q, %v", message, err)
			}
		})
	}
}

// session returns a conversation that is over.
func (r *train) session(of nexus.AttemptID, role nexus.Role, o nexus.Outcome, handin any) *state.AgentSessionState {
	r.t.Helper()
	data, err := json.Marshal(handin)
	if err != nil {
		r.t.Fatal(err)
	}
	result, err := r.Site.Blobs.Put(data)
	if err != nil {
		r.t.Fatal(err)
	}
	return &state.AgentSessionState{
		SessionStarted: nexus.SessionStarted{Session: nexus.SessionID(string(of) + "/" + string(role) + ".1"), Attempt: of, Role: role},
		Over:           true, Outcome: o, Result: result,
	}
}

// TestAMergedTreeIsJudged on top of what landed meanwhile: it lands with both,
// or goes back with what was found in it.
func TestAMergedTreeIsJudged(t *testing.T) {
	for _, red := range []bool{false, true} {
		r := newTrain(t, lint(`test -e one && test -e two && `+map[bool]string{false: "exit 0", true: `echo "one:1:1: no" && exit 1`}[red]+`; exit 0`))
		v := r.accepted(map[string]string{"one": "1\n"})
		r.meanwhile(&v, map[string]string{"two": "2\n"})
		f := r.land(v)
		var tree string
		if red {
			got := r.refused(v, f, "gate lint fails once it is merged with what landed meanwhile")
			if tree = got.Tree; got.Conflict || got.Broken || len(got.Findings) == 0 {
				t.Errorf("%+v", got)
			}
		} else {
			tree = r.landed(v, f, "bad", "one", "two").Tree
		}
		if got := r.desk.judged(); !slices.Equal(got, []string{tree}) || tree == v.Attempt.Tree {
			t.Errorf("red %v: judged %v, want %s", red, got, tree)
		}
	}
}

// TestWhatLandedMeanwhileIsNotHeldAgainstAChange is red on the tip already.
func TestWhatLandedMeanwhileIsNotHeldAgainstAChange(t *testing.T) {
	r := newTrain(t, lint("[ -e two ] && cat bad && exit 1; exit 0"))
	v := r.accepted(map[string]string{"one": "1\n"})
	r.meanwhile(&v, map[string]string{"two": "2\n"})
	r.landed(v, r.land(v), "bad", "one", "two")
}

// TestWhatNoGateJudgedLandsOnlyWhereItMay is a merged tree without a gate.
func TestWhatNoGateJudgedLandsOnlyWhereItMay(t *testing.T) {
	for _, c := range []struct {
		task nexus.Task
		may  bool
	}{
		{nexus.Task{}, false},
		{nexus.Task{Kind: nexus.TestTask}, false},
		{nexus.Task{Kind: nexus.DocsTask}, true},
		{nexus.Task{Strategy: nexus.NoTest}, true},
	} {
		r := newTrain(t)
		v := r.accepted(map[string]string{"one": ""})
		r.meanwhile(&v, map[string]string{"two": ""})
		v.Task.Kind, v.Task.Strategy = c.task.Kind, c.task.Strategy
		if f := r.land(v); c.may {
			r.landed(v, f, "bad", "one", "two")
		} else {
			r.refused(v, f, "no gate judged it")
		}
	}
}

// TestAForeignCommitIsNoLanding finds the branch where nothing of this attempt
// put it: by its parent, its message or the attempt that it names.
func TestAForeignCommitIsNoLanding(t *testing.T) {
	mine := CommitMessage("r", nexus.Task{ID: "T1", Title: "Add one"}, "T1.1", tool.DefaultWorkSubmission{})
	for _, c := range []struct {
		name, message string
		foreign, mine bool // its parent is not the tip; it is the landing
	}{
		{"the landing", mine, false, true},
		{"another parent", mine, true, false},
		{"no trailer", "Add one\n", false, false},
		{"another attempt", CommitMessage("r", nexus.Task{ID: "T1", Title: "Add one"}, "T1.2", tool.DefaultWorkSubmission{}), false, false},
		{"another run", CommitMessage("q", nexus.Task{ID: "T1", Title: "Add one"}, "T1.1", tool.DefaultWorkSubmission{}), false, false},
		{"a trailer that others follow", mine + "Signed-off-by: x\n", false, false},
		{"the end of a line", "Add one\n\nNo " + attemptTrailer("r", "T1.1") + "\n", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newTrain(t)
			v := r.accepted(map[string]string{"one": ""})
			parent := v.Tip
			if c.foreign {
				_, hash := r.tree("T0.1", r.base, map[string]string{"two": ""})
				parent = r.commit(hash, "foreign\n", r.base)
			}
			at := r.commit(v.Attempt.Tree, c.message, parent)
			r.move(at, r.base)
			left, _ := r.Trees.AddTree(t.Context(), "r", v.Merge.ID, r.base)
			facts, err := LandAttempt(t.Context(), r.AttemptWorker, v, r.desk)
			if c.mine {
				if err != nil || len(facts) != 1 || facts[0].(nexus.LandingCompleted).Commit != at {
					t.Error(facts, err)
				}
				if _, err := os.Stat(left.Dir); !os.IsNotExist(err) {
					t.Error("the worktree of the landing is still there", err)
				}
				return
			}
			if err == nil || len(facts) > 0 || !strings.Contains(err.Error(), "which nexus did not put there") {
				t.Error(facts, err)
			}
			if r.tip() != at {
				t.Error("the branch was moved on")
			}
		})
	}
}

// TestABranchThatMovesMeanwhile is left where it is: the landing is an error, and
// not on record.
func TestABranchThatMovesMeanwhile(t *testing.T) {
	r := newTrain(t, lint("exit 0"))
	v := r.accepted(map[string]string{"one": ""})
	r.meanwhile(&v, map[string]string{"two": ""})
	_, hash := r.tree("T0.2", r.base, map[string]string{"three": ""})
	other := r.commit(hash, "somebody else\n", v.Tip)
	r.desk.heard = func(f nexus.Fact) {
		if f, ok := f.(nexus.GateJudged); ok && f.Task == "T1" {
			r.move(other, v.Tip)
		}
	}
	facts, err := LandAttempt(t.Context(), r.AttemptWorker, v, r.desk)
	if err == nil || !strings.Contains(err.Error(), "land T1.1") || len(facts) > 0 || r.tip() != other {
		t.Errorf("%v, %v; the branch is at %s", facts, err, r.tip())
	}
}

// TestALandingIsReadBack and is none with another commit, tree or parent than
// the ones that passed.
func TestALandingIsReadBack(t *testing.T) {
	r := newTrain(t)
	v := r.accepted(map[string]string{"one": ""})
	_, other := r.tree("T0.1", r.base, map[string]string{"two": ""})
	foreign := r.commit(other, "foreign\n", r.base)
	hash := v.Attempt.Tree
	fine := r.commit(hash, "fine\n", r.base)
	for _, c := range []struct {
		name, at, commit string
		fine             bool
	}{
		{"as it passed", fine, fine, true},
		{"another commit", r.commit(hash, "other\n", r.base), fine, false},
		{"another tree", foreign, foreign, false},
		{"another parent", r.commit(hash, "fine\n", foreign), r.commit(hash, "fine\n", foreign), false},
		{"no parent", r.commit(hash, "fine\n"), r.commit(hash, "fine\n"), false},
		{"the tip as its second parent", r.commit(hash, "fine\n", foreign, r.base), r.commit(hash, "fine\n", foreign, r.base), false},
	} {
		r.move(c.at, r.tip())
		l := &attemptLanding{Worker: r.AttemptWorker, view: v, a: v.Attempt, m: v.Merge, desk: r.desk, ref: RunBranchRef("r")}
		f, err := l.verifyBranch(t.Context(), c.commit, hash)
		if (err == nil) != c.fine || c.fine && f.Commit != c.commit || !c.fine && f.Commit != "" {
			t.Errorf("%s: %+v, %v", c.name, f, err)
		}
	}
}

// TestAGraftedParentDoesNotLand lets git say about the commit of the landing that it
// stands on something else than the tip.
func TestAGraftedParentDoesNotLand(t *testing.T) {
	r := newTrain(t)
	v := r.accepted(map[string]string{"one": ""})
	_, other := r.tree("T0.1", r.base, map[string]string{"two": ""})
	foreign := r.commit(other, "foreign\n", r.base)
	made := r.commit(v.Attempt.Tree, CommitMessage("r", v.Task.Task, "T1.1", tool.DefaultWorkSubmission{}), v.Tip) // the very commit
	gittest.WriteFiles(t, r.Trees.PrivateRepo().Dir, map[string]string{"info/grafts": made + " " + foreign + "\n"})
	facts, err := LandAttempt(t.Context(), r.AttemptWorker, v, r.desk)
	if err == nil || len(facts) > 0 || !strings.Contains(err.Error(), "the tip was") {
		t.Error(facts, err)
	}
}

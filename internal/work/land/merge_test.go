package land

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/decide/tamper"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/plugin"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
	"github.com/nexus-ai-builder/nexus/internal/sys/usercmd"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// nobody lets no model be asked, with an error.
func (r *train) nobody(code nexus.ErrorCode) {
	r.Sessions.Roles = map[nexus.Role]agent.RoleDefinition{nexus.Merger: {}, nexus.Reviewer: {}}
	r.Sessions.Pick = func(role nexus.Role, _ nexus.Tier, _ string) (worker.PricedModel, error) {
		return worker.PricedModel{}, &nexus.Error{Code: code, Message: "no model for the " + string(role)}
	}
}

// conflicted is the view of a landing that changes the line that landed
// meanwhile.
func (r *train) conflicted() state.WorkerView {
	r.t.Helper()
	v := r.accepted(map[string]string{"bad": "mine\n", "one": "1\n"})
	r.meanwhile(&v, map[string]string{"bad": "theirs\n", "two": "2\n"})
	return v
}

// resolved lets a merger have submitted files on top of both sides in its n-th
// round, and a reviewer have read them.
func (r *train) resolved(v state.WorkerView, n int, files map[string]string, o nexus.Outcome, reviewed any) {
	r.t.Helper()
	id := v.Merge.ID
	both := map[string]string{"one": "1\n", "two": "2\n"}
	for name, text := range files {
		both[name] = text
	}
	v.Merge.Snapshot.Commit, v.Merge.Snapshot.Tree = r.tree("other", r.base, both)
	merger := r.session(id, nexus.Merger, o, tool.DefaultWorkSubmission{Summary: "Both."})
	for i := range n {
		v.Merge.Rounds = append(v.Merge.Rounds, &state.AttemptRound{RoundStarted: nexus.RoundStarted{Attempt: id, Round: i + 1, Role: nexus.Merger, Session: merger.Session}, Prompted: true})
	}
	v.Merge.Sessions = append(v.Merge.Sessions, merger)
	if reviewed != nil {
		v.Merge.Sessions = append(v.Merge.Sessions, r.session(id, nexus.Reviewer, nexus.Accepted, reviewed))
	}
}

type given struct {
	Approved bool                `json:"approved"`
	Summary  string              `json:"summary"`
	Findings []map[string]string `json:"findings,omitempty"`
	Agreed   []string            `json:"agreed,omitempty"`
}

// TestAConflictGoesToTheMerger and what it made of it lands when the gates and
// a reviewer agree.
func TestAConflictGoesToTheMerger(t *testing.T) {
	both := map[string]string{"bad": "mine\ntheirs\n"}
	fine := given{Approved: true, Summary: "fine"}
	for _, c := range []struct {
		name     string
		files    map[string]string
		outcome  nexus.Outcome
		reviewed any
		rounds   int
		gate     gate.QualityGate
		refused  string // why; empty: it lands
	}{
		{"resolved", both, nexus.Accepted, fine, 1, lint("exit 0"), ""},
		{"not finished", both, nexus.Exhausted, fine, 1, lint("exit 0"), "the merger did not finish"},
		{"rejected", both, nexus.Accepted, given{Summary: "it drops one", Findings: []map[string]string{{"severity": "critical", "message": "no"}}}, 3, lint("exit 0"), "did not succeed in 3 rounds: the reviewer rejects the merged result: it drops one"},
		{"not reviewed", both, nexus.Accepted, "nonsense", 1, lint("exit 0"), "was not reviewed"},
		{"red", both, nexus.Accepted, fine, 3, lint(`grep -q mine bad && grep -q theirs bad && echo "bad:1:1: no" && exit 1; exit 0`), "did not succeed in 3 rounds: the merged tree does not pass: gate lint"},
		{"marks left", map[string]string{"bad": "<<<<<<< a\nmine\n=======\ntheirs\n>>>>>>> b\n"}, nexus.Accepted, fine, 3, lint("exit 0"), "bad still has conflict markers"},
		{"one side lost", map[string]string{"bad": "theirs\n"}, nexus.Accepted, fine, 3, lint("exit 0"), "the result lacks parts of the two sides, or has again what one removed, and the merger does not explain why"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := newTrain(t, c.gate)
			r.nobody(nexus.CodeNoKey)
			v := r.conflicted()
			r.resolved(v, c.rounds, c.files, c.outcome, c.reviewed)
			if c.rounds > 1 {
				v.Merge.Sessions[1].Session = nexus.SessionID(string(v.Merge.ID) + "/reviewer.3")
			}
			tree := v.Merge.Snapshot.Tree
			f := r.land(v)
			if c.refused != "" {
				if got := r.refused(v, f, c.refused); !got.Conflict || !strings.HasPrefix(got.Why, "bad conflict with what landed meanwhile") {
					t.Errorf("%+v", got)
				}
				return
			}
			if got := r.landed(v, f, "bad", "one", "two"); got.Tree != tree || !got.Resolved {
				t.Errorf("%+v", got)
			}
			if got := r.desk.judged(); !slices.Equal(got, []string{tree}) {
				t.Errorf("the gates judged %v", got)
			}
			i := slices.IndexFunc(r.desk.facts, func(f nexus.Fact) bool { _, ok := f.(nexus.ReviewerVerdictGiven); return ok })
			if i < 0 || r.desk.facts[i].(nexus.ReviewerVerdictGiven).Tree != tree || r.desk.facts[i].(nexus.ReviewerVerdictGiven).SendsBack {
				t.Error("no review of it is on record that lets it land")
			}
			var compared []nexus.GateEvidence
			for _, f := range r.desk.facts {
				if j, ok := f.(nexus.GateJudged); ok && j.Evidence.Gate == tamper.MergeGate {
					compared = append(compared, j.Evidence)
				}
			}
			if len(compared) != 1 || compared[0].State != nexus.Pass || compared[0].Why != "" {
				t.Errorf("it is compared with its sides: %+v", compared)
			}
		})
	}
}

// TestPluginsReviewWhatAMergerMade as they do a change: what they object to does
// not land, nor what one that is required says nothing about.
func TestPluginsReviewWhatAMergerMade(t *testing.T) {
	const greet = `read -r l; echo '{"type":"hello","protocol":1,"name":"p","version":"1","kinds":["reviewer"]}'; read -r l; `
	for script, refused := range map[string]string{
		greet + `case $l in *'"files":["bad","one"]'*mine*) ;; *) exit 3 ;; esac; echo '{"type":"answer","id":1,"output":{}}'`:                                               "",
		greet + `echo '{"type":"answer","id":1,"output":{"summary":"It is bad.","findings":[{"file":"bad","line":1,"quote":"mine","severity":"critical","message":"no"}]}}'`: "It is bad.",
		greet + `exit 3`: "required",
	} {
		r := newTrain(t, lint("exit 0"))
		r.nobody(nexus.CodeNoKey)
		v := r.conflicted()
		r.resolved(v, 3, map[string]string{"bad": "mine\ntheirs\n"}, nexus.Accepted, given{Approved: true, Summary: "fine"})
		v.Merge.Sessions[1].Session = nexus.SessionID(string(v.Merge.ID) + "/reviewer.3")
		box, err := sandbox.FindSandbox(t.Context(), sandbox.ModeOff)
		if err != nil {
			t.Fatal(err)
		}
		r.Site.Plugins = &plugin.PluginHost{
			Plugins: []plugin.DeclaredPlugin{{Name: "p", Own: true, PluginSettings: config.PluginSettings{
				Command: "sh", Args: []string{"-c", script}, Kinds: []string{"reviewer"}, Required: true,
			}}},
			Runner: &usercmd.UserCommandRunner{Box: box, Unboxed: box, Dir: t.TempDir(), State: t.TempDir(), Env: os.Getenv, Trust: trust.OpenStore(t.TempDir()), Mark: "test/land"},
			Now:    r.Site.Now,
		}
		if refused == "required" {
			if _, err := LandAttempt(t.Context(), r.AttemptWorker, v, r.desk); !errors.Is(err, &nexus.Error{Code: nexus.CodePlugin}) {
				t.Errorf("it does not answer: %v", err)
			}
			continue
		}
		f := r.land(v)
		if refused == "" {
			r.landed(v, f, "bad", "one", "two")
			continue
		}
		r.refused(v, f, refused)
	}
}

// TestWhatAMergeLacksIsExplainedAndAgreedTo by name, or it does not land.
func TestWhatAMergeLacksIsExplainedAndAgreedTo(t *testing.T) {
	for _, agreed := range []bool{false, true} {
		r := newTrain(t, lint("exit 0"))
		r.nobody(nexus.CodeNoKey)
		v := r.conflicted()
		r.resolved(v, 3, map[string]string{"bad": "theirs\n"}, nexus.Accepted, nil)
		r.refused(v, r.land(v), "does not explain") // which says what it lacks
		var explains []nexus.RemovalExplanation
		for _, f := range r.desk.facts {
			if f, ok := f.(nexus.GateJudged); ok && f.Attempt == v.Merge.ID {
				for _, f := range f.Evidence.Findings {
					explains = append(explains, nexus.RemovalExplanation{Name: f.Name, Why: "theirs is right"})
				}
			}
		}
		if len(explains) == 0 {
			t.Fatal("nothing is missing")
		}
		said := given{Approved: true, Summary: "fine"}
		if agreed {
			for _, e := range explains {
				said.Agreed = append(said.Agreed, e.Name)
			}
		}
		v.Merge = &state.AttemptState{ID: v.Merge.ID, Base: r.base}
		r.resolved(v, 3, map[string]string{"bad": "theirs\n"}, nexus.Accepted, said)
		v.Merge.Sessions[0] = r.session(v.Merge.ID, nexus.Merger, nexus.Accepted, tool.DefaultWorkSubmission{Summary: "Theirs, in bad.", Explains: explains})
		v.Merge.Sessions[1].Session = nexus.SessionID(string(v.Merge.ID) + "/reviewer.3")
		if f := r.land(v); agreed {
			r.landed(v, f, "bad", "one", "two")
		} else {
			r.refused(v, f, "the reviewer rejects the merged result")
		}
		var why []string
		for _, e := range explains {
			why = append(why, e.Name)
		}
		if !slices.ContainsFunc(r.desk.facts, func(f nexus.Fact) bool {
			j, ok := f.(nexus.GateJudged)
			return ok && j.Evidence.State == nexus.Pass && j.Evidence.Why == "explained: "+strings.Join(slices.Compact(why), "; ")
		}) {
			t.Errorf("what was explained is not on record: %q", why)
		}
	}
}

// TestWhatTheMergerGotWrongIsARoundMore that says which gate was red, as long as
// there are any.
func TestWhatTheMergerGotWrongIsARoundMore(t *testing.T) {
	r := newTrain(t, lint("exit 0"))
	r.nobody(nexus.CodeNoKey)
	v := r.conflicted()
	r.resolved(v, 1, map[string]string{"bad": "mine\ntheirs\n"}, nexus.Accepted, given{Summary: "no", Findings: []map[string]string{{"severity": "major", "message": "no"}}})
	facts, err := LandAttempt(t.Context(), r.AttemptWorker, v, r.desk)
	if !errors.Is(err, &nexus.Error{Code: nexus.CodeNoKey}) || !strings.Contains(err.Error(), "merger") || len(facts) > 0 || r.tip() != v.Tip {
		t.Error(facts, err)
	}
	last := v.Merge.LastRound()
	if len(v.Merge.Rounds) != 2 || last.Cause != "review" || last.Role != nexus.Merger {
		t.Errorf("%+v", last)
	}
	given, ok := r.desk.facts[len(r.desk.facts)-2].(nexus.ReviewerVerdictGiven)
	if !ok || !given.SendsBack || given.Attempt != v.Merge.ID {
		t.Errorf("%+v", given)
	}
}

// TestNobodyMerges where no model can be asked: a provider that fails is no
// fault of the work.
func TestNobodyMerges(t *testing.T) {
	r := newTrain(t, lint("exit 0"))
	v := r.conflicted()
	r.nobody(nexus.CodeProvider)
	if got := r.refused(v, r.land(v), "no model for the merger"); !got.Broken || got.Conflict {
		t.Errorf("%+v", got)
	}
	v.Merge = &state.AttemptState{ID: v.Merge.ID, Base: r.base}
	r.nobody(nexus.CodeBudget)
	if facts, err := LandAttempt(t.Context(), r.AttemptWorker, v, r.desk); !errors.Is(err, &nexus.Error{Code: nexus.CodeBudget}) || len(facts) > 0 || r.tip() != v.Tip {
		t.Error(facts, err)
	}
}

// TestAMergerThatThereIsNoMoneyFor is no refusal: the landing waits.
func TestAMergerThatThereIsNoMoneyFor(t *testing.T) {
	r := newTrain(t, lint("exit 0"))
	v := r.conflicted()
	c := r.plays(v, nil)
	r.desk.none = &nexus.Error{Code: nexus.CodeBudget, Message: "the run has no money left"}
	facts, err := LandAttempt(t.Context(), r.AttemptWorker, v, r.desk)
	if !errors.Is(err, &nexus.Error{Code: nexus.CodeBudget}) || !strings.Contains(err.Error(), "no money left") || len(facts) > 0 || len(c.told) > 0 || r.tip() != v.Tip {
		t.Error(facts, err, c.told)
	}
}

// TestAMergerIsNotAskedForWhatItCannotFix: a merged tree that no gate judged goes
// to a person, while the merger hears of a gate that did not end.
func TestAMergerIsNotAskedForWhatItCannotFix(t *testing.T) {
	files := map[string]string{"bad": "mine\ntheirs\n"}
	r := newTrain(t)
	r.nobody(nexus.CodeNoKey)
	v := r.conflicted()
	r.resolved(v, 1, files, nexus.Accepted, nil)
	if got := r.refused(v, r.land(v), "no gate judged it"); !got.Conflict || len(v.Merge.Rounds) != 1 {
		t.Errorf("%+v after %d rounds", got, len(v.Merge.Rounds))
	}

	hangs := lint("test -e one && test -e two || exit 0; while :; do :; done")
	hangs.Timeout = 100 * time.Millisecond
	r = newTrain(t, hangs)
	r.nobody(nexus.CodeNoKey)
	v = r.conflicted()
	r.resolved(v, 1, files, nexus.Accepted, nil)
	facts, err := LandAttempt(t.Context(), r.AttemptWorker, v, r.desk)
	if !errors.Is(err, &nexus.Error{Code: nexus.CodeNoKey}) || len(facts) > 0 || v.Merge.LastRound().Cause != "lint" {
		t.Errorf("%+v, %v: %+v", facts, err, v.Merge.LastRound())
	}
}

// home is what a run landed, to be merged onto a target that moved.
func (r *train) home(theirs map[string]string) state.WorkerView {
	r.t.Helper()
	v := r.accepted(map[string]string{"bad": "mine\n", "one": "1\n"})
	v.Tip = r.commit(v.Attempt.Tree, "landed\n", r.base)
	r.move(v.Tip, r.base)
	_, hash := r.tree("T0.1", r.base, theirs)
	v.Merge = &state.AttemptState{ID: "home", Base: r.commit(hash, "theirs\n", r.base)}
	v.Attempt = nil
	return v
}

// TestHome merges onto the target's commit and leaves the run's branch alone.
func TestHome(t *testing.T) {
	for _, red := range []bool{false, true} {
		r := newTrain(t, lint(`test -e one && test -e two && `+map[bool]string{false: "exit 0", true: `echo "one:1:1: no" && exit 1`}[red]+`; exit 0`))
		v := r.home(map[string]string{"two": "2\n"})
		facts, err := MergeIntoTarget(t.Context(), r.AttemptWorker, v, r.desk)
		if err != nil || len(facts) != 1 {
			t.Fatal(facts, err)
		}
		if r.tip() != v.Tip {
			t.Error("the run's branch moved")
		}
		at, err := r.Trees.PrivateRepo().Resolve(t.Context(), targetMergeRef("r", "home"))
		if err != nil {
			t.Fatal(err)
		}
		switch f := facts[0].(type) {
		case nexus.TargetMergeCommitted:
			out, err := r.Trees.PrivateRepo().Run(t.Context(), "show", "-s", "--format=%T %P", f.Commit)
			if want := f.Tree + " " + v.Merge.Base + " " + v.Tip; red || err != nil || strings.TrimSpace(out) != want || f.Commit != at || f.Onto != v.Merge.Base || f.Attempt != "home" {
				t.Errorf("%+v is %q, %v", f, out, err)
			}
			files, err := r.Trees.PrivateRepo().Run(t.Context(), "ls-tree", "--name-only", f.Tree)
			if err != nil || strings.Join(strings.Fields(files), " ") != "bad one two" {
				t.Errorf("%q, %v", files, err)
			}
		case nexus.TargetMergeRefused:
			if !red || f.Onto != v.Merge.Base || at != v.Merge.Base || !strings.Contains(f.Why, "gate lint fails") {
				t.Errorf("%+v, at %s", f, at)
			}
		default:
			t.Errorf("%T", f)
		}
	}
}

// TestHomeIsJudgedByAllPackages lets the gates of a package that is not known to need
// what the run changed judge it once merged onto the target: nothing judges after that.
func TestHomeIsJudgedByAllPackages(t *testing.T) {
	b := gate.QualityGate{Name: "lint-b", Dir: "b", Args: []string{"sh", "-c", `up=..; if grep -qs HIDDEN $up/a/x.js; then echo "x.js:1:1: no"; exit 1; fi`}}
	r := newTrain(t, lint("exit 0"), b)
	v := r.accepted(map[string]string{"a/x.js": "HIDDEN\n"})
	v.Tip = r.commit(v.Attempt.Tree, "landed\n", r.base)
	r.move(v.Tip, r.base)
	_, hash := r.tree("T0.1", r.base, map[string]string{"a/package.json": `{"name":"a"}`, "b/package.json": `{"name":"b"}`})
	v.Merge, v.Attempt = &state.AttemptState{ID: "home", Base: r.commit(hash, "theirs\n", r.base)}, nil
	facts, err := MergeIntoTarget(t.Context(), r.AttemptWorker, v, r.desk)
	if err != nil || len(facts) != 1 {
		t.Fatal(facts, err)
	}
	if f, ok := facts[0].(nexus.TargetMergeRefused); !ok || !strings.Contains(f.Why, "gate lint-b fails") {
		t.Errorf("%+v", facts[0])
	}
}

// TestHomeThatNobodyCanMerge is refused, not an error; a budget that is used up
// is one.
func TestHomeThatNobodyCanMerge(t *testing.T) {
	for code, refused := range map[nexus.ErrorCode]bool{
		nexus.CodeNoKey: true, nexus.CodeNoProvider: true, nexus.CodeModelUnknown: true, nexus.CodeAuth: true, nexus.CodeNotRecorded: true,
		nexus.CodeBudget: false,
	} {
		r := newTrain(t, lint("exit 0"))
		r.nobody(code)
		v := r.home(map[string]string{"bad": "theirs\n"})
		facts, err := MergeIntoTarget(t.Context(), r.AttemptWorker, v, r.desk)
		if !refused {
			if err == nil || len(facts) > 0 {
				t.Error(code, facts, err)
			}
			continue
		}
		if err != nil || len(facts) != 1 {
			t.Fatal(code, facts, err)
		}
		if f, ok := facts[0].(nexus.TargetMergeRefused); !ok || f.Onto != v.Merge.Base || !strings.HasPrefix(f.Why, "cannot merge bad: ") {
			t.Errorf("%s: %+v", code, facts[0])
		}
		if _, err := os.Stat(filepath.Join(r.Site.State, "trees", "r", "home")); !os.IsNotExist(err) {
			t.Errorf("%s: the worktree is still there: %v", code, err)
		}
	}
}

// TestHomeWithoutACommonCommit: somebody replaced the target's history meanwhile.
func TestHomeWithoutACommonCommit(t *testing.T) {
	r := newTrain(t, lint("exit 0"))
	v := r.home(map[string]string{"two": "2\n"})
	tree, err := r.Trees.PrivateRepo().TreeID(t.Context(), v.Merge.Base)
	if err != nil {
		t.Fatal(err)
	}
	v.Merge.Base = r.commit(tree, "anew\n")
	facts, err := MergeIntoTarget(t.Context(), r.AttemptWorker, v, r.desk)
	if err != nil || len(facts) != 1 {
		t.Fatal(facts, err)
	}
	f, ok := facts[0].(nexus.TargetMergeRefused)
	if !ok || f.Onto != v.Merge.Base || !strings.Contains(f.Why, "no commit in common with the run") {
		t.Errorf("%+v", facts[0])
	}
}

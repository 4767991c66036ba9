package land

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

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/decide/tamper"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/changemetrics"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// TestWhatLandedIsTheFirstSide of a conflict, and the change is the second: that
// is what git and the merger's prompt call them.
func TestWhatLandedIsTheFirstSide(t *testing.T) {
	r := newTrain(t, lint("exit 0"))
	r.nobody(nexus.CodeNoKey)
	v := r.conflicted()
	if facts, err := LandAttempt(t.Context(), r.AttemptWorker, v, r.desk); !errors.Is(err, &nexus.Error{Code: nexus.CodeNoKey}) {
		t.Fatal(facts, err)
	}
	text, err := os.ReadFile(filepath.Join(r.Site.State, "trees", "r", string(v.Merge.ID), "tree", "bad"))
	if err != nil || !strings.Contains(string(text), "\ntheirs\n=======\nmine\n") {
		t.Errorf("%s, %v", text, err)
	}
}

// TestWhatWasAgreedToLands: the reviewer of the change agreed to what it takes
// away, so nobody has to explain it again at the landing.
func TestWhatWasAgreedToLands(t *testing.T) {
	r := newTrain(t, lint("exit 0"))
	r.Judge.Meter = &changemetrics.ChangeMeasurer{Rules: nexus.DefinitionOfDone{Modes: map[string]nexus.BoundMode{nexus.DeletionBound: nexus.BoundBlock}}}
	v := r.accepted(map[string]string{"bad": "", "one": "1\n"})
	r.meanwhile(&v, map[string]string{"two": "2\n"})
	r.landed(v, r.land(v), "bad", "one", "two")
}

// TestADeadProcessHadNotSaidWhatIsWrong: the merger hears it in the round that
// was started for it, and that round is not taken for one that is over.
func TestADeadProcessHadNotSaidWhatIsWrong(t *testing.T) {
	r := newTrain(t, lint("exit 0"))
	r.nobody(nexus.CodeNoKey)
	v := r.conflicted()
	r.resolved(v, 2, map[string]string{"bad": "theirs\n"}, nexus.Accepted, nil)
	v.Merge.LastRound().Prompted = false
	if facts, err := LandAttempt(t.Context(), r.AttemptWorker, v, r.desk); !errors.Is(err, &nexus.Error{Code: nexus.CodeNoKey}) || len(v.Merge.Rounds) != 2 {
		t.Error(facts, err, len(v.Merge.Rounds))
	}
	compared := slices.ContainsFunc(r.desk.facts, func(f nexus.Fact) bool {
		j, ok := f.(nexus.GateJudged)
		return ok && j.Evidence.Gate == tamper.MergeGate && j.Evidence.State == nexus.Fail && j.Evidence.Tree == v.Merge.Snapshot.Tree
	})
	if !compared {
		t.Error("nobody looked what was wrong with the round before")
	}
}

// model answers as it is scripted to.
type model func(llm.Request) (llm.Response, error)

func (m model) Stream(_ context.Context, r llm.Request, _ func(llm.AnswerDelta)) (llm.Response, error) {
	return m(r)
}

func (r *train) scripted(m model) {
	r.t.Helper()
	roles, err := agent.LoadRoleDefinitions(nil)
	if err != nil {
		r.t.Fatal(err)
	}
	r.Sessions.Roles = roles
	r.Sessions.Pick = func(nexus.Role, nexus.Tier, string) (worker.PricedModel, error) {
		return worker.PricedModel{
			Model: m, Name: "toy/model",
			Price: func(nexus.Usage, llm.BillingTerms) nexus.Money { return 0 }, Worst: func(llm.Request) nexus.Money { return 0 },
		}, nil
	}
}

// TestAMergerIsToldOnce what the two sides are, though the process that told it
// died before it answered.
func TestAMergerIsToldOnce(t *testing.T) {
	r := newTrain(t, lint("exit 0"))
	v := r.conflicted()
	r.scripted(func(llm.Request) (llm.Response, error) {
		return llm.Response{}, &llm.ModelCallError{Class: llm.Fatal, Cause: errors.New("no answer")}
	})
	if f, ok := r.land(v).(nexus.LandingRejected); !ok || !f.Broken || !v.Merge.LastRound().Prompted {
		t.Fatalf("%+v", f)
	}
	asked := 0
	r.scripted(func(q llm.Request) (llm.Response, error) {
		if asked++; asked == 1 && len(q.Messages) != 1 {
			t.Errorf("it is told %d times", len(q.Messages))
		}
		handin := `{"summary": "Both.", "status": "done"}`
		return llm.Response{
			Message: llm.Message{From: llm.Assistant, Parts: []llm.MessagePart{{Call: &llm.ToolCall{ID: "c1", Tool: "finish", Input: json.RawMessage(handin)}}}},
			Stop:    llm.StopTools, Usage: nexus.Usage{Input: 1},
		}, nil
	})
	r.refused(v, r.land(v), "bad still has conflict markers") // it never wrote anything
	if asked < 1 || len(v.Merge.Rounds) != rounds {
		t.Errorf("%d rounds after %d answers", len(v.Merge.Rounds), asked)
	}
}

// TestFewerTestsThanOnTheTip are explained by the merger, unless the change was
// known to run fewer when it was accepted.
func TestFewerTestsThanOnTheTip(t *testing.T) {
	for _, known := range []bool{false, true} {
		r := newTrain(t, gate.QualityGate{Name: "test", Format: "tap", Tests: true, Args: []string{"sh", "-c", "echo 'ok 1 - a'; n=1; test -e one || { n=2; echo 'ok 2 - b'; }; echo 1..$n"}})
		r.nobody(nexus.CodeNoKey)
		v := r.conflicted()
		r.resolved(v, 3, map[string]string{"bad": "mine\ntheirs\n"}, nexus.Accepted, given{Approved: true, Summary: "fine"})
		v.Merge.Sessions[1].Session = nexus.SessionID(string(v.Merge.ID) + "/reviewer.3")
		if known {
			v.Attempt.Rounds = []*state.AttemptRound{{Suspect: &nexus.TamperSuspected{Findings: []nexus.Finding{{Gate: "test", Code: parserbase.CodeFewer}}}}}
			r.landed(v, r.land(v), "bad", "one", "two")
			continue
		}
		r.refused(v, r.land(v), "gate test: fewer tests")
	}
}

// TestAFileThatIsAsItWas has no markers where one side deleted it: the merger
// says why it stays, or it decided nothing.
func TestAFileThatIsAsItWas(t *testing.T) {
	for summary, decided := range map[string]bool{"Both.": false, "The change needs bad, so it stays.": true} {
		r := newTrain(t, lint("exit 0"))
		r.nobody(nexus.CodeNoKey)
		v := r.accepted(map[string]string{"bad": "mine\n", "one": "1\n"})
		w, err := r.Trees.AddTree(t.Context(), "r", "T0.1", r.base)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(w.Dir, "bad")); err != nil {
			t.Fatal(err)
		}
		_, hash, err := w.Snapshot(t.Context(), "work")
		if err != nil {
			t.Fatal(err)
		}
		v.Tip = r.commit(hash, "meanwhile\n", r.base)
		r.move(v.Tip, r.base)
		r.resolved(v, 3, map[string]string{"bad": "mine\n"}, nexus.Accepted, nil)
		v.Merge.Sessions[0] = r.session(v.Merge.ID, nexus.Merger, nexus.Accepted, tool.DefaultWorkSubmission{Summary: summary})
		facts, err := LandAttempt(t.Context(), r.AttemptWorker, v, r.desk)
		if err != nil && !errors.Is(err, &nexus.Error{Code: nexus.CodeNoKey}) {
			t.Fatal(err)
		}
		left := err == nil && strings.Contains(r.refused(v, facts[0], "").Why, "bad is unchanged")
		if left == decided {
			t.Errorf("%s: %+v, %v", summary, facts, err)
		}
	}
}

// TestSubjects makes one task of what a run landed, with the criteria that can
// be checked, and names what others committed on the target alone.
func TestSubjects(t *testing.T) {
	r := newTrain(t)
	v := r.home(map[string]string{"two": "2\n"})
	v.Goal.Goal.Text = "Do it"
	v.Landed = []nexus.Task{
		{ID: "T1", Title: "Add one", Brief: "One.", Criteria: []nexus.Criterion{{Text: "it is nice"}, {Text: "it builds", Check: "build"}}},
		{ID: "T2", Title: "Add two", Brief: "Two.", Criteria: []nexus.Criterion{{Text: "it adds", Check: "sh add.sh"}}},
	}
	whole, theirs, err := mergeSubjects(t.Context(), r.Trees, v, r.base)
	if err != nil {
		t.Fatal(err)
	}
	want := nexus.Task{
		Title: "Merge: Do it", Brief: "T1: Add one\nOne.\n\nT2: Add two\nTwo.\n\n",
		Criteria: []nexus.Criterion{{Text: "it builds", Check: "build"}, {Text: "it adds", Check: "sh add.sh"}},
	}
	if d := cmp.Diff(want, whole); d != "" {
		t.Error(d)
	}
	if len(theirs) != 1 || theirs[0].Title != "theirs" || !strings.HasPrefix(v.Merge.Base, string(theirs[0].ID)) || theirs[0].ID == "" {
		t.Errorf("%+v", theirs)
	}
}

// cast is a merger and a reviewer, with what each does in its turns: files that
// the merger writes, and what is handed in.
type cast struct {
	dir  string
	does map[nexus.Role][]func() (files map[string]string, handin any)
	told map[nexus.Role][]string
}

func (r *train) plays(v state.WorkerView, does map[nexus.Role][]func() (map[string]string, any)) *cast {
	r.t.Helper()
	c := &cast{dir: filepath.Join(r.Site.State, "trees", "r", string(v.Merge.ID), "tree"), does: does, told: map[nexus.Role][]string{}}
	r.scripted(func(q llm.Request) (llm.Response, error) {
		role := nexus.Merger
		if strings.Contains(q.Messages[0].Text(), "/"+string(nexus.Reviewer)+".") {
			role = nexus.Reviewer
		}
		n := len(c.told[role])
		c.told[role] = append(c.told[role], q.Messages[len(q.Messages)-1].Text())
		if n >= len(c.does[role]) {
			return llm.Response{}, &llm.ModelCallError{Class: llm.Fatal, Cause: errors.New("no turn is left for the " + string(role))}
		}
		files, handin := c.does[role][n]()
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(c.dir, name), []byte(text), 0o600); err != nil {
				return llm.Response{}, err
			}
		}
		data, err := json.Marshal(handin)
		return llm.Response{
			Message: llm.Message{From: llm.Assistant, Parts: []llm.MessagePart{{Call: &llm.ToolCall{ID: "c1", Tool: "finish", Input: data}}}},
			Stop:    llm.StopTools, Usage: nexus.Usage{Input: 1},
		}, err
	})
	return c
}

// submits is a turn that writes files and submits.
func submits(files map[string]string, summary string, explains ...map[string]string) func() (map[string]string, any) {
	return func() (map[string]string, any) {
		return files, map[string]any{"summary": summary, "status": "done", "explains": append([]map[string]string{}, explains...)}
	}
}

// reviews is a turn of a reviewer.
func reviews(g any) func() (map[string]string, any) {
	return func() (map[string]string, any) { return nil, g }
}

// TestAMergerGoesOnUntilItIsRight: it hears what is wrong each time, and each
// result has a reader of its own, who sees both sides.
func TestAMergerGoesOnUntilItIsRight(t *testing.T) {
	r := newTrain(t, lint("test -e one && test -e two || exit 0; grep -q '^both$' bad || { echo bad:1:1: say both; exit 1; }"))
	v := r.conflicted()
	v.Limits.ReviewRounds = 4
	no := given{Summary: "not yet", Findings: []map[string]string{{"severity": "major", "message": "the order is wrong", "file": "bad", "quote": "both"}}}
	c := r.plays(v, map[nexus.Role][]func() (map[string]string, any){
		nexus.Merger: {
			submits(nil, "Both."),
			submits(map[string]string{"bad": "mine\ntheirs\n"}, "Both."),
			submits(map[string]string{"bad": "mine\ntheirs\nboth\n"}, "Both."),
			submits(map[string]string{"bad": "both\ntheirs\nmine\n"}, "Both."),
		},
		nexus.Reviewer: {reviews(no), reviews(given{Approved: true, Summary: "fine"})},
	})
	got := r.land(v)
	r.landed(v, got, "bad", "one", "two")
	if text, err := r.Trees.PrivateRepo().Run(t.Context(), "cat-file", "blob", r.tip()+":bad"); err != nil || text != "both\ntheirs\nmine\n" {
		t.Errorf("%q, %v", text, err)
	}
	for i, want := range [][]string{{"Conversation: ", "bad", "+mine", "+theirs"}, {"bad still has conflict markers"}, {"say both", "gate lint"}, {"the order is wrong", "the reviewer rejects the merged result: not yet"}} {
		for _, w := range want {
			if i >= len(c.told[nexus.Merger]) || !strings.Contains(c.told[nexus.Merger][i], w) {
				t.Fatalf("round %d: the merger was not told %q: %q", i+1, w, c.told[nexus.Merger])
			}
		}
	}
	for i, want := range [][]string{{"/reviewer.3\n", "Landed side", "+theirs", "This task's side", "+mine", "+both"}, {"/reviewer.4\n"}} {
		for _, w := range want {
			if !strings.Contains(c.told[nexus.Reviewer][i], w) {
				t.Errorf("the reviewer was not told %q: %s", w, c.told[nexus.Reviewer][i])
			}
		}
	}
	var causes []string
	for _, round := range v.Merge.Rounds {
		causes = append(causes, round.Cause)
	}
	if diff := cmp.Diff([]string{"", tamper.MergeGate, "lint", "review"}, causes); diff != "" {
		t.Error(diff)
	}
}

// TestWhatAMergerExplainedOnceIsExplained in the rounds after that, too.
func TestWhatAMergerExplainedOnceIsExplained(t *testing.T) {
	r := newTrain(t, lint("exit 0"))
	v := r.conflicted()
	var names []string
	r.desk.heard = func(f nexus.Fact) {
		if f, ok := f.(nexus.GateJudged); ok && f.Evidence.Gate == tamper.MergeGate && names == nil {
			for _, f := range f.Evidence.Findings {
				names = append(names, f.Name)
			}
		}
	}
	explains := func() (map[string]string, any) {
		var all []map[string]string
		for _, name := range names {
			all = append(all, map[string]string{"name": name, "why": "mine is right"})
		}
		return submits(nil, "Mine, in bad.", all...)()
	}
	c := r.plays(v, map[nexus.Role][]func() (map[string]string, any){
		nexus.Merger: {submits(map[string]string{"bad": "mine\n"}, "Mine, in bad."), explains, submits(nil, "Mine, still, in bad.")},
		nexus.Reviewer: {
			reviews(given{Approved: true, Summary: "fine, but I agree to nothing"}),
			func() (map[string]string, any) { return nil, given{Approved: true, Summary: "fine", Agreed: names} },
		},
	})
	r.landed(v, r.land(v), "bad", "one", "two")
	if len(names) == 0 || len(c.told[nexus.Merger]) != 3 || !strings.Contains(c.told[nexus.Merger][1], "the result lacks parts of the two sides") || !strings.Contains(c.told[nexus.Reviewer][1], "mine is right") {
		t.Errorf("%q: %q", names, c.told)
	}
}

// TestWhatNoMergerCanFix goes to a person at once.
func TestWhatNoMergerCanFix(t *testing.T) {
	both := submits(map[string]string{"bad": "mine\ntheirs\n"}, "Both.")
	for name, c := range map[string]struct {
		lint   string
		review any
		why    string
	}{
		"a gate whose tool is not there": {"test -e one && test -e two || exit 0; no-such-program-at-all", nil, "gate lint"},
		"a review that cannot be read":   {"exit 0", given{Approved: true, Summary: "fine", Findings: []map[string]string{{"severity": "major", "message": "and yet"}}}, ""},
	} {
		r := newTrain(t, lint(c.lint))
		v := r.conflicted()
		v.Limits.ReviewRounds = 1
		p := r.plays(v, map[nexus.Role][]func() (map[string]string, any){nexus.Merger: {both}, nexus.Reviewer: {reviews(c.review)}})
		got := r.refused(v, r.land(v), c.why)
		if !got.Conflict || got.Onto != v.Tip || !strings.Contains(got.Why, "bad conflict with what landed meanwhile") || len(p.told[nexus.Merger]) != 1 || r.tip() != v.Tip {
			t.Errorf("%s: %+v, %q", name, got, p.told)
		}
	}
}

// TestNothingLandsThatIsNotOnRecord: whatever cannot be recorded of a merge, and
// whenever its gates cannot be found, that is the error, and the branch stays.
func TestNothingLandsThatIsNotOnRecord(t *testing.T) {
	start := func() (*train, state.WorkerView) {
		r := newTrain(t, lint("exit 0"))
		v := r.conflicted()
		r.plays(v, map[nexus.Role][]func() (map[string]string, any){
			nexus.Merger:   {submits(map[string]string{"bad": "mine\ntheirs\n"}, "Both.")},
			nexus.Reviewer: {reviews(given{Approved: true, Summary: "fine"})},
		})
		return r, v
	}
	whole, v := start()
	looks := 0
	list := whole.Judge.Gates
	whole.Judge.Gates = func(dir string) ([]gate.QualityGate, error) { looks++; return list(dir) }
	whole.landed(v, whole.land(v), "bad", "one", "two")
	kind := func(f nexus.Fact) string {
		if j, ok := f.(nexus.GateJudged); ok {
			return nexus.FactKind(f) + " " + j.Evidence.Gate
		}
		return nexus.FactKind(f)
	}
	var kinds []string
	for _, f := range whole.desk.facts {
		if k := kind(f); !slices.Contains(kinds, k) {
			kinds = append(kinds, k)
		}
	}
	broken := errors.New("no space")
	stays := func(what string, r *train, v state.WorkerView) {
		t.Helper()
		if facts, err := LandAttempt(t.Context(), r.AttemptWorker, v, r.desk); !errors.Is(err, broken) || len(facts) > 0 || r.tip() != v.Tip {
			t.Errorf("without %s: %v, %v", what, facts, err)
		}
	}
	for _, k := range kinds {
		r, v := start()
		r.desk.fails = func(f nexus.Fact) error {
			if kind(f) == k {
				return broken
			}
			return nil
		}
		stays(k, r, v)
	}
	for i := range looks {
		r, v := start()
		n := 0
		r.Judge.Gates = func(dir string) ([]gate.QualityGate, error) {
			if n++; n == i+1 {
				return nil, broken
			}
			return list(dir)
		}
		stays(fmt.Sprintf("its gates, look %d of %d", i+1, looks), r, v)
	}
}

package land

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/decide/tamper"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/read/raw"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/measure"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// TestWhatLandedIsTheFirstSide of a conflict, and the change is the second: that
// is what git and the merger's prompt call them.
func TestWhatLandedIsTheFirstSide(t *testing.T) {
	r := newTrain(t, lint("exit 0"))
	r.nobody(nexus.CodeNoKey)
	v := r.conflicted()
	if facts, err := Land(t.Context(), r.Worker, v, r.desk); !errors.Is(err, &nexus.Error{Code: nexus.CodeNoKey}) {
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
	r.Judge.Meter = &measure.Meter{Rules: nexus.DoneRules{Modes: map[string]nexus.BoundMode{nexus.DeletionBound: nexus.BoundBlock}}}
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
	v.Merge.Last().Prompted = false
	if facts, err := Land(t.Context(), r.Worker, v, r.desk); !errors.Is(err, &nexus.Error{Code: nexus.CodeNoKey}) || len(v.Merge.Rounds) != 2 {
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

func (m model) Stream(_ context.Context, r llm.Request, _ func(llm.Delta)) (llm.Response, error) {
	return m(r)
}

func (r *train) scripted(m model) {
	r.t.Helper()
	roles, err := agent.Roles(nil)
	if err != nil {
		r.t.Fatal(err)
	}
	r.Sessions.Roles = roles
	r.Sessions.Pick = func(nexus.Role, nexus.Tier, string) (worker.Model, error) {
		return worker.Model{
			Model: m, Name: "toy/model",
			Price: func(nexus.Usage, llm.Terms) nexus.Money { return 0 }, Worst: func(llm.Request) nexus.Money { return 0 },
		}, nil
	}
}

// TestAMergerIsToldOnce what the two sides are, though the process that told it
// died before it answered.
func TestAMergerIsToldOnce(t *testing.T) {
	r := newTrain(t, lint("exit 0"))
	v := r.conflicted()
	r.scripted(func(llm.Request) (llm.Response, error) {
		return llm.Response{}, &llm.Error{Class: llm.Fatal, Cause: errors.New("no answer")}
	})
	if f, ok := r.land(v).(nexus.TrainRefused); !ok || !f.Broken || !v.Merge.Last().Prompted {
		t.Fatalf("%+v", f)
	}
	asked := 0
	r.scripted(func(q llm.Request) (llm.Response, error) {
		if asked++; asked == 1 && len(q.Messages) != 1 {
			t.Errorf("it is told %d times", len(q.Messages))
		}
		handin := `{"summary": "Both.", "status": "done"}`
		return llm.Response{
			Message: llm.Message{From: llm.Assistant, Parts: []llm.Part{{Call: &llm.Call{ID: "c1", Tool: "finish", Input: json.RawMessage(handin)}}}},
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
		r := newTrain(t, gate.Gate{Name: "test", Format: "tap", Tests: true, Args: []string{"sh", "-c", "echo 'ok 1 - a'; n=1; test -e one || { n=2; echo 'ok 2 - b'; }; echo 1..$n"}})
		r.nobody(nexus.CodeNoKey)
		v := r.conflicted()
		r.resolved(v, 3, map[string]string{"bad": "mine\ntheirs\n"}, nexus.Accepted, given{Approved: true, Summary: "fine"})
		v.Merge.Sessions[1].Session = nexus.SessionID(string(v.Merge.ID) + "/reviewer.3")
		if known {
			v.Attempt.Rounds = []*state.Round{{Suspect: &nexus.TamperSuspected{Findings: []nexus.Finding{{Gate: "test", Code: raw.CodeFewer}}}}}
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
		w, err := r.Trees.Add(t.Context(), "r", "T0.1", r.base)
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
		v.Merge.Sessions[0] = r.session(v.Merge.ID, nexus.Merger, nexus.Accepted, tool.Submission{Summary: summary})
		facts, err := Land(t.Context(), r.Worker, v, r.desk)
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
	whole, theirs, err := subjects(t.Context(), r.Trees, v, r.base)
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

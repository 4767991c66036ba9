package attempt_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/work/attempt"
)

// steps sets up what editors do with work that is green: tidy it, and then, if that
// succeeds, shorten it.
func (j *job) steps() {
	j.Judge.Steps = []config.NamedPipelineStep{
		{Name: "tidy", PipelineStepSettings: config.PipelineStepSettings{Edit: "Tidy it."}},
		{Name: "code", PipelineStepSettings: config.PipelineStepSettings{Edit: "Never for words.", Types: []string{"code"}}},
		{Name: "short", PipelineStepSettings: config.PipelineStepSettings{Edit: "Shorten it.", Optional: true}},
		{Name: "speed", PipelineStepSettings: config.PipelineStepSettings{Run: "test -e one"}},
	}
}

// TestEditorsDoTheStepsOfAPipeline, each once and in a conversation of its own. What one
// makes red that need not succeed is taken back, and the rest is judged and read.
func TestEditorsDoTheStepsOfAPipeline(t *testing.T) {
	j := newJob(t, nil, lint("test -e one || exit 0; grep -q long one && exit 0; echo one:1:1: too short; exit 1"))
	j.steps()
	c := j.plays(map[nexus.Role][]nextRole{
		nexus.Coder:    {{files: map[string]string{"one": "long\n"}}},
		nexus.Editor:   {{to: "Tidy it.", files: map[string]string{"one": "a long one\n"}}, {to: "Shorten it.", files: map[string]string{"one": "a\n"}}},
		nexus.Reviewer: {{to: "+a long one", handin: approved()}},
	})
	f := j.ended()
	const green, red = "gate lint pass, gate pipeline-speed pass, verdict pass, ", "gate lint fail, verdict fail, "
	want := "round 1 coder , snapshot, " + green + "round 2 editor step: tidy, snapshot, " + green + "round 3 editor step: short, snapshot, " + red + "snapshot, " + green + "review true"
	if got := j.desk.told(); f.Outcome != nexus.Accepted || got != want {
		t.Fatalf("%+v:\n%s, want\n%s", f, got, want)
	}
	if text := j.one(f.Commit); text != "a long one\n" {
		t.Errorf("%q", text)
	}
	editors := c.all(nexus.Editor)
	has(t, editors[0], []string{"T1.1/editor.1\n", "the step tidy", "Tidy it.", "+long"}, "Shorten it.", "After the gates")
	has(t, editors[1], []string{"T1.1/editor.2\n", "the step short", "Shorten it.", "+a long one"}, "Tidy it.")
	has(t, c.all(nexus.Coder)[0], []string{"After the gates these commands must exit 0 with your work: `test -e one`."}, "Tidy it.")
	for _, f := range facts[nexus.RoundStarted](j)[1:] {
		if want := map[int]nexus.SessionID{2: "T1.1/editor.1", 3: "T1.1/editor.2"}[f.Round]; f.Session != want {
			t.Errorf("round %d is in %s, want %s", f.Round, f.Session, want)
		}
	}
	if !strings.Contains(last[nexus.TreeSnapshotted](j).Tree, j.view.Attempt.Rounds[1].Verdict.Tree) {
		t.Error("what made it red was not taken back")
	}
}

// TestAnEditorGoesOn in the conversation of its step, after its process died, and so Next
// says; when it is another's turn, Next says how the next editor would begin.
func TestAnEditorGoesOn(t *testing.T) {
	j := newJob(t, nil, lint("exit 0"))
	j.steps()
	c := j.plays(map[nexus.Role][]nextRole{nexus.Coder: {{files: one}}, nexus.Editor: {{to: "Tidy it.", files: map[string]string{"one": "tidy\n"}}}})
	if facts, err := j.work(); err == nil || !strings.Contains(err.Error(), "the editor has no turn for") || len(facts) > 0 {
		t.Fatal(facts, err)
	}
	if u := j.next(""); u.Role != nexus.Editor || u.Session != "T1.1/editor.2" || u.Why != "" || len(u.Said) != 1 {
		t.Errorf("%s in %s: %q, %+v", u.Role, u.Session, u.Why, u.Said)
	}
	c.turns[nexus.Editor], c.turns[nexus.Reviewer] = []nextRole{{to: "Shorten it.", files: map[string]string{"one": "short\n"}}}, []nextRole{{handin: approved()}}
	if f := j.ended(); f.Outcome != nexus.Accepted || j.one(f.Commit) != "short\n" || len(facts[nexus.RoundStarted](j)) != 3 {
		t.Errorf("%+v: %s", f, j.desk.told())
	}
	if u, err := attempt.PreviewPrompt(t.Context(), j.AttemptWorker, j.view, nexus.Editor); !errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) || !strings.Contains(err.Error(), "no step") {
		t.Errorf("%s, %v", u.Session, err)
	}
	a := j.view.Attempt
	a.Rounds, a.Sessions = a.Rounds[:2], slices.DeleteFunc(a.Sessions, func(s *state.AgentSessionState) bool { return s.Session == "T1.1/editor.2" })
	a.Rounds[1].Verdict = nil // the gates come next
	if u := j.next(nexus.Editor); u.Session != "T1.1/editor.2" || u.Why != "brief" {
		t.Errorf("%s: %q", u.Session, u.Why)
	} else {
		has(t, text(u), []string{"Shorten it."}, "Tidy it.")
	}
}

// TestAStepThatIsNoLongerSetUp asks for nothing, and has to succeed all the same.
func TestAStepThatIsNoLongerSetUp(t *testing.T) {
	j := newJob(t, nil, lint("exit 0"))
	j.steps()
	j.written(1, one)
	a := j.view.Attempt
	a.Rounds[0].Verdict = &nexus.GatesVerdictGiven{Attempt: a.ID, Tree: a.Snapshot.Tree, State: nexus.Pass}
	for _, s := range []struct{ cause, says string }{{"step: old", "The step  is no longer set up. Change nothing"}, {"step: short", "Shorten it."}} {
		a.Rounds = append(a.Rounds[:1:1], &state.AttemptRound{RoundStarted: nexus.RoundStarted{Attempt: a.ID, Round: 2, Role: nexus.Editor, Cause: s.cause, Session: "T1.1/editor.1"}, Base: a.Base, From: a.Snapshot.Commit, Commit: a.Snapshot.Commit})
		if u := j.next(""); u.Role != nexus.Editor || u.Session != "T1.1/editor.1" {
			t.Errorf("%s in %s", u.Role, u.Session)
		} else {
			has(t, text(u), []string{s.says})
		}
	}
	c := j.plays(map[nexus.Role][]nextRole{nexus.Editor: {{to: "Shorten it.", handin: map[string]string{"summary": "I cannot.", "status": "blocked", "reason": "It is short."}}}})
	if facts, err := j.work(); err == nil || !strings.Contains(err.Error(), "the editor has no turn for") || !strings.Contains(c.told[1], "Tidy it.") {
		t.Errorf("%+v, %v: %q", facts, err, c.told)
	}
	a.Rounds, a.Sessions = append(a.Rounds[:1:1], &state.AttemptRound{RoundStarted: nexus.RoundStarted{Attempt: a.ID, Round: 2, Role: nexus.Editor, Cause: "step: old", Session: "T1.1/editor.1"}, Base: a.Base, From: a.Snapshot.Commit, Commit: a.Snapshot.Commit}), a.Sessions[:1]
	c.turns[nexus.Editor] = []nextRole{{to: "no longer set up", handin: map[string]string{"summary": "I cannot.", "status": "blocked", "reason": "It is short."}}}
	if f := j.ended(); f.Outcome != nexus.GaveUp {
		t.Errorf("%+v: %s", f, j.desk.told())
	}
}

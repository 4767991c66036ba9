package attempt_test

import (
	"slices"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestWhatAnAuthorDidNotTouchIsNotFixed, whatever it says: it changed nothing since the
// comment, or the comment is about no commit.
func TestWhatAnAuthorDidNotTouchIsNotFixed(t *testing.T) {
	j, c := returned(t, nil, one, nexus.ReviewComment{ID: "c1", File: "one", Start: 1, Kind: nexus.MustComment, Body: "Make it ten."}, nexus.ReviewComment{ID: "c2", Kind: nexus.ShouldComment, Body: "Say more."})
	j.view.Task.Comments[1].Commit = ""
	c.turns[nexus.Coder] = []nextRole{{to: "Make it ten.", handin: map[string]any{"summary": "Done.", "status": "done", "answers": []map[string]string{
		{"comment": "c1", "status": "fixed"}, {"comment": "c2", "status": "fixed"},
	}}}}
	facts, err := j.work()
	want := []nexus.CommentAnswer{{Comment: "c1", Reply: nexus.CommentFixed}, {Comment: "c2", Reply: nexus.CommentFixed}}
	if f := last[nexus.CommentsAnswered](j); !slices.Equal(f.Answers, want) || f.Commit != j.view.Attempt.Snapshot.Commit {
		t.Errorf("%+v, want %+v: %+v, %v", f, want, facts, err)
	}
}

// TestTestsAloneAreProvedAsTheyAre: there is no work to take away from them.
func TestTestsAloneAreProvedAsTheyAre(t *testing.T) {
	j := newJob(t, map[string]string{"go.mod": "module m\n", "one": "1\n"}, newTest())
	j.view.Attempt.Strategy, j.view.Task.Kind = nexus.TDDSimple, ""
	j.written(1, map[string]string{"new_test.go": "package m\n"})
	facts, err := j.work()
	if p := last[nexus.TestsRunWithoutWork](j); p.Proof != nexus.ProofGreen || p.Tree != j.view.Attempt.Snapshot.Tree || !slices.Equal(p.Files, []string{"new_test.go"}) {
		t.Errorf("%+v: %+v, %v", p, facts, err)
	}
}

// TestAnAttemptThatLeftNothing is told of all the same.
func TestAnAttemptThatLeftNothing(t *testing.T) {
	p := newRetelling(t)
	p.start("T1.1")
	p.ended("T1.1", nexus.GaveUp, "the task makes no sense")
	all := ""
	for _, part := range p.opening() {
		all += part.Text + "\n"
	}
	has(t, all, []string{"T1.1", "the task makes no sense"})
}

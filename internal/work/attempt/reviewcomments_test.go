package attempt_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
)

// returned is work that was accepted and that a person sent back with comments, of which
// those with a replacement are to be done without an agent. A reviewer approves of it again.
func returned(t *testing.T, onBase, files map[string]string, comments ...nexus.ReviewComment) (*job, *cast) {
	t.Helper()
	j := newJob(t, onBase, lint("exit 0"))
	c := j.plays(map[nexus.Role][]nextRole{nexus.Coder: {{files: files}}, nexus.Reviewer: {{handin: approved()}}})
	if f := j.ended(); f.Outcome != nexus.Accepted {
		t.Fatalf("%+v: %s", f, j.desk.told())
	}
	c.turns[nexus.Reviewer], c.told, j.desk.facts = []nextRole{{handin: approved()}}, nil, nil
	a := j.view.Attempt
	a.Sent = &nexus.WorkReturnedToAuthor{Task: "T1", Attempt: a.ID, Why: "a person reviewed it"}
	for _, c := range comments {
		if c.Commit == "" {
			c.Commit = a.Snapshot.Commit
		}
		j.view.Task.Comments = append(j.view.Task.Comments, state.TaskComment{ReviewComment: c, Seq: 7, By: "ann"})
		if c.Replace != nil && c.Replace.Apply {
			a.Sent.Apply = append(a.Sent.Apply, c)
		} else {
			a.Sent.Tell = true
		}
	}
	return j, c
}

// instead is a comment that wants other lines in a file.
func instead(id, file string, start, end int, text string) nexus.ReviewComment {
	return nexus.ReviewComment{ID: id, File: file, Start: start, End: end, Kind: nexus.MustComment, Replace: &nexus.SuggestedReplacement{Text: text, Apply: true}}
}

// one returns the file one of a commit.
func (j *job) one(rev string) string {
	j.t.Helper()
	text, err := j.Trees.PrivateRepo().Run(j.t.Context(), "cat-file", "blob", rev+":one")
	if err != nil {
		j.t.Fatal(err)
	}
	return text
}

// TestWhatAPersonSuggestedIsDone in a round without an agent, one after the other, and the
// gates and a reviewer judge it as all work. What cannot be done says why.
func TestWhatAPersonSuggestedIsDone(t *testing.T) {
	big := strings.Repeat("x", 8<<20-1) + "\n"
	j, _ := returned(t, map[string]string{"sub/two": "t\n", "big": big, "bigger": "y" + big}, map[string]string{"one": "a\nb\nc\nd\n"},
		instead("c1", "one", 1, 0, "A\nAA\n"), instead("c2", "one", 3, 4, "C\n"), instead("c3", "one", 1, 2, "no"), instead("c4", "../one", 1, 1, "no"),
		instead("c5", "./one", 1, 1, "no"), instead("c6", "sub", 1, 1, "no"), instead("c7", "none", 1, 1, "no"), instead("c8", "sub/two", 2, 2, "no"),
		instead("c9", "big", 2, 2, "no"), instead("c10", "bigger", 2, 2, "no"),
	)
	a := j.view.Attempt
	was := a.Snapshot
	f := j.ended()
	if got, want := j.desk.told(), "round 2 person suggestion, snapshot, gate lint pass, verdict pass, review true"; f.Outcome != nexus.Accepted || got != want {
		t.Fatalf("%+v: %s, want %s", f, got, want)
	}
	if text := j.one(f.Commit); text != "A\nAA\nb\nC\n" {
		t.Errorf("%q", text)
	}
	did := last[nexus.SuggestionsApplied](j)
	if did.Task != "T1" || did.Attempt != "T1.1" || did.Commit != f.Commit || did.Commit == was.Commit || !slices.Equal(did.Applied, []string{"c1", "c2"}) {
		t.Errorf("%+v", did)
	}
	no := map[string]string{}
	for _, r := range did.Refused {
		no[r.Comment] = r.Why
	}
	for id, why := range map[string]string{
		"c3": "the lines have changed since", "c4": "it names no file of the change", "c5": "it names no file of the change",
		"c6": "there is no such file that could be changed", "c7": "there is no such file that could be changed", "c8": "the file has no such lines", "c9": "the file has no such lines",
		"c10": "there is no such file that could be changed",
	} {
		if no[id] != why {
			t.Errorf("%s: %q, want %q", id, no[id], why)
		}
	}
	if r := last[nexus.RoundStarted](j); r.Attempt != "T1.1" || r.Session != "" {
		t.Errorf("%+v", r)
	}
}

// TestWhereALineWentIsFollowed: a suggestion finds its line in the work as it is now, unless
// its file has another name.
func TestWhereALineWentIsFollowed(t *testing.T) {
	j, _ := returned(t, map[string]string{"old": "1\n2\n3\n4\n5\n"}, map[string]string{"one": "0\na\nb\n", "new": "1\n2\n3\n4\n5\n"})
	a := j.view.Attempt
	before, _ := j.tree("before", j.base, map[string]string{"one": "a\nb\n"})
	c, gone := instead("c1", "one", 2, 2, "B\n"), instead("c2", "old", 1, 1, "no")
	c.Commit, gone.Commit = before, j.base
	w, err := j.Trees.AddTree(t.Context(), "r", a.ID, a.Snapshot.Commit)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Restore(t.Context(), a.Snapshot.Commit), os.Remove(filepath.Join(w.Dir, "old"))); err != nil {
		t.Fatal(err)
	}
	if a.Snapshot.Commit, a.Snapshot.Tree, err = w.Snapshot(t.Context(), "renamed"); err != nil {
		t.Fatal(err)
	}
	a.Sent.Apply = []nexus.ReviewComment{c, gone}
	f := j.ended()
	did := last[nexus.SuggestionsApplied](j)
	if one := j.one(f.Commit); one != "0\na\nB\n" || len(did.Refused) != 1 || did.Refused[0] != (nexus.UnappliedSuggestion{Comment: "c2", Why: "the lines have changed since"}) {
		t.Errorf("%q, %+v", one, did)
	}
}

// TestASuggestionIsDoneOnce though its process died: what that left in the worktree is
// undone, and no round begins anew. A later suggestion has a round of its own.
func TestASuggestionIsDoneOnce(t *testing.T) {
	for name, c := range map[string]struct {
		begun func(*state.AttemptRound)
		told  string
	}{
		"the round had begun":           {func(*state.AttemptRound) {}, "snapshot, gate lint pass, verdict pass, review true"},
		"an earlier one is over":        {func(r *state.AttemptRound) { r.Verdict = &nexus.GatesVerdictGiven{State: nexus.Pass} }, "round 3 person suggestion, snapshot, gate lint pass, verdict pass, review true"},
		"an agent wrote the last round": {func(r *state.AttemptRound) { r.Role = nexus.Coder }, "round 3 person suggestion, snapshot, gate lint pass, verdict pass, review true"},
	} {
		t.Run(name, func(t *testing.T) {
			j, _ := returned(t, nil, one, instead("c1", "one", 1, 1, "2\n"))
			a := j.view.Attempt
			r := &state.AttemptRound{RoundStarted: nexus.RoundStarted{Attempt: a.ID, Round: 2, Role: nexus.Reviser, Cause: nexus.ApplyCause}, Base: a.Base, From: a.Snapshot.Commit, Commit: a.Snapshot.Commit}
			c.begun(r)
			a.Rounds = append(a.Rounds, r)
			w, err := j.Trees.AddTree(t.Context(), "r", a.ID, a.Snapshot.Commit)
			if err != nil {
				t.Fatal(err)
			}
			gittest.WriteFiles(t, w.Dir, map[string]string{"one": "half\n", "dirt": "x\n"})
			f := j.ended()
			if got := j.desk.told(); f.Outcome != nexus.Accepted || got != c.told {
				t.Errorf("%+v: %s, want %s", f, got, c.told)
			}
			if text := j.one(f.Commit); text != "2\n" || strings.Contains(j.files(f.Commit), "dirt") {
				t.Errorf("%q in %s", text, j.files(f.Commit))
			}
		})
	}
}

// TestWhatAPersonSaidIsAnswered: the author is told, and what it says is held against the
// change. Who does not answer is asked once more, and no comment counts that nobody made.
func TestWhatAPersonSaidIsAnswered(t *testing.T) {
	j, c := returned(t, nil, map[string]string{"one": "1\n2\n3\n", "two": "2\n"},
		nexus.ReviewComment{ID: "c1", File: "one", Start: 1, Kind: nexus.MustComment, Body: "Make it ten."},
		nexus.ReviewComment{ID: "c2", File: "two", Start: 1, Kind: nexus.QuestionComment, Body: "Why two?"},
		nexus.ReviewComment{ID: "c3", Kind: nexus.ShouldComment, Body: "Say more."},
		nexus.ReviewComment{ID: "c4", File: "one", Start: 3, Kind: nexus.ShouldComment, Body: "And this?"},
	)
	a := j.view.Attempt
	a.Open = []nexus.ReviewComment{{ID: "c5", File: "two", Kind: nexus.MustComment, Commit: j.base}} // that only the attempt knows of yet
	answer := func(id, status, why string) map[string]string {
		return map[string]string{"comment": id, "status": status, "why": why}
	}
	handin := func(answers ...map[string]string) map[string]any {
		return map[string]any{"summary": "Done.", "status": "done", "answers": answers}
	}
	c.turns[nexus.Coder] = []nextRole{
		{to: "Make it ten.", files: map[string]string{"one": "10\n2\n3\n"}, tool: true, handin: handin(
			answer("c1", "fixed", ""), answer("c2", "answered", "It is even."), answer("c9", "fixed", ""), answer("c5", "fixed", ""), answer("c4", "fixed", ""))},
		{to: "You have not answered c3", files: map[string]string{"two": "two\n"}, tool: true, handin: handin(answer("c3", "declined", "It is enough."), answer("c2", "fixed", ""))},
	}
	f := j.ended()
	if got, want := j.desk.told(), "round 2 coder person, snapshot, round 3 coder answers, snapshot, gate lint pass, verdict pass, review true"; f.Outcome != nexus.Accepted || got != want {
		t.Fatalf("%+v: %s, want %s: %q", f, got, want, c.told)
	}
	said := facts[nexus.CommentsAnswered](j)
	if len(said) != 2 {
		t.Fatalf("%+v", said)
	}
	commits := facts[nexus.TreeSnapshotted](j)
	want := [][]nexus.CommentAnswer{
		{
			{Comment: "c1", Reply: nexus.CommentFixed, Changed: true},
			{Comment: "c2", Reply: nexus.CommentAnswered, Why: "It is even."},
			{Comment: "c5", Reply: nexus.CommentFixed, Changed: true},
			{Comment: "c4", Reply: nexus.CommentFixed},
		},
		{{Comment: "c3", Reply: nexus.CommentDeclined, Why: "It is enough.", Changed: true}, {Comment: "c2", Reply: nexus.CommentFixed, Changed: true}},
	}
	for i, f := range said {
		if f.Task != "T1" || f.Attempt != "T1.1" || f.Session != "T1.1/coder.1" || f.Round != i+2 || f.Commit != commits[i].Commit || !slices.Equal(f.Answers, want[i]) {
			t.Errorf("%+v, want %+v", f, want[i])
		}
	}
	sent := facts[nexus.PromptSent](j)
	if len(sent) < 2 || sent[0].Why != "review" || sent[1].Why != "review" || len(sent[0].Comments) != 4 || len(sent[1].Comments) != 0 {
		t.Errorf("%+v", sent)
	}
}

// TestWhatAPersonSaidIsNotSaidTwice where a process died that had said it.
func TestWhatAPersonSaidIsNotSaidTwice(t *testing.T) {
	j, c := returned(t, nil, one, nexus.ReviewComment{ID: "c1", Kind: nexus.MustComment, Body: "Make it ten."})
	j.view.Task.Comments[0].Told = j.view.Attempt.ID
	c.turns[nexus.Coder] = []nextRole{{to: "said it above"}}
	if f := j.ended(); f.Outcome != nexus.Accepted || strings.Contains(c.all(nexus.Coder)[0], "Make it ten.") {
		t.Errorf("%+v: %q", f, c.told)
	}
	if sent := facts[nexus.PromptSent](j)[0]; sent.Why != "review" || len(sent.Comments) > 0 {
		t.Errorf("%+v", sent)
	}
}

// TestWhatIsRiskyIsNamed where risky changes wait for a person, and only there.
func TestWhatIsRiskyIsNamed(t *testing.T) {
	test := "package m\n\nimport \"testing\"\n\nfunc TestOld(t *testing.T) { t.Error() }\n"
	for level, files := range map[nexus.PersonReviewRequirement]map[string]string{
		nexus.ReviewNone: {"data.sql": "DROP TABLE x;\n"}, nexus.ReviewRisky: {"data.sql": "DROP TABLE x;\n", "old_test.go": "package m\n"},
	} {
		j := newJob(t, map[string]string{"old_test.go": test}, lint("exit 0"))
		j.view.Limits.Review.People = level
		j.plays(map[nexus.Role][]nextRole{nexus.Coder: {{files: files}}, nexus.Verifier: {{handin: agrees("old_test.go")}}, nexus.Reviewer: {{handin: approved()}}})
		f := j.ended()
		weighed := facts[nexus.ChangeRiskRated](j)
		if f.Outcome != nexus.Accepted || len(weighed) != map[nexus.PersonReviewRequirement]int{nexus.ReviewNone: 0, nexus.ReviewRisky: 1}[level] {
			t.Fatalf("%s: %+v, %+v", level, f, weighed)
		}
		if level == nexus.ReviewNone {
			continue
		}
		if w := weighed[0]; w.Attempt != "T1.1" || w.Tree != f.Tree || len(w.Risky) != 2 || !strings.HasPrefix(w.Risky[0], "data.sql: ") || !strings.HasPrefix(w.Risky[1], "old_test.go: weaker tests") {
			t.Errorf("%+v", w)
		}
	}
	j := newJob(t, nil, lint("grep -q bad bad"))
	j.view.Limits.Review.People, j.view.Limits.Rounds = nexus.ReviewRisky, 1
	j.written(1, map[string]string{"bad": "x\n"})
	if f := j.ended(); f.Outcome == nexus.Accepted || len(facts[nexus.ChangeRiskRated](j)) > 0 {
		t.Errorf("%+v: %s", f, j.desk.told())
	}
}

// reviewed is a story in which a person's suggestion is done, its author told the rest, and
// what is risky named.
func reviewed() story {
	return story{"what a person said about it", func(t *testing.T) *job {
		t.Helper()
		j, c := returned(t, nil, map[string]string{"one": "1\n2\n"}, instead("c1", "one", 2, 2, "two\n"), nexus.ReviewComment{ID: "c2", File: "one", Start: 1, Kind: nexus.MustComment, Body: "Make it ten."})
		first := &j.view.Attempt.Sent.Apply[0]
		first.Commit, _ = j.tree("before", j.base, map[string]string{"one": "2\n"})
		first.Start, first.End = 1, 1
		handin := map[string]any{"summary": "Done.", "status": "done", "answers": []map[string]string{{"comment": "c2", "status": "fixed"}}}
		c.turns[nexus.Coder] = []nextRole{{to: "Make it ten.", files: map[string]string{"one": "10\ntwo\n"}, tool: true, handin: handin}}
		j.view.Limits.Review.People = nexus.ReviewRisky
		return j
	}}
}

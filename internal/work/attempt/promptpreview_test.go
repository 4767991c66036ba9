package attempt_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/work/attempt"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// next returns what a role would be sent; nobody is asked.
func (j *job) next(role nexus.Role) attempt.PromptPreview {
	j.t.Helper()
	if _, ok := j.Sessions.Roles[nexus.Planner]; !ok {
		j.plays(nil)
	}
	u, err := attempt.PreviewPrompt(j.t.Context(), j.AttemptWorker, j.view, role)
	if err != nil {
		j.t.Fatal(err)
	}
	if u.Offer.Model != "toy/one" || len(u.Offer.System) == 0 {
		j.t.Errorf("%+v", u.Offer)
	}
	return u
}

// text is all that would be said.
func text(u attempt.PromptPreview) string {
	var b strings.Builder
	for _, p := range slices.Concat(u.Said, u.Parts) {
		fmt.Fprintf(&b, "## %s\n%s\n", p.Title, p.Text)
	}
	return b.String()
}

// TestNextIsWhatWouldBeSent without a word to anybody or a fact on record.
// What it cannot read for that is an error.
func TestNextIsWhatWouldBeSent(t *testing.T) {
	git := breaks(t)
	for _, c := range questions() {
		t.Run(c.name, func(t *testing.T) {
			git.fails(0)
			j := newJob(t, nil, lint("exit 0"))
			c.set(j)
			rounds, sessions := len(j.view.Attempt.Rounds), len(j.view.Attempt.Sessions)
			if c.err != "" {
				j.plays(nil)
				if u, err := attempt.PreviewPrompt(t.Context(), j.AttemptWorker, j.view, c.role); !errors.Is(err, &nexus.Error{Code: c.err}) {
					t.Errorf("%+v, %v", u, err)
				}
				return
			}
			u := j.next(c.role)
			if u.Role != c.want || u.Why != c.why || !strings.HasPrefix(string(u.Session), "T1.1/"+string(c.want)+".") {
				t.Errorf("%s %q in %s", u.Role, u.Why, u.Session)
			}
			has(t, text(u), c.says, c.not...)
			if c.once != "" && strings.Count(text(u), c.once) != 1 {
				t.Errorf("%q is not there once: %s", c.once, text(u))
			}
			if len(j.desk.facts) > 0 || len(j.view.Attempt.Rounds) != rounds || len(j.view.Attempt.Sessions) != sessions {
				t.Errorf("it left a trace: %+v", j.desk.facts)
			}
			if here := len(u.Offer.Here) > 0 && slices.ContainsFunc(u.Parts, func(p prompt.SentPromptSection) bool { return p.Title == u.Offer.Here[0].Title }); here != (c.why == "brief" && len(u.Offer.Here) > 0) {
				t.Errorf("where it works is said: %v, with %q", here, c.why)
			}
			git.unread(j, c.role)
			j.lost(c.role, text(u))
		})
	}
}

// TestWhatWasToldBefore is said to be, whoever found it then.
func TestWhatWasToldBefore(t *testing.T) {
	f := nexus.Finding{Gate: "lint", File: "one", Line: 1, Severity: nexus.Major, Message: "it is not good"}
	for name, found := range map[string]func(*state.AttemptRound){
		"nobody":      func(*state.AttemptRound) {},
		"a gate":      func(r *state.AttemptRound) { r.Evidence = []nexus.GateEvidence{{Findings: []nexus.Finding{f}}} },
		"a review":    func(r *state.AttemptRound) { r.Reviews = []nexus.ReviewerVerdictGiven{{Findings: []nexus.Finding{f}}} },
		"the proof":   func(r *state.AttemptRound) { r.Proof = &nexus.TestsRunWithoutWork{Findings: []nexus.Finding{f}} },
		"a verifier":  func(r *state.AttemptRound) { r.Verified = &nexus.VerifierVerdictGiven{Findings: []nexus.Finding{f}} },
		"the landing": func(r *state.AttemptRound) { r.Handed = []nexus.Finding{f} },
	} {
		j := newJob(t, nil, lint("exit 0"))
		j.written(1, nil)
		a := j.view.Attempt
		a.Rounds[0].Verdict = &nexus.GatesVerdictGiven{Attempt: a.ID, Tree: a.Snapshot.Tree, State: nexus.Pass}
		found(a.Rounds[0])
		j.written(2, one)
		a.Rounds[1].Verdict = &nexus.GatesVerdictGiven{Attempt: a.ID, Tree: a.Snapshot.Tree, State: nexus.Fail, Gate: "lint"}
		a.Rounds[1].Evidence = []nexus.GateEvidence{{Gate: "lint", State: nexus.Fail, Tree: a.Snapshot.Tree, Findings: []nexus.Finding{f}}}
		if name == "nobody" {
			has(t, text(j.next(nexus.Coder)), []string{"Must be fixed, new (1)"}, "told before")
		} else {
			has(t, text(j.next(nexus.Coder)), []string{"Must be fixed, reported before (1)"}, "fixed, new")
		}
	}
}

// TestNextOfWhatIsLost is an error, and no message without it.
func TestNextOfWhatIsLost(t *testing.T) {
	for name, lose := range map[string]func(*job) nexus.Role{
		"what the tester said": func(j *job) nexus.Role {
			j.view.Attempt.Strategy = nexus.TDDStrict
			j.over(nexus.Tester, 1, nexus.Accepted, map[string]string{"summary": "Done.", "status": "done"})
			j.view.Attempt.Sessions[0].Result = "lost"
			return nexus.Coder
		},
		"what a reader was told": func(j *job) nexus.Role {
			j.written(1, one)
			j.over(nexus.Reviewer, 1, nexus.Accepted, nil)
			s := j.view.Attempt.Sessions[1]
			s.Over, s.Messages = false, []string{"lost"}
			return nexus.Reviewer
		},
		"what a writer was told": func(j *job) nexus.Role {
			j.written(1, one)
			s := j.view.Attempt.Sessions[0]
			s.Over, s.Messages = false, []string{"lost"}
			return nexus.Coder
		},
		"what the author said": func(j *job) nexus.Role {
			j.written(1, one)
			j.view.Attempt.Sessions[0].Result = "lost"
			return nexus.Verifier
		},
	} {
		j := newJob(t, nil, lint("exit 0"))
		role := lose(j)
		j.plays(nil)
		if u, err := attempt.PreviewPrompt(t.Context(), j.AttemptWorker, j.view, role); err == nil {
			t.Errorf("%s: %+v", name, u)
		}
	}
}

// broken is a git that fails at one call; see [gittest.InstallFailingGit].
type broken struct {
	fails  func(int)
	calls  func() int
	failed func() string
}

func breaks(t *testing.T) broken {
	t.Helper()
	fails, calls, failed := gittest.InstallFailingGit(t)
	return broken{fails, calls, failed}
}

// unread lets git fail at each call: what it cannot read is said, and never taken
// for nothing. Each time another process asks, which remembers no answer.
func (b broken) unread(j *job, role nexus.Role) {
	j.t.Helper()
	next := func(n int) (attempt.PromptPreview, error) {
		b.fails(0)
		trees, err := worktree.OpenStore(j.t.Context(), j.user, j.Site.State)
		if err != nil {
			j.t.Fatal(err)
		}
		b.fails(n)
		u, err := attempt.PreviewPrompt(j.t.Context(), worker.NewAttemptWorker(*j.Site, trees, *j.Judge, *j.Sessions), j.view, role)
		if err := trees.Close(); err != nil {
			j.t.Error(err)
		}
		return u, err
	}
	whole, err := next(0)
	if err != nil {
		j.t.Error(err)
	}
	places := func(u attempt.PromptPreview) int { return strings.Count(text(u), ", lines ") }
	for n := range b.calls() {
		u, err := next(n + 1)
		did := b.failed()
		if err == nil && (strings.Contains(did, " cat-file -p ") || places(u) < places(whole)) {
			continue // the text of one file, which is then left out
		}
		if err == nil || !strings.Contains(err.Error(), gittest.BrokenMessage) {
			j.t.Errorf("git fails at call %d, %s: %v\n%s", n+1, did, err, text(u))
		}
	}
	b.fails(0)
}

// lost takes each blob away: nothing is said then as if it had never been.
func (j *job) lost(role nexus.Role, whole string) {
	j.t.Helper()
	err := filepath.WalkDir(filepath.Join(j.Site.State, "blobs"), func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if err := os.Rename(path, path+".away"); err != nil {
			return err
		}
		if u, err := attempt.PreviewPrompt(j.t.Context(), j.AttemptWorker, j.view, role); err == nil && text(u) != whole {
			j.t.Errorf("without blob %s: %s", d.Name(), text(u))
		}
		return os.Rename(path+".away", path)
	})
	if err != nil {
		j.t.Error(err)
	}
}

// TestNextOfABaseThatIsGone is an error, and no message about nothing.
func TestNextOfABaseThatIsGone(t *testing.T) {
	j := newJob(t, nil, lint("exit 0"))
	j.written(1, one)
	j.plays(nil)
	j.view.Attempt.Base = strings.Repeat("0", 40)
	if u, err := attempt.PreviewPrompt(t.Context(), j.AttemptWorker, j.view, nexus.Coder); err == nil || u.Role != "" {
		t.Errorf("%+v, %v", u, err)
	}
}

// TestNextOfAConversation says what of it the model has heard, and what it has not
// answered; one that is another's turn goes on as it is.
func TestNextOfAConversation(t *testing.T) {
	j := newJob(t, nil, lint("exit 0"))
	j.written(1, one)
	s := j.view.Attempt.Sessions[0]
	call := llm.ToolCall{ID: "c1", Tool: "read_file", Input: []byte("{}")}
	for _, m := range []llm.Message{
		llm.UserMessage("Begin."),
		{From: llm.Assistant, Parts: []llm.MessagePart{{Call: &call}}},
		{From: llm.User, Parts: []llm.MessagePart{{Result: &llm.ToolResult{ID: "c1", Text: "what the file holds"}}, {Text: "And more."}}},
	} {
		data, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		blob, err := j.Site.Blobs.Put(data)
		if err != nil {
			t.Fatal(err)
		}
		s.Messages = append(s.Messages, blob)
	}
	u := j.next(nexus.Coder)
	want := []prompt.SentPromptSection{{Title: "messages so far: 2"}, {Title: "Result of a tool", Text: "what the file holds"}, {Title: "Not answered yet", Text: "And more."}}
	if len(u.Said) != len(want) || u.Why != "" || len(u.Parts) > 0 {
		t.Fatalf("%q: %+v, %+v", u.Why, u.Said, u.Parts)
	}
	for i, p := range u.Said {
		if p.Title != want[i].Title || p.Text != want[i].Text || p.Tokens < 5 || p.Tokens > 100 {
			t.Errorf("%+v, want %+v", p, want[i])
		}
	}
	s.Over = false // its turn, and it was prompted
	if u := j.next(""); u.Role != nexus.Coder || len(u.Said) != 3 || u.Why != "" || len(u.Parts) > 0 {
		t.Errorf("%q: %+v, %+v", u.Why, u.Said, u.Parts)
	}
	j.view.Attempt.Rounds[0].Prompted, s.Messages = false, nil // and was not
	if u := j.next(""); u.Role != nexus.Coder || len(u.Said) != 0 || u.Why != "brief" || len(j.view.Attempt.Rounds) != 1 {
		t.Errorf("%q: %+v", u.Why, u.Said)
	}
}

package land

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/decide/tamper"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/review"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// TestWhatNobodyCouldReadDoesNotLand: a reviewer that had no money left, and words that
// are lost, are errors, and no consent.
func TestWhatNobodyCouldReadDoesNotLand(t *testing.T) {
	for name, c := range map[string]struct {
		lose func(state.WorkerView)
		code nexus.ErrorCode
	}{
		"the reviewer has no money":    {func(v state.WorkerView) { v.Merge.Sessions[1].Outcome = nexus.Refused }, nexus.CodeBudget},
		"the review is lost":           {func(v state.WorkerView) { v.Merge.Sessions[1].Result = "lost" }, ""},
		"what the merger said is lost": {func(v state.WorkerView) { v.Merge.Sessions[0].Result = "lost" }, ""},
		"what the author said is lost": {func(v state.WorkerView) { v.Attempt.Sessions[0].Result = "lost" }, ""},
	} {
		t.Run(name, func(t *testing.T) {
			r := newTrain(t, lint("exit 0"))
			r.nobody(nexus.CodeNoKey)
			v := r.conflicted()
			v.Attempt.Sessions = []*state.AgentSessionState{r.session("T1.1", nexus.Coder, nexus.Accepted, tool.DefaultWorkSubmission{Subject: "Write one"})}
			r.resolved(v, 1, map[string]string{"bad": "mine\ntheirs\n"}, nexus.Accepted, given{Approved: true, Summary: "fine"})
			c.lose(v)
			facts, err := LandAttempt(t.Context(), r.AttemptWorker, v, r.desk)
			if err == nil || len(facts) > 0 || r.tip() != v.Tip || errors.Is(err, &nexus.Error{Code: nexus.CodeNoKey}) {
				t.Errorf("%+v, %v; the branch is at %s", facts, err, r.tip())
			}
			if c.code != "" && !errors.Is(err, &nexus.Error{Code: c.code}) {
				t.Errorf("%v, want %s", err, c.code)
			}
		})
	}
}

// TestARoundThatNobodyWasToldOf: the next process says in it what it was started
// for, and asks nobody again who has answered.
func TestARoundThatNobodyWasToldOf(t *testing.T) {
	r := newTrain(t, lint("exit 0"))
	v := r.conflicted()
	v.Merge.Rounds = []*state.AttemptRound{{RoundStarted: nexus.RoundStarted{Attempt: v.Merge.ID, Round: 1, Role: nexus.Merger}}}
	c := r.plays(v, map[nexus.Role][]func() (map[string]string, any){
		nexus.Merger:   {submits(map[string]string{"bad": "theirs\nmine\n"}, "Both.")},
		nexus.Reviewer: {reviews(given{Approved: true, Summary: "fine"})},
	})
	r.landed(v, r.land(v), "bad", "one", "two")
	if told := c.told[nexus.Merger]; len(told) != 1 || len(v.Merge.Rounds) != 1 || !strings.Contains(told[0], "+theirs") {
		t.Errorf("the first of %d rounds: %q", len(v.Merge.Rounds), told)
	}

	broken := errors.New("no space")
	r = newTrain(t, lint("exit 0"))
	v = r.conflicted()
	c = r.plays(v, map[nexus.Role][]func() (map[string]string, any){
		nexus.Merger: {submits(map[string]string{"bad": "mine\ntheirs\n"}, "Both."), submits(map[string]string{"bad": "theirs\nmine\n"}, "Both.")},
		nexus.Reviewer: {
			reviews(given{Summary: "not yet", Findings: []map[string]string{{"severity": "major", "message": "the order is wrong", "file": "bad", "quote": "mine"}}}),
			reviews(given{Approved: true, Summary: "fine"}),
		},
	})
	pick := r.Sessions.Pick
	r.desk.heard = func(f nexus.Fact) {
		if f, ok := f.(nexus.RoundStarted); ok && f.Round == 2 {
			v.Merge.Snapshot.Commit, v.Merge.Snapshot.Tree = r.tree("other", r.base, map[string]string{"bad": "mine\ntheirs\n", "one": "1\n", "two": "2\n"})
			r.Sessions.Pick = func(nexus.Role, nexus.Tier, string) (worker.PricedModel, error) { return worker.PricedModel{}, broken }
		}
	}
	stays := func() {
		t.Helper()
		facts, err := LandAttempt(t.Context(), r.AttemptWorker, v, r.desk)
		if !errors.Is(err, broken) || len(facts) > 0 || len(v.Merge.Rounds) != 2 || v.Merge.LastRound().Prompted || len(c.told[nexus.Merger]) != 1 || len(c.told[nexus.Reviewer]) != 1 {
			t.Fatalf("%+v, %v: %d rounds, prompted %v, told %d and %d", facts, err, len(v.Merge.Rounds), v.Merge.LastRound().Prompted, len(c.told[nexus.Merger]), len(c.told[nexus.Reviewer]))
		}
	}
	stays()
	r.Sessions.Pick = pick
	r.desk.fails = func(f nexus.Fact) error {
		if j, ok := f.(nexus.GateJudged); ok && j.Evidence.Gate == tamper.MergeGate {
			return broken
		}
		return nil
	}
	stays()
	r.desk.fails = nil
	r.landed(v, r.land(v), "bad", "one", "two")
	if told := c.told[nexus.Merger]; len(told) != 2 || len(v.Merge.Rounds) != 2 || !strings.Contains(told[1], "the order is wrong") {
		t.Errorf("the second of %d rounds: %q", len(v.Merge.Rounds), told)
	}
	if told := c.told[nexus.Reviewer]; len(told) != 2 || !strings.Contains(told[1], "/reviewer.2\n") {
		t.Errorf("who reads the second: %q", told)
	}
}

// TestAReviewerIsToldOnce what the merger made, though the process that told it died
// before it answered.
func TestAReviewerIsToldOnce(t *testing.T) {
	r := newTrain(t, lint("exit 0"))
	v := r.conflicted()
	c := r.plays(v, map[nexus.Role][]func() (map[string]string, any){nexus.Merger: {submits(map[string]string{"bad": "mine\ntheirs\n"}, "Both.")}})
	if got := r.refused(v, r.land(v), "no turn is left for the reviewer"); !got.Broken {
		t.Errorf("%+v", got)
	}
	v.Merge.Snapshot.Commit, v.Merge.Snapshot.Tree = r.tree("other", r.base, map[string]string{"bad": "mine\ntheirs\n", "one": "1\n", "two": "2\n"})
	asked := 0
	r.scripted(func(q llm.Request) (llm.Response, error) {
		asked++
		if len(q.Messages) != 1 || q.Messages[0].Text() != c.told[nexus.Reviewer][0] {
			t.Errorf("it is told %d times", len(q.Messages))
		}
		return llm.Response{
			Message: llm.Message{From: llm.Assistant, Parts: []llm.MessagePart{{Call: &llm.ToolCall{ID: "c1", Tool: "finish", Input: []byte(`{"approved":true,"summary":"fine"}`)}}}},
			Stop:    llm.StopTools, Usage: nexus.Usage{Input: 1},
		}, nil
	})
	r.landed(v, r.land(v), "bad", "one", "two")
	if asked != 1 {
		t.Errorf("asked %d times", asked)
	}
}

// TestAMergerHearsWhatAGatePrints, with the command that failed; rounds are counted from one.
func TestAMergerHearsWhatAGatePrints(t *testing.T) {
	r := newTrain(t, gate.QualityGate{Name: "first", Args: []string{"true"}}, lint("test -e one && test -e two || exit 0; grep -q '^both$' bad || { echo bad:1:1: say both; echo the end of it; exit 3; }"))
	v := r.conflicted()
	c := r.plays(v, map[nexus.Role][]func() (map[string]string, any){
		nexus.Merger:   {submits(map[string]string{"bad": "mine\ntheirs\n"}, "Both."), submits(map[string]string{"bad": "mine\ntheirs\nboth\n"}, "Both.")},
		nexus.Reviewer: {reviews(given{Approved: true, Summary: "fine"})},
	})
	r.landed(v, r.land(v), "bad", "one", "two")
	for _, want := range []string{"bad:1", "say both", "End of its output", "the end of it", "Exit: 3", "grep -q '^both$' bad"} {
		if told := c.told[nexus.Merger]; len(told) != 2 || !strings.Contains(told[1], want) {
			t.Errorf("the merger was not told %q: %q", want, told)
		}
	}
	var rounds []int
	for _, f := range r.desk.facts {
		if f, ok := f.(nexus.RoundStarted); ok {
			rounds = append(rounds, f.Round)
		}
	}
	if !slices.Equal(rounds, []int{1, 2}) {
		t.Errorf("rounds %d", rounds)
	}
}

// TestAChangeWithAnotherFault is not known to run fewer tests.
func TestAChangeWithAnotherFault(t *testing.T) {
	r := newTrain(t, gate.QualityGate{Name: "test", Format: "tap", Tests: true, Args: []string{"sh", "-c", "echo 'ok 1 - a'; n=1; test -e one || { n=2; echo 'ok 2 - b'; }; echo 1..$n"}})
	r.nobody(nexus.CodeNoKey)
	v := r.conflicted()
	r.resolved(v, 3, map[string]string{"bad": "mine\ntheirs\n"}, nexus.Accepted, given{Approved: true, Summary: "fine", Agreed: []string{"gate test: fewer tests"}})
	v.Merge.Sessions[1].Session = nexus.SessionID(string(v.Merge.ID) + "/reviewer.3")
	v.Attempt.Rounds = []*state.AttemptRound{{Suspect: &nexus.TamperSuspected{Findings: []nexus.Finding{{Gate: "test", Code: "not " + parserbase.CodeFewer}}}}}
	r.refused(v, r.land(v), "the result lacks parts of the two sides, or has again what one removed, and the merger does not explain why; gate test: fewer tests")
}

// TestWhatAnAuthorClaimsFalselyIsNotSaid: the message of a change is its task's title where
// the review that let it land objects to what the author claims.
func TestWhatAnAuthorClaimsFalselyIsNotSaid(t *testing.T) {
	claim, other := []nexus.Finding{{Message: "no", Category: "bug"}, {Message: "it is not so", Category: review.ClaimCategory}}, []nexus.Finding{{Message: "no", Category: "bug"}}
	for name, c := range map[string]struct {
		reviews [][]nexus.Finding
		subject string
	}{
		"no review":              {nil, "Write one"},
		"nothing is objected to": {[][]nexus.Finding{nil}, "Write one"},
		"something else":         {[][]nexus.Finding{other}, "Write one"},
		"the claim":              {[][]nexus.Finding{claim}, "Add one"},
		"an earlier claim":       {[][]nexus.Finding{claim, other}, "Write one"},
	} {
		r := newTrain(t)
		v := r.accepted(map[string]string{"one": ""})
		v.Attempt.Sessions = []*state.AgentSessionState{r.session("T1.1", nexus.Coder, nexus.Accepted, tool.DefaultWorkSubmission{Subject: "Write one"})}
		v.Attempt.Rounds = []*state.AttemptRound{{}}
		for _, found := range c.reviews {
			v.Attempt.Rounds[0].Reviews = append(v.Attempt.Rounds[0].Reviews, nexus.ReviewerVerdictGiven{Findings: found})
		}
		got := r.landed(v, r.land(v), "bad", "one")
		if subject, err := r.Trees.PrivateRepo().Run(t.Context(), "show", "-s", "--format=%s", got.Commit); err != nil || strings.TrimSpace(subject) != c.subject {
			t.Errorf("%s: %q, want %q, %v", name, subject, c.subject, err)
		}
	}
}

// TestALandingSaysWhatItChanges: its files, what it alters and takes away of what they
// declare for others, and how many lines.
func TestALandingSaysWhatItChanges(t *testing.T) {
	r := newTrain(t)
	r.base, _ = r.tree("T0.1", r.base, map[string]string{"a.go": "package a\n\nfunc Add(a int) int { return a }\n\nfunc Sub(a int) int { return a }\n"})
	r.move(r.base, r.tip())
	v := r.accepted(map[string]string{"a.go": "package a\n\nfunc Add(a, b int) int { return a }\n", "one": "1\n2\n3\n"})
	got := r.landed(v, r.land(v), "a.go", "bad", "one").Changes
	if !slices.Equal(got.Files, []string{"a.go", "one"}) || got.Added != 4 || got.Deleted != 3 {
		t.Errorf("%+v", got)
	}
	names := map[string]nexus.ChangedDeclaration{}
	for _, n := range got.Names {
		names[n.Name] = n
	}
	if add := names["Add"]; len(names) != 2 || add.File != "a.go" || !strings.Contains(add.Was, "Add(a int)") || !strings.Contains(add.Now, "Add(a, b int)") {
		t.Errorf("%+v", got.Names)
	}
	if sub := names["Sub"]; sub.File != "a.go" || !strings.Contains(sub.Was, "Sub(a int)") || sub.Now != "" {
		t.Errorf("%+v", got.Names)
	}
}

// TestWorkThatWasAcceptedWaitsForItsGates, which is known of them while they run.
func TestWorkThatWasAcceptedWaitsForItsGates(t *testing.T) {
	r := newTrain(t, lint("exit 0"))
	v := r.accepted(map[string]string{"one": "1\n"})
	r.meanwhile(&v, map[string]string{"two": "2\n"})
	r.landed(v, r.land(v), "bad", "one", "two")
	if len(r.desk.spared) == 0 || slices.Contains(r.desk.spared, false) {
		t.Errorf("a landing: %v", r.desk.spared)
	}
	r, v, f := twice(t, map[string]string{"t2": "1\n"}, lint("exit 0"))
	if facts, err := UndoTasks(t.Context(), r.AttemptWorker, f, v, r.desk); err != nil {
		t.Error(facts, err)
	}
	if len(r.desk.spared) == 0 || slices.Contains(r.desk.spared, false) {
		t.Errorf("an undo: %v", r.desk.spared)
	}
}

// TestAStepBeforeALandingRuns though the gates passed the very tree, and is named as what
// it is.
func TestAStepBeforeALandingRuns(t *testing.T) {
	for _, moved := range []bool{false, true} {
		r := newTrain(t, lint("exit 0"))
		r.Judge.Steps = []config.NamedPipelineStep{{Name: "speed", PipelineStepSettings: config.PipelineStepSettings{Run: "test ! -e one", When: config.BeforeLand}}}
		v := r.accepted(map[string]string{"one": "1\n"})
		if moved {
			r.meanwhile(&v, map[string]string{"two": "2\n"})
		}
		r.refused(v, r.land(v), "gate pipeline-speed, which runs at the landing, fails")
	}
}

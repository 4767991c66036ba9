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
	"sync"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/review"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// nextRole is what a role does when it is told something that has these words: it
// writes files and submits.
type nextRole struct {
	to     string
	files  map[string]string
	tool   bool // its files are written by a tool, so that they are pinned
	handin any  // nil: done
}

// cast plays roles by their turns, each once, and keeps what they were told.
type cast struct {
	dir   string
	mu    sync.Mutex // guards the others: readers work side by side
	turns map[nexus.Role][]nextRole
	told  []string // "role by model: text", in order
	sizes []int    // messages of each call
	asked func()   // called at each call, if it is set
}

// plays gives the roles models that have these turns, and the tools that they
// have in a run.
func (j *job) plays(turns map[nexus.Role][]nextRole) *cast {
	j.t.Helper()
	roles, err := agent.LoadRoleDefinitions(nil)
	if err != nil {
		j.t.Fatal(err)
	}
	c := &cast{dir: j.dir(), turns: turns}
	j.Sessions.Roles = roles
	j.Sessions.Pick = func(role nexus.Role, _ nexus.Tier, _ string) (worker.PricedModel, error) {
		return c.model(role, "toy/one"), nil
	}
	return c
}

func (c *cast) model(role nexus.Role, name string) worker.PricedModel {
	return worker.PricedModel{
		Model: player{c, role, name}, Name: name,
		Price: func(nexus.Usage, llm.BillingTerms) nexus.Money { return 0 }, Worst: func(llm.Request) nexus.Money { return 0 },
	}
}

// all returns what a role was told, in order.
func (c *cast) all(role nexus.Role) []string {
	var all []string
	for _, text := range c.told {
		if strings.HasPrefix(text, string(role)+" by ") {
			all = append(all, text)
		}
	}
	return all
}

type player struct {
	*cast
	role nexus.Role
	name string
}

// Stream implements [llm.Model].
func (p player) Stream(_ context.Context, r llm.Request, _ func(llm.AnswerDelta)) (llm.Response, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.asked != nil {
		p.asked()
	}
	text := ""
	for _, part := range r.Messages[len(r.Messages)-1].Parts {
		text += part.Text
	}
	p.told = append(p.told, fmt.Sprintf("%s by %s: %s", p.role, p.name, text))
	p.sizes = append(p.sizes, len(r.Messages))
	i := slices.IndexFunc(p.turns[p.role], func(t nextRole) bool { return strings.Contains(text, t.to) })
	if i < 0 {
		return llm.Response{}, &llm.ModelCallError{Class: llm.Fatal, Cause: fmt.Errorf("the %s has no turn for: %s", p.role, text)}
	}
	t := p.turns[p.role][i]
	p.turns[p.role] = slices.Delete(p.turns[p.role], i, i+1)
	var calls []llm.MessagePart
	for name, text := range t.files {
		if t.tool {
			data, err := json.Marshal(map[string]string{"path": name, "content": text})
			if err != nil {
				return llm.Response{}, err
			}
			calls = append(calls, llm.MessagePart{Call: &llm.ToolCall{ID: fmt.Sprintf("w%d%s", len(p.told), name), Tool: "write_file", Input: data}})
			continue
		}
		if err := os.WriteFile(filepath.Join(p.dir, name), []byte(text), 0o644); err != nil {
			return llm.Response{}, err
		}
	}
	if t.handin == nil {
		t.handin = map[string]string{"summary": "Done by the " + string(p.role) + ".", "status": "done"}
	}
	data, err := json.Marshal(t.handin)
	call := llm.ToolCall{ID: fmt.Sprintf("c%d", len(p.told)), Tool: "finish", Input: data}
	return llm.Response{Message: llm.Message{From: llm.Assistant, Parts: append(calls, llm.MessagePart{Call: &call})}, Stop: llm.StopTools, Usage: nexus.Usage{Input: 1}}, err
}

// has checks that a text has some words, and not others.
func has(t *testing.T, text string, words []string, not ...string) {
	t.Helper()
	for _, w := range words {
		if !strings.Contains(text, w) {
			t.Errorf("it does not say %q:\n%s", w, text)
		}
	}
	for _, w := range not {
		if strings.Contains(text, w) {
			t.Errorf("it says %q:\n%s", w, text)
		}
	}
}

func TestAnAttemptFromItsBriefToItsEnd(t *testing.T) {
	j := newJob(t, nil, lint("test -e one || exit 0; grep -q good one && exit 0; echo one:1:2: it is not good; echo the end; exit 1"))
	j.view.Task.Brief = "Put good into one."
	finding := map[string]any{"severity": "major", "message": "the second line is missing", "file": "one", "line": 1, "quote": "good"}
	c := j.plays(map[nexus.Role][]nextRole{
		nexus.Coder: {
			{to: "Put good into one.", files: map[string]string{"one": "bad\n"}},
			{to: "it is not good", files: map[string]string{"one": "good\n"}},
			{to: "the second line is missing", files: map[string]string{"one": "good\nsecond\n"}},
		},
		nexus.Reviewer: {
			{to: "+good", handin: map[string]any{"approved": false, "summary": "no", "findings": []any{finding}}},
			{to: "+second", handin: approved()},
		},
	})
	f := j.ended()
	want := "round 1 coder , snapshot, gate lint fail, verdict fail, round 2 coder lint, snapshot, gate lint pass, verdict pass, review false, " +
		"round 3 coder review, snapshot, gate lint pass, verdict pass, review true"
	if f.Outcome != nexus.Accepted || j.desk.told() != want {
		t.Fatalf("%+v: %s", f, j.desk.told())
	}
	if text, err := j.Trees.PrivateRepo().Run(t.Context(), "cat-file", "blob", f.Tree+":one"); err != nil || text != "good\nsecond\n" {
		t.Errorf("%q, %v", text, err)
	}
	for _, f := range j.desk.facts {
		if f, ok := f.(nexus.RoundStarted); ok && f.Session != "T1.1/coder.1" {
			t.Errorf("round %d is in %s: it is one conversation", f.Round, f.Session)
		}
	}
	coder, reader := c.all(nexus.Coder), c.all(nexus.Reviewer)
	if len(coder) != 3 || len(reader) != 2 {
		t.Fatalf("%q", c.told)
	}
	has(t, coder[0], []string{"Conversation: T1.1/coder.1", "Task: T1 Write one", "Commit " + j.base}, "## Change", "Gates")
	has(t, coder[1], []string{"Must be fixed, new", "one:1", "Command: ", "Exit: 1", "End of its output", "the end"}, "told before", "No longer found")
	has(t, coder[2], []string{"the second line is missing", "Must be fixed, new"}, "told before", "it is not good")
	has(t, reader[0], []string{"T1.1/reviewer.1\n", "## Change", "+good", "lint", "Done by the coder."}, "Found before")
	has(t, reader[1], []string{"T1.1/reviewer.2\n", "+second", "Found before", "the second line is missing"})
}

// TestAReaderThatHasReadIsNotPaidTwice where another could not be read: only
// that one is asked again, another model does it, and both count.
func TestAReaderThatHasReadIsNotPaidTwice(t *testing.T) {
	j := newJob(t, nil, lint("exit 0"))
	j.written(1, one)
	a := j.view.Attempt
	a.Sessions[0].Model = "toy/author"
	j.over(nexus.Reviewer, 1, nexus.Exhausted, nil)
	a.Sessions[1].Session, a.Sessions[1].Model = "T1.1/reviewer.1-safety", "toy/one"
	j.Sessions.Personas = []review.ReviewPersona{{Name: "safety", Charge: "Look for harm."}, {Name: "speed", Charge: "Look for waste."}}
	minor := map[string]any{"severity": "minor", "message": "a bit slow", "file": "one", "line": 1, "quote": "1"}
	c := j.plays(map[nexus.Role][]nextRole{nexus.Reviewer: {
		{to: "Look for harm.", handin: map[string]any{"approved": true, "summary": "no harm"}},
		{to: "Look for waste.", handin: map[string]any{"approved": true, "summary": "no waste", "findings": []any{minor}}},
	}})
	c.asked = func() {
		if len(a.Sessions) != 2+len(c.told) {
			t.Error("a reader writes into the attempt that the others read")
		}
	}
	failed := map[string]bool{}
	j.Sessions.PickReader = func(role nexus.Role, _, _ nexus.Tier, author, bad string) (worker.PricedModel, string, error) {
		if author != "toy/author" {
			t.Errorf("the author is %q", author)
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		failed[bad] = true
		if bad != "" {
			return c.model(role, "toy/other"), "the first failed", nil
		}
		return c.model(role, "toy/one"), "the only one", nil
	}
	f := j.ended()
	g := last[nexus.ReviewerVerdictGiven](j)
	if f.Outcome != nexus.Accepted || !g.Approved || len(g.Readers) != 2 || len(g.Findings) != 1 {
		t.Fatalf("%+v: %+v, %q", f, g, c.told)
	}
	if !failed["toy/one"] || !failed[""] || len(failed) != 2 {
		t.Errorf("failed models: %v", failed)
	}
	for _, r := range g.Readers {
		want := map[string]nexus.ChangeReviewer{
			"safety": {Session: "T1.1/reviewer.2-safety", Model: "toy/other"},
			"speed":  {Session: "T1.1/reviewer.1-speed", Model: "toy/one"},
		}[r.Persona]
		if r.Session != want.Session || r.Model != want.Model {
			t.Errorf("%+v, want %+v", r, want)
		}
	}
	n := 0
	for _, text := range c.told {
		if strings.Contains(text, "Look for waste.") {
			n++
		}
	}
	if n != 1 {
		t.Errorf("who had read was asked %d times", n)
	}
}

// TestAReaderHearsOfItsOwnFindings of the review before, and of those that are
// nobody's, but not of what turned out to be wrong.
func TestAReaderHearsOfItsOwnFindings(t *testing.T) {
	j := newJob(t, nil, lint("exit 0"))
	j.written(1, one)
	a := j.view.Attempt
	pass := func() *nexus.GatesVerdictGiven {
		return &nexus.GatesVerdictGiven{Attempt: a.ID, Tree: a.Snapshot.Tree, State: nexus.Pass}
	}
	a.Rounds[0].Verdict = pass()
	a.Rounds[0].Reviews = []nexus.ReviewerVerdictGiven{
		{Attempt: a.ID, Tree: a.Snapshot.Tree, Reviewed: true, SendsBack: true, Findings: []nexus.Finding{
			{Gate: "review", Severity: nexus.Major, Persona: "safety", Message: "harm is done"},
			{Gate: "review", Severity: nexus.Major, Persona: "speed", Message: "time is lost"},
			{Gate: "review", Severity: nexus.Major, Persona: "speed,safety", Message: "both see this"},
			{Gate: "review", Severity: nexus.Major, Message: "nobody signed this"},
			{Gate: "review", Severity: nexus.Minor, Persona: "safety", Message: "this is not so", Unverified: "the line is not there"},
		}},
		{Attempt: a.ID, Tree: a.Snapshot.Tree, Findings: []nexus.Finding{{Message: "of a review that could not be read"}}},
	}
	j.written(2, map[string]string{"one": "2\n"})
	a.Rounds[1].Cause, a.Rounds[1].Verdict = repair.ReviewCause, pass()
	for persona, want := range map[string][]string{"safety": {"harm is done"}, "speed": {"time is lost"}, "": {"harm is done", "time is lost"}} {
		j.Sessions.Personas = nil
		if persona != "" {
			j.Sessions.Personas = []review.ReviewPersona{{Name: persona, Charge: "Look."}}
		}
		u := j.next(nexus.Reviewer)
		others := slices.DeleteFunc([]string{"harm is done", "time is lost"}, func(s string) bool { return slices.Contains(want, s) })
		has(t, text(u), append(want, "both see this", "nobody signed this", "+2"), append(others, "this is not so", "could not be read")...)
		if id := strings.TrimSuffix("T1.1/reviewer.3-"+persona, "-"); string(u.Session) != id || u.Why != "brief" {
			t.Errorf("%s %s, want %s", u.Session, u.Why, id)
		}
	}
}

// TestFixersPutTheWorkRight before the gates judge it: what they changed is in
// the snapshot, with its lines, but tests that judge the work are not theirs.
func TestFixersPutTheWorkRight(t *testing.T) {
	upper := stack.FixCommand{Args: []string{"sh", "-c", `for f in "$@"; do tr a-z A-Z <$f >$f.tmp && cat $f.tmp >$f; rm $f.tmp; done`, "sh", "{files}"}}
	for _, c := range []struct {
		name     string
		off      bool
		strategy nexus.WritingStrategy
		rounds   int
		want     string // the lines that were fixed
		test     string // what the test holds
	}{
		{name: "on", strategy: nexus.NoTest, want: "new:1-2, 4|new_test.go:1", test: "T"},
		{name: "off", off: true, strategy: nexus.NoTest, test: "t"},
		{name: "tests of another", strategy: nexus.TDDStrict, want: "new:1-2, 4", test: "t"},
		{name: "in the tenth round", rounds: 9, strategy: nexus.NoTest, want: "new:1-2, 4|new_test.go:1", test: "T"},
		{name: "in the eleventh round", rounds: 10, strategy: nexus.NoTest, test: "t"},
	} {
		t.Run(c.name, func(t *testing.T) {
			g := lint("exit 0")
			g.Fix = []stack.FixCommand{upper}
			j := newJob(t, map[string]string{"new": "x\n"}, g)
			j.Judge.Autofix = !c.off
			j.view.Attempt.Strategy, j.view.Limits.Rounds = c.strategy, 20
			for n := range c.rounds {
				j.written(n+1, map[string]string{"new": fmt.Sprint(n)})
				j.view.Attempt.LastRound().Verdict = &nexus.GatesVerdictGiven{Attempt: "T1.1", State: nexus.Fail, Gate: "lint", Tree: fmt.Sprint(n)}
			}
			j.written(c.rounds+1, map[string]string{"new": "a\nb\nC\nd\n", "new_test.go": "t\n"})
			j.over(nexus.Reviewer, 1, nexus.Accepted, approved())
			if c.strategy == nexus.TDDStrict {
				j.over(nexus.Tester, 1, nexus.Accepted, approved())
				j.view.Attempt.Proof = &nexus.TestsRunWithoutWork{Proof: nexus.ProofRed, Tree: j.view.Attempt.Snapshot.Tree}
			}
			was := j.view.Attempt.Snapshot
			if facts, err := j.work(); err != nil && !errors.Is(err, &nexus.Error{Code: nexus.CodeNoKey}) {
				t.Fatal(facts, err)
			}
			snap := j.view.Attempt.Snapshot
			if c.want == "" {
				if snap.Tree != was.Tree || snap.Fixed != "" {
					t.Errorf("%+v", snap)
				}
			} else if f := last[nexus.TreeSnapshotted](j); f.Tree == was.Tree || strings.Join(f.Lines, "|") != c.want || !strings.Contains(f.Fixed, "new") {
				t.Errorf("%q in %q", f.Lines, f.Fixed)
			}
			if test, err := j.Trees.PrivateRepo().Run(t.Context(), "cat-file", "blob", snap.Tree+":new_test.go"); err != nil || test != c.test+"\n" {
				t.Errorf("the test holds %q, want %q, %v", test, c.test, err)
			}
			if v := last[nexus.GatesVerdictGiven](j); v.Tree != snap.Tree {
				t.Errorf("the gates judged %s, and the work is %s", v.Tree, snap.Tree)
			}
		})
	}
}

// TestAConversationGoesOnWhereItStopped when its process died in a call: nothing
// is said twice, and no round begins anew.
func TestAConversationGoesOnWhereItStopped(t *testing.T) {
	says := map[string]any{"approved": true, "criteria": []any{}, "quality": map[string]any{"rating": "good"}, "reasoning": "so", "testModifications": map[string]any{"files": []string{"old_test.sh"}, "legitimate": true, "reasoning": "so"}}
	for role, c := range map[nexus.Role]struct {
		turn  nextRole
		facts string
	}{
		nexus.Coder:    {nextRole{files: one}, "round 1 coder , snapshot, gate lint pass, verdict pass, review true"},
		nexus.Reviewer: {nextRole{handin: approved()}, "gate lint pass, verdict pass, review true"},
		nexus.Verifier: {nextRole{handin: says}, "gate lint pass, tamper, verdict pass, review true"},
	} {
		t.Run(string(role), func(t *testing.T) {
			j := newJob(t, map[string]string{"old_test.sh": "test -e one\n"}, lint("exit 0"))
			if role != nexus.Coder {
				files := map[string]string{"one": "1\n"}
				if role == nexus.Verifier {
					files["old_test.sh"] = "true\n"
				}
				j.written(1, files)
			}
			c2 := j.plays(map[nexus.Role][]nextRole{})
			if facts, err := j.work(); err == nil || !strings.Contains(err.Error(), "has no turn for") || len(facts) > 0 {
				t.Fatal(facts, err)
			}
			u := j.next(role)
			if u.Why != "" || len(u.Parts) > 0 || len(u.Said) == 0 || u.Said[len(u.Said)-1].Title != "Not answered yet" || !strings.Contains(c2.told[0], u.Said[len(u.Said)-1].Text) || u.Said[0].Tokens == 0 {
				t.Errorf("%q with %+v", u.Why, u.Said)
			}
			c2.turns[role] = []nextRole{c.turn}
			if role != nexus.Reviewer {
				c2.turns[nexus.Reviewer] = []nextRole{{handin: approved()}}
			}
			if f := j.ended(); f.Outcome != nexus.Accepted || j.desk.told() != c.facts {
				t.Errorf("%+v: %s, want %s", f, j.desk.told(), c.facts)
			}
			if len(c2.told) < 2 || c2.told[1] != c2.told[0] || c2.sizes[0] != 1 || c2.sizes[1] != 1 {
				t.Errorf("%v messages: %q", c2.sizes, c2.told)
			}
		})
	}
}

// TestWorkThatThereIsNoMoneyForIsKept: the attempt does not end, and the error
// says why.
func TestWorkThatThereIsNoMoneyForIsKept(t *testing.T) {
	for role, done := range map[nexus.Role]map[string]string{nexus.Coder: nil, nexus.Reviewer: one, nexus.Verifier: {"one": "1\n", "old_test.sh": "true\n"}} {
		t.Run(string(role), func(t *testing.T) {
			j := newJob(t, map[string]string{"old_test.sh": "test -e one\n"}, lint("exit 0"))
			if done != nil {
				j.written(1, done)
			}
			c := j.plays(nil)
			j.desk.refuses = &nexus.Error{Code: nexus.CodeBudget, Message: "the run has no money left"}
			facts, err := j.work()
			if !errors.Is(err, &nexus.Error{Code: nexus.CodeBudget}) || !strings.Contains(err.Error(), "no money left") || len(facts) > 0 || len(c.told) > 0 {
				t.Errorf("%+v, %v: %q", facts, err, c.told)
			}
		})
	}
}

package worker_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/changemetrics"
	"github.com/nexus-ai-builder/nexus/internal/work/codemap"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/rules"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
	"github.com/nexus-ai-builder/nexus/internal/work/worker/workertest"
)

// listener submits at once, and keeps what it was sent.
type listener struct {
	mu   sync.Mutex // guards sent
	sent []llm.Request
}

func (l *listener) Stream(_ context.Context, r llm.Request, _ func(llm.AnswerDelta)) (llm.Response, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.sent = append(l.sent, r)
	handin := json.RawMessage(`{"summary": "Done.", "status": "done"}`)
	return llm.Response{
		Message: llm.Message{From: llm.Assistant, Parts: []llm.MessagePart{{Call: &llm.ToolCall{ID: "c1", Tool: "finish", Input: handin}}}},
		Stop:    llm.StopTools, Usage: nexus.Usage{Input: 1},
	}, nil
}

// floor is where roles are heard.
type floor struct {
	shop  *worker.AttemptWorker
	model *listener
	holds int64
	less  int64
}

func newFloor(t *testing.T) (*floor, string) {
	t.Helper()
	s, base, _ := workertest.NewTestWorker(t)
	roles, err := agent.LoadRoleDefinitions(nil)
	if err != nil {
		t.Fatal(err)
	}
	f := &floor{shop: s, model: &listener{}, holds: 200_000}
	s.Sessions.Roles, s.Sessions.Maps, s.Sessions.Rules = roles, &codemap.RepositoryMapper{Tokens: 4_000}, repositorySays(t, "Keep it small.")
	s.Sessions.Pick = func(nexus.Role, nexus.Tier, string) (worker.PricedModel, error) {
		m := worker.PricedModel{
			Model: f.model, Name: "toy/model", Context: f.holds,
			Price: func(nexus.Usage, llm.BillingTerms) nexus.Money { return 0 }, Worst: func(llm.Request) nexus.Money { return 0 },
		}
		if f.less > 0 {
			small := m
			small.Name, small.Context = "toy/small", f.less
			m.Else = []worker.PricedModel{small}
		}
		return m, nil
	}
	return f, base
}

// hear lets a role speak once in a tree of its own, and returns what was sent.
func (f *floor) hear(t *testing.T, role nexus.Role, id nexus.AttemptID, from, base string) llm.Request {
	t.Helper()
	c, _ := change(t, f.shop, id, from)
	a := &state.AttemptState{ID: id, Task: "T1", Base: from}
	o, err := f.shop.Sessions.ContinueConversation(t.Context(), worker.ConversationStretchRequest{
		Attempt: a, Session: nexus.SessionID(string(id) + "/" + string(role) + ".1"), Task: nexus.Task{ID: "T1", Title: "Planted, late"}, Role: role, Tree: c.Tree, Base: base,
		Next: "Do " + string(id), Limits: nexus.DefaultLimits(),
		Record: func(_ context.Context, facts ...nexus.Fact) error {
			for _, fact := range facts {
				a.Apply(fact, time.Now())
			}
			return nil
		},
		Snap: func(context.Context) (nexus.TreeSnapshotted, error) { return nexus.TreeSnapshotted{}, nil },
	}, &desk{})
	if err != nil || o.Outcome != nexus.Accepted {
		t.Fatal(o.Outcome, o.Why, err)
	}
	return f.model.sent[len(f.model.sent)-1]
}

// first returns the first message of a request.
func first(r llm.Request) string { return r.Messages[0].Text() }

// TestSiblingsBeginAlike holds for every role that two workers begin alike,
// byte by byte, also when the second one starts from what landed meanwhile, and
// in another process. The map, which differs, follows the brief, and
// shows the tree that the session starts from.
func TestSiblingsBeginAlike(t *testing.T) {
	f, base := newFloor(t)
	c, _ := change(t, f.shop, "T0.1", base)
	if err := os.WriteFile(filepath.Join(c.Tree.Dir, "late.go"), []byte("package late\n\nfunc Late() {}\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	landed, _, err := c.Tree.Snapshot(t.Context(), "landed")
	if err != nil {
		t.Fatal(err)
	}
	for role, r := range f.shop.Sessions.Roles {
		if r.Answers {
			continue // it has no part in runs
		}
		f.shop.Sessions.Maps = &codemap.RepositoryMapper{Tokens: 4_000}
		one := f.hear(t, role, "T1.1", base, base)
		two := f.hear(t, role, "T2.1", landed, base)
		f.shop.Sessions.Maps = &codemap.RepositoryMapper{Tokens: 4_000} // the next process
		three := f.hear(t, role, "T3.1", landed, base)
		for _, r := range []llm.Request{two, three} {
			was, _ := json.Marshal([]any{one.System, one.Tools})
			is, _ := json.Marshal([]any{r.System, r.Tools})
			if !bytes.Equal(was, is) {
				t.Errorf("%s: siblings begin differently:\n%s\n%s", role, was, is)
			}
		}
		mapped := r.Map
		if has := strings.Contains(first(one), "```text\nCommit "+base[:12]+", 1 file."); has != mapped {
			t.Errorf("%s: its map is there: %v, want %v", role, has, mapped)
		}
		if has := strings.Contains(first(two), "Commit "+landed[:12]) && strings.Contains(first(two), "late.go\n  3 func Late()"); has != mapped {
			t.Errorf("%s: its map shows what landed: %v, want %v\n%s", role, has, mapped, first(two))
		}
		if strings.Contains(one.System, "T1.1") || !strings.HasPrefix(first(one), "Do T1.1") {
			t.Errorf("%s: the shared part names who works, or the brief does not stand first", role)
		}
		if place := strings.Contains(first(one), "trees/r/T1.1/tree`. Commands start there"); place != slices.Contains(r.Tools, "shell") {
			t.Errorf("%s: it is told where it is: %v", role, place)
		}
	}
}

// TestEnvironment tells a role what is known of where it works: gates with
// their usual times and what they lack, how one test is run, what fixes files,
// and what the project offers to run.
func TestEnvironment(t *testing.T) {
	f, base := newFloor(t)
	f.shop.Judge.Gates = func(string) ([]gate.QualityGate, error) {
		return []gate.QualityGate{
			{Name: "build", Args: []string{"true"}},
			{Name: "lint", Args: []string{"no-such-linter", "run"}, Fix: []stack.FixCommand{{Args: []string{"no-such-linter", "--fix", "{files}"}}}},
			{Name: "format", Args: []string{"sh", "-c", "true"}, Fix: []stack.FixCommand{{Args: []string{"true", "-w", "{files}"}}}},
			{Name: "test", Dir: "web", Args: []string{"true", "test"}, Tests: true, Lone: stack.SingleTestCommand{Args: []string{"true", "--only={test}", "{file}"}}},
		}, nil
	}
	f.shop.Judge.Autofix, f.shop.Judge.Faults.Mode = true, "block"
	f.shop.Judge.Meter = &changemetrics.ChangeMeasurer{Rules: nexus.DefinitionOfDone{Modes: map[string]nexus.BoundMode{nexus.CoverageBound: nexus.BoundBlock}, NewMinimum: 65}}
	f.shop.Sessions.Pace = &worker.GateForecast{Past: func(context.Context) func(string) time.Duration {
		return func(gate string) time.Duration { return map[string]time.Duration{"test": 3 * time.Minute}[gate] }
	}}
	f.shop.Site.Run = "261124-101112-abc"
	c, _ := change(t, f.shop, "T0.1", base)
	if err := os.WriteFile(filepath.Join(c.Tree.Dir, "Makefile"), []byte("docs:\n\ttrue\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	head, _, err := c.Tree.Snapshot(t.Context(), "make")
	if err != nil {
		t.Fatal(err)
	}
	coder := f.hear(t, nexus.Coder, "T1.1", head, head).System
	for _, want := range []string{
		"2026-11-24. Scratch files go to $TMPDIR", "- No network", "  - build: `true`\n", "  - lint: `no-such-linter run`, cannot run here: no-such-linter is not installed\n",
		"  - test: `true test` in web, usually 3 minutes\n", "One test: `cd web && true --only=NAME FILE`.", "what they changed: `true -w`.",
		"a test must catch each.", "65 % of the new lines", "- `make`: docs.", "60 answers a session, 50 submissions, 60 minutes for the task",
	} {
		if !strings.Contains(coder, want) {
			t.Errorf("%q is missing in:\n%s", want, coder)
		}
	}
	planner := f.hear(t, nexus.Planner, "T2.1", head, head).System
	if !strings.Contains(planner, "- test: `true test` in web") || strings.Contains(planner, "network") || strings.Contains(planner, "One test") {
		t.Errorf("the planner reads:\n%s", planner)
	}
	if reviewer := f.hear(t, nexus.Reviewer, "T3.1", head, head).System; strings.Contains(reviewer, "Gates, in order") || !strings.Contains(reviewer, "20 answers a session") {
		t.Errorf("the reviewer reads:\n%s", reviewer)
	}
}

// TestMapsAreAsLargeAsModels leaves room in small models, and none where it
// is turned off.
func TestMapsAreAsLargeAsModels(t *testing.T) {
	f, begun := newFloor(t)
	c, _ := change(t, f.shop, "T0.1", begun)
	for n := range 40 {
		name := filepath.Join(c.Tree.Dir, strings.Repeat("x", n+1)+".go")
		if err := os.WriteFile(name, []byte("package x\n\nfunc Planted"+strings.Repeat("F", 30)+"()\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	base, _, err := c.Tree.Snapshot(t.Context(), "more")
	if err != nil {
		t.Fatal(err)
	}
	last := 0
	for _, m := range []struct {
		tokens       int
		holds, other int64
		most, least  int
	}{
		{4_000, 0, 0, 12_000, 1_800},
		{4_000, 200_000, 0, 12_000, 1_800},
		{400, 200_000, 0, 1_200, 700},
		{4_000, 8_192, 0, 1_536, 700},
		{4_000, 200_000, 8_192, 1_536, 700}, // the session may continue with less
		{4_000, 2_048, 0, 0, 0},
		{0, 200_000, 0, 0, 0},
	} {
		f.shop.Sessions.Maps, f.holds, f.less = &codemap.RepositoryMapper{Tokens: m.tokens}, m.holds, m.other
		f.shop.Sessions.Rules = nil
		last++
		sys := f.hear(t, nexus.Coder, nexus.AttemptID("T1."+strings.Repeat("1", last)), base, base)
		_, text, _ := strings.Cut(first(sys), "```text\n")
		if n := len(text); n > m.most+8 || n < m.least {
			t.Errorf("%+v: a map of %d bytes", m, n)
		}
	}
}

// TestMapsAreMasked plants a key in what a map shows.
func TestMapsAreMasked(t *testing.T) {
	f, base := newFloor(t)
	c, _ := change(t, f.shop, "T0.1", base)
	if err := os.WriteFile(filepath.Join(c.Tree.Dir, "k.go"), []byte("package k\n\nconst Planted = \"sk-planted\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	head, _, err := c.Tree.Snapshot(t.Context(), "key")
	if err != nil {
		t.Fatal(err)
	}
	f.shop.Site.Mask = func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("sk-planted"), []byte("[key]")) }
	sys := first(f.hear(t, nexus.Coder, "T1.1", head, head))
	if strings.Contains(sys, "sk-planted") || !strings.Contains(sys, `const Planted = "[key]"`) {
		t.Error(sys)
	}
}

// repositorySays returns the rules of a repository with such an AGENTS.md.
func repositorySays(tb testing.TB, text string) *rules.RuleSet {
	tb.Helper()
	dir := tb.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "AGENTS.md"), []byte(text), 0o600); err != nil {
		tb.Fatal(err)
	}
	set, err := rules.LoadRules(rules.RuleLocations{Repo: dir})
	if err != nil {
		tb.Fatal(err)
	}
	return set
}

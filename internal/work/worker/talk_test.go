package worker_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/secret/leak"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
	"github.com/nexus-ai-builder/nexus/internal/work/worker/workertest"
)

// cast plays roles: each call of a role's model makes the next of its calls.
type cast struct {
	mu    sync.Mutex // guards the others: scouts work beside who sent them
	calls map[nexus.Role][]llm.ToolCall
	asked map[nexus.Role][]llm.Request
}

func call(tool, input string) llm.ToolCall {
	return llm.ToolCall{Tool: tool, Input: json.RawMessage(input)}
}

var done = call("finish", `{"summary": "Done.", "status": "done"}`)

// plays gives a worker the roles of a run, and models that make calls.
func plays(t *testing.T, s *worker.AttemptWorker, calls map[nexus.Role][]llm.ToolCall) *cast {
	t.Helper()
	roles, err := agent.LoadRoleDefinitions(nil)
	if err != nil {
		t.Fatal(err)
	}
	c := &cast{calls: calls, asked: map[nexus.Role][]llm.Request{}}
	s.Sessions.Roles = roles
	s.Sessions.Pick = func(role nexus.Role, tier nexus.Tier, _ string) (worker.PricedModel, error) {
		return worker.PricedModel{
			Model: player{c, role}, Name: "toy/" + string(tier),
			Price: func(nexus.Usage, llm.BillingTerms) nexus.Money { return 0 }, Worst: func(llm.Request) nexus.Money { return 0 },
		}, nil
	}
	return c
}

type player struct {
	*cast
	role nexus.Role
}

// Stream implements [llm.PricedModel].
func (p player) Stream(_ context.Context, r llm.Request, _ func(llm.AnswerDelta)) (llm.Response, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.asked[p.role])
	p.asked[p.role] = append(p.asked[p.role], r)
	if n >= len(p.calls[p.role]) {
		return llm.Response{}, &llm.ModelCallError{Class: llm.Fatal, Cause: fmt.Errorf("no call is left for the %s", p.role)}
	}
	c := p.calls[p.role][n]
	c.ID = fmt.Sprintf("%s-%d", p.role, n)
	return llm.Response{Message: llm.Message{From: llm.Assistant, Parts: []llm.MessagePart{{Call: &c}}}, Stop: llm.StopTools, Usage: nexus.Usage{Input: 1}}, nil
}

// told returns what a request says last: words, and results of tools.
func told(r llm.Request) string {
	var b strings.Builder
	for _, p := range r.Messages[len(r.Messages)-1].Parts {
		b.WriteString(p.Text)
		if p.Result != nil {
			b.WriteString(p.Result.Text)
		}
	}
	return b.String()
}

// talk is a session of a role on a tree, whose facts are kept.
func talk(c worker.TreeJudgeRequest, role nexus.Role, way nexus.WritingStrategy) (worker.ConversationStretchRequest, *[]nexus.Fact) {
	a := &state.AttemptState{ID: "T1.1", Task: "T1", Base: c.Base, Strategy: way}
	var facts []nexus.Fact
	return worker.ConversationStretchRequest{
		Attempt: a, Session: nexus.SessionID("T1.1/" + string(role) + ".1"), Task: nexus.Task{ID: "T1", Title: "Add one"}, Role: role, Tier: nexus.Strong, Tree: c.Tree, Base: c.Base, Next: "the brief", Why: "brief",
		Record: func(_ context.Context, all ...nexus.Fact) error {
			for _, f := range all {
				facts = append(facts, f)
				a.Apply(f, time.Now())
			}
			return nil
		},
		Snap: func(ctx context.Context) (nexus.TreeSnapshotted, error) {
			commit, tree, err := c.Tree.Snapshot(ctx, "work")
			return nexus.TreeSnapshotted{Attempt: "T1.1", Commit: commit, Tree: tree}, err
		},
	}, &facts
}

// TestWhatIsAnothersIsPutBack and is on record, whichever way an agent wrote it.
func TestWhatIsAnothersIsPutBack(t *testing.T) {
	for name, c := range map[string]struct {
		role nexus.Role
		way  nexus.WritingStrategy
		line string
		want string // files of the tree
		gone []string
	}{
		"tests, by a coder that may not":                        {nexus.Coder, nexus.TDDStrict, "echo x >one.go; echo x >a_test.go", "T1.1 bad one.go", []string{"a_test.go"}},
		"tests, by a coder that may":                            {nexus.Coder, nexus.TestAfter, "echo x >one.go; echo x >a_test.go", "T1.1 a_test.go bad one.go", nil},
		"code, by a tester":                                     {nexus.Tester, nexus.TDDStrict, "echo x >one.go; echo x >a_test.go", "T1.1 a_test.go bad", []string{"one.go"}},
		"code, by a tester who breaks it to see the tests fail": {nexus.Tester, nexus.TestAfter, "echo x >one.go; echo x >a_test.go", "T1.1 a_test.go bad", nil},
		"what git ignores":                                      {nexus.Coder, nexus.TestAfter, "echo junk >.gitignore; echo x >junk; echo x >one.go", "T1.1 .gitignore bad one.go", nil},
	} {
		t.Run(name, func(t *testing.T) {
			s, base, _ := workertest.NewTestWorker(t)
			one, commit := change(t, s, "T1.1", base)
			cast := plays(t, s, map[nexus.Role][]llm.ToolCall{c.role: {call("shell", `{"command": "`+c.line+`"}`), done}})
			talk, facts := talk(one, c.role, c.way)
			talk.Attempt.Start = commit
			o, err := s.Sessions.ContinueConversation(t.Context(), talk, &desk{})
			if err != nil || o.Outcome != nexus.Accepted {
				t.Fatalf("%+v, %v: %s", o, err, told(cast.asked[c.role][len(cast.asked[c.role])-1]))
			}
			commit, _, err = one.Tree.Snapshot(t.Context(), "look")
			if err != nil {
				t.Fatal(err)
			}
			out, err := s.Trees.PrivateRepo().Run(t.Context(), "ls-tree", "--name-only", commit)
			got := strings.Fields(out)
			slices.Sort(got)
			want := strings.Fields(c.want)
			slices.Sort(want)
			if diff := cmp.Diff(want, got); diff != "" || err != nil {
				t.Error(diff, err)
			}
			var broken []string
			for _, f := range *facts {
				if f, ok := f.(nexus.RoleIsolationViolated); ok {
					if f.Attempt != "T1.1" || f.Role != c.role {
						t.Errorf("%+v", f)
					}
					broken = append(broken, f.Files...)
				}
			}
			if diff := cmp.Diff(c.gone, broken); diff != "" {
				t.Errorf("on record: %s", diff)
			}
		})
	}
}

// TestAScout looks into a question with a cheap model, and its report reaches who
// sent it, with what of it is not so.
func TestAScout(t *testing.T) {
	s, base, _ := workertest.NewTestWorker(t)
	one, _ := change(t, s, "T1.1", base)
	cast := plays(t, s, map[nexus.Role][]llm.ToolCall{
		nexus.Coder: {call("scout", `{"question": "Where is bad?"}`), call("scout", `{"wait_seconds": 60}`), call("scout", `{"id": "1"}`), done},
		nexus.Scout: {call("finish", `{"report": "In bad.", "places": ["bad:1", "gone.go:3"]}`)},
	})
	talk, _ := talk(one, nexus.Coder, nexus.TestAfter)
	o, err := s.Sessions.ContinueConversation(t.Context(), talk, &desk{})
	if err != nil || o.Outcome != nexus.Accepted {
		t.Fatalf("%+v, %v: %+v", o, err, cast.asked)
	}
	if text := told(cast.asked[nexus.Scout][0]); len(cast.asked[nexus.Scout]) != 1 || !strings.Contains(text, "Where is bad?") || !strings.HasPrefix(text, "Conversation: T1.1/coder.1-scout.1\n") || strings.Contains(text, "the brief") {
		t.Errorf("the scout was told: %s", text)
	}
	heard := ""
	for _, r := range cast.asked[nexus.Coder] {
		heard += told(r)
	}
	if !strings.Contains(heard, "In bad.") || !strings.Contains(heard, "bad:1") || strings.Contains(heard, "bad:1 (is not there)") || !strings.Contains(heard, "gone.go:3 (is not there)") {
		t.Errorf("the coder was told: %s", heard)
	}
	if got := talk.Attempt.SessionByID("T1.1/coder.1-scout.1"); got == nil || !got.Over || got.Outcome != nexus.Accepted || got.Model != "toy/fast" || got.About != "Where is bad?" {
		t.Errorf("%+v", got)
	}

	// one whose model costs no more has none to send
	talk.Tier, talk.Session = nexus.Fast, "T1.1/coder.2"
	cast.calls[nexus.Coder] = append(cast.calls[nexus.Coder], done)
	if o, err := s.Sessions.ContinueConversation(t.Context(), talk, &desk{}); err != nil || o.Outcome != nexus.Accepted {
		t.Fatalf("%+v, %v", o, err)
	}
	has := func(r llm.Request) bool {
		return slices.ContainsFunc(r.Tools, func(t llm.ToolDescription) bool { return t.Name == "scout" })
	}
	if all := cast.asked[nexus.Coder]; !has(all[0]) || has(all[len(all)-1]) {
		t.Error("who may send scouts is wrong")
	}
}

// TestOfferIsWhatAConversationBeginsWith for each role that works on a task.
func TestOfferIsWhatAConversationBeginsWith(t *testing.T) {
	for _, role := range []nexus.Role{nexus.Coder, nexus.Tester, nexus.Reviewer, nexus.Verifier} {
		s, base, _ := workertest.NewTestWorker(t, gate.QualityGate{Name: "lint", Args: []string{"true"}})
		one, _ := change(t, s, "T1.1", base)
		s.Sessions.Rules = repositorySays(t, "Standing rule: be brief.")
		cast := plays(t, s, map[nexus.Role][]llm.ToolCall{})
		talk, facts := talk(one, role, nexus.TestAfter)
		if role == nexus.Reviewer || role == nexus.Verifier {
			talk.Handin, talk.Snap = json.RawMessage(`{"type": "object"}`), nil
		}
		o, err := s.Sessions.PreviewSession(t.Context(), talk)
		if err != nil || len(*facts) > 0 || len(cast.asked) > 0 {
			t.Fatalf("%s: %v, %+v", role, err, *facts)
		}
		if _, err := s.Sessions.ContinueConversation(t.Context(), talk, &desk{}); err == nil || len(cast.asked[role]) != 1 {
			t.Fatalf("%s: %v", role, err)
		}
		r := cast.asked[role][0]
		var parts []string
		for _, p := range o.System {
			parts = append(parts, p.Text)
		}
		if got := strings.Join(parts, "\n\n"); strings.Join(strings.Fields(got), " ") != strings.Join(strings.Fields(r.System), " ") || !strings.Contains(got, "be brief") {
			t.Errorf("%s: %s", role, cmp.Diff(got, r.System))
		}
		if diff := cmp.Diff(o.Tools, r.Tools); diff != "" {
			t.Errorf("%s: %s", role, diff)
		}
		if o.Model != "toy/"+string(o.Tier) || o.ToolTokens() <= 0 || !strings.Contains(told(r), "the brief") {
			t.Errorf("%s: %+v", role, o)
		}
	}
	s, _, _ := workertest.NewTestWorker(t)
	if _, err := s.Sessions.PreviewSession(t.Context(), worker.ConversationStretchRequest{Role: "cook"}); err == nil || !strings.Contains(err.Error(), "cook") {
		t.Error(err)
	}
}

// TestLook lets all gates judge a base once, but those that judge only some changes.
func TestLook(t *testing.T) {
	tap := func(name, text string) gate.QualityGate {
		return gate.QualityGate{Name: name, Format: "tap", Tests: true, Args: []string{"sh", "-c", text}}
	}
	gates := []gate.QualityGate{
		{Name: "e2e", Args: []string{"true"}, Only: []string{"*.html"}}, {Name: "lint", Args: []string{"true"}}, tap("test-none", "echo 1..0"), tap("test-some", "echo 1..1; echo ok 1 - a"), tap("test-more", "echo 1..1; echo ok 1 - b"),
	}
	s, base, _ := workertest.NewTestWorker(t, gates...)
	c, _ := change(t, s, "T1.1", base)
	var d judged
	of := worker.JudgedBaseCommit{Commit: base, For: nexus.GateStarted{Attempt: "T1.1"}}
	for range 2 { // the second time all of it is known
		if err := s.Judge.Bases.CheckRunBase(t.Context(), s.Judge, of, c.Tree.Dir, &d); err != nil {
			t.Fatal(err)
		}
	}
	var got []string
	for _, f := range d.all {
		got = append(got, fmt.Sprintf("%s %v", f.Evidence.Gate, f.Base))
	}
	if diff := cmp.Diff([]string{"lint true", "test-none true", "test-some true", "test-more true"}, got); diff != "" {
		t.Error(diff)
	}
	got = nil
	for _, e := range s.Judge.Bases.Known(t.Context(), base) {
		got = append(got, e.Gate)
	}
	if diff := cmp.Diff([]string{"lint", "test-more", "test-none", "test-some"}, got); diff != "" {
		t.Error(diff)
	}
	if all := s.Judge.Bases.Known(t.Context(), "another"); len(all) > 0 {
		t.Errorf("%+v", all)
	}
	broken := errors.New("no gates")
	s.Judge.Gates = func(string) ([]gate.QualityGate, error) { return nil, broken }
	if err := s.Judge.Bases.CheckRunBase(t.Context(), s.Judge, of, c.Tree.Dir, &d); !errors.Is(err, broken) || !strings.Contains(err.Error(), "judge the base") {
		t.Error(err)
	}
}

// TestASecretIsRed before any gate runs, and a file that people should look at is
// named and decides nothing.
func TestASecretIsRed(t *testing.T) {
	key := "AKIA" + "QYLPMN5HXWFGJ3TC"
	for name, c := range map[string]struct {
		files map[string]string
		off   bool
		want  string // what is on record
	}{
		"a secret":             {map[string]string{"conf": "aws_key = \"" + key + "\"\n"}, false, "secrets fail"},
		"nobody looks for any": {map[string]string{"conf": "aws_key = \"" + key + "\"\n"}, true, "lint pass, lint pass"},
		"none":                 {map[string]string{"conf": "x\n"}, false, "lint pass, lint pass"},
		"a file that installs": {map[string]string{"package.json": "{}\n"}, false, humaninput.CriticalGate + " pass, lint pass, lint pass"},
	} {
		s, base, _ := workertest.NewTestWorker(t, gate.QualityGate{Name: "lint", Args: []string{"true"}})
		if !c.off {
			s.Judge.Leaks = &leak.SecretLeakFinder{}
		}
		one, _ := change(t, s, "T1.1", base)
		gittest.WriteFiles(t, one.Tree.Dir, c.files)
		var err error
		if _, one.Hash, err = one.Tree.Snapshot(t.Context(), "work"); err != nil {
			t.Fatal(err)
		}
		var d judged
		all, err := s.Judge.RunGates(t.Context(), one, &d)
		if err != nil || len(all) != 1 {
			t.Errorf("%s: %+v, %v", name, all, err)
		}
		var got []string
		for _, f := range d.all {
			got = append(got, fmt.Sprintf("%s %s", f.Evidence.Gate, f.Evidence.State))
		}
		if strings.Join(got, ", ") != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
		if text := fmt.Sprintf("%+v", d.all); strings.Contains(text, key) {
			t.Errorf("%s: the secret is on record: %s", name, text)
		}
	}
}

// full is a desk that has no room after some facts.
type full struct {
	desk
	left int
	err  error
}

func (f *full) Record(ctx context.Context, facts ...nexus.Fact) error {
	if f.left--; f.left < 0 {
		return f.err
	}
	return f.desk.Record(ctx, facts...)
}

// TestNoGatePassesThatIsNotOnRecord: what cannot be recorded is an error, and
// never a tree that its gates let through.
func TestNoGatePassesThatIsNotOnRecord(t *testing.T) {
	broken := errors.New("no space")
	for n := range 20 {
		s, base, _ := workertest.NewTestWorker(t, gate.QualityGate{Name: "lint", Args: []string{"true"}})
		one, _ := change(t, s, "T1.1", base)
		gittest.WriteFiles(t, one.Tree.Dir, map[string]string{"package.json": "{}\n"})
		var err error
		if _, one.Hash, err = one.Tree.Snapshot(t.Context(), "work"); err != nil {
			t.Fatal(err)
		}
		all, err := s.Judge.RunGates(t.Context(), one, &full{left: n, err: broken})
		if err == nil {
			if len(all) != 1 || all[0].State != nexus.Pass || n < 4 {
				t.Errorf("after %d facts: %+v", n, all)
			}
			return
		}
		if !errors.Is(err, broken) {
			t.Errorf("after %d facts: %+v, %v", n, all, err)
		}
	}
	t.Error("it never passes")
}

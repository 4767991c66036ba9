package worker_test

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
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
	"github.com/nexus-ai-builder/nexus/internal/work/worker/workertest"
)

// maker is a worker whose sessions another maker's agent does: a script, whose
// first argument is what it is told.
type maker struct {
	*worker.AttemptWorker
	talk   worker.ConversationStretchRequest
	facts  []nexus.Fact
	learnt []string
	asked  []nexus.Tier // for an agent, with the tier of the session
}

// made returns one with a worktree at the base, in which the script runs.
func made(tb testing.TB, role nexus.Role, script string) *maker {
	tb.Helper()
	s, base, _ := workertest.NewTestWorker(tb)
	m := &maker{AttemptWorker: s}
	roles, err := agent.LoadRoleDefinitions(nil)
	if err != nil {
		tb.Fatal(err)
	}
	tree, err := s.Trees.AddTree(tb.Context(), "r", "T1.1", base)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = tree.Remove(context.Background()) })
	user := tb.TempDir()
	gittest.WriteFiles(tb, user, map[string]string{".toy/login.json": `{"token": "a-very-secret-token-0123456789"}`})
	file := testenv.WriteProgram(tb, filepath.Join(user, "toy"), "#!/bin/sh\n"+script)
	s.Site.Learn = func(secret string) { m.learnt = append(m.learnt, secret) }
	m.Sessions.Roles, m.Sessions.Rules = roles, repositorySays(tb, "Rules of this repository.")
	m.Sessions.Site.Learn = s.Site.Learn
	m.Sessions.External = func(role nexus.Role, tier nexus.Tier, _ string) ([]*worker.ExternalAgent, []string) {
		m.asked = append(m.asked, tier)
		return []*worker.ExternalAgent{{
			Program: agentcli.CLIAgentProgram{Name: "toy", Command: "toy", Speaks: "text", Args: []string{"{prompt}"}, Login: []string{".toy/login.json"}},
			Why:     "it does all of the " + string(role), File: file, User: user, Silence: time.Minute,
		}}, nil
	}
	a := &state.AttemptState{ID: "T1.1", Task: "T1", Base: base}
	m.talk = worker.ConversationStretchRequest{
		Attempt: a, Session: nexus.SessionID("T1.1/" + string(role) + ".1"), Task: nexus.Task{ID: "T1"}, Role: role, Tier: nexus.Balanced, Tree: tree, Base: base,
		Next: "Do the task.", Why: "brief",
		Record: func(_ context.Context, facts ...nexus.Fact) error {
			m.facts = append(m.facts, facts...)
			for _, f := range facts {
				a.Apply(f, time.Unix(0, 0))
			}
			return nil
		},
		Snap: func(ctx context.Context) (nexus.TreeSnapshotted, error) {
			commit, hash, err := tree.Snapshot(ctx, "work")
			return nexus.TreeSnapshotted{Attempt: "T1.1", Commit: commit, Tree: hash}, err
		},
	}
	return m
}

// books is a desk that records what comes with money.
type books struct {
	*desk
	talk worker.ConversationStretchRequest
}

func (b books) Reserve(ctx context.Context, r nexus.BudgetReserved, facts ...nexus.Fact) ([]state.Guidance, error) {
	return nil, b.talk.Record(ctx, append(facts, r)...)
}

func (m *maker) converse(tb testing.TB) agent.SessionStretchResult {
	tb.Helper()
	o, err := m.Sessions.ContinueConversation(tb.Context(), m.talk, books{&desk{}, m.talk})
	if err != nil {
		tb.Fatal(err)
	}
	return o
}

// found returns the facts of a kind.
func found[F nexus.Fact](m *maker) []F {
	var all []F
	for _, f := range m.facts {
		if f, ok := f.(F); ok {
			all = append(all, f)
		}
	}
	return all
}

func (m *maker) read(tb testing.TB, name string) string {
	tb.Helper()
	data, err := os.ReadFile(filepath.Join(m.talk.Tree.Dir, name))
	if err != nil {
		tb.Fatal(err)
	}
	return string(data)
}

// TestSettingsOfTheRepository choose neither what crush is nor what it does: what it
// writes of them itself is taken back, and with those of the repository it does
// not run, whoever it is at work for.
func TestSettingsOfTheRepository(t *testing.T) {
	as := func(m *maker, name string) {
		external := m.Sessions.External
		m.Sessions.External = func(role nexus.Role, tier nexus.Tier, pin string) ([]*worker.ExternalAgent, []string) {
			all, others := external(role, tier, pin)
			all[0].Program.Command = name
			return all, others
		}
	}
	m := made(t, nexus.Coder, `echo fine >a.txt; echo '{}' >crush.json; mkdir sub; echo '{}' >sub/crush.json; echo "I wrote it."`)
	as(m, "/opt/crush")
	gittest.WriteFiles(t, m.talk.Tree.Dir, map[string]string{".crush.json": "{}"}) // of a process that was killed
	if o := m.converse(t); o.Outcome != nexus.Accepted || m.read(t, "a.txt") != "fine\n" || m.read(t, "sub/crush.json") != "{}\n" {
		t.Errorf("%+v", o)
	}
	for _, name := range []string{"crush.json", ".crush.json"} {
		if _, err := os.Stat(filepath.Join(m.talk.Tree.Dir, name)); err == nil {
			t.Errorf("it kept %s", name)
		}
	}
	if broken := found[nexus.RoleIsolationViolated](m); len(broken) > 0 {
		t.Errorf("%+v", broken) // its role may write there
	}
	for _, c := range []struct {
		as, file, text string
		refused        bool
	}{
		{"crush", "crush.json", "{}", true},
		{"crush", ".crushrc", "touch x", true},
		{"crush", "crushrc", "touch x", true},
		{"crush", ".aider.conf.yml", "model: x", false},
		{"aider", ".aider.conf.yml", "model: x", true},
		{"aider", ".aider.conf.yml", "# Ours.\nread: [CONVENTIONS.md]\n", false},
		{"aider", ".aider.conf.yml", "read: [", true},
		{"aider", ".aider.conf.yml", "read: a\nlint-cmd: b\n", true},
		{"aider", ".aider.model.settings.yml", "[]", true},
		{"aider", ".env", "A=1", true},                               // holds no secret, so that programs may read it
		{"aider", ".env", "API_KEY=AKIA" + "QYLPMN5HXWFGJ3TC", true}, // nothing covers it without a wall
		{"gemini", ".gemini/settings.json", "{}", true},
		{"gemini", ".gemini/.env", "A=1", true},
		{"gemini", ".gemini", "/nowhere", true}, // a link
		{"gemini", ".gemini/agents/helper.md", "---\nname: helper\n---\n", true},
		{"gemini", ".gemini/policies/all.toml", "[[rule]]\n", true},
		{"gemini", ".gemini/skills/x/SKILL.md", "Read this.", true},
		{"gemini", ".gemini/commands/fix.toml", "prompt = \"x\"\n", true},
		{"gemini", ".gemini/extensions/x/gemini-extension.json", "{}", true},
		{"gemini", ".agents/skills/x/SKILL.md", "Read this.", true},
		{"gemini", ".gemini/agents.md", "Read this.", false},
		{"claude", ".agents/skills/x/SKILL.md", "Read this.", false},
		{"gemini", ".gemini/GEMINI.md", "Read this.", false},
		{"gemini", "GEMINI.md", "Read this.", false},
		{"toy", "crush.json", "{}", false},
	} {
		m := made(t, nexus.Reviewer, `echo "I read it."`)
		as(m, c.as)
		if c.file == ".gemini" {
			if err := os.Symlink(c.text, filepath.Join(m.talk.Tree.Dir, c.file)); err != nil {
				t.Fatal(err)
			}
		} else {
			gittest.WriteFiles(t, m.talk.Tree.Dir, map[string]string{c.file: c.text})
		}
		_, err := m.Sessions.ContinueConversation(t.Context(), m.talk, books{&desk{}, m.talk})
		if refused := errors.Is(err, &nexus.Error{Code: nexus.CodeInvalidConfig}); refused != c.refused || !refused && err != nil {
			t.Errorf("%s with %s: %v", c.as, c.file, err)
		}
	}
}

// TestHiddenSettings choose nothing where the sandbox keeps an agent from opening them.
// One that hides nothing else covers none, and a link is never covered.
func TestHiddenSettings(t *testing.T) {
	box, err := sandbox.FindSandbox(t.Context(), sandbox.ModeNative)
	testenv.NeedMachine(t, "a sandbox", err)
	key := "AKIA" + "QYLPMN5HXWFGJ3TC"
	for text, refused := range map[string]bool{"API_KEY=" + key: false, "A=1": true, "a link": true} {
		m := made(t, nexus.Reviewer, `cat .env 2>/dev/null; echo "I read it."`)
		m.Sessions.Site.Box = box
		external := m.Sessions.External
		m.Sessions.External = func(role nexus.Role, tier nexus.Tier, pin string) ([]*worker.ExternalAgent, []string) {
			all, others := external(role, tier, pin)
			all[0].Program.Command = "aider"
			all[0].Seen = []string{filepath.Dir(all[0].File)}
			return all, others
		}
		if text == "a link" {
			gittest.WriteFiles(t, m.talk.Tree.Dir, map[string]string{"settings": "API_KEY=" + key})
			if err := os.Symlink("settings", filepath.Join(m.talk.Tree.Dir, ".env")); err != nil {
				t.Fatal(err)
			}
		} else {
			gittest.WriteFiles(t, m.talk.Tree.Dir, map[string]string{".env": text})
		}
		o, err := m.Sessions.ContinueConversation(t.Context(), m.talk, books{&desk{}, m.talk})
		if is := errors.Is(err, &nexus.Error{Code: nexus.CodeInvalidConfig}); is != refused || !refused && (err != nil || o.Text != "I read it.") {
			t.Errorf("with %s: %+v, %v", text, o, err)
		}
	}
}

// TestAnotherMakersAgentWrites: it is told where it works and what the rules are,
// has a home of its own with the user's login, and what it wrote is the work. Its
// login is a secret from then on.
func TestAnotherMakersAgentWrites(t *testing.T) {
	m := made(t, nexus.Coder, `printf '%s' "$1" > said; cat "$HOME/.toy/login.json" > login; echo "$HOME" > home; echo "I wrote it."`)
	if o := m.converse(t); o.Outcome != nexus.Accepted || o.Text != "I wrote it." {
		t.Fatalf("%+v", o)
	}
	said := m.read(t, "said")
	for _, want := range []string{"Make the smallest change", "Rules of this repository.", "Do the task."} {
		if !strings.Contains(said, want) {
			t.Errorf("it is not told %q:\n%s", want, said)
		}
	}
	for _, never := range []string{"Change nothing", "JSON Schema"} {
		if strings.Contains(said, never) {
			t.Errorf("it is told %q:\n%s", never, said)
		}
	}
	if !strings.Contains(m.read(t, "login"), "a-very-secret-token") || !slices.Contains(m.learnt, "a-very-secret-token-0123456789") {
		t.Errorf("its login is %q, and the secrets are %q", m.read(t, "login"), m.learnt)
	}
	if home := strings.TrimSpace(m.read(t, "home")); home != filepath.Join(filepath.Dir(m.talk.Tree.Dir), "home-toy-coder.1") {
		t.Errorf("its home is %s", home)
	}
	started := found[nexus.SessionStarted](m)
	if len(started) != 1 || started[0].Model != "toy/default" || started[0].Role != nexus.Coder || !slices.Equal(m.asked, []nexus.Tier{nexus.Balanced}) {
		t.Errorf("%+v, asked at %v", started, m.asked)
	}
	if len(found[nexus.RoleIsolationViolated](m)) > 0 || len(found[nexus.ReviewModelChosen](m)) > 0 {
		t.Errorf("%+v", m.facts)
	}
}

// TestAnotherMakersTesterKeepsToItsFiles: what it may not write is taken back
// before the tree is pinned, and said.
func TestAnotherMakersTesterKeepsToItsFiles(t *testing.T) {
	m := made(t, nexus.Tester, `echo "package m" > one_test.go; echo "package m" > one.go; echo worse > bad; echo done`)
	if o := m.converse(t); o.Outcome != nexus.Accepted {
		t.Fatalf("%+v", o)
	}
	broken := found[nexus.RoleIsolationViolated](m)
	if len(broken) != 1 || broken[0].Role != nexus.Tester || broken[0].Attempt != "T1.1" || !slices.Equal(broken[0].Files, []string{"bad", "one.go"}) {
		t.Errorf("%+v", broken)
	}
	if _, err := os.Stat(filepath.Join(m.talk.Tree.Dir, "one.go")); err == nil || m.read(t, "bad") != "bad\n" || m.read(t, "one_test.go") == "" {
		t.Error("the files are not those that it may write")
	}
}

// TestAnotherMakersReader submits what fits the schema, is asked again while it
// does not, and is recorded once as the reader of an author's work.
func TestAnotherMakersReader(t *testing.T) {
	m := made(t, nexus.Reviewer, `if [ -e "$HOME/again" ]; then echo '{"approved": true, "summary": "fine"}'; else touch "$HOME/again"; printf '%s' "$1" > "$HOME/said"; echo "It is fine."; fi`)
	m.talk.Handin = json.RawMessage(`{"type": "object", "properties": {"approved": {"type": "boolean"}, "summary": {"type": "string"}}, "required": ["approved", "summary"]}`)
	m.talk.Author, m.talk.Snap = "m/coder", nil
	o := m.converse(t)
	var handin struct {
		Approved bool
		Summary  string
	}
	if err := json.Unmarshal(o.Handin, &handin); err != nil || o.Outcome != nexus.Accepted || !handin.Approved || handin.Summary != "fine" {
		t.Fatalf("%+v: %v", o, err)
	}
	if sent := found[nexus.PromptSent](m); len(sent) != 2 {
		t.Errorf("it was asked %d times", len(sent))
	}
	said, err := os.ReadFile(filepath.Join(filepath.Dir(m.talk.Tree.Dir), "home-toy-reviewer.1", "said"))
	if err != nil {
		t.Fatal(err)
	}
	role := m.Sessions.Roles[nexus.Reviewer]
	for _, want := range []string{"Change nothing", strings.TrimSpace(role.Prompt), `"required": ["approved", "summary"]`} {
		if !strings.Contains(string(said), want) {
			t.Errorf("it is not told %q:\n%s", want, said)
		}
	}
	routed := found[nexus.ReviewModelChosen](m)
	if want := (nexus.ReviewModelChosen{Role: nexus.Reviewer, Model: "toy/default", Author: "m/coder", Why: "it does all of the reviewer"}); len(routed) != 1 || routed[0] != want {
		t.Errorf("%+v", routed)
	}
	m.Sessions.Readers, m.talk.Session, m.talk.Readers = &worker.RecordedReviewerPairs{}, "T1.1/reviewer.2", routed
	m.converse(t)
	if len(found[nexus.ReviewModelChosen](m)) != 1 {
		t.Errorf("it is said again who reads whose work: %+v", found[nexus.ReviewModelChosen](m))
	}
}

// TestAnotherMakersAgentContinues: one that cannot resume is told the last of what
// it said before, and a session that our own loop began stays with that.
func TestAnotherMakersAgentContinues(t *testing.T) {
	m := made(t, nexus.Coder, `printf '%s' "$1" > said; echo done`)
	m.converse(t)
	if said := m.read(t, "said"); strings.Contains(said, "I did part") {
		t.Errorf("first it was told\n%s", said)
	}
	for i := range 7 {
		text := fmt.Sprintf("I did part %d.", i)
		if i == 3 {
			text = " "
		}
		for from, text := range map[llm.MessageAuthor]string{llm.User: "Go on.", llm.Assistant: text} {
			data, err := json.Marshal(llm.Message{From: from, Parts: []llm.MessagePart{{Text: text}}})
			if err != nil {
				t.Fatal(err)
			}
			blob, err := m.Site.Blobs.Put(data)
			if err != nil {
				t.Fatal(err)
			}
			m.talk.Attempt.Apply(nexus.ModelTurnRecorded{Session: m.talk.Session, Turn: i + 1, Message: blob}, time.Unix(0, 0))
		}
	}
	m.talk.Next, m.talk.Why = "The tests fail.", "repair"
	m.converse(t)
	said := m.read(t, "said")
	if want := "I did part 1.\n\nI did part 2.\n\nI did part 4.\n\nI did part 5.\n\nI did part 6."; !strings.Contains(said, want) || strings.Contains(said, "Go on.") ||
		strings.Contains(said, "part 0") || !strings.Contains(said, "The tests fail.") {
		t.Errorf("then it was told\n%s", said)
	}
	m.talk.Attempt.SessionByID(m.talk.Session).Model = "m/model"
	m.Sessions.Pick = func(nexus.Role, nexus.Tier, string) (worker.PricedModel, error) {
		return worker.PricedModel{}, &nexus.Error{Code: nexus.CodeNoKey, Message: "our own loop was asked"}
	}
	if _, err := m.Sessions.ContinueConversation(t.Context(), m.talk, books{&desk{}, m.talk}); err == nil || !strings.Contains(err.Error(), "our own loop was asked") {
		t.Errorf("a session of our own continues elsewhere: %v", err)
	}
}

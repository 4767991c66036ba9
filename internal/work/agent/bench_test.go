package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/anthropic"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/gemini"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/openai"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/responses"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/agent/agenttest"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

// bench is a session with everything real but the model's mind.
type bench struct {
	server *llmtest.Server
	model  llm.Model
	desk   *agenttest.FakeSessionRecorder
	store  *agenttest.InMemoryBlobStore
	dir    string
	set    *tool.ToolSet
	brief  agent.SessionStretchOptions
	snaps  int
}

// script returns what a model says in any conversation.
func script(turns ...llmtest.ScriptTurn) llmtest.Script {
	return llmtest.Script{Conversations: []llmtest.ScriptConversation{{Match: "*/*", Turns: turns}}}
}

func call(name string, input map[string]any) llmtest.ScriptCall {
	return llmtest.ScriptCall{Tool: name, Input: input}
}

func calls(c ...llmtest.ScriptCall) llmtest.ScriptTurn { return llmtest.ScriptTurn{Calls: c} }

func done() llmtest.ScriptTurn {
	return calls(call("finish", map[string]any{"summary": "all done", "status": "done"}))
}

// newBench returns a session of a role on Anthropic's wire.
func newBench(tb testing.TB, role nexus.Role, s llmtest.Script) *bench {
	tb.Helper()
	server, stop, err := llmtest.StartServer(tb.Context(), s, llmtest.Options{Bodies: true})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(stop)
	roles, err := agent.LoadRoleDefinitions(nil)
	if err != nil {
		tb.Fatal(err)
	}
	b := &bench{server: server, desk: &agenttest.FakeSessionRecorder{}, store: &agenttest.InMemoryBlobStore{}, dir: tb.TempDir()}
	b.model = anthropic.NewProvider(anthropic.Config{Key: "key", BaseURL: server.URL()})
	if err := os.WriteFile(filepath.Join(b.dir, "sum.go"), []byte("package sum\n"), 0o644); err != nil {
		tb.Fatal(err)
	}
	r := roles[role]
	b.tools(tb, nil)
	task := nexus.Task{ID: "T3", Title: "Add parser for durations", Brief: "Parse them.", Criteria: []nexus.Criterion{{Text: "It parses.", Check: "test"}}}
	id := nexus.SessionID("T3.1/" + string(role) + ".1")
	b.brief = agent.SessionStretchOptions{
		Session: id, Attempt: "T3.1", Task: "T3", Role: r, Model: "scripted/model", System: prompt.SystemPrompt(r.Prompt, nil, prompt.RoleEnvironment{}),
		Next:  prompt.TaskBrief{Session: id, Task: task}.Text(),
		Retry: llm.CallRetryPolicy{Tries: 1},
		Price: func(u nexus.Usage, _ llm.BillingTerms) nexus.Money { return nexus.Money(u.TotalTokens()) },
		Worst: func(q llm.Request) nexus.Money { return nexus.Money(llm.EstimateRequest(q) + q.MaxTokens) },
	}
	b.brief.Snapshot = func(context.Context) (nexus.TreeSnapshotted, error) {
		b.snaps++
		return nexus.TreeSnapshotted{Attempt: "T3.1", Commit: "c", Tree: "t"}, nil
	}
	return b
}

// tools makes the role's tools, with the schema of the submission.
func (b *bench) tools(tb testing.TB, handin json.RawMessage) {
	tb.Helper()
	box, err := sandbox.FindSandbox(tb.Context(), sandbox.ModeOff)
	if err != nil {
		tb.Fatal(err)
	}
	b.set, err = tool.NewToolSet(tool.AgentToolEnvironment{
		Dir: b.dir, Box: box, Blob: b.store, Writes: true, Handin: handin, Now: time.Now,
		Git: func(context.Context, []string, []string) (string, error) { return "no changes\n", nil },
	}, tool.BuiltinToolNames()...)
	if err != nil {
		tb.Fatal(err)
	}
}

func (b *bench) run(ctx context.Context) (agent.SessionStretchResult, error) {
	return agent.RunSession(ctx, b.model, b.set, b.brief, b.desk, b.store, nil)
}

func (b *bench) must(t *testing.T) agent.SessionStretchResult {
	t.Helper()
	out, err := b.run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// resume sets the brief to continue with what was recorded.
func (b *bench) resume(t *testing.T, next string) agenttest.SessionTranscript {
	t.Helper()
	tr, err := agenttest.ReplaySession(b.brief.Session, b.desk.Events(), b.store)
	if err != nil {
		t.Fatal(err)
	}
	b.brief.System, b.brief.Messages, b.brief.Turn, b.brief.Used, b.brief.Next = tr.System, tr.Messages, tr.Turn, tr.Used, next
	return tr
}

// kinds returns what was recorded, a line for each append.
func (b *bench) kinds() []string {
	var lines []string
	for _, batch := range b.desk.RecordedBatches() {
		var line bytes.Buffer
		for _, f := range batch {
			if line.Len() > 0 {
				line.WriteString(" ")
			}
			line.WriteString(nexus.FactKind(f))
		}
		lines = append(lines, line.String())
	}
	return lines
}

// ended returns the last fact, which must end the session.
func (b *bench) ended(t *testing.T) nexus.SessionEnded {
	t.Helper()
	facts := b.desk.RecordedFacts()
	e, ok := facts[len(facts)-1].(nexus.SessionEnded)
	if !ok {
		t.Fatalf("the last fact is %#v", facts[len(facts)-1])
	}
	return e
}

// prompts returns why each message of ours was sent.
func (b *bench) prompts() (why []string) {
	for _, f := range b.desk.RecordedFacts() {
		if p, ok := f.(nexus.PromptSent); ok {
			why = append(why, p.Why)
		}
	}
	return why
}

// models returns the clients of all wires.
func models(url string) map[string]llm.Model {
	return map[string]llm.Model{
		"anthropic": anthropic.NewProvider(anthropic.Config{Key: "key", BaseURL: url}),
		"openai":    openaiModel(url),
		"responses": responses.NewProvider(responses.Config{Key: "key", BaseURL: url + "/v1"}),
		"gemini":    gemini.NewProvider(gemini.Config{Key: "key", BaseURL: url}),
	}
}

func openaiModel(url string) llm.Model {
	return openai.NewProvider(openai.Config{Key: "key", BaseURL: url + "/v1", Server: "openai"})
}

package agent_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/agent/agenttest"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
	"github.com/nexus-ai-builder/nexus/internal/work/review"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

// usual is a session that reads two files at once, writes and submits.
func usual() []llmtest.ScriptTurn {
	return []llmtest.ScriptTurn{
		{Think: "hm", Say: "I look first.", Calls: []llmtest.ScriptCall{
			call("read_file", map[string]any{"path": "sum.go"}), call("list_files", map[string]any{}),
		}},
		{Calls: []llmtest.ScriptCall{
			call("write_file", map[string]any{"path": "parse.go", "content": "package sum // <&>\n"}),
			call("read_file", map[string]any{"path": "missing.go"}),
		}},
		done(),
	}
}

func TestEveryTurnIsRecordedInOneAppend(t *testing.T) {
	b := newBench(t, nexus.Coder, script(usual()...))
	out := b.must(t)
	want := []string{
		"session.started prompt.sent",
		"budget.reserved",
		"budget.spent turn.taken tool.called tool.called",
		"tool.answered tool.answered tools.answered budget.reserved",
		"budget.spent turn.taken tool.called tool.called",
		"tool.answered tool.answered tools.answered tree.snapshotted budget.reserved",
		"budget.spent turn.taken tool.called",
		"tool.answered tools.answered session.ended",
	}
	if diff := cmp.Diff(want, b.kinds()); diff != "" {
		t.Error(diff)
	}
	if out.Outcome != nexus.Accepted || out.Text != "all done" || out.Turns != 3 || b.snaps != 1 {
		t.Errorf("outcome %s %q after %d turns and %d snapshots", out.Outcome, out.Text, out.Turns, b.snaps)
	}
	var spent nexus.Money
	reserved := map[string]nexus.Money{}
	for _, f := range b.desk.RecordedFacts() {
		switch f := f.(type) {
		case nexus.BudgetReserved:
			reserved[f.ID] = f.Money
		case nexus.BudgetSettled:
			if f.Money <= 0 || f.Money > reserved[f.ID] || f.Estimated {
				t.Errorf("%+v of %s reserved", f, reserved[f.ID])
			}
			spent += f.Money
			delete(reserved, f.ID)
		default:
		}
	}
	if len(reserved) > 0 || spent != nexus.Money(out.Usage.TotalTokens()) {
		t.Errorf("unsettled %v, spent %d of %d", reserved, spent, out.Usage.TotalTokens())
	}
	result, err := b.store.Get(b.ended(t).Result)
	if err != nil || !json.Valid(result) || string(result) != string(out.Handin) {
		t.Errorf("result %s, handed in %s, %v", result, out.Handin, err)
	}
	tr, err := agenttest.ReplaySession(b.brief.Session, b.desk.Events(), b.store)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(out.Messages, tr.Messages); diff != "" || !tr.Over || tr.Turn != 3 || tr.Used != out.Usage || tr.Last.Tree != "t" {
		t.Errorf("replayed %+v: %s", tr, diff)
	}
	if tr.Elapsed <= 0 {
		t.Errorf("elapsed %s", tr.Elapsed)
	}
}

// sent is a request as it went over the wire.
type sent struct {
	System, Tools json.RawMessage
	Messages      []json.RawMessage
}

// plain takes a body apart, and the marks for the provider's cache out of it;
// they say where to cut and are no part of what is cached.
func plain(t *testing.T, body []byte) sent {
	t.Helper()
	s := strings.ReplaceAll(string(body), `,"cache_control":{"type":"ephemeral"}`, "")
	var q struct {
		sent
		Instructions, SystemInstruction json.RawMessage
		Input, Contents                 []json.RawMessage
	}
	if err := json.Unmarshal([]byte(s), &q); err != nil {
		t.Fatal(err)
	}
	q.System = slices.Concat(q.System, q.Instructions, q.SystemInstruction)
	q.Messages = slices.Concat(q.Messages, q.Input, q.Contents)
	return q.sent
}

// whole returns what a provider's cache compares, in its order.
func (q sent) whole() string {
	return string(slices.Concat(q.Tools, q.System, bytes.Join(func() (all [][]byte) {
		for _, m := range q.Messages {
			all = append(all, m)
		}
		return all
	}(), []byte("\n"))))
}

// extends reports where a request is not the one before and more.
func extends(before, after sent) error {
	switch {
	case string(before.System) != string(after.System):
		return errors.New("the system prompt differs")
	case string(before.Tools) != string(after.Tools):
		return errors.New("the tools differ")
	case len(after.Messages) <= len(before.Messages):
		return fmt.Errorf("%d messages after %d", len(after.Messages), len(before.Messages))
	}
	for i, m := range before.Messages {
		if string(m) != string(after.Messages[i]) {
			return fmt.Errorf("message %d differs:\n%s\n%s", i+1, m, after.Messages[i])
		}
	}
	return nil
}

// TestEveryRequestExtendsTheOneBefore compares bytes on all wires for every
// role, through a crash, a nudge, guidance and a repair.
func TestEveryRequestExtendsTheOneBefore(t *testing.T) {
	handins := map[nexus.Role]map[string]any{
		nexus.Planner: {"tasks": []any{map[string]any{
			"id": "T1", "title": "Do it", "brief": "Do.", "files": []any{"a.go"},
			"criteria": []any{map[string]any{"text": "Done.", "check": "test"}},
		}}},
		nexus.Reviewer: {"approved": true, "summary": "fine", "findings": []any{}},
	}
	schemas := map[nexus.Role]json.RawMessage{nexus.Planner: plan.SubmissionSchema(), nexus.Reviewer: review.HandinSchema()}
	roles, err := agent.LoadRoleDefinitions(nil)
	if err != nil || len(roles) < 6 {
		t.Fatal(len(roles), err)
	}
	for role, r := range roles {
		for wire := range models("") {
			t.Run(string(role)+"/"+wire, func(t *testing.T) {
				prompts := []string{"brief", "guidance", "nudge", "repair"}
				handin := handins[role]
				if handin == nil {
					handin = map[string]any{"summary": "Fixed <it> & \u2028 more.", "status": "done"}
				}
				turns := append(usual()[:2], llmtest.ScriptTurn{Say: "Am I done?"}, calls(call("finish", handin)),
					calls(call("read_file", map[string]any{"path": "sum.go"})), calls(call("finish", handin)))
				if r.Answers {
					said := llmtest.ScriptTurn{Say: "It is done."}
					turns, prompts = append(usual()[:2], said, turns[4], said), []string{"brief", "guidance", "repair"}
				}
				b := newBench(t, role, script(turns...))
				b.model = models(b.server.URL())[wire]
				b.brief.Schema, b.brief.Role.Turns = schemas[role], 0
				b.tools(t, schemas[role])
				b.desk.Guidance = []agent.Guidance{{Seq: 7, Text: "Mind the gap."}}
				b.desk.Refuse = func(f []nexus.Fact) error {
					if _, ok := f[0].(nexus.ToolCallEnded); ok && b.snaps > 0 {
						return errors.New("crash")
					}
					return nil
				}
				if _, err := b.run(t.Context()); err == nil {
					t.Fatal("no crash")
				}
				b.desk.Refuse = nil
				b.resume(t, "")
				if out := b.must(t); out.Outcome != nexus.Accepted {
					t.Fatalf("%s: %s", out.Outcome, out.Why)
				}
				b.resume(t, "The gate test is red.")
				if out := b.must(t); out.Outcome != nexus.Accepted {
					t.Fatalf("%s: %s", out.Outcome, out.Why)
				}
				seen := b.server.Requests()
				if len(seen) != len(turns) {
					t.Fatalf("%d requests for %d turns", len(seen), len(turns))
				}
				for i := 1; i < len(seen); i++ {
					if err := extends(plain(t, seen[i-1].Body), plain(t, seen[i].Body)); err != nil {
						t.Errorf("request %d: %v", i+1, err)
					}
				}
				if diff := cmp.Diff(prompts, b.prompts()); diff != "" {
					t.Error(diff)
				}
			})
		}
	}
}

// TestSiblingsBeginAlike compares the first requests of two workers in a role
// byte by byte: they are the same up to where the brief names its
// conversation, and the second reads all of that from the cache.
func TestSiblingsBeginAlike(t *testing.T) {
	roles, err := agent.LoadRoleDefinitions(nil)
	if err != nil {
		t.Fatal(err)
	}
	for role, r := range roles {
		for wire := range models("") {
			t.Run(string(role)+"/"+wire, func(t *testing.T) {
				b := newBench(t, role, script(done()))
				b.model = models(b.server.URL())[wire]
				for _, attempt := range []string{"T3.1", "T4.2"} {
					id := nexus.SessionID(attempt + "/" + string(role) + ".1")
					b.brief.Session, b.brief.Family = id, "261121-145510-abc/"+string(role)
					b.brief.System = prompt.SystemPrompt(r.Prompt, keepSmall(), prompt.RoleEnvironment{System: "linux/amd64"})
					b.brief.Next = prompt.TaskBrief{Session: id, Task: nexus.Task{ID: nexus.TaskID(attempt[:2]), Title: "Do " + attempt}}.Text()
					b.must(t)
				}
				seen := b.server.Requests()
				first, second := plain(t, seen[0].Body), plain(t, seen[1].Body)
				one, two := first.whole(), second.whole()
				same := 0
				for same < min(len(one), len(two)) && one[same] == two[same] {
					same++
				}
				if !strings.HasSuffix(one[:same], "Conversation: T") {
					t.Errorf("they part behind ...%s", one[max(0, same-60):same])
				}
				if !strings.Contains(one[:same], "Keep it small.") || strings.Contains(one[:same], "145510") {
					t.Errorf("in the shared part: %s", one[:same])
				}
				if least := len(first.Tools) + len(first.System); seen[1].Kept < least || seen[1].Usage.CacheRead == 0 {
					t.Errorf("the second reads %d bytes and %d tokens of %d bytes from the cache", seen[1].Kept, seen[1].Usage.CacheRead, least)
				}
				key := strings.Contains(string(seen[1].Body), `"prompt_cache_key":"261121-145510-abc/`+string(role)+`"`)
				if key != (wire == "openai" || wire == "responses") {
					t.Errorf("told who shares: %v", key)
				}
			})
		}
	}
}

// TestFirstPromptOfTheCoderIsSmall bounds what is before a coder's brief.
// Of the 7 KB, 1 KB is the environment: it costs as much as one command that
// asks for what it says, and saves several.
func TestFirstPromptOfTheCoderIsSmall(t *testing.T) {
	b := newBench(t, nexus.Coder, script(done()))
	b.brief.System = prompt.SystemPrompt(b.brief.Role.Prompt, nil, prompt.RoleEnvironment{
		System: "linux/amd64", Date: "2026-11-24", Shell: true, Tmp: "/tmp", Mutation: "warn",
		Gates: []prompt.GateDescription{
			{Name: "build", Command: "go build ./...", Usual: 2 * time.Second},
			{Name: "lint", Command: "go vet ./...", Usual: 3 * time.Second},
			{Name: "test", Command: "go test -json -count=1 ./...", Usual: time.Minute},
			{Name: "secrets"},
		},
		One: []string{"go test -run '^NAME$' ./PACKAGE"}, Fixers: []string{"gofmt -w"}, Scripts: []prompt.ProjectScripts{{Run: "make", Names: []string{"check", "docs", "test"}}},
		Turns: 60, Rounds: 50, Time: time.Hour, Output: 16_000, Command: 5 * time.Minute,
	})
	b.brief.Next = "Conversation: T3.1/coder.1\n"
	b.must(t)
	n := b.server.Requests()[0].Bytes
	t.Logf("first prompt of the coder: %d bytes", n)
	if n > 7<<10 {
		t.Errorf("%d bytes, more than 7 KB", n)
	}
}

// TestCrashAnywhereLosesNothing lets every append fail once and continues from
// what was recorded.
func TestCrashAnywhereLosesNothing(t *testing.T) {
	whole := newBench(t, nexus.Coder, script(usual()...))
	want := whole.must(t)
	appends := len(whole.desk.RecordedBatches())
	for n := 2; n <= appends; n++ {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			b := newBench(t, nexus.Coder, script(usual()...))
			crashed := false
			refuse := func() error {
				if !crashed && len(b.desk.RecordedBatches()) == n-1 {
					crashed = true
					return errors.New("crash")
				}
				return nil
			}
			hook := &hooked{Recorder: b.desk, refuse: refuse}
			if _, err := agent.RunSession(t.Context(), b.model, b.set, b.brief, hook, b.store, nil); err == nil {
				t.Fatal("no crash")
			}
			if tr := b.resume(t, ""); tr.Last.Tree == "" { // the tree as it was pinned
				_ = os.Remove(filepath.Join(b.dir, "parse.go"))
			}
			out, err := agent.RunSession(t.Context(), b.model, b.set, b.brief, hook, b.store, nil)
			if err != nil {
				t.Fatal(err)
			}
			tr := b.resume(t, "")
			if diff := cmp.Diff(want.Messages, tr.Messages); diff != "" || out.Outcome != nexus.Accepted {
				t.Errorf("%s: %s", out.Outcome, diff)
			}
			if paid := b.server.PaidAnswers("T3.1/coder.1"); paid > tr.Turn+1 {
				t.Errorf("%d calls paid for %d turns", paid, tr.Turn)
			}
		})
	}
}

// hooked is a desk that fails as told.
type hooked struct {
	Recorder agent.SessionRecorder
	refuse   func() error
}

func (h *hooked) Record(ctx context.Context, f ...nexus.Fact) error {
	if err := h.refuse(); err != nil {
		return err
	}
	return h.Recorder.Record(ctx, f...)
}

func (h *hooked) Reserve(ctx context.Context, r nexus.BudgetReserved, done ...nexus.Fact) ([]agent.Guidance, error) {
	if err := h.refuse(); err != nil {
		return nil, err
	}
	return h.Recorder.Reserve(ctx, r, done...)
}

func TestHandedInIsNotAskedAgain(t *testing.T) {
	b := newBench(t, nexus.Coder, script(done()))
	first := b.must(t)
	b.resume(t, "")
	out := b.must(t)
	if out.Outcome != nexus.Accepted || string(out.Handin) != string(first.Handin) || len(b.server.Requests()) != 1 {
		t.Errorf("%s %s after %d requests", out.Outcome, out.Handin, len(b.server.Requests()))
	}
}

func TestStopRules(t *testing.T) {
	again := calls(call("read_file", map[string]any{"path": "sum.go"}))
	pair := calls(call("read_file", map[string]any{"path": "sum.go"}), call("list_files", map[string]any{}))
	many := func(n int, t llmtest.ScriptTurn) (turns []llmtest.ScriptTurn) {
		for range n {
			turns = append(turns, t)
		}
		return turns
	}
	different := func(n int) (turns []llmtest.ScriptTurn) {
		for i := range n {
			turns = append(turns, calls(call("read_file", map[string]any{"path": fmt.Sprint(i)})))
		}
		return turns
	}
	answers := func(b *bench) { b.brief.Role.Answers = true }
	bad := calls(call("finish", map[string]any{"summary": "x"}))
	cases := []struct {
		name    string
		turns   []llmtest.ScriptTurn
		change  func(*bench)
		want    nexus.Outcome
		why     string
		prompts []string // after the brief
	}{
		{name: "turns", turns: different(9), change: func(b *bench) { b.brief.Limits.Turns = 3 }, want: nexus.Exhausted, why: "3 turns are used up"},
		{name: "turns of the role", turns: different(9), change: func(b *bench) { b.brief.Role.Turns = 2 }, want: nexus.Exhausted, why: "2 turns are used up"},
		{
			name: "tokens", turns: []llmtest.ScriptTurn{{Usage: &llmtest.ScriptUsage{Input: 900, Output: 200}, Calls: again.Calls}}, want: nexus.Exhausted,
			change: func(b *bench) { b.brief.Limits.SessionTokens = 1000 }, why: "1100 of 1000 tokens are used up",
		},
		{
			name: "tokens of before", turns: different(1), want: nexus.Exhausted, why: "1000 of 1000 tokens are used up",
			change: func(b *bench) { b.brief.Limits.SessionTokens, b.brief.Used = 1000, nexus.Usage{Input: 1000} },
		},
		{name: "same call", turns: many(9, again), want: nexus.NoProgress, why: "the same call 5 times: read_file sum.go", prompts: []string{"nudge", "nudge"}},
		{name: "same calls", turns: many(9, pair), want: nexus.NoProgress, why: "the same call 5 times: read_file sum.go", prompts: []string{"nudge", "nudge"}},
		{
			name: "nudged away", turns: append(many(4, again), append(different(1), append(many(4, again), done())...)...),
			want: nexus.Accepted, prompts: []string{"nudge", "nudge", "nudge", "nudge"},
		},
		{name: "silent", turns: many(9, llmtest.ScriptTurn{Say: "It is done."}), want: nexus.Accepted, prompts: []string{"nudge", "nudge"}},
		{
			name: "silent with a schema", turns: many(9, llmtest.ScriptTurn{Say: "It is done."}), want: nexus.NoProgress, prompts: []string{"nudge", "nudge"},
			change: func(b *bench) { b.brief.Schema = review.HandinSchema() }, why: "3 answers without a call, and nothing was submitted",
		},
		{name: "answers in text", turns: many(9, llmtest.ScriptTurn{Say: "It is done."}), change: answers, want: nexus.Accepted},
		{
			name: "answers nothing", turns: many(9, llmtest.ScriptTurn{Say: " "}), change: answers, want: nexus.NoProgress,
			why: "3 empty answers", prompts: []string{"nudge", "nudge"},
		},
		{name: "empty", turns: append(many(1, llmtest.ScriptTurn{Fault: llmtest.Empty}), done()), want: nexus.Accepted, prompts: []string{"nudge"}},
		{
			name: "cut", turns: many(9, llmtest.ScriptTurn{Say: "So", Stop: llm.StopLength}), want: nexus.Exhausted,
			why: "4 answers were cut off at 8192 tokens", prompts: []string{"nudge", "nudge", "nudge"},
		},
		{name: "cut with a call", turns: append(many(1, llmtest.ScriptTurn{Fault: llmtest.Length, Calls: again.Calls}), done()), want: nexus.Accepted, prompts: []string{"nudge"}},
		{name: "refuses", turns: many(1, llmtest.ScriptTurn{Fault: llmtest.Refuse}), want: nexus.GaveUp, why: "I cannot help with that."},
		{name: "hand-in does not fit", turns: many(9, bad), want: nexus.NoProgress, why: "4 submissions were refused"},
		{name: "hand-in mended", turns: append(many(3, bad), done()), want: nexus.Accepted},
		{
			name: "blocked", want: nexus.GaveUp, why: "no such file",
			turns: many(1, calls(call("finish", map[string]any{"summary": "x", "status": "blocked", "reason": "no such file"}))),
		},
		{name: "too long", turns: many(1, llmtest.ScriptTurn{Fault: llmtest.TooLong}), want: nexus.Exhausted, why: "the conversation is too long for scripted/model"},
		{
			name: "budget", turns: different(9), want: nexus.Refused, why: "the run's $5.00 are spent",
			change: func(b *bench) {
				b.desk.Leave = func(n int) error {
					if n == 2 {
						return &nexus.Error{Code: nexus.CodeBudget, Message: "the run's $5.00 are spent"}
					}
					return nil
				}
			},
		},
		{
			name: "time", turns: many(1, llmtest.ScriptTurn{Fault: llmtest.Stall, Say: "So it is"}), want: nexus.Exhausted,
			change: func(b *bench) { b.brief.Limits.SessionTime = 50 * time.Millisecond }, why: "the session's 50ms are used up",
		},
		{
			name: "time of before", turns: different(1), want: nexus.Exhausted, why: "the session's 1h0m0s are used up",
			change: func(b *bench) { b.brief.Limits.SessionTime, b.brief.Elapsed = time.Hour, time.Hour },
		},
		{
			name: "time in a tool", turns: []llmtest.ScriptTurn{calls(call("shell", map[string]any{"command": "sleep 60"}), call("shell", map[string]any{"command": "touch no"}))},
			want: nexus.Exhausted, why: "the session's 1s are used up",
			change: func(b *bench) { b.brief.Limits.SessionTime = time.Second },
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			b := newBench(t, nexus.Coder, script(c.turns...))
			if c.change != nil {
				c.change(b)
			}
			out := b.must(t)
			if out.Outcome != c.want || out.Why != c.why {
				t.Errorf("%s: %q, want %s: %q", out.Outcome, out.Why, c.want, c.why)
			}
			if e := b.ended(t); e.Outcome != out.Outcome || e.Why != out.Why {
				t.Errorf("recorded %+v", e)
			}
			if diff := cmp.Diff(append([]string{"brief"}, c.prompts...), b.prompts()); diff != "" {
				t.Error(diff)
			}
			wholeConversation(t, out.Messages)
			settled(t, b)
			if tr := b.resume(t, ""); len(tr.Messages) != len(out.Messages) {
				t.Errorf("%d messages recorded of %d", len(tr.Messages), len(out.Messages))
			}
		})
	}
}

// wholeConversation checks that every call has one result, right after it.
func wholeConversation(t *testing.T, messages []llm.Message) {
	t.Helper()
	for i, m := range messages {
		for _, p := range m.Parts {
			if p.Call == nil {
				continue
			}
			found := 0
			if i+1 < len(messages) {
				for _, q := range messages[i+1].Parts {
					if q.Result != nil && q.Result.ID == p.Call.ID {
						found++
					}
				}
			}
			if found != 1 {
				t.Errorf("call %s has %d results", p.Call.ID, found)
			}
		}
	}
}

// settled checks that every reservation was settled once.
func settled(t *testing.T, b *bench) {
	t.Helper()
	open := map[string]int{}
	for _, f := range b.desk.RecordedFacts() {
		switch f := f.(type) {
		case nexus.BudgetReserved:
			open[f.ID]++
		case nexus.BudgetSettled:
			open[f.ID]--
		default:
		}
	}
	for id, n := range open {
		if n != 0 {
			t.Errorf("reservation %s: %d", id, n)
		}
	}
}

func TestFailedCallsSettleAndSayWhatToDo(t *testing.T) {
	cases := []struct {
		fault     llmtest.ProviderFault
		code      nexus.ErrorCode
		estimated bool
	}{
		{llmtest.BadKey, nexus.CodeAuth, false},
		{llmtest.NoQuota, nexus.CodeAuth, false},
		{llmtest.Cut, nexus.CodeProvider, true},
		{llmtest.Hangup, nexus.CodeProvider, true},
	}
	for _, c := range cases {
		t.Run(string(c.fault), func(t *testing.T) {
			b := newBench(t, nexus.Coder, script(llmtest.ScriptTurn{Say: strings.Repeat("A rather long answer. ", 100), Fault: c.fault}, done()))
			_, err := b.run(t.Context())
			e, ok := errors.AsType[*nexus.Error](err)
			if !ok || e.Code != c.code || e.Hint == "" {
				t.Fatalf("%#v", err)
			}
			settled(t, b)
			facts := b.desk.RecordedFacts()
			s, ok := facts[len(facts)-1].(nexus.BudgetSettled)
			if !ok || s.Estimated != c.estimated || (s.Money > 0) != c.estimated || c.fault == llmtest.Cut && s.Usage.Output < 100 {
				t.Errorf("%+v", facts[len(facts)-1])
			}
			b.resume(t, "") // the turn is asked for again
		})
	}
}

func TestUnreachableProviderCostsNothing(t *testing.T) {
	b := newBench(t, nexus.Coder, script())
	b.model = openaiModel("http://127.0.0.1:1")
	if _, err := b.run(t.Context()); err == nil {
		t.Fatal("no error")
	}
	facts := b.desk.RecordedFacts()
	if s, ok := facts[len(facts)-1].(nexus.BudgetSettled); !ok || s.Money != 0 || s.Estimated {
		t.Errorf("%+v", facts[len(facts)-1])
	}
}

func TestCancelReturnsItsCauseAndKeepsWhatWasPaid(t *testing.T) {
	b := newBench(t, nexus.Coder, script(calls(call("list_files", map[string]any{})), llmtest.ScriptTurn{Say: "Now I think", Fault: llmtest.Stall}))
	cause := errors.New("somebody asked")
	ctx, cancel := context.WithCancelCause(t.Context())
	out, err := agent.RunSession(ctx, b.model, b.set, b.brief, b.desk, b.store, func(d llm.AnswerDelta) {
		if strings.Contains(d.Text, "Now") {
			cancel(cause)
		}
	})
	if !errors.Is(err, cause) {
		t.Fatal(err)
	}
	settled(t, b)
	if len(out.Messages) != 3 || out.Turns != 1 {
		t.Errorf("%d messages, %d turns", len(out.Messages), out.Turns)
	}
}

// TestCancelInAToolLeavesTheCallsToBeRunAgain ends a session, or lets it go,
// while a command runs: nothing is said about it, and the session continues with
// it.
func TestCancelInAToolLeavesTheCallsToBeRunAgain(t *testing.T) {
	t.Run("cancelled", func(t *testing.T) { endInATool(t, true) })
	t.Run("let go", func(t *testing.T) { endInATool(t, false) })
}

func endInATool(t *testing.T, hard bool) {
	t.Helper()
	b := newBench(t, nexus.Coder, script(calls(call("shell", map[string]any{"command": "test -e go || { touch ready; sleep 60; }; echo went"})), done()))
	cause := errors.New("somebody asked")
	ctx, cancel := context.WithCancelCause(t.Context())
	stopped := ctx
	if !hard {
		ctx = t.Context()
		b.brief.Spare = func(context.Context) (context.Context, context.CancelFunc) { return stopped, func() {} }
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			if _, err := os.Stat(filepath.Join(b.dir, "ready")); err == nil {
				cancel(cause)
				return
			}
			if t.Context().Err() != nil {
				return
			}
		}
	})
	_, err := b.run(ctx)
	wg.Wait()
	if !errors.Is(err, cause) {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(b.dir, "go"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	b.brief.Spare = nil
	if b.snaps > 0 {
		t.Error("the tree was pinned in the middle of a call")
	}
	tr := b.resume(t, "")
	if last := tr.Messages[len(tr.Messages)-1]; last.From != llm.Assistant {
		t.Fatalf("the last message is %+v", last)
	}
	out := b.must(t)
	if got := out.Messages[2].Parts[0].Result.Text; out.Outcome != nexus.Accepted || !strings.Contains(got, "went") {
		t.Errorf("%s: %q", out.Outcome, got)
	}
}

// TestReadOnlyCallsRunSideBySide has calls that wait for each other.
func TestReadOnlyCallsRunSideBySide(t *testing.T) {
	b := newBench(t, nexus.Coder, script(calls(call("meet", nil), call("meet", map[string]any{"n": 2}), call("meet", map[string]any{"n": 3})), done()))
	var arrived atomic.Int32
	all := make(chan struct{})
	b.set.Add(tool.Tool{
		Name: "meet", ReadOnly: true, Schema: json.RawMessage(`{"type":"object"}`),
		Run: func(ctx context.Context, _ json.RawMessage) (tool.CallOutput, error) {
			if arrived.Add(1) == 3 {
				close(all)
			}
			select {
			case <-all:
				return tool.CallOutput{Text: "met"}, nil
			case <-time.After(10 * time.Second):
				return tool.CallOutput{Text: "alone", Failed: true}, nil
			}
		},
	})
	out := b.must(t)
	for i, p := range out.Messages[2].Parts {
		if p.Result.Text != "met" || p.Result.ID != callsIn(out.Messages[1])[i] {
			t.Errorf("result %d: %+v", i, p.Result)
		}
	}
}

func callsIn(m llm.Message) (ids []string) {
	for _, p := range m.Parts {
		if p.Call != nil {
			ids = append(ids, p.Call.ID)
		}
	}
	return ids
}

// TestBatchesThatWriteRunInOrder runs writes, and a submission among others.
func TestBatchesThatWriteRunInOrder(t *testing.T) {
	hand := call("finish", map[string]any{"summary": "s", "status": "done"})
	write := func(s string) llmtest.ScriptCall {
		return call("shell", map[string]any{"command": "echo " + s + " >>log"})
	}
	b := newBench(t, nexus.Coder, script(
		calls(write("one"), write("two"), call("read_file", map[string]any{"path": "nothing"}), hand),
		calls(write("three"), hand, write("four")),
	))
	out := b.must(t)
	log, err := os.ReadFile(filepath.Join(b.dir, "log"))
	if err != nil || string(log) != "one\ntwo\nthree\n" || out.Outcome != nexus.Accepted || out.Turns != 2 {
		t.Errorf("%q, %s after %d turns, %v", log, out.Outcome, out.Turns, err)
	}
	wholeConversation(t, out.Messages)
}

// TestCallsStopWhereTheyBuildOnAFailedOne: a command would run on a tree that
// lacks the failed change, and report what is not so.
func TestCallsStopWhereTheyBuildOnAFailedOne(t *testing.T) {
	edit := func(path, old, text string) llmtest.ScriptCall {
		return call("edit_file", map[string]any{"path": path, "edits": []map[string]string{{"old": old, "new": text}}})
	}
	b := newBench(t, nexus.Coder, script(
		calls(call("write_file", map[string]any{"path": "a", "content": "one\n"}), call("write_file", map[string]any{"path": "b", "content": "one\n"})),
		calls(edit("a", "none", "two"), edit("./a", "one", "three"), edit("b", "one", "two"),
			call("shell", map[string]any{"command": "touch ran"}), call("read_file", map[string]any{"path": "a"})),
		done(),
	))
	out := b.must(t)
	for name, want := range map[string]string{"a": "one\n", "b": "two\n", "ran": ""} {
		if got, err := os.ReadFile(filepath.Join(b.dir, name)); string(got) != want || (err != nil) != (want == "") {
			t.Errorf("%s is %q, %v", name, got, err)
		}
	}
	for i, want := range []string{"", "edit_file a, which this call builds on", "", "edit_file a, which this call builds on", "one"} {
		if got := out.Messages[4].Parts[i].Result; !strings.Contains(got.Text, want) || strings.Contains(got.Text, "builds on") != strings.Contains(want, "builds on") {
			t.Errorf("result %d: %+v", i, got)
		}
	}
}

// TestGuidanceIsDeliveredOnce also when the session dies between the
// reservation and the delivery.
func TestGuidanceIsDeliveredOnce(t *testing.T) {
	b := newBench(t, nexus.Coder, script(llmtest.ScriptTurn{Expect: []string{"Mind the gap."}, Calls: done().Calls}))
	b.desk.Guidance = []agent.Guidance{{Seq: 9, Text: "Mind the gap."}}
	b.desk.Refuse = func(f []nexus.Fact) error {
		if p, ok := f[0].(nexus.PromptSent); ok && p.Request == 9 {
			return errors.New("crash")
		}
		return nil
	}
	if _, err := b.run(t.Context()); err == nil {
		t.Fatal("no crash")
	}
	b.desk.Refuse = nil
	b.resume(t, "")
	b.must(t)
	if diff := cmp.Diff([]string{"brief", "guidance"}, b.prompts()); diff != "" {
		t.Error(diff)
	}
}

func TestReplayOfNothing(t *testing.T) {
	_, err := agenttest.ReplaySession("T9.1/coder.1", nil, nil)
	if !errors.Is(err, &nexus.Error{Code: nexus.CodeNotFound}) {
		t.Error(err)
	}
}

// mind is a model that says one thing.
type mind func() llm.Response

func (m mind) Stream(context.Context, llm.Request, func(llm.AnswerDelta)) (llm.Response, error) {
	return m(), nil
}

// TestWhatIsSentIsWhatIsReadBack has a provider whose own parts and inputs
// are written in another way than ours.
func TestWhatIsSentIsWhatIsReadBack(t *testing.T) {
	b := newBench(t, nexus.Coder, script())
	b.brief.Limits.Turns = 2
	b.model = mind(func() llm.Response {
		return llm.Response{Stop: llm.StopTools, Message: llm.Message{From: llm.Assistant, Parts: []llm.MessagePart{
			{Raw: json.RawMessage(`{ "type": "thinking", "thinking": "a < b" }`)},
			{Text: "bad \xff text"},
			{Call: &llm.ToolCall{ID: "1", Tool: "list_files", Input: json.RawMessage("{ \n }")}},
		}}}
	})
	out := b.must(t)
	tr := b.resume(t, "")
	if diff := cmp.Diff(tr.Messages, out.Messages); diff != "" {
		t.Error(diff)
	}
	for _, f := range b.desk.RecordedFacts() {
		if s, ok := f.(nexus.BudgetSettled); ok && (!s.Estimated || s.Usage.Input == 0 || s.Usage.Output == 0) {
			t.Errorf("a call that nobody counted: %+v", s)
		}
	}
}

// TestNothingRunsFromACutAnswer has a provider that lets calls of such an
// answer through.
func TestNothingRunsFromACutAnswer(t *testing.T) {
	for _, stop := range []llm.StopReason{llm.StopLength, llm.StopRefuse} {
		b := newBench(t, nexus.Coder, script())
		b.brief.Limits.Turns = 1
		b.model = mind(func() llm.Response {
			return llm.Response{Stop: stop, Message: llm.Message{Parts: []llm.MessagePart{
				{Call: &llm.ToolCall{ID: "1", Tool: "shell", Input: json.RawMessage(`{"command":"touch ran"}`)}},
			}}}
		})
		out := b.must(t)
		if _, err := os.Stat(filepath.Join(b.dir, "ran")); err == nil {
			t.Errorf("%s: it ran", stop)
		}
		if m := out.Messages[1]; len(callsIn(m)) > 0 || m.Text() != "(no answer)" {
			t.Errorf("%s: %+v", stop, m)
		}
	}
}

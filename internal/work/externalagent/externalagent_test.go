package externalagent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli/stream"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/agent/agenttest"
	"github.com/nexus-ai-builder/nexus/internal/work/externalagent"
)

// scripted is an agent that ends its prompts as it is told to, one after the
// other, and keeps what it was prompted with. The last end is repeated.
type scripted struct {
	ends    []agentcli.PromptResult
	mute    bool     // it does nothing that is heard
	plain   bool     // it prints text, and so does not resume
	broken  error    // why it cannot be run, where it is mute
	edits   bool     // it calls a tool that changes files, which is never answered
	hangs   bool     // it works until it is stopped
	asks    bool     // it asks a person, and for permission, before it is done
	says    []string // what it says before what it says else
	answers []string // what it got
	prompts []agentcli.AgentPrompt
}

func (s *scripted) NewConversationID() string { return fmt.Sprintf("new-%d", len(s.prompts)) }
func (s *scripted) CanResume() bool           { return !s.plain }
func (s *scripted) ReportsProgress() bool     { return !s.plain }

func (s *scripted) Prompt(ctx context.Context, p agentcli.AgentPrompt) (agentcli.PromptResult, error) {
	s.prompts = append(s.prompts, p)
	end := s.ends[min(len(s.prompts), len(s.ends))-1]
	if s.mute {
		return end, s.broken
	}
	said := stream.AgentEvent{Kind: stream.MessageSaid, Text: "working"}
	if s.edits {
		said.Calls = []stream.AgentToolCall{{ID: "c1", Tool: "Write", Input: json.RawMessage(`{"file_path":"a.txt"}`)}}
	}
	all := []stream.AgentEvent{{Kind: stream.ConversationOpened, ID: p.ID}}
	for _, text := range s.says {
		all = append(all, stream.AgentEvent{Kind: stream.MessageSaid, Text: text})
	}
	for _, e := range append(all, said) {
		if err := p.Heard(ctx, e); err != nil {
			return end, err
		}
	}
	if s.asks {
		answer, err := p.Ask(ctx, agentcli.AgentQuestion{Text: "Which?", Fallback: "decline"})
		if err != nil {
			return end, err
		}
		s.answers = append(s.answers, answer+p.Permit(ctx, stream.AgentToolCall{ID: "c2", Tool: "Bash"}))
		if err := context.Cause(ctx); err != nil {
			return end, err
		}
	}
	if s.hangs {
		<-ctx.Done()
		return end, context.Cause(ctx)
	}
	return end, nil
}

func fault(f nexus.AgentProgramFault) agentcli.PromptResult {
	return agentcli.PromptResult{AgentPromptEnd: stream.AgentPromptEnd{Fault: f, Why: "so"}}
}

func done(text string) agentcli.PromptResult {
	return agentcli.PromptResult{AgentPromptEnd: stream.AgentPromptEnd{Text: text}}
}

// brief returns what a session is about.
func brief(set func(*externalagent.ExternalSessionBrief)) externalagent.ExternalSessionBrief {
	b := externalagent.ExternalSessionBrief{
		Agent: "claude", Session: "T1.1/coder.1", Attempt: "T1.1", Task: "T1", Role: nexus.Coder, Model: "claude/default",
		Guide: "GUIDE", Next: "Do it.", Why: "brief", Now: time.Now, Draw: func(string) uint64 { return 7 },
		Snapshot: func(context.Context) (nexus.TreeSnapshotted, error) {
			return nexus.TreeSnapshotted{Attempt: "T1.1"}, nil
		},
	}
	if set != nil {
		set(&b)
	}
	return b
}

// run has the agent do a session, in virtual time.
func run(t *testing.T, a *scripted, set func(*externalagent.ExternalSessionBrief)) (o agent.SessionStretchResult, d *agenttest.FakeSessionRecorder, took time.Duration, err error) {
	t.Helper()
	d = &agenttest.FakeSessionRecorder{}
	synctest.Test(t, func(t *testing.T) {
		b := brief(set)
		start := time.Now()
		o, err = externalagent.RunExternalSession(t.Context(), a, b, d, &agenttest.InMemoryBlobStore{})
		took = time.Since(start)
	})
	return o, d, took, err
}

func kinds(d *agenttest.FakeSessionRecorder) string {
	var all []string
	for _, f := range d.RecordedFacts() {
		all = append(all, nexus.FactKind(f))
	}
	return strings.Join(all, " ")
}

// only returns the facts of a kind.
func only[F nexus.Fact](d *agenttest.FakeSessionRecorder) []F {
	var all []F
	for _, f := range d.RecordedFacts() {
		if f, ok := f.(F); ok {
			all = append(all, f)
		}
	}
	return all
}

func TestSessionIsRecordedAsOurOwn(t *testing.T) {
	a := &scripted{ends: []agentcli.PromptResult{done("All done.")}, edits: true}
	o, d, _, err := run(t, a, nil)
	if err != nil || o.Outcome != nexus.Accepted || o.Turns != 1 {
		t.Errorf("got %+v, %v", o, err)
	}
	want := "session.started prompt.sent budget.reserved agent.opened turn.taken tool.called " +
		"tool.answered tools.answered tree.snapshotted budget.spent agent.ended session.ended"
	if diff := cmp.Diff(want, kinds(d)); diff != "" {
		t.Error(diff)
	}
	if got := only[nexus.ToolCallEnded](d); len(got) != 1 || !got[0].Failed {
		t.Errorf("a call that was never answered: %+v", got)
	}
	if p := a.prompts[0]; p.Text != "GUIDE\n\nDo it." || p.Resume || p.ID != "new-0" {
		t.Errorf("prompted with %+v", p)
	}
}

// TestFaults holds what follows from each way in which a prompt may end.
func TestFaults(t *testing.T) {
	for _, c := range []struct {
		fault   nexus.AgentProgramFault
		prompts int // that are made when it always ends so
		outcome nexus.Outcome
		code    nexus.ErrorCode
		again   string // how the second prompt starts
		resume  bool   // it goes to the same conversation
	}{
		{nexus.FaultSilent, 3, nexus.NoProgress, "", "Your program ended before", true},
		{nexus.FaultGarbage, 3, nexus.NoProgress, "", "Your program ended before", true},
		{nexus.FaultUnfinished, 3, nexus.NoProgress, "", "Your program ended before", true},
		{nexus.FaultCrashed, 3, nexus.NoProgress, "", "Your program ended before", true},
		{nexus.FaultOverload, 4, "", nexus.CodeNeedsPerson, "Your program ended before", true},
		{nexus.FaultContext, 3, nexus.Exhausted, "", "GUIDE\n\nDo it.", false},
		{nexus.FaultLost, 3, nexus.Exhausted, "", "GUIDE\n\nDo it.", false},
		{nexus.FaultAsking, 3, nexus.NoProgress, "", "Your program ended before", true},
		{nexus.FaultRefused, 1, nexus.GaveUp, "", "", false},
		{nexus.FaultTurns, 1, nexus.Exhausted, "", "", false},
		{nexus.FaultBudget, 1, nexus.Exhausted, "", "", false},
		{nexus.FaultTime, 1, nexus.Exhausted, "", "", false},
		{nexus.FaultLogin, 1, "", nexus.CodeAuth, "", false},
		{nexus.FaultSetup, 1, "", nexus.CodeInvalidConfig, "", false},
	} {
		t.Run(string(c.fault), func(t *testing.T) {
			a := &scripted{ends: []agentcli.PromptResult{fault(c.fault)}}
			o, d, took, err := run(t, a, nil)
			e, _ := errors.AsType[*nexus.Error](err)
			if len(a.prompts) != c.prompts || o.Outcome != c.outcome || (c.code != "") != (err != nil) || e != nil && e.Code != c.code {
				t.Fatalf("%d prompts, outcome %q, error %v", len(a.prompts), o.Outcome, err)
			}
			if c.prompts > 1 && (!strings.HasPrefix(a.prompts[1].Text, c.again) || a.prompts[1].Resume != c.resume) {
				t.Errorf("then prompted with %q, resume %v", a.prompts[1].Text, a.prompts[1].Resume)
			}
			if ended := only[nexus.SessionEnded](d); (len(ended) == 1) != (c.outcome != "") {
				t.Errorf("ends of the session: %+v", ended)
			}
			if waited := 35 * time.Second; (c.fault == nexus.FaultOverload) != (took == waited) || took > waited {
				t.Errorf("took %s", took)
			}
		})
	}
}

// TestQuotaParksTheAccount holds that the account waits until its window starts
// anew, an hour where that is not known.
func TestQuotaParksTheAccount(t *testing.T) {
	for _, in := range []time.Duration{0, 3 * time.Hour} {
		var now time.Time
		a := &scripted{ends: []agentcli.PromptResult{fault(nexus.FaultQuota), done("ok")}}
		o, d, _, err := run(t, a, func(b *externalagent.ExternalSessionBrief) {
			now = time.Now()
			if in > 0 {
				a.ends[0].Until = now.Add(in)
			}
		})
		hit := only[nexus.QuotaExhausted](d)
		if err != nil || o.Outcome != nexus.Accepted || len(hit) != 1 || hit[0].Account != "claude" {
			t.Fatalf("%+v, %v, hit %+v", o, err, hit)
		}
		want := time.Hour
		if in > 0 {
			want = in
		}
		if got := hit[0].Until.Sub(now); got != want {
			t.Errorf("it waits %s, want %s", got, want)
		}
		if !strings.Contains(a.prompts[1].Text, "quota again") {
			t.Errorf("then prompted with %q", a.prompts[1].Text)
		}
	}
}

// TestLimitByTheMinute: who pays by use is limited for a moment, not for a window,
// unless it stays so or the agent says until when.
func TestLimitByTheMinute(t *testing.T) {
	limited := fault(nexus.FaultQuota)
	later := limited
	later.Until = time.Now().AddDate(100, 0, 0)
	for name, c := range map[string]struct {
		ends         []agentcli.PromptResult
		delayed, hit int
		took         time.Duration
	}{
		"for a moment":     {[]agentcli.PromptResult{limited, limited, done("ok")}, 2, 0, 15 * time.Second},
		"for longer":       {[]agentcli.PromptResult{limited, limited, limited, limited, done("ok")}, 3, 1, 35 * time.Second},
		"it says how long": {[]agentcli.PromptResult{later, done("ok")}, 0, 1, 0},
	} {
		o, d, took, err := run(t, &scripted{ends: c.ends}, func(b *externalagent.ExternalSessionBrief) { b.Money = nexus.Dollar })
		delayed, hit := only[nexus.ModelCallDelayed](d), only[nexus.QuotaExhausted](d)
		if err != nil || o.Outcome != nexus.Accepted || len(delayed) != c.delayed || len(hit) != c.hit || took != c.took {
			t.Errorf("%s: %+v, %v; delayed %+v, hit %+v, in %s", name, o, err, delayed, hit, took)
		}
		if len(delayed) > 0 && delayed[0].Why != "rate limit" {
			t.Errorf("%s: %+v", name, delayed[0])
		}
	}
}

// TestMoney holds what a prompt is said to have cost.
func TestMoney(t *testing.T) {
	const aside, counted = nexus.Money(200), nexus.Money(30)
	used := nexus.Usage{Input: 5}
	for name, c := range map[string]struct {
		end   stream.AgentPromptEnd
		mute  bool
		money nexus.Money
		want  nexus.Money
		guess bool
	}{
		"by subscription":                     {stream.AgentPromptEnd{Money: counted, Usage: used}, false, 0, 0, false},
		"as it counts":                        {stream.AgentPromptEnd{Money: counted, Usage: used}, false, aside, counted, false},
		"tokens, by the table":                {stream.AgentPromptEnd{Usage: used}, false, aside, 50, true},
		"tokens, by model":                    {stream.AgentPromptEnd{Usage: used, Models: map[string]nexus.Usage{"a": {Input: 2}, "dear": {Input: 3}}}, false, aside, 320, true},
		"tokens of a model without a price":   {stream.AgentPromptEnd{Usage: used, Models: map[string]nexus.Usage{"a": {Input: 2}, "": {Input: 3}}}, false, aside, aside, true},
		"stopped before it counted":           {stream.AgentPromptEnd{Fault: nexus.FaultTurns}, false, aside, aside, true},
		"stopped before it did anything":      {stream.AgentPromptEnd{Fault: nexus.FaultTurns}, true, aside, 0, false},
		"stopped after it printed something":  {stream.AgentPromptEnd{Fault: nexus.FaultTurns, Text: "Hello."}, true, aside, aside, true},
		"done, and counts neither of the two": {stream.AgentPromptEnd{}, false, aside, aside, true},
		"done, and prints nothing":            {stream.AgentPromptEnd{}, true, aside, aside, true},
	} {
		a := &scripted{ends: []agentcli.PromptResult{{AgentPromptEnd: c.end}}, mute: c.mute}
		_, d, _, err := run(t, a, func(b *externalagent.ExternalSessionBrief) {
			b.Money = c.money
			b.Price = func(model string, u nexus.Usage) (nexus.Money, bool) {
				if len(c.end.Models) > 0 && model == "dear" {
					return nexus.Money(100 * u.TotalTokens()), true
				}
				return nexus.Money(10 * u.TotalTokens()), len(c.end.Models) == 0 || model != ""
			}
		})
		spent := only[nexus.BudgetSettled](d)
		if err != nil || len(spent) != 1 || spent[0].Money != c.want || spent[0].Estimated != c.guess {
			t.Errorf("%s: %+v, %v; want %d, estimated %v", name, spent, err, c.want, c.guess)
		}
		if reserved := only[nexus.BudgetReserved](d); len(reserved) != 1 || reserved[0].Money != c.money || reserved[0].ID != spent[0].ID {
			t.Errorf("%s: reserved %+v", name, reserved)
		}
	}
}

// TestTextIsPaidForUnheard holds that an agent that prints nothing before its end is
// taken to have worked until it was stopped, and one with a stream is not.
func TestTextIsPaidForUnheard(t *testing.T) {
	for _, f := range []nexus.AgentProgramFault{nexus.FaultSilent, nexus.FaultTime, nexus.FaultStopped, nexus.FaultCrashed} {
		for _, plain := range []bool{true, false} {
			a := &scripted{ends: []agentcli.PromptResult{fault(f), done("ok")}, mute: true, plain: plain}
			_, d, _, err := run(t, a, func(b *externalagent.ExternalSessionBrief) { b.Money = 200 })
			want := nexus.Money(0)
			if plain && f != nexus.FaultCrashed {
				want = 200
			}
			if spent := only[nexus.BudgetSettled](d); err != nil || spent[0].Money != want || spent[0].Estimated != (want > 0) {
				t.Errorf("%s, plain %t: %+v, %v", f, plain, spent, err)
			}
		}
	}
}

// TestNothingIsPaidForWhatDidNotRun holds that an agent that could not be started
// cost nothing.
func TestNothingIsPaidForWhatDidNotRun(t *testing.T) {
	broken := errors.New("no sandbox")
	ready := func(b *externalagent.ExternalSessionBrief) {
		b.Money, b.Ready = nexus.Dollar, func() (bool, error) { return false, broken }
	}
	starts := func(b *externalagent.ExternalSessionBrief) { b.Money = nexus.Dollar }
	for name, c := range map[string]struct {
		agent *scripted
		set   func(*externalagent.ExternalSessionBrief)
	}{
		"its home":    {&scripted{ends: []agentcli.PromptResult{done("ok")}}, ready},
		"its process": {&scripted{ends: []agentcli.PromptResult{{}}, mute: true, broken: broken}, starts},
	} {
		_, d, _, err := run(t, c.agent, c.set)
		if spent := only[nexus.BudgetSettled](d); !errors.Is(err, broken) || len(spent) != 1 || spent[0].Money != 0 {
			t.Errorf("%s: %+v, %v", name, spent, err)
		}
	}
}

// TestResumesAfterAKill holds that the next process continues the conversation,
// or gives a new one what the old one said where it is lost.
func TestResumesAfterAKill(t *testing.T) {
	old := &state.AgentSessionState{Turns: 4, Opened: nexus.AgentConversationOpened{ID: "old"}, Closed: nexus.AgentProgramEnded{Total: 100, Usage: nexus.Usage{Input: 10}}}
	again := agentcli.PromptResult{AgentPromptEnd: stream.AgentPromptEnd{Money: 130, Usage: nexus.Usage{Input: 14}, Total: true}}
	a := &scripted{ends: []agentcli.PromptResult{fault(nexus.FaultLost), done("ok")}}
	resumed := &scripted{ends: []agentcli.PromptResult{again}}
	set := func(b *externalagent.ExternalSessionBrief) {
		b.Old, b.Next, b.Money, b.Earlier = old, "", 200, func() string { return "I was half way." }
	}
	if _, d, _, err := run(t, resumed, set); err != nil || only[nexus.BudgetSettled](d)[0].Money != 30 {
		t.Errorf("what it used before is paid again: %+v, %v", only[nexus.BudgetSettled](d), err)
	}
	if p := resumed.prompts[0]; !p.Resume || p.ID != "old" || !strings.HasPrefix(p.Text, "Your program was stopped.") {
		t.Errorf("resumed with %+v", p)
	}
	if _, _, _, err := run(t, a, set); err != nil {
		t.Fatal(err)
	}
	if p := a.prompts[1]; p.Resume || !strings.HasPrefix(p.Text, "GUIDE\n\n") || !strings.Contains(p.Text, "I was half way.") {
		t.Errorf("after its conversation was lost: %+v", p)
	}
}

// TestTimeIsUp holds that an agent that works for longer than its session or
// its task may is stopped, and its work kept.
func TestTimeIsUp(t *testing.T) {
	for name, set := range map[string]func(*externalagent.ExternalSessionBrief){
		"the session's time is up": func(b *externalagent.ExternalSessionBrief) { b.Limits.SessionTime = time.Minute },
		"the task's time is up":    func(b *externalagent.ExternalSessionBrief) { b.Left = func() time.Duration { return time.Minute } },
	} {
		o, d, took, err := run(t, &scripted{ends: []agentcli.PromptResult{fault(nexus.FaultStopped)}, edits: true, hangs: true}, set)
		if err != nil || o.Outcome != nexus.Exhausted || !strings.Contains(o.Why, name) || took != time.Minute {
			t.Errorf("%s: %+v, %v after %s", name, o, err, took)
		}
		if len(only[nexus.TreeSnapshotted](d)) == 0 {
			t.Errorf("%s: its work is not pinned", name)
		}
	}
}

// TestRefusedMoneyEndsTheSession holds that an agent whose money is refused is
// not prompted, and that this is no error of the machinery.
func TestRefusedMoneyEndsTheSession(t *testing.T) {
	a := &scripted{ends: []agentcli.PromptResult{done("ok")}}
	d := &agenttest.FakeSessionRecorder{Leave: func(int) error { return &nexus.Error{Code: nexus.CodeBudget, Message: "no money"} }}
	o, err := externalagent.RunExternalSession(t.Context(), a, externalagent.ExternalSessionBrief{
		Session: "T1.1/coder.1", Next: "Do it.", Now: time.Now, Draw: func(string) uint64 { return 7 },
	}, d, &agenttest.InMemoryBlobStore{})
	if err != nil || o.Outcome != nexus.Refused || len(a.prompts) != 0 || len(only[nexus.SessionEnded](d)) != 1 {
		t.Errorf("%+v, %v, %d prompts", o, err, len(a.prompts))
	}
}

// TestAProgramThatAsksForNoHost is stopped in time, and people are told to look at its
// settings: it would wait in vain. One that asks for a host late in that time works on.
func TestAProgramThatAsksForNoHost(t *testing.T) {
	asked := 0
	a := &scripted{ends: []agentcli.PromptResult{done("ok")}, hangs: true}
	_, d, took, err := run(t, a, func(b *externalagent.ExternalSessionBrief) { b.Asked = func() int { return asked } })
	e, ok := errors.AsType[*nexus.Error](err)
	if !ok || e.Code != nexus.CodeInvalidConfig || !strings.Contains(e.Message, "it asked for no host in 2m0s") || took != 2*time.Minute {
		t.Errorf("%v after %s", err, took)
	}
	if ended := only[nexus.AgentProgramEnded](d); len(ended) != 1 || ended[0].Fault != nexus.FaultSetup {
		t.Errorf("%+v", ended)
	}
	n := 0
	late := func() int { n++; return n - 1 } // by the time that it is looked at
	o, _, took, err := run(t, &scripted{ends: []agentcli.PromptResult{done("ok")}, hangs: true}, func(b *externalagent.ExternalSessionBrief) {
		b.Asked, b.Limits.SessionTime = late, 10*time.Minute
	})
	if err != nil || o.Outcome != nexus.Exhausted || took != 10*time.Minute {
		t.Errorf("%+v, %v after %s", o, err, took)
	}
}

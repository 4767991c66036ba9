package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

// dawdler thinks a minute each turn, and then calls what takes very long.
type dawdler struct{ turns int }

func (m *dawdler) Stream(ctx context.Context, _ llm.Request, _ func(llm.AnswerDelta)) (llm.Response, error) {
	select {
	case <-time.After(time.Minute):
	case <-ctx.Done():
		return llm.Response{}, &llm.ModelCallError{Class: llm.Fatal, Cause: context.Cause(ctx)}
	}
	m.turns++
	input := json.RawMessage(fmt.Sprintf(`{"turn":%d}`, m.turns))
	return llm.Response{
		Message: llm.Message{From: llm.Assistant, Parts: []llm.MessagePart{{Call: &llm.ToolCall{ID: fmt.Sprint("c", m.turns), Tool: "wait", Input: input}}}},
		Stop:    llm.StopTools, Usage: nexus.Usage{Input: 1},
	}, nil
}

// TestDeadlinesNest gives a tool, its session, the task and the run each an
// end: whichever comes first ends what is under way, and says whose it was.
func TestDeadlinesNest(t *testing.T) {
	drained := errors.New("the run drains")
	for name, c := range map[string]struct {
		tool, session, task, run time.Duration // 0: no end
		want                     nexus.Outcome
		why                      string
		err                      error
		took                     time.Duration
		turns                    int
	}{
		"tool":                    {tool: 2 * time.Minute, session: 630 * time.Second, task: time.Hour, run: 2 * time.Hour, want: nexus.Exhausted, why: "the session's 10m30s are used up", took: 630 * time.Second, turns: 4},
		"session":                 {session: 10 * time.Minute, task: time.Hour, run: 2 * time.Hour, want: nexus.Exhausted, why: "the session's 10m0s are used up", took: 10 * time.Minute, turns: 1},
		"task":                    {session: time.Hour, task: 10 * time.Minute, run: 2 * time.Hour, want: nexus.Exhausted, why: "the task's time is used up", took: 10 * time.Minute, turns: 1},
		"task, and no session":    {task: 10 * time.Minute, want: nexus.Exhausted, why: "the task's time is used up", took: 10 * time.Minute, turns: 1},
		"run":                     {session: time.Hour, task: time.Hour, run: 10 * time.Minute, err: drained, took: 10 * time.Minute, turns: 1},
		"task, while it is asked": {session: time.Hour, task: 30 * time.Second, want: nexus.Exhausted, why: "the task's time is used up", took: 30 * time.Second},
		"task was over before":    {session: time.Hour, task: -time.Second, want: nexus.Exhausted, why: "the task's time is used up"},
	} {
		t.Run(name, func(t *testing.T) {
			b := newBench(t, nexus.Coder, llmtest.Script{})
			b.brief.Limits.SessionTime = c.session
			m := &dawdler{}
			b.model = m
			b.set.Add(tool.Tool{Name: "wait", Schema: json.RawMessage(`{"type":"object"}`), Run: func(ctx context.Context, _ json.RawMessage) (tool.CallOutput, error) {
				if c.tool > 0 {
					var stop func()
					ctx, stop = context.WithTimeout(ctx, c.tool)
					defer stop()
				}
				<-ctx.Done()
				return tool.CallOutput{}, context.Cause(ctx)
			}})
			synctest.Test(t, func(t *testing.T) {
				start := time.Now()
				if c.task != 0 {
					b.brief.Left = func() time.Duration { return c.task - time.Since(start) }
				}
				ctx, stop := context.WithCancelCause(t.Context())
				defer stop(nil)
				if c.run > 0 {
					defer time.AfterFunc(c.run, func() { stop(drained) }).Stop()
				}
				out, err := b.run(ctx)
				if took := time.Since(start); took != c.took || m.turns != c.turns {
					t.Errorf("%s and %d turns", took, m.turns)
				}
				if !errors.Is(err, c.err) || out.Outcome != c.want || out.Why != c.why {
					t.Errorf("%s: %q, %v", out.Outcome, out.Why, err)
				}
			})
		})
	}
}

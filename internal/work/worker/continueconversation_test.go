package worker_test

import (
	"context"
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
	"github.com/nexus-ai-builder/nexus/internal/work/worker/workertest"
)

// ponderous submits at once, after a long thought.
type ponderous struct{ thought time.Duration }

func (m ponderous) Stream(ctx context.Context, _ llm.Request, _ func(llm.AnswerDelta)) (llm.Response, error) {
	select {
	case <-time.After(m.thought):
	case <-ctx.Done():
		return llm.Response{}, &llm.ModelCallError{Class: llm.Fatal, Cause: context.Cause(ctx)}
	}
	handin := json.RawMessage(`{"summary": "Done.", "status": "done"}`)
	return llm.Response{
		Message: llm.Message{From: llm.Assistant, Parts: []llm.MessagePart{{Call: &llm.ToolCall{ID: "c1", Tool: "finish", Input: handin}}}},
		Stop:    llm.StopTools, Usage: nexus.Usage{Input: 1},
	}, nil
}

// TestSessionTimeIsOfAllRounds lets a session continue after a repair: it has
// what is left of its time, and not all of it again.
func TestSessionTimeIsOfAllRounds(t *testing.T) {
	s, base, _ := workertest.NewTestWorker(t)
	c, _ := change(t, s, "T1.1", base)
	roles, err := agent.LoadRoleDefinitions(nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Sessions.Roles = roles
	s.Sessions.Pick = func(nexus.Role, nexus.Tier, string) (worker.PricedModel, error) {
		return worker.PricedModel{
			Model: ponderous{6 * time.Minute}, Name: "toy/model",
			Price: func(nexus.Usage, llm.BillingTerms) nexus.Money { return 0 }, Worst: func(llm.Request) nexus.Money { return 0 },
		}, nil
	}
	synctest.Test(t, func(t *testing.T) {
		a := &state.AttemptState{ID: "T1.1", Task: "T1"}
		talk := worker.ConversationStretchRequest{
			Attempt: a, Session: "T1.1/coder.1", Task: nexus.Task{ID: "T1"}, Role: nexus.Coder, Tree: c.Tree,
			Limits: nexus.Limits{SessionTime: 10 * time.Minute},
			Record: func(_ context.Context, facts ...nexus.Fact) error {
				for _, f := range facts {
					a.Apply(f, time.Now())
				}
				return nil
			},
			Snap: func(context.Context) (nexus.TreeSnapshotted, error) { return nexus.TreeSnapshotted{}, nil },
		}
		for i, want := range []nexus.Outcome{nexus.Accepted, nexus.Exhausted} {
			talk.Next = "round"
			start := time.Now()
			o, err := s.Sessions.ContinueConversation(t.Context(), talk, &desk{})
			if err != nil || o.Outcome != want {
				t.Fatalf("round %d after %s: %s %s, %v", i+1, time.Since(start), o.Outcome, o.Why, err)
			}
			if took := time.Since(start); took > 6*time.Minute {
				t.Errorf("round %d took %s", i+1, took)
			}
		}
	})
}

// curious asks a person, and submits when that has answered.
type curious struct{}

func (curious) Stream(_ context.Context, r llm.Request, _ func(llm.AnswerDelta)) (llm.Response, error) {
	call := llm.ToolCall{ID: "c1", Tool: "ask", Input: json.RawMessage(`{"question": "Blue?", "fallback": "blue"}`)}
	if len(r.Messages) > 1 {
		call = llm.ToolCall{ID: "c2", Tool: "finish", Input: json.RawMessage(`{"summary": "Done.", "status": "done"}`)}
	}
	return llm.Response{Message: llm.Message{From: llm.Assistant, Parts: []llm.MessagePart{{Call: &call}}}, Stop: llm.StopTools, Usage: nexus.Usage{Input: 1}}, nil
}

// slow is a person who takes an hour to answer.
type slow struct{ desk }

func (*slow) Ask(context.Context, nexus.QuestionAsked) (string, error) {
	time.Sleep(time.Hour) // of the bubble's time
	return "green", nil
}

// TestAPersonTakesNoneOfTheTasksTime lets a task that has ten minutes wait an
// hour for an answer: it continues.
func TestAPersonTakesNoneOfTheTasksTime(t *testing.T) {
	s, base, _ := workertest.NewTestWorker(t)
	c, _ := change(t, s, "T1.1", base)
	roles, err := agent.LoadRoleDefinitions(nil)
	if err != nil {
		t.Fatal(err)
	}
	s.Sessions.Roles, s.Site.Now = roles, time.Now
	s.Sessions.Pick = func(nexus.Role, nexus.Tier, string) (worker.PricedModel, error) {
		return worker.PricedModel{
			Model: curious{}, Name: "toy/model",
			Price: func(nexus.Usage, llm.BillingTerms) nexus.Money { return 0 }, Worst: func(llm.Request) nexus.Money { return 0 },
		}, nil
	}
	synctest.Test(t, func(t *testing.T) {
		a, start := &state.AttemptState{ID: "T1.1", Task: "T1"}, time.Now()
		o, err := s.Sessions.ContinueConversation(t.Context(), worker.ConversationStretchRequest{
			Attempt: a, Session: "T1.1/coder.1", Task: nexus.Task{ID: "T1"}, Role: nexus.Coder, Tree: c.Tree, Next: "brief",
			Left: func() time.Duration { return 10*time.Minute - time.Since(start) + a.Rested },
			Record: func(_ context.Context, facts ...nexus.Fact) error {
				for _, f := range facts {
					a.Apply(f, time.Now())
				}
				return nil
			},
			Snap: func(context.Context) (nexus.TreeSnapshotted, error) { return nexus.TreeSnapshotted{}, nil },
		}, &slow{})
		if err != nil || o.Outcome != nexus.Accepted || a.Rested != time.Hour {
			t.Errorf("%s %s after %s, rested %s: %v", o.Outcome, o.Why, time.Since(start), a.Rested, err)
		}
	})
}

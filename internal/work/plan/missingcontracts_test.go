package plan_test

import (
	"context"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/decide/planrisk"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// TestContractGoesBackOnce tells the planner what is open, once; after that the plan is taken,
// and says it as a risk.
func TestContractGoesBackOnce(t *testing.T) {
	open := `{"tasks": [
		{"id": "T1", "title": "Read sizes", "criteria": [{"text": "ok", "check": "test"}]},
		{"id": "T2", "title": "Print what was read", "needs": ["T1"], "ties": {"T1": "api"}, "criteria": [{"text": "ok", "check": "test"}]}]}`
	var said []string
	var messages []llm.Message
	p, err := plan.Decompose(t.Context(), prompt.PlanningRequest{Text: "Print sizes"}, false, func(_ context.Context, message, _ string) (agent.SessionStretchResult, error) {
		said = append(said, message)
		messages = append(messages, llm.Message{From: llm.User, Parts: []llm.MessagePart{{Text: message}}})
		return agent.SessionStretchResult{Outcome: nexus.Accepted, Handin: []byte(open), Messages: messages}, nil
	}, func(context.Context, nexus.Plan) (accept.CommandTrials, error) { return nil, nil },
		func(context.Context, nexus.Plan, bool) (*nexus.PlanCoverage, error) { return nil, nil })
	if err != nil || len(said) != 2 || !strings.Contains(said[1], "T2: it relies on what T1 makes (api)") {
		t.Fatalf("%v\n%q", err, said)
	}
	if risks := planrisk.PlanRisks(p); len(risks) != 1 || risks[0].Task != "T2" || risks[0].Impact != planrisk.High {
		t.Errorf("%+v", risks)
	}
}

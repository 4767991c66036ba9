package agent_test

import (
	"context"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

// overheard keeps what a model is asked.
type overheard struct {
	llm.Model
	asked []llm.Request
}

func (o *overheard) Stream(ctx context.Context, r llm.Request, heard func(llm.AnswerDelta)) (llm.Response, error) {
	o.asked = append(o.asked, r)
	r.Force, r.Effort = "", "" // the scripted model plays whatever it is asked
	return o.Model.Stream(ctx, r, heard)
}

// TestRolesThatOnlyHandInAreForced holds that a session asks for the force and
// the effort of its role in every request alike, or a provider would not find
// in its cache what it has read.
func TestRolesThatOnlyHandInAreForced(t *testing.T) {
	for role, want := range map[nexus.Role]string{
		nexus.Planner: llm.AnyTool, nexus.Reviewer: llm.AnyTool, nexus.Router: llm.AnyTool, nexus.Coder: "", nexus.Tester: "", nexus.Merger: "",
	} {
		b := newBench(t, role, script(usual()...))
		heard := &overheard{Model: b.model}
		b.model, b.brief.Role.Effort, b.brief.Role.Turns = heard, "high", 0
		b.must(t)
		if len(heard.asked) < 2 {
			t.Fatalf("%s: %d requests", role, len(heard.asked))
		}
		for i, r := range heard.asked {
			if r.Force != want || r.Effort != "high" {
				t.Errorf("%s: request %d forces %q and wants effort %q", role, i+1, r.Force, r.Effort)
			}
		}
	}
}

// TestTheOnlyToolIsForced names the tool of a role that has one.
func TestTheOnlyToolIsForced(t *testing.T) {
	b := newBench(t, nexus.Router, script(done()))
	heard := &overheard{Model: b.model}
	b.model = heard
	var err error
	if b.set, err = tool.NewToolSet(tool.AgentToolEnvironment{Dir: b.dir, Blob: b.store, Now: time.Now}, "finish"); err != nil {
		t.Fatal(err)
	}
	b.must(t)
	if len(heard.asked) != 1 || heard.asked[0].Force != "finish" {
		t.Errorf("%+v", heard.asked)
	}
}

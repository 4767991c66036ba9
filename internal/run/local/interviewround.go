package local

import (
	"context"
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/interview"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// interviewRound runs one round with the interviewer, who only reads the repository. Each round is a
// session of its own: days may pass between two.
func (m *LocalExecutor) interviewRound(ctx context.Context, f nexus.InterviewRoundStarted, v state.WorkerView, d worker.AttemptFactRecorder) ([]nexus.Fact, error) {
	p := &planningSession{Worker: m.Worker, view: v, a: v.Attempt, desk: d}
	p.session = nexus.SessionID(fmt.Sprintf("%s/%s.%d", f.Attempt, nexus.Interviewer, f.Round))
	var err error
	if p.tree, err = m.Worker.Trees.AddTree(ctx, v.Run, f.Attempt, p.a.Base); err != nil {
		return nil, fmt.Errorf("make a worktree for the interviewer: %w", err)
	}
	talk := func(ctx context.Context, message, why string) (agent.SessionStretchResult, error) {
		return m.Worker.Sessions.ContinueConversation(ctx, worker.ConversationStretchRequest{
			Attempt: p.a, Session: p.session, Role: nexus.Interviewer, Tree: p.tree, Base: v.Goal.Base, Goal: v.Goal.Goal.Text, Next: message, Why: why,
			Handin: interview.SubmissionSchema(), Limits: v.Limits, Record: p.recordFacts,
		}, d)
	}
	facts, err := interview.RunInterviewRound(ctx, v.Interview, f.Round, interview.RoundMessage(v.Interview, p.session, f.Round, v.Alone), p.hasBegun(), talk)
	if err != nil {
		return nil, err
	}
	return facts, p.tree.Remove(ctx)
}

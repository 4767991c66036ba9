package attempt

import (
	"context"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/attempthistory"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
)

// SummarizeAttempts returns a summary of the earlier attempts at the task of a view, with the
// words of their agents and their changes. The best change is included if the attempt may
// continue from it.
func SummarizeAttempts(ctx context.Context, s *worker.AttemptWorker, v state.WorkerView, continues bool) (attempthistory.AttemptsSummary, error) {
	known := attempthistory.SummarizeAttempts(v)
	git := s.Trees.PrivateRepo()
	for i := range known.Attempts {
		a := &known.Attempts[i]
		a.Idea = agentSummary(s, a.Author)
		if a.To == "" {
			continue
		}
		changed, err := git.ChangedFiles(ctx, a.From, a.To)
		if err != nil {
			return known, fmt.Errorf("read what %s changed: %w", a.ID, err)
		}
		for _, c := range changed {
			a.Files = append(a.Files, c.Path)
		}
	}
	for _, d := range known.DeadEnds {
		for i := range d.Tries {
			d.Tries[i].Idea = agentSummary(s, d.Tries[i].Author)
		}
	}
	if known.Last.Output != "" {
		known.Last.Printed = failureOutput(s, known.Last.Output)
	}
	if known.Closest.At == "" || !continues {
		return known, nil
	}
	diff, err := git.Diff(ctx, known.Closest.Base, known.Closest.At)
	if err != nil {
		return known, fmt.Errorf("read what came closest: %w", err)
	}
	known.Closest.Diff = diff
	return known, nil
}

// failureOutput returns a gate's output that explains the failure, or "" if it is lost.
func failureOutput(s *worker.AttemptWorker, blob string) string {
	out, err := s.Site.Blobs.Get(blob)
	if err != nil {
		return ""
	}
	return outputparser.WithoutPassingTests(string(outputparser.ReadableOutput(out)))
}

// agentSummary returns an agent's summary: the one that it submitted, or its last text. A lost
// text is empty: the work does not need it.
func agentSummary(s *worker.AttemptWorker, w attempthistory.AuthorTextRefs) string {
	submitted, err := s.Judge.ReadSubmission(&state.AgentSessionState{Result: w.Result})
	if err == nil && strings.TrimSpace(submitted.Summary) != "" {
		return submitted.Summary
	}
	for i := len(w.Messages) - 1; i >= 0; i-- {
		said, err := agent.LoadMessages(s.Site.Blobs, w.Messages[i:i+1])
		if err != nil {
			return ""
		}
		if text := strings.TrimSpace(said[0].Text()); text != "" && said[0].From == llm.Assistant {
			return text
		}
	}
	return submitted.Subject
}

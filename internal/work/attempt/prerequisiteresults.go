package attempt

import (
	"context"
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/work/changeeffects"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// dependencyResults returns the results of the tasks that this one needs, as their commits
// show them.
func (w *attemptWork) dependencyResults(ctx context.Context) ([]prompt.PrerequisiteTaskResult, error) {
	var all []prompt.PrerequisiteTaskResult
	for _, n := range w.view.Needs {
		need := prompt.PrerequisiteTaskResult{Task: n.Task, Commit: n.Landed.Commit, Tie: n.Tie}
		names, err := changeeffects.ChangedNames(ctx, w.Worker.Trees.PrivateRepo(), n.Landed.Parent, n.Landed.Commit)
		if err != nil {
			return nil, fmt.Errorf("read what %s made: %w", n.ID, err)
		}
		for _, f := range names {
			need.Files = append(need.Files, describeNeedFile(f))
		}
		submitted, err := w.Worker.Judge.ReadSubmission(&state.AgentSessionState{Result: n.Said})
		if err != nil {
			return nil, err
		}
		need.Said = submitted.CommitMessage()
		all = append(all, need)
	}
	return all, nil
}

func describeNeedFile(f changeeffects.FileDeclarationChanges) prompt.PrerequisiteFile {
	file := prompt.PrerequisiteFile{Path: f.Path, How: map[string]string{"A": "added", "D": "deleted"}[f.Status]}
	if file.How == "" {
		file.How = "changed"
	}
	for _, n := range f.Made {
		file.Names = append(file.Names, fmt.Sprintf("%d %s", n.Line, n.Text))
	}
	for _, n := range f.Changed {
		file.Names = append(file.Names, fmt.Sprintf("%d %s (before: %s)", n.Line, n.Text, n.Was))
	}
	if f.Status == "D" {
		return file
	}
	for _, n := range f.Gone {
		file.Names = append(file.Names, "gone: "+n.Text)
	}
	return file
}

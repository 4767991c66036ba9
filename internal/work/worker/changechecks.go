package worker

import (
	"context"
	"fmt"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/definitionofdone"
	"github.com/nexus-ai-builder/nexus/internal/decide/humaninput"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/secret/leak"
	"github.com/nexus-ai-builder/nexus/internal/work/changemetrics"
)

// findSecrets checks the additions of a tree to its base. The result is red if those contain
// secrets, and unverifiable if they are too large.
func (j *TreeJudge) findSecrets(ctx context.Context, c TreeJudgeRequest) (e nexus.GateEvidence, red bool, err error) {
	if j.Leaks == nil || c.Base == "" {
		return e, false, nil
	}
	patch, whole, err := j.Trees.Patch(ctx, c.Base, c.Hash)
	if err != nil {
		return e, false, fmt.Errorf("look for secrets: %w", err)
	}
	found, err := j.Leaks.FindAdded(ctx, patch)
	if err != nil {
		return e, false, fmt.Errorf("look for secrets: %w", err)
	}
	e, red = leak.JudgeLeaks(found, whole, c.Hash)
	return e, red, nil
}

// recordCriticalFiles records which files a person should review. It has no other effect.
func (j *TreeJudge) recordCriticalFiles(ctx context.Context, c TreeJudgeRequest, d AttemptFactRecorder) error {
	if c.Base == "" {
		return nil
	}
	changed, err := j.Trees.PrivateRepo().ChangedFiles(ctx, c.Base, c.Hash)
	if err != nil {
		return fmt.Errorf("look for critical files: %w", err)
	}
	files := make([]string, 0, len(changed))
	for _, f := range changed {
		files = append(files, f.Path)
	}
	if e, ok := humaninput.CriticalFileEvidence(files, c.Hash); ok {
		return d.Record(ctx, c.Mark(nexus.GateJudged{Evidence: e}))
	}
	return nil
}

// boundsTask returns the task whose result is the tree, as far as it is known.
func (c TreeJudgeRequest) boundsTask() *definitionofdone.TaskWording {
	t := &definitionofdone.TaskWording{Texts: []string{c.Task.Title, c.Task.Brief, c.Goal}, Said: c.Said}
	for _, criterion := range c.Task.Criteria {
		t.Texts, t.Checks = append(t.Texts, criterion.Text), append(t.Checks, criterion.Check)
	}
	return t
}

// checkDefinitionOfDone checks a change that passed its gates against the definition of done,
// and returns the deciding evidence. Mere warnings are recorded.
func (j *TreeJudge) checkDefinitionOfDone(ctx context.Context, c TreeJudgeRequest, judged []nexus.GateEvidence, taken changemetrics.GateMeasurements, d AttemptFactRecorder) ([]nexus.GateEvidence, error) {
	red := slices.ContainsFunc(judged, func(e nexus.GateEvidence) bool { return e.State != nexus.Pass && e.State != nexus.NotRun && !e.Hangs })
	if red || c.Base == "" {
		return nil, nil
	}
	all, decides, err := j.Meter.JudgeChange(ctx, changemetrics.MeasureRequest{
		Repo: j.Trees.PrivateRepo(), Base: c.Base, Tree: c.Hash, Files: c.Task.Files, Run: c.Task.ID == "", Taken: taken, Dirs: []string{c.Tree.Dir, j.Checkout},
		Task: c.boundsTask(), Agreed: c.Agreed,
	})
	if err != nil {
		return nil, fmt.Errorf("check the change against the definition of done: %w", err)
	}
	for _, e := range all {
		if err := d.Record(ctx, c.Mark(nexus.GateJudged{Evidence: e})); err != nil {
			return nil, err
		}
		// the run's final judgement contains it
		if c.Task.ID == "" && e.Coverage != nil && e.State == nexus.Pass {
			decides = append(decides, e)
		}
	}
	return decides, nil
}

package democmd

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"path/filepath"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/newproject"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/speccmd"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
)

// The person's texts in the demo of a new project.
const (
	genesisIdea = "something for our shared expenses"
	genesisName = "tally"
)

// scriptedAnswers returns the person's input in order: three answers, agreement with the assumptions, and
// consent to the plan.
func scriptedAnswers() []string { return []string{"2", "skip", "no", "1", "y"} }

// playNewProject demonstrates how a project begins from a sentence.
func (d *demoStage) playNewProject(ctx context.Context, inner *console.Console) error {
	inner.Dir = d.home
	inner.Set["land"] = "true"
	inner.In = &console.ScriptedInput{Lines: scriptedAnswers(), Echo: inner.Err, Pace: 4 * d.pace}
	inner.Say("$ nexus new %s %q --land\n(the answers after > and at Start? are typed by the demo)\n", genesisName, genesisIdea)
	o := progress.RunCommandOptions{RunOptions: app.RunOptions{Goal: nexus.Goal{Text: genesisIdea, Mode: nexus.Evolution}}, Once: !d.keep}
	err := newproject.Options{}.Start(ctx, inner, genesisName, &o)
	if inner.Dir = filepath.Join(d.home, genesisName); err == nil && !inner.JSON {
		err = errors.Join(printRunSummaries(ctx, inner), printGitHistory(ctx, inner))
	}
	return err
}

// printRunSummaries prints the results of the sentence, one per line.
func printRunSummaries(ctx context.Context, a *console.Console) error {
	p, err := a.OpenRepository(ctx, app.ReadAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	all, err := p.Runs(ctx)
	if err != nil {
		return err
	}
	style, indent := a.Style(a.Out), strings.Repeat(" ", 12)
	text := "\n" + style.Bold("from a sentence to a first version") + "\n"
	for _, r := range all {
		s, err := p.Replay(ctx, r.ID)
		if err != nil {
			return err
		}
		together, err := mostConcurrentTasks(p.Journal.Events(ctx, r.ID, 0))
		if err != nil {
			return err
		}
		for _, row := range runMilestones(s, together) {
			text += fmt.Sprintf("  %-10s", row[0]) + strings.TrimPrefix(style.Wrap(view.EscapeForTerminal(row[1]), indent), indent) + "\n"
		}
	}
	return a.WithRunForReading(ctx, "", func(p *app.Repository, _ journal.RecordedRun, s *state.State) error {
		t, err := speccmd.TraceRun(ctx, p, s)
		if err != nil {
			return err
		}
		return a.Print(text + "\n" + style.Bold("the state of each requirement") + "\n" + view.DrawGoalTrace(style, t))
	})
}

// runMilestones returns the results of a demo run, each with its name.
func runMilestones(s *state.State, together []string) [][2]string {
	if i := &s.Interview; s.Goal.Goal.Mode == nexus.Interview {
		return [][2]string{{"asked", fmt.Sprintf("%s, which led to %s and %s", view.CountWithNoun(len(i.Exchanges), "question"),
			view.CountWithNoun(len(i.Requirements), "requirement"), view.CountWithNoun(len(i.Assumptions), "assumption"))}}
	}
	v := projection.BuildRunView(s, projection.RunFactsOutsideJournal{}, s.Updated)
	all := [][2]string{{"planned", view.CountWithNoun(v.Counts.Total, "task")}}
	if s.Cover != nil {
		checked := view.CountWithNoun(len(s.Cover.Statements), "statement")
		all = append(all, [2]string{"covered", fmt.Sprintf("a second model compared the plan with %s of the spec", checked)})
	}
	if len(together) > 1 {
		all = append(all, [2]string{"parallel", strings.Join(together, " and ") + " side by side"})
	}
	for _, line := range view.RepairLines(s) {
		all = append(all, [2]string{"fixed", line})
	}
	landed := fmt.Sprintf("%d of %s, for %s", v.Counts.Landed, view.CountWithNoun(v.Counts.Total, "task"), v.Money.Spent)
	return append(all, [2]string{"landed", landed})
}

// mostConcurrentTasks returns the tasks of the largest number of attempts that ran at once.
func mostConcurrentTasks(events iter.Seq2[nexus.Event, error]) (most []string, err error) {
	var now []nexus.AttemptStarted
	for e, err := range events {
		if err != nil {
			return nil, err
		}
		switch f := e.Fact.(type) {
		case nexus.AttemptStarted:
			now = append(now, f)
		case nexus.AttemptEnded:
			now = slices.DeleteFunc(now, func(s nexus.AttemptStarted) bool { return s.Attempt == f.Attempt })
		default:
		}
		if len(now) > len(most) {
			most = nil
			for _, s := range now {
				most = append(most, string(s.Task))
			}
		}
	}
	return most, nil
}

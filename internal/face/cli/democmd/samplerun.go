package democmd

import (
	"context"
	"errors"
	"path/filepath"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/planconsent"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// playSampleRun demonstrates how a goal is reached in the sample repository, and prints the highlights at
// the end.
func (d *demoStage) playSampleRun(ctx context.Context, inner *console.Console) error {
	if err := d.createSample(ctx, inner); err != nil {
		return err
	}
	err := d.finishRun(ctx, inner)
	if inner.JSON {
		return err
	}
	return errors.Join(err, printCacheNotes(ctx, inner), printGitHistory(ctx, inner), printRepairs(ctx, inner))
}

// createSample creates the sample repository, unless it exists.
func (d *demoStage) createSample(ctx context.Context, inner *console.Console) error {
	if pathExists(filepath.Join(inner.Dir, ".git")) {
		return nil
	}
	if err := WriteSample(inner.Dir); err != nil {
		return err
	}
	return git.CreateRepo(ctx, inner.Dir, git.CommitIdentity{Name: "Ada", Email: "ada@example.com"}, "Begin with a help command")
}

// finishRun runs the run of the sample to its end, also an interrupted one. If the run has ended,
// it does nothing.
func (d *demoStage) finishRun(ctx context.Context, inner *console.Console) error {
	p, err := inner.OpenRepository(ctx, app.CreateAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	all, err := p.Runs(ctx)
	if err != nil {
		return err
	}
	o := progress.RunCommandOptions{Once: !d.keep, Again: d.continueCommand()}
	if len(all) > 0 {
		last := all[len(all)-1]
		s, err := p.Replay(ctx, last.ID)
		if err != nil {
			return err
		}
		if s.Status.HasEnded() {
			inner.Say("run %s of this demo is over: %s", last.ID, s.Status)
			return nil
		}
		o.Run = last.ID
	} else {
		o.Goal = nexus.Goal{Text: Goal, Mode: nexus.Evolution}
	}
	if o.Consent.Given = inner.UserName(); d.asks {
		o.Consent = nexus.PlanApprovalRule{Wanted: true}
	}
	o.Headless, o.Agree = !d.asks, planconsent.NewDialog(inner, p)
	return progress.RunAndShow(ctx, inner, p, o)
}

// continueCommand returns the command that continues the demo.
func (d *demoStage) continueCommand() string {
	text := "nexus demo --dir " + d.home
	if d.served {
		text += " --serve"
	}
	return text
}

// printCacheNotes prints the sources of the run's input tokens: the scripted model simulates caches like
// those of providers.
func printCacheNotes(ctx context.Context, a *console.Console) error {
	return a.WithRunForReading(ctx, "", func(_ *app.Repository, _ journal.RecordedRun, s *state.State) error {
		style := a.Style(a.Out)
		return a.Print("\n" + style.Bold("cache") + "\n  " + strings.Join(view.BillOf(s).CacheNotes(), "\n  ") + "\n")
	})
}

// printRepairs prints the failures on the way that were repaired.
func printRepairs(ctx context.Context, a *console.Console) error {
	return a.WithRunForReading(ctx, "", func(_ *app.Repository, _ journal.RecordedRun, s *state.State) error {
		all := view.RepairLines(s)
		if len(all) == 0 {
			return nil
		}
		style := a.Style(a.Out)
		text := "\n" + style.Bold("failures on the way that were fixed") + "\n"
		for _, line := range all {
			text += "  - " + strings.TrimPrefix(style.Wrap(line, "    "), "    ") + "\n"
		}
		return a.Print(text)
	})
}

// printGitHistory prints the sample's git history.
func printGitHistory(ctx context.Context, a *console.Console) error {
	repo, err := git.FindRepo(ctx, a.Dir)
	if err != nil {
		return err
	}
	text, err := repo.Run(ctx, "log", "--branches", "--format=%h %s", "--shortstat", "--reverse")
	if err != nil {
		return err
	}
	s := a.Style(a.Out)
	var b strings.Builder
	b.WriteString("\n" + s.Bold("git log") + "\n")
	for line := range strings.Lines(text) {
		line = view.EscapeLinesForTerminal(line)
		if strings.HasPrefix(line, " ") {
			line = s.Dim("       " + line)
		}
		if line != "" {
			b.WriteString("  " + line + "\n")
		}
	}
	return a.Print(b.String())
}

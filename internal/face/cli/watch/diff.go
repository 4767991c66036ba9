package watch

import (
	"context"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/frame"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

func diffCommand(a *frame.App) *cobra.Command {
	var run string
	var stat bool
	c := a.Command("diff TASK [--stat] [--run RUN]", "print what a task changed, landed or not", func(ctx context.Context, args []string) error {
		return a.Look(ctx, run, func(p *frame.Place, _ journal.Run, s *state.State) error {
			from, to, err := span(s, nexus.TaskID(args[0]))
			if err != nil {
				return err
			}
			flags := []string{"diff", "--no-ext-diff", "--no-textconv", "--find-renames"}
			style := a.Style(a.Out)
			if stat {
				flags = append(flags, "--stat")
			}
			clone := git.Repo{Dir: filepath.Join(p.State, "repo.git")}
			text, err := clone.Run(ctx, append(flags, "--end-of-options", from, to)...)
			if err != nil {
				return err
			}
			if !style.Plain {
				text = view.Diff(style, text)
			}
			return a.Print(text)
		})
	}, frame.CodeOK, frame.CodeFailed, frame.CodeUsage)
	c.Args = frame.Takes(1, 1)
	c.Flags().BoolVar(&stat, "stat", false, "only the files and how much changed in them")
	a.RunFlag(c, &run)
	return c
}

// span returns the two commits between which a task's change lies: what
// landed, or else the last snapshot of its last attempt.
func span(s *state.State, id nexus.TaskID) (from, to string, err error) {
	t := s.Task(id)
	if t == nil {
		return "", "", frame.NotFound("task", string(id), "nexus status lists them.")
	}
	if t.Landed != nil {
		return t.Landed.Parent, t.Landed.Commit, nil
	}
	for i := len(t.Attempts) - 1; i >= 0; i-- {
		if at := t.Attempts[i]; at.Snapshot.Commit != "" {
			return at.Base, at.Snapshot.Commit, nil
		}
	}
	return "", "", &nexus.Error{Code: nexus.CodeNotFound, Message: string(id) + " has changed nothing yet", Hint: "See nexus show " + string(id) + "."}
}

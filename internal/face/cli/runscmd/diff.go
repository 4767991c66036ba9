package runscmd

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// diffResult is the JSON output of diff.
type diffResult struct {
	Run  nexus.RunID `json:"run"`
	From string      `json:"from"` // commit before the change
	To   string      `json:"to"`   // commit after it
	Diff string      `json:"diff"` // as git prints it
}

func diffCommand(a *console.Console) *cobra.Command {
	var run string
	var stat bool
	var of diffPortion
	c := a.Command("diff TASK|ATTEMPT [--round N] [--up-to N] [--stat] [--run RUN] [--json]", "print the change of a task, landed or not", func(ctx context.Context, args []string) error {
		return a.ReadRun(ctx, run, func(p *app.Repository, r journal.RecordedRun, s *state.State) error {
			from, to, err := diffCommits(s, args[0], of)
			if err != nil {
				return err
			}
			flags := []string{"diff", "--no-ext-diff", "--no-textconv", "--find-renames"}
			if stat {
				flags = append(flags, "--stat")
			}
			clone := git.Repo{Dir: filepath.Join(p.State, "repo.git")}
			text, err := clone.Run(ctx, append(flags, "--end-of-options", from, to)...)
			if err != nil {
				return err
			}
			return a.Answer(diffResult{Run: r.ID, From: from, To: to, Diff: text}, func(style view.Style) string {
				if style.Plain {
					return text
				}
				return view.DrawDiff(style, text)
			})
		})
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.ArgCount(1, 1)
	c.Flags().BoolVar(&stat, "stat", false, "show only the files and how much changed in each")
	c.Flags().IntVar(&of.round, "round", 0, "show only the change of round `N`, compared with the round before or the attempt's start")
	c.Flags().IntVar(&of.upTo, "up-to", 0, "show the change up to the end of round `N`")
	console.SetFlagMinimum(c, "round", 1)
	console.SetFlagMinimum(c, "up-to", 1)
	c.MarkFlagsMutuallyExclusive("round", "up-to")
	a.RunFlag(c, &run)
	a.JSONFlag(c)
	return c
}

// diffPortion selects a part of a task's change. Zero is all of it.
type diffPortion struct {
	round int // the change of this round, from 1
	upTo  int // the changes up to the end of this round, from 1
}

// diffCommits returns the commits before and after the change of a task or of one attempt: for a task
// the landed change, or else the result of its last attempt that changed files.
func diffCommits(s *state.State, name string, of diffPortion) (from, to string, err error) {
	t, a := s.TaskByID(nexus.TaskID(name)), s.AttemptByID(nexus.AttemptID(name))
	switch {
	case t == nil && (a == nil || s.TaskByID(a.Task) == nil):
		return "", "", app.NotFoundError("task or attempt", name, "nexus status and nexus show TASK list them.")
	case t != nil && of != diffPortion{}:
		a = lastAttemptWithRounds(t)
	case t != nil:
		if from, to = t.ChangedCommits(); to != "" {
			return from, to, nil
		}
	}
	switch {
	case a == nil:
	case of != diffPortion{}:
		r, err := findRound(a, max(of.round, of.upTo))
		if err != nil {
			return "", "", err
		}
		if of.round > 0 {
			return r.From, r.ResultTree(), nil
		}
		return r.Base, r.ResultTree(), nil
	case a.Snapshot.Commit != "":
		return a.Base, a.Snapshot.Commit, nil
	case a.LastRound() != nil: // it was handed back, and has not changed anything since
		return a.LastRound().Base, a.LastRound().ResultTree(), nil
	}
	return "", "", &nexus.Error{Code: nexus.CodeNotFound, Message: name + " has changed nothing yet", Hint: "See nexus show " + name + "."}
}

// lastAttemptWithRounds returns the attempt whose rounds are a task's rounds: the last one with rounds, which
// is also the one that landed; nil without one.
func lastAttemptWithRounds(t *state.Task) *state.Attempt {
	for _, a := range slices.Backward(t.Attempts) {
		if a.LastRound() != nil {
			return a
		}
	}
	return nil
}

func findRound(a *state.Attempt, n int) (*state.Round, error) {
	if r := a.RoundAt(n); r != nil {
		return r, nil
	}
	return nil, &nexus.Error{
		Code: nexus.CodeNotFound, Message: fmt.Sprintf("%s has no round %d, but %s", a.ID, n, view.Count(len(a.Rounds), "round")),
		Hint: fmt.Sprintf("nexus show %s lists the rounds with their commits.", a.ID),
	}
}

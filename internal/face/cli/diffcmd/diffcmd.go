// Package diffcmd implements the command "nexus diff".
package diffcmd

import (
	"context"
	"fmt"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// diffResult is the JSON output of diff.
type diffResult struct {
	Run  nexus.RunID `json:"run"`
	From string      `json:"from"` // commit before the change
	To   string      `json:"to"`   // commit after it
	Diff string      `json:"diff"` // as git prints it
}

// Options are the options of the command.
type Options struct {
	Console *console.Console
	Run     string // as a person names it; empty: the default run
	Name    string // of a task or an attempt
	Stat    bool   // only the files, and how much changed in each
	Round   int    // only the change of this round, from 1; 0: all
	UpTo    int    // only the changes up to the end of this round, from 1; 0: all
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = printDiff
	}
	const use = "diff TASK|ATTEMPT [--round N] [--up-to N] [--stat] [--run RUN] [--json]"
	command := c.Command(use, "print the change of a task, landed or not", func(ctx context.Context, args []string) error {
		o.Name = args[0]
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Args = console.ArgCount(1, 1)
	f := command.Flags()
	f.BoolVar(&o.Stat, "stat", false, "show only the files and how much changed in each")
	f.IntVar(&o.Round, "round", 0, "show only the change of round `N`, compared with the round before or the attempt's start")
	f.IntVar(&o.UpTo, "up-to", 0, "show the change up to the end of round `N`")
	console.SetFlagMinimum(command, "round", 1)
	console.SetFlagMinimum(command, "up-to", 1)
	command.MarkFlagsMutuallyExclusive("round", "up-to")
	c.RunFlag(command, &o.Run)
	c.JSONFlag(command)
	return command
}

// printDiff prints the change.
func printDiff(ctx context.Context, o *Options) error {
	return o.Console.ReadSubject(ctx, o.Run, o.Name, func(p *app.Repository, s app.RunSubject) error {
		if err := s.RequireTask(o.Name); err != nil {
			return err
		}
		from, to, err := diffCommits(s.State, s.Part(), diffPortion{round: o.Round, upTo: o.UpTo})
		if err != nil {
			return err
		}
		flags := []string{"diff", "--no-ext-diff", "--no-textconv", "--find-renames"}
		if o.Stat {
			flags = append(flags, "--stat")
		}
		clone := git.Repo{Dir: filepath.Join(p.State, "repo.git")}
		text, err := clone.Run(ctx, append(flags, "--end-of-options", from, to)...)
		if err != nil {
			return err
		}
		return o.Console.Answer(diffResult{Run: s.ID, From: from, To: to, Diff: text}, func(style view.OutputStyle) string {
			if style.Plain {
				return text
			}
			return view.DrawDiff(style, text)
		})
	})
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
		return "", "", app.NotFoundError("task or attempt", name, "nexus status lists them.")
	case t != nil && of != diffPortion{}:
		a = t.LastAttemptWithRounds()
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
	return "", "", &nexus.Error{Code: nexus.CodeNotFound, Message: name + " has changed nothing yet", Hint: "See nexus status " + name + "."}
}

func findRound(a *state.AttemptState, n int) (*state.AttemptRound, error) {
	if r := a.RoundAt(n); r != nil {
		return r, nil
	}
	return nil, &nexus.Error{
		Code: nexus.CodeNotFound, Message: fmt.Sprintf("%s has no round %d, but %s", a.ID, n, view.CountWithNoun(len(a.Rounds), "round")),
		Hint: fmt.Sprintf("nexus status %s lists the rounds with their commits.", a.ID),
	}
}

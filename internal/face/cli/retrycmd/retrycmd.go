// Package retrycmd implements the command "nexus retry".
package retrycmd

import (
	"context"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/schedule"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/runrequest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
)

// Options are the options of the command.
type Options struct {
	Console *console.Console
	Run     string // as a person names it; empty: the default run
	Task    string
	Message string // for the agent before it starts; empty: none
	Round   string // round to start from, such as 2 or T3.1/2; empty: the best tree so far
	Fresh   bool   // start from the run's branch
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = retryTask
	}
	const use = "retry TASK [--round N | --fresh] [--tell TEXT] [--run RUN] [--json]"
	command := c.Command(use, "retry a parked, failed or skipped task", func(ctx context.Context, args []string) error {
		o.Task = args[0]
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Args = console.ArgCount(1, 1)
	f := command.Flags()
	f.StringVar(&o.Message, "tell", "", "`TEXT` for the agent before it starts, such as what to do differently")
	f.StringVar(&o.Round, "round", "", "start from the result of round `N` of the last attempt, or of another one: T3.1/2; the default is the best tree so far")
	f.BoolVar(&o.Fresh, "fresh", false, "start from the run's branch, without anything from earlier attempts")
	command.MarkFlagsMutuallyExclusive("round", "fresh")
	c.RunFlag(command, &o.Run)
	c.JSONFlag(command)
	return command
}

// retryTask requests another attempt at the task.
func retryTask(ctx context.Context, o *Options) error {
	return o.Console.ChangeSubject(ctx, o.Run, o.Task, func(p *app.Repository, s app.RunSubject) error {
		if err := s.RequireTask(o.Task); err != nil {
			return err
		}
		wish := nexus.Request{Verb: nexus.VerbRetry, Task: s.Task, Text: o.Message, Fresh: o.Fresh}
		if o.Round != "" {
			if err := setRetryRound(ctx, p, s.State, &wish, o.Round); err != nil {
				return err
			}
		}
		return runrequest.SendTo(ctx, o.Console, p, s, wish)
	})
}

// setRetryRound fills in the round that a request goes back to, and checks that it can. The conductor may
// still refuse it later.
func setRetryRound(ctx context.Context, p *app.Repository, s *state.State, wish *nexus.Request, round string) error {
	t := s.TaskByID(wish.Task)
	if t.Landed != nil {
		return nil // the request itself reports it
	}
	id, number, named := strings.Cut(round, "/")
	n, err := strconv.Atoi(number)
	if !named {
		n, err = strconv.Atoi(round)
		if a := t.LastAttemptWithRounds(); a != nil {
			id = string(a.ID)
		} else if err == nil {
			return app.NotFoundError("round", round, fmt.Sprintf("%s has no round yet. To start from scratch: nexus retry %s.", t.ID, t.ID))
		}
	}
	if err != nil || n < 1 {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("%q is not a round", round),
			Hint: "Give a number, or an attempt and a number, such as T3.1/2.",
		}
	}
	wish.Attempt, wish.Round = nexus.AttemptID(id), n
	why := schedule.RoundProblem(s, t, wish.Attempt, n)
	if why == "" {
		why, err = mergeConflictReason(ctx, p, s, s.AttemptByID(wish.Attempt).RoundAt(n))
	}
	if why != "" {
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "retry: " + why,
			Hint: fmt.Sprintf("nexus status %s lists its rounds. Without --round, it starts from the best one that merges; with --fresh, from scratch.", t.ID),
		}
	}
	return err
}

// mergeConflictReason returns why the result of a round cannot be merged onto the current tip, empty if it
// can.
func mergeConflictReason(ctx context.Context, p *app.Repository, s *state.State, r *state.AttemptRound) (string, error) {
	if r.Base == s.Tip {
		return "", nil
	}
	m, err := git.Repo{Dir: filepath.Join(p.State, "repo.git")}.Merge(ctx, r.Base, s.Tip, r.ResultTree())
	if err != nil || len(m.Conflicts) == 0 {
		return "", err
	}
	return fmt.Sprintf("round %d of %s does not merge with what landed since: %s", r.Round, r.Attempt, strings.Join(m.Conflicts, ", ")), nil
}

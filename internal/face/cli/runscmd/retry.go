package runscmd

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
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
)

func retryCommand(a *console.Console) *cobra.Command {
	var run, text, round string
	var fresh bool
	c := a.Command("retry TASK [--round N | --fresh] [--tell TEXT] [--run RUN] [--json]", "retry a parked, failed or skipped task", func(ctx context.Context, args []string) error {
		wish := nexus.Request{Verb: nexus.VerbRetry, Task: nexus.TaskID(args[0]), Text: text, Fresh: fresh}
		return withRun(ctx, a, run, func(p *app.Repository, r journal.RecordedRun) error {
			if round != "" {
				if err := setRetryRound(ctx, p, r.ID, &wish, round); err != nil {
					return err
				}
			}
			return makeRequest(ctx, a, p, r, wish)
		})
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.ArgCount(1, 1)
	c.Flags().StringVar(&text, "tell", "", "`TEXT` for the agent before it starts, such as what to do differently")
	c.Flags().StringVar(&round, "round", "", "start from the result of round `N` of the last attempt, or of another one: T3.1/2; the default is the best tree so far")
	c.Flags().BoolVar(&fresh, "fresh", false, "start from the run's branch, without anything from earlier attempts")
	c.MarkFlagsMutuallyExclusive("round", "fresh")
	a.RunFlag(c, &run)
	a.JSONFlag(c)
	return c
}

// setRetryRound fills in the round that a request goes back to, and checks that it can. The conductor may
// still refuse it later.
func setRetryRound(ctx context.Context, p *app.Repository, run nexus.RunID, wish *nexus.Request, round string) error {
	s, err := p.Replay(ctx, run)
	if err != nil {
		return err
	}
	t := s.TaskByID(wish.Task)
	if t == nil || t.Landed != nil {
		return nil // the request itself reports it
	}
	id, number, named := strings.Cut(round, "/")
	n, err := strconv.Atoi(number)
	if !named {
		n, err = strconv.Atoi(round)
		if a := lastAttemptWithRounds(t); a != nil {
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
			Hint: fmt.Sprintf("nexus show %s lists its rounds. Without --round, it starts from the best one that merges; with --fresh, from scratch.", t.ID),
		}
	}
	return err
}

// mergeConflictReason returns why the result of a round cannot be merged onto the current tip, empty if it
// can.
func mergeConflictReason(ctx context.Context, p *app.Repository, s *state.State, r *state.Round) (string, error) {
	if r.Base == s.Tip {
		return "", nil
	}
	m, err := git.Repo{Dir: filepath.Join(p.State, "repo.git")}.Merge(ctx, r.Base, s.Tip, r.ResultTree())
	if err != nil || len(m.Conflicts) == 0 {
		return "", err
	}
	return fmt.Sprintf("round %d of %s does not merge with what landed since: %s", r.Round, r.Attempt, strings.Join(m.Conflicts, ", ")), nil
}

// retryText describes the result of a retry: the starting point of the next attempt and, if the run
// is not in progress, that nothing continues by itself.
func retryText(t *state.Task, wish nexus.Request, told requestResult) string {
	text := fmt.Sprintf("retry: %s is tried again", t.ID)
	if !told.Granted {
		text = fmt.Sprintf("retry: recorded; run %s is not in progress, continue it with: nexus resume", told.Run)
	}
	a := t.CurrentAttempt()
	goesOn := a != nil && (a.Stage == state.Waiting && t.Status != nexus.Failed || t.Status == nexus.Skipped && a.Outcome == nexus.Accepted)
	best, ok := schedule.BestStartingTree(t)
	switch {
	case wish.Round > 0:
		return fmt.Sprintf("%s\n%s starts from round %d of %s\n", text, t.ID, wish.Round, wish.Attempt)
	case wish.Fresh, !ok && !goesOn:
		return fmt.Sprintf("%s\n%s starts from the run's branch\n", text, t.ID)
	case goesOn:
		return text + "\n"
	}
	return fmt.Sprintf("%s\n%s starts from round %d of %s, where %s; --round N picks another one, --fresh none\n", text, t.ID, best.Round, best.Attempt, best.Reach)
}

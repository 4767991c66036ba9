// Package addcmd implements the command "nexus add".
package addcmd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/backlogitem"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/runrequest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/workaddition"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// planning limits how long a command waits until a planner has made tasks of an addition.
const planning = 5 * time.Minute

// AdditionResult is the result of an addition and the JSON output of nexus add.
type AdditionResult struct {
	Run     nexus.RunID    `json:"run,omitzero"` // empty if no run has it
	Seq     int64          `json:"seq,omitzero"` // of the request in the journal
	Held    bool           `json:"held"`         // the run has a conductor
	Granted bool           `json:"granted"`
	Tasks   []nexus.TaskID `json:"tasks,omitempty"`   // tasks made of it, as far as known
	Asks    string         `json:"question,omitzero"` // open question about those tasks
	Item    string         `json:"item,omitzero"`     // item of the backlog
	Why     string         `json:"why,omitzero"`      // why it led to nothing, or not yet
	refused bool
}

// Options are the options of the command.
type Options struct {
	Console  *console.Console
	Run      string // as a person names it; empty: the run in progress, else the backlog
	File     string // with the text; - is standard input; empty: the text is in Words
	Words    []string
	Addition workaddition.Addition
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = addWork
	}
	const use = "add TEXT | -f FILE [--needs TASKS] [--run RUN] [flags]"
	command := c.Command(use, "add work to the run that is in progress", func(ctx context.Context, args []string) error {
		o.Words = args
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Args = console.ArgCount(0, -1)
	f := command.Flags()
	f.StringVarP(&o.File, "file", "f", "", "read the text from `FILE`; - is standard input")
	o.Addition.AddFlags(f)
	f.StringSliceVar(&o.Addition.Needs, "needs", nil, "`TASKS` of the run that must land before, such as T1,T3")
	f.StringVar(&o.Run, "run", "", "the `RUN`; the latest in progress if not given")
	c.JSONFlag(command)
	return command
}

// addWork adds the work to a run, or to the backlog if no run accepts it.
func addWork(ctx context.Context, o *Options) error {
	a, w := o.Console, &o.Addition
	if err := w.Read(ctx, a, o.File, o.Words); err != nil {
		return err
	}
	p, err := a.OpenRepository(ctx, app.ChangeAccess)
	if err != nil {
		return err
	}
	defer p.Close()
	r, ok, err := runToExtend(ctx, p, o.Run)
	if err != nil {
		return err
	}
	if !ok {
		return keepForLater(ctx, a, p, *w, "no run is in progress")
	}
	got, err := AddToRun(ctx, a, p, r, w.AddRequest(""))
	if err != nil {
		return err
	}
	if got.refused && o.Run == "" && len(w.Needs) == 0 {
		return keepForLater(ctx, a, p, *w, fmt.Sprintf("run %s did not accept it: %s", r.ID, got.Why))
	}
	return printAddition(a, got)
}

// runToExtend returns the run that an addition goes to; false if none is in progress.
func runToExtend(ctx context.Context, p *app.Repository, name string) (journal.RecordedRun, bool, error) {
	if name == "" {
		return p.ActiveRun(ctx)
	}
	r, err := p.FindRun(ctx, name)
	return r, err == nil, err
}

// AddToRun asks a run to do an addition, and waits a while for the result.
func AddToRun(ctx context.Context, a *console.Console, p *app.Repository, r journal.RecordedRun, wish nexus.Request) (AdditionResult, error) {
	s, err := p.Replay(ctx, r.ID)
	if err != nil {
		return AdditionResult{}, err
	}
	if why, hint := runrequest.Problem(s, wish); why != "" && r.Holder == nil {
		return AdditionResult{}, &nexus.Error{Code: nexus.CodeInvalidInput, Message: why, Hint: hint}
	}
	wish.By = a.UserName()
	e, err := p.Journal.Ask(ctx, r.ID, wish)
	if err != nil {
		return AdditionResult{}, err
	}
	got := AdditionResult{Run: r.ID, Seq: e.Seq, Held: r.Holder != nil, Item: wish.Item}
	if !got.Held {
		got.Why = "the run adds it when it continues: nexus resume"
		return got, nil
	}
	told, err := runrequest.AwaitReply(ctx, p, runrequest.Result{Run: r.ID, Seq: e.Seq, Held: true})
	switch {
	case err != nil:
		return got, err
	case !told.Settled:
		got.Why = "the run has not answered yet"
		return got, nil
	case !told.Granted:
		got.refused, got.Why = true, told.Why
		return got, nil
	}
	got.Granted = true
	return got, awaitAddedTasks(ctx, p, &got)
}

// WithdrawItem asks a run to return an item of the backlog, and waits a while for that. The error
// explains why it was refused. A run without a conductor does it when it continues.
func WithdrawItem(ctx context.Context, a *console.Console, p *app.Repository, run nexus.RunID, item string) error {
	r, err := p.FindRun(ctx, string(run))
	if err != nil {
		return err
	}
	e, err := p.Journal.Ask(ctx, run, nexus.Request{Verb: nexus.VerbSkip, Item: item, By: a.UserName()})
	if err != nil || r.Holder == nil {
		return err
	}
	told, err := runrequest.AwaitReply(ctx, p, runrequest.Result{Run: run, Seq: e.Seq, Held: true})
	switch {
	case err != nil:
		return err
	case !told.Settled:
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("run %s has not answered yet whether it releases %s", run, item),
			Hint: "Try again later. nexus backlog shows its state.",
		}
	case !told.Granted:
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("run %s does not release %s: %s", run, item, told.Why),
			Hint: "nexus status " + string(run) + " shows its state.",
		}
	}
	return nil
}

// awaitAddedTasks follows a run until the tasks of an addition are known, or the reason why there are none
// yet.
func awaitAddedTasks(ctx context.Context, p *app.Repository, got *AdditionResult) error {
	ctx, cancel := context.WithTimeoutCause(ctx, planning, runrequest.ErrPatience)
	defer cancel()
	known := func() (bool, error) {
		s, err := p.Replay(ctx, got.Run)
		if err != nil {
			return false, err
		}
		x := s.AdditionBySeq(got.Seq)
		switch {
		case x == nil:
			got.Why = "it is no longer in the run"
		case len(x.Tasks) > 0:
			got.Tasks, got.Why = x.Tasks, ""
		case x.Why != "":
			got.Granted, got.refused, got.Why = false, false, x.Why
		case x.Question != "":
			got.Asks, got.Why = x.Question, "its tasks wait for consent"
		case s.Status == nexus.StatusPaused:
			got.Why = "the run is paused"
		case s.Status.HasEnded():
			got.Why = "the run ended before that: it is added when the run continues"
		case !s.Planned:
			got.Why = "it is added once the plan of the run is approved"
		case x.Item != "" && x.Attempt == "":
			got.Why = "other items come first"
		default:
			got.Why = "the planner turns it into tasks"
			return false, nil
		}
		return true, nil
	}
	for _, err := range p.Journal.Follow(ctx, got.Run, got.Seq) {
		if err == nil {
			var done bool
			if done, err = known(); done {
				return err
			}
		}
		if err != nil && errors.Is(context.Cause(ctx), runrequest.ErrPatience) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// keepForLater puts an addition that no run accepts into the backlog.
func keepForLater(ctx context.Context, a *console.Console, p *app.Repository, w workaddition.Addition, why string) error {
	item, err := a.BacklogStore(p).AddItem(ctx, w.BacklogItem(a.UserName(), a.Now()))
	if err != nil {
		return err
	}
	got := AdditionResult{Item: item.ID, Why: why}
	return a.Answer(got, func(view.OutputStyle) string {
		return fmt.Sprintf("%s, so it is in the backlog: %s\nstart it with: nexus backlog start %s\n", why, backlogitem.BacklogItemPath(item.ID), item.ID)
	})
}

// printAddition prints the result of an addition.
func printAddition(a *console.Console, got AdditionResult) error {
	if got.refused {
		return &nexus.Error{Code: nexus.CodeInvalidInput, Message: "nothing was added: " + got.Why, Hint: "See nexus status."}
	}
	return a.Answer(got, func(view.OutputStyle) string { return got.String() })
}

// IsRefused reports whether the run refused the addition.
func (g AdditionResult) IsRefused() bool { return g.refused }

// String describes the result for people.
func (g AdditionResult) String() string {
	what := "added to run " + string(g.Run)
	switch {
	case len(g.Tasks) > 0:
		return fmt.Sprintf("%s: %s\n", what, nexus.JoinWords(g.Tasks))
	case g.Asks != "":
		return fmt.Sprintf("%s; %s: nexus approve %s, or nexus reject %s --why TEXT\n", what, g.Why, g.Asks, g.Asks)
	default:
		return strings.TrimSuffix(what+"; "+g.Why, "; ") + "\n"
	}
}

package checkpointcmd

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// pointState is a point in the JSON output of show.
type pointState struct {
	Run    nexus.RunID                       `json:"run"`
	Name   string                            `json:"name,omitzero"`
	Seq    int64                             `json:"seq"`
	Status nexus.RunStatus                   `json:"status"`
	Tip    string                            `json:"tip"`
	Spent  nexus.Money                       `json:"spent"`
	Tasks  map[nexus.TaskID]nexus.TaskStatus `json:"tasks"`
	Trees  []nexus.PinnedAttemptTree         `json:"trees,omitempty"`
	Pins   map[string]string                 `json:"pins,omitempty"` // commits by the last part of their refs' names
	Made   *checkpointRow                    `json:"made,omitempty"`

	state *state.State
}

func pointOf(s *state.State, name string) (pointState, error) {
	at, err := app.ParseRunPoint(s, name)
	if err != nil {
		return pointState{}, err
	}
	if at.Seq > s.Seq || at.Seq < 1 {
		return pointState{}, app.NotFoundError("event", name, fmt.Sprintf("The run is at event %d.", s.Seq))
	}
	then, err := s.StateAt(at.Seq)
	if err != nil {
		return pointState{}, err
	}
	v := pointState{
		Run: s.Run, Name: at.CheckpointName(), Seq: at.Seq, Status: then.Status, Tip: then.Tip, Spent: then.Ledger.SpentMoney(),
		Tasks: map[nexus.TaskID]nexus.TaskStatus{}, Trees: then.UnlandedSnapshots(), state: then,
	}
	for _, t := range then.Tasks {
		v.Tasks[t.ID] = then.StatusOf(t)
	}
	if at.Made != nil {
		made := rowOf(at.Made)
		v.Made = &made
	}
	return v, nil
}

// ShowOptions are the options of nexus checkpoint show.
type ShowOptions struct {
	Console *console.Console
	Run     string // as a person names it; empty: the default run
	Point   string // name of a checkpoint, or number of an event
}

// NewShow returns the command that shows a point. It calls run with the parsed options; nil runs the
// command.
func NewShow(c *console.Console, run func(context.Context, *ShowOptions) error) *cobra.Command {
	o := &ShowOptions{Console: c}
	if run == nil {
		run = showPoint
	}
	command := c.Command("show NAME|EVENT [--run RUN] [--json]", "show a run as it was at a point", func(ctx context.Context, args []string) error {
		o.Point = args[0]
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Args = console.ArgCount(1, 1)
	c.RunFlag(command, &o.Run)
	c.JSONFlag(command)
	return command
}

// showPoint shows the run as it was at the point.
func showPoint(ctx context.Context, o *ShowOptions) error {
	return o.Console.ReadRun(ctx, o.Run, func(p *app.Repository, _ journal.RecordedRun, s *state.State) error {
		v, err := pointOf(s, o.Point)
		if err != nil {
			return err
		}
		if v.Name != "" {
			if v.Pins, err = p.PinnedCommits(ctx, v.Run, v.Name); err != nil {
				return err
			}
		}
		return o.Console.Answer(v, func(st view.OutputStyle) string { return drawShown(st, v) })
	})
}

func drawShown(st view.OutputStyle, v pointState) string {
	var b strings.Builder
	fmt.Fprintf(&b, "run %s at event %d: %s, branch at %s, %s spent\n", v.Run, v.Seq, v.Status, view.ShortHash(v.Tip), v.Spent)
	if m := v.Made; m != nil {
		fmt.Fprintf(&b, "checkpoint %s, %s, made %s\n", m.Name, m.Reason, m.At)
		if m.Why != "" {
			fmt.Fprintf(&b, "%s\n", view.EscapeForTerminal(m.Why))
		}
	}
	var cells [][]string
	for _, t := range v.state.Tasks {
		files := ""
		for _, tree := range v.Trees {
			if v.state.AttemptByID(tree.Attempt).Task == t.ID {
				files = fmt.Sprintf("%s at %s", tree.Attempt, view.ShortHash(tree.Commit))
			}
		}
		if t.Landed != nil {
			files = "landed as " + view.ShortHash(t.Landed.Commit)
		}
		cells = append(cells, []string{string(t.ID), string(v.Tasks[t.ID]), files, view.EscapeForTerminal(t.Title)})
	}
	if len(cells) > 0 {
		b.WriteString(view.DrawTable(st, []string{"TASK", "STATUS", "FILES", "TITLE"}, cells))
	}
	return b.String()
}

// pointDifference is the JSON output of diff.
type pointDifference struct {
	Run   nexus.RunID    `json:"run"`
	From  int64          `json:"from"`
	To    int64          `json:"to"`
	Tips  [2]string      `json:"tips"`
	Money nexus.Money    `json:"money"` // spent between them
	Tasks []statusChange `json:"tasks"` // with a different status
	Diff  string         `json:"diff"`
}

type statusChange struct {
	Task nexus.TaskID     `json:"task"`
	From nexus.TaskStatus `json:"from,omitzero"` // empty: there was no such task
	To   nexus.TaskStatus `json:"to,omitzero"`
}

// DiffOptions are the options of nexus checkpoint diff.
type DiffOptions struct {
	Console *console.Console
	Run     string // as a person names it; empty: the default run
	A, B    string // points: names of checkpoints, or numbers of events
	Stat    bool   // only the files, and how much changed in each
}

// NewDiff returns the command that compares two points. It calls run with the parsed options; nil
// runs the command.
func NewDiff(c *console.Console, run func(context.Context, *DiffOptions) error) *cobra.Command {
	o := &DiffOptions{Console: c}
	if run == nil {
		run = comparePoints
	}
	const use, about = "diff A B [--stat] [--run RUN] [--json]", "show what differs between two points of a run"
	command := c.Command(use, about, func(ctx context.Context, args []string) error {
		o.A, o.B = args[0], args[1]
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Args = console.ArgCount(2, 2)
	command.Flags().BoolVar(&o.Stat, "stat", false, "show only the files and how much changed in each")
	c.RunFlag(command, &o.Run)
	c.JSONFlag(command)
	return command
}

// comparePoints prints what differs between the points.
func comparePoints(ctx context.Context, o *DiffOptions) error {
	return o.Console.ReadRun(ctx, o.Run, func(p *app.Repository, r journal.RecordedRun, s *state.State) error {
		from, err := pointOf(s, o.A)
		if err != nil {
			return err
		}
		to, err := pointOf(s, o.B)
		if err != nil {
			return err
		}
		d := pointDifference{
			Run: r.ID, From: from.Seq, To: to.Seq, Tips: [2]string{from.Tip, to.Tip},
			Money: to.Spent - from.Spent, Tasks: changedTasks(s, from, to),
		}
		flags := []string{"diff", "--no-ext-diff", "--no-textconv", "--find-renames"}
		if o.Stat {
			flags = append(flags, "--stat")
		}
		clone := git.Repo{Dir: filepath.Join(p.State, "repo.git")}
		if from.Tip != to.Tip {
			if d.Diff, err = clone.Run(ctx, append(flags, "--end-of-options", from.Tip, to.Tip)...); err != nil {
				return err
			}
		}
		return o.Console.Answer(d, func(st view.OutputStyle) string { return drawDifference(st, d) })
	})
}

// changedTasks returns the tasks with a different status at two points, in the order of the plans.
func changedTasks(s *state.State, from, to pointState) []statusChange {
	all := []statusChange{}
	var seen []nexus.TaskID
	for _, of := range []*state.State{from.state, to.state, s} {
		for _, t := range of.Tasks {
			if slices.Contains(seen, t.ID) {
				continue
			}
			seen = append(seen, t.ID)
			if from.Tasks[t.ID] != to.Tasks[t.ID] {
				all = append(all, statusChange{t.ID, from.Tasks[t.ID], to.Tasks[t.ID]})
			}
		}
	}
	return all
}

func drawDifference(st view.OutputStyle, d pointDifference) string {
	var b strings.Builder
	fmt.Fprintf(&b, "event %d to event %d: branch from %s to %s, %s spent\n",
		d.From, d.To, view.ShortHash(d.Tips[0]), view.ShortHash(d.Tips[1]), d.Money)
	for _, m := range d.Tasks {
		none := func(s nexus.TaskStatus) string {
			if s == "" {
				return "not planned"
			}
			return string(s)
		}
		fmt.Fprintf(&b, "%s: %s, then %s\n", m.Task, none(m.From), none(m.To))
	}
	if d.Diff != "" && st.Plain {
		return b.String() + d.Diff
	}
	return b.String() + view.DrawDiff(st, d.Diff)
}

package checkpointcmd

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// checkpointRow is a checkpoint in the JSON output of list.
type checkpointRow struct {
	Name   string                 `json:"name"`
	Seq    int64                  `json:"seq"`
	At     string                 `json:"at"`
	Reason nexus.CheckpointReason `json:"reason"`
	Why    string                 `json:"why,omitzero"`
	By     string                 `json:"by,omitzero"`
	Tip    string                 `json:"tip"`
	Trees  []nexus.PinnedTree     `json:"trees,omitempty"`
	Undone bool                   `json:"undone,omitzero"` // the run went back to a point before it
}

func rowOf(c *state.Checkpoint) checkpointRow {
	return checkpointRow{
		Name: c.Name, Seq: c.Seq, At: c.At.UTC().Format("2006-01-02T15:04:05Z"),
		Reason: c.Reason, Why: c.Why, By: c.By, Tip: c.Tip, Trees: c.Trees, Undone: c.Undone,
	}
}

func checkpointCommand(a *console.Console) *cobra.Command {
	var run, why string
	const about = "name the current point of a run, to go back to it later"
	c := a.Command("checkpoint NAME [--why TEXT] [--run RUN] [--json]", about, func(ctx context.Context, args []string) error {
		return a.ChangeRun(ctx, run, func(p *app.Repository, r journal.RecordedRun, s *state.State) error {
			if err := console.RefuseLoop(s); err != nil {
				return err
			}
			return makeCheckpoint(ctx, a, p, r, args[0], why)
		})
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.ArgCount(1, 1)
	c.Flags().StringVar(&why, "why", "", "`TEXT` that says why you make the checkpoint")
	a.RunFlag(c, &run)
	a.JSONFlag(c)
	c.AddCommand(listCommand(a), showCommand(a), diffCommand(a), restoreCommand(a))
	return c
}

// checkpointResult is the JSON output of checkpoint.
type checkpointResult struct {
	Run     nexus.RunID `json:"run"`
	Name    string      `json:"name"`
	Seq     int64       `json:"seq,omitzero"` // 0: the conductor has not answered yet
	Tip     string      `json:"tip,omitzero"`
	Request int64       `json:"request,omitzero"` // set if the run has a conductor
}

// makeCheckpoint makes a checkpoint: the conductor of the run does it, or else this process.
func makeCheckpoint(ctx context.Context, a *console.Console, p *app.Repository, r journal.RecordedRun, name, why string) error {
	told := checkpointResult{Run: r.ID, Name: name}
	if slices.Contains([]string{"list", "show", "diff", "restore"}, name) {
		why := view.Quote(name) + " is a command of nexus checkpoint"
		return &nexus.Error{Code: nexus.CodeInvalidInput, Message: why, Hint: "Give another name."}
	}
	if r.Holder == nil {
		c, err := a.MakeCheckpoint(ctx, p, r.ID, name, why, a.UserName())
		if !errors.Is(err, &nexus.Error{Code: nexus.CodeRunHeld}) {
			if err != nil {
				return err
			}
			told.Seq, told.Tip = c.Seq, c.Tip
			return a.Answer(told, func(view.Style) string { return told.resultText() })
		}
	}
	e, err := p.Journal.Ask(ctx, r.ID, nexus.Request{Verb: nexus.VerbCheckpoint, ID: name, Text: why, By: a.UserName()})
	if err != nil {
		return err
	}
	told.Request = e.Seq
	f, err := progress.AwaitRequestResult(ctx, p, r.ID, e.Seq)
	switch {
	case err != nil:
		return err
	case f != nil && !f.Granted:
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "no checkpoint was made: " + f.Why,
			Hint: "nexus checkpoint list shows the names that are taken.",
		}
	case f != nil:
		s, err := p.Replay(ctx, r.ID)
		if err != nil {
			return err
		}
		if c := s.CheckpointByName(name); c != nil {
			told.Seq, told.Tip = c.Seq, c.Tip
		}
	}
	return a.Answer(told, func(view.Style) string { return told.resultText() })
}

func (m checkpointResult) resultText() string {
	if m.Seq == 0 {
		return fmt.Sprintf("checkpoint %s: requested; run %s has not answered yet\n", m.Name, m.Run)
	}
	return fmt.Sprintf("checkpoint %s: event %d of run %s, its branch at %s\nGo back to it: nexus checkpoint restore %s\n",
		m.Name, m.Seq, m.Run, view.ShortHash(m.Tip), m.Name)
}

func listCommand(a *console.Console) *cobra.Command {
	var run string
	c := a.Command("list [--run RUN] [--json]", "list the checkpoints of a run", func(ctx context.Context, _ []string) error {
		return a.ReadRun(ctx, run, func(_ *app.Repository, r journal.RecordedRun, s *state.State) error {
			rows := []checkpointRow{}
			for _, c := range s.ActiveCheckpoints() {
				rows = append(rows, rowOf(c))
			}
			if len(rows) == 0 {
				a.Say("run %s has no checkpoints; make one with nexus checkpoint NAME", r.ID)
			}
			return a.Answer(map[string]any{"run": r.ID, "checkpoints": rows}, func(st view.Style) string { return drawList(st, rows) })
		})
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	a.RunFlag(c, &run)
	a.JSONFlag(c)
	return c
}

func drawList(s view.Style, rows []checkpointRow) string {
	var cells [][]string
	for _, r := range rows {
		why := r.Why
		if r.Undone {
			why = strings.TrimSuffix("undone by a rewind; "+why, "; ")
		}
		cells = append(cells, []string{r.Name, strconv.FormatInt(r.Seq, 10), string(r.Reason), view.ShortHash(r.Tip), r.At, view.Clean(why)})
	}
	if len(cells) == 0 {
		return ""
	}
	return view.DrawTable(s, []string{"NAME", "EVENT", "REASON", "BRANCH AT", "MADE", "WHY"}, cells)
}

// pointState is a point in the JSON output of show.
type pointState struct {
	Run    nexus.RunID                       `json:"run"`
	Name   string                            `json:"name,omitzero"`
	Seq    int64                             `json:"seq"`
	Status nexus.RunStatus                   `json:"status"`
	Tip    string                            `json:"tip"`
	Spent  nexus.Money                       `json:"spent"`
	Tasks  map[nexus.TaskID]nexus.TaskStatus `json:"tasks"`
	Trees  []nexus.PinnedTree                `json:"trees,omitempty"`
	Pins   map[string]string                 `json:"pins,omitempty"` // commits by the last part of their refs' names
	Made   *checkpointRow                    `json:"made,omitempty"`

	state *state.State
}

func pointOf(s *state.State, name string) (pointState, error) {
	at, err := app.ParsePoint(s, name)
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
		Run: s.Run, Name: at.Name(), Seq: at.Seq, Status: then.Status, Tip: then.Tip, Spent: then.Ledger.SpentMoney(),
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

func showCommand(a *console.Console) *cobra.Command {
	var run string
	c := a.Command("show NAME|EVENT [--run RUN] [--json]", "show a run as it was at a point", func(ctx context.Context, args []string) error {
		return a.ReadRun(ctx, run, func(p *app.Repository, _ journal.RecordedRun, s *state.State) error {
			v, err := pointOf(s, args[0])
			if err != nil {
				return err
			}
			if v.Name != "" {
				if v.Pins, err = p.PinnedCommits(ctx, v.Run, v.Name); err != nil {
					return err
				}
			}
			return a.Answer(v, func(st view.Style) string { return drawShown(st, v) })
		})
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.ArgCount(1, 1)
	a.RunFlag(c, &run)
	a.JSONFlag(c)
	return c
}

func drawShown(st view.Style, v pointState) string {
	var b strings.Builder
	fmt.Fprintf(&b, "run %s at event %d: %s, branch at %s, %s spent\n", v.Run, v.Seq, v.Status, view.ShortHash(v.Tip), v.Spent)
	if m := v.Made; m != nil {
		fmt.Fprintf(&b, "checkpoint %s, %s, made %s\n", m.Name, m.Reason, m.At)
		if m.Why != "" {
			fmt.Fprintf(&b, "%s\n", view.Clean(m.Why))
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
		cells = append(cells, []string{string(t.ID), string(v.Tasks[t.ID]), files, view.Clean(t.Title)})
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

func diffCommand(a *console.Console) *cobra.Command {
	var run string
	var stat bool
	const about = "show what differs between two points of a run"
	c := a.Command("diff A B [--stat] [--run RUN] [--json]", about, func(ctx context.Context, args []string) error {
		return a.ReadRun(ctx, run, func(p *app.Repository, r journal.RecordedRun, s *state.State) error {
			from, err := pointOf(s, args[0])
			if err != nil {
				return err
			}
			to, err := pointOf(s, args[1])
			if err != nil {
				return err
			}
			d := pointDifference{
				Run: r.ID, From: from.Seq, To: to.Seq, Tips: [2]string{from.Tip, to.Tip},
				Money: to.Spent - from.Spent, Tasks: changedTasks(s, from, to),
			}
			flags := []string{"diff", "--no-ext-diff", "--no-textconv", "--find-renames"}
			if stat {
				flags = append(flags, "--stat")
			}
			clone := git.Repo{Dir: filepath.Join(p.State, "repo.git")}
			if from.Tip != to.Tip {
				if d.Diff, err = clone.Run(ctx, append(flags, "--end-of-options", from.Tip, to.Tip)...); err != nil {
					return err
				}
			}
			return a.Answer(d, func(st view.Style) string { return drawDifference(st, d) })
		})
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.ArgCount(2, 2)
	c.Flags().BoolVar(&stat, "stat", false, "show only the files and how much changed in each")
	a.RunFlag(c, &run)
	a.JSONFlag(c)
	return c
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

func drawDifference(st view.Style, d pointDifference) string {
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

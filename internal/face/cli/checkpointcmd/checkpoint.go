package checkpointcmd

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/journal"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// checkpointRow is a checkpoint in the JSON output of list.
type checkpointRow struct {
	Name   string                    `json:"name"`
	Seq    int64                     `json:"seq"`
	At     string                    `json:"at"`
	Reason nexus.CheckpointReason    `json:"reason"`
	Why    string                    `json:"why,omitzero"`
	By     string                    `json:"by,omitzero"`
	Tip    string                    `json:"tip"`
	Trees  []nexus.PinnedAttemptTree `json:"trees,omitempty"`
	Undone bool                      `json:"undone,omitzero"` // the run went back to a point before it
}

func rowOf(c *state.RunCheckpoint) checkpointRow {
	return checkpointRow{
		Name: c.Name, Seq: c.Seq, At: c.At.UTC().Format("2006-01-02T15:04:05Z"),
		Reason: c.Reason, Why: c.Why, By: c.By, Tip: c.Tip, Trees: c.Trees, Undone: c.Undone,
	}
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
	if slices.Contains([]string{"list", "show", "diff", "restore", "fork"}, name) {
		why := view.QuoteForTerminal(name) + " is a command of nexus checkpoint"
		return &nexus.Error{Code: nexus.CodeInvalidInput, Message: why, Hint: "Give another name."}
	}
	if r.Holder == nil {
		c, err := a.MakeCheckpoint(ctx, p, r.ID, name, why, a.UserName())
		if !errors.Is(err, &nexus.Error{Code: nexus.CodeRunHeld}) {
			if err != nil {
				return err
			}
			told.Seq, told.Tip = c.Seq, c.Tip
			return a.Answer(told, func(view.OutputStyle) string { return told.resultText() })
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
	return a.Answer(told, func(view.OutputStyle) string { return told.resultText() })
}

func (m checkpointResult) resultText() string {
	if m.Seq == 0 {
		return fmt.Sprintf("checkpoint %s: requested; run %s has not answered yet\n", m.Name, m.Run)
	}
	return fmt.Sprintf("checkpoint %s: event %d of run %s, its branch at %s\nGo back to it: nexus checkpoint restore %s\n",
		m.Name, m.Seq, m.Run, view.ShortHash(m.Tip), m.Name)
}

// ListOptions are the options of nexus checkpoint list.
type ListOptions struct {
	Console *console.Console
	Run     string // as a person names it; empty: the default run
}

// NewList returns the command that lists checkpoints. It calls run with the parsed options; nil runs
// the command.
func NewList(c *console.Console, run func(context.Context, *ListOptions) error) *cobra.Command {
	o := &ListOptions{Console: c}
	if run == nil {
		run = listCheckpoints
	}
	command := c.Command("list [RUN] [--run RUN] [--json]", "list the checkpoints of a run", func(ctx context.Context, args []string) (err error) {
		if o.Run, err = console.NamedRun(o.Run, args); err != nil {
			return err
		}
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Args = console.ArgCount(0, 1)
	c.RunFlag(command, &o.Run)
	c.JSONFlag(command)
	return command
}

// listCheckpoints lists the checkpoints of the run.
func listCheckpoints(ctx context.Context, o *ListOptions) error {
	return o.Console.ReadRun(ctx, o.Run, func(_ *app.Repository, r journal.RecordedRun, s *state.State) error {
		rows := []checkpointRow{}
		for _, c := range s.ActiveCheckpoints() {
			rows = append(rows, rowOf(c))
		}
		if len(rows) == 0 {
			o.Console.Say("run %s has no checkpoints; make one with nexus checkpoint NAME", r.ID)
		}
		return o.Console.Answer(map[string]any{"run": r.ID, "checkpoints": rows}, func(st view.OutputStyle) string { return drawList(st, rows) })
	})
}

func drawList(s view.OutputStyle, rows []checkpointRow) string {
	var cells [][]string
	for _, r := range rows {
		why := r.Why
		if r.Undone {
			why = strings.TrimSuffix("undone by a rewind; "+why, "; ")
		}
		cells = append(cells, []string{r.Name, strconv.FormatInt(r.Seq, 10), string(r.Reason), view.ShortHash(r.Tip), r.At, view.EscapeForTerminal(why)})
	}
	if len(cells) == 0 {
		return ""
	}
	return view.DrawTable(s, []string{"NAME", "EVENT", "REASON", "BRANCH AT", "MADE", "WHY"}, cells)
}

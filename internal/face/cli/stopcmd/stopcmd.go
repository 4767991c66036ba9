// Package stopcmd implements the command "nexus stop": it ends, pauses or skips work, and turns the
// kill switch on and off.
package stopcmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/runrequest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// Options are the options of the command. At most one of Pause, Turn, Skip, Now, All, Here and Lift
// is set.
type Options struct {
	Console *console.Console
	Run     string // as a person names it; empty: the default run
	Name    string // run or task; empty: the run
	Reason  string // recorded with the request; with Turn, the message for the agent

	Pause bool // hold the run or the task until nexus resume
	Turn  bool // cut off the current turn of the task's agent
	Skip  bool // give the task up; the run continues without it
	Now   bool // end the run without letting agents finish their turn
	All   bool // kill switch: end all runs of the user, and let none start
	Here  bool // kill switch of this repository
	Lift  bool // turn the kill switch off
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = stop
	}
	const use = "stop [RUN|TASK] [--now|--pause|--turn|--skip] [--run RUN] | --all | --here | --lift [--json]"
	command := c.Command(use, "end a run, or pause or skip work; what landed stays", func(ctx context.Context, args []string) error {
		if err := o.parseArgs(args); err != nil {
			return err
		}
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	command.Args = console.ArgCount(0, 2)
	f := command.Flags()
	f.BoolVar(&o.Now, "now", false, "end the run at once, without letting agents finish their turn")
	f.BoolVar(&o.Pause, "pause", false, "hold the run, or the TASK, at the next turn of its agents, until nexus resume")
	f.BoolVar(&o.Turn, "turn", false, "interrupt the agent of TASK in its turn; it continues with the TEXT after TASK, if one is given")
	f.BoolVar(&o.Skip, "skip", false, "give TASK up; the run continues without it")
	f.BoolVar(&o.All, "all", false, "turn on the kill switch: end all your runs, and let none start")
	f.BoolVar(&o.Here, "here", false, "the same for this repository only")
	f.BoolVar(&o.Lift, "lift", false, "lift the kill switch, yours and this repository's")
	f.StringVar(&o.Reason, "why", "", "reason, as `TEXT`, recorded with what is stopped, paused or skipped")
	c.RunFlag(command, &o.Run)
	c.JSONFlag(command)
	command.MarkFlagsMutuallyExclusive("pause", "turn", "skip", "now", "all", "here", "lift")
	for _, all := range []string{"all", "here", "lift"} {
		command.MarkFlagsMutuallyExclusive("run", all)
	}
	return command
}

// parseArgs reads the arguments: a run or a task and, with --turn, a message.
func (o *Options) parseArgs(args []string) error {
	o.Name = console.FirstArg(args)
	wrong := func(message, hint string) error {
		return &nexus.Error{Code: nexus.CodeInvalidInput, Message: message, Hint: hint}
	}
	switch {
	case len(args) == 2 && o.Turn && o.Reason == "":
		o.Reason = args[1]
	case len(args) == 2:
		return wrong("nexus stop does not take "+view.QuoteForTerminal(args[1]), "Only --turn takes a text: nexus stop --turn TASK TEXT.")
	case o.Turn && o.Name == "":
		return wrong("--turn needs the task whose agent is interrupted", "For example: nexus stop --turn T3.")
	case o.Skip && o.Name == "":
		return wrong("--skip needs the task to give up", "For example: nexus stop --skip T3. nexus stop ends the run.")
	case o.Lift && o.Reason != "":
		return wrong("--lift takes no --why", "Leave out --why: nothing records why the kill switch is off.")
	case (o.All || o.Here || o.Lift) && o.Name != "":
		return wrong("the kill switch is not about "+view.QuoteForTerminal(o.Name), "Leave out the name, or the flag.")
	}
	return nil
}

// stop does what the options say.
func stop(ctx context.Context, o *Options) error {
	switch {
	case o.Lift:
		return liftSwitch(ctx, o.Console)
	case o.All, o.Here:
		return throwSwitch(ctx, o.Console, o.Here, o.Reason)
	case o.Turn:
		return runrequest.SendToTask(ctx, o.Console, o.Run, o.Name, nexus.Request{Verb: nexus.VerbInterrupt, Text: o.Reason})
	case o.Skip:
		return runrequest.SendToTask(ctx, o.Console, o.Run, o.Name, nexus.Request{Verb: nexus.VerbSkip, Text: o.Reason})
	}
	run, err := loopToEnd(ctx, o)
	if err != nil {
		return err
	}
	return o.Console.ChangeSubject(ctx, run, o.Name, func(p *app.Repository, s app.RunSubject) error {
		switch {
		case s.Part() == "" && o.Pause:
			return runrequest.SendTo(ctx, o.Console, p, s, nexus.Request{Verb: nexus.VerbPause, Text: o.Reason})
		case s.Part() == "":
			return runrequest.SendTo(ctx, o.Console, p, s, nexus.Request{Verb: nexus.VerbStop, Now: o.Now, Text: o.Reason})
		case o.Pause:
			if err := s.RequireTask(o.Name); err != nil {
				return err
			}
			return runrequest.SendTo(ctx, o.Console, p, s, nexus.Request{Verb: nexus.VerbPause, Task: s.Task, Text: o.Reason})
		}
		return &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: fmt.Sprintf("%s is a part of run %s: say what should happen to it", view.EscapeForTerminal(o.Name), s.ID),
			Hint: "--pause holds a task until nexus resume TASK, --turn interrupts its agent, --skip gives it up.",
		}
	})
}

// loopToEnd returns the loop in progress if the command ends a run and names none; else the run
// that it names.
func loopToEnd(ctx context.Context, o *Options) (string, error) {
	if o.Run != "" || o.Name != "" || o.Pause {
		return o.Run, nil
	}
	p, err := o.Console.OpenRepository(ctx, app.ReadAccess)
	if err != nil {
		return "", err
	}
	defer p.Close()
	loop, err := p.ActiveLoop(ctx)
	if err != nil || loop == nil {
		return "", err
	}
	if !o.Console.JSON {
		o.Console.Say("loop %s, in progress", loop.ID)
	}
	return string(loop.ID), nil
}

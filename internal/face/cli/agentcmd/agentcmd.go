// Package agentcmd implements the command "nexus agent".
package agentcmd

import (
	"context"
	"errors"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/forbiddenphrases"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/work/plan"
)

// Options are the options of the command.
type Options struct {
	Console *console.Console
	Prompt  string
	Role    nexus.Role
	JSONL   bool // every event is a line of JSON, instead of the text
	Traffic provider.TrafficRecordingOptions
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = runAgent
	}
	const use, short = "agent -p PROMPT [flags]", "let one agent work here, without plan, gates or landing"
	command := c.Command(use, short, func(ctx context.Context, _ []string) error {
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodeLimit, console.CodePerson, console.CodeInterrupted)
	f := command.Flags()
	f.StringVarP(&o.Prompt, "prompt", "p", "", "prompt for the agent")
	f.StringVar((*string)(&o.Role), "role", string(nexus.Assistant), "`ROLE` of the agent")
	f.BoolVar(&o.JSONL, "jsonl", false, "print every event as a line of JSON instead of the text")
	progress.TrafficFlags(command, &o.Traffic)
	c.JSONFlag(command)
	command.MarkFlagsMutuallyExclusive("json", "jsonl")
	c.SettingFlags(command, "model", "max-turns", "budget", "sandbox")
	return command
}

// runAgent lets the agent work, and prints what it said at the end.
func runAgent(ctx context.Context, o *Options) error {
	a := o.Console
	settings, _, err := a.LoadSettings()
	if err != nil {
		return err
	}
	prompt, err := a.ExpandSlashCommand(settings, o.Prompt)
	if err == nil {
		err = errors.Join(plan.CheckGoal(prompt), forbiddenphrases.Check(a, prompt, nil))
	}
	if err == nil {
		err = a.CheckSandbox(!a.HasPerson())
	}
	if err != nil {
		return err
	}
	said, err := a.RunSession(ctx, settings, o.Role, prompt, o.Traffic, eventPrinter(o))
	if err != nil {
		return err
	}
	if !o.JSONL {
		err = a.Answer(said, func(view.OutputStyle) string { return view.EscapeLinesForTerminal(said.Text) + "\n" })
	}
	if err == nil && said.Outcome != nexus.Accepted {
		return outcomeError(said)
	}
	return err
}

// eventPrinter returns a function that prints the facts of a session as they come.
func eventPrinter(o *Options) func(nexus.Fact) {
	a, seq := o.Console, int64(0)
	return func(f nexus.Fact) {
		seq++
		if o.JSONL {
			_ = a.PrintEventJSON(nexus.Event{Seq: seq, At: a.Now(), Fact: f}) // a closed pipe ends the program by itself
		} else if about, text := view.DescribeFact(f); about != "" {
			a.Say("%s", view.EscapeForTerminal(text))
		}
	}
}

// outcomeError returns the reason why a session ended without a submission.
func outcomeError(said app.AdhocSessionResult) error {
	var code nexus.ErrorCode
	switch said.Outcome {
	case nexus.Exhausted:
		code = nexus.CodeLimit
	case nexus.Refused:
		code = nexus.CodeBudget
	case nexus.GaveUp, nexus.Inapplicable:
		code = nexus.CodeNeedsPerson
	default:
		code = nexus.CodeProvider
	}
	return &nexus.Error{Code: code, Message: string(said.Outcome) + ": " + said.Why, Hint: "Its changes so far are in the working directory."}
}

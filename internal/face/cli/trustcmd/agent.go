package trustcmd

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// AgentOptions are the options of "nexus trust agent".
type AgentOptions struct {
	Console *console.Console
	Name    string // of the agent program
	Yes     bool   // trust it without asking
	Forget  bool   // withdraw trust
}

// NewAgent returns the command "nexus trust agent". It calls run with the parsed options; nil runs
// the command.
func NewAgent(c *console.Console, run func(context.Context, *AgentOptions) error) *cobra.Command {
	o := &AgentOptions{Console: c}
	if run == nil {
		run = trustNamedAgent
	}
	command := c.Command("agent NAME [--yes | --forget]", "let an agent program work with a copy of its login",
		func(ctx context.Context, args []string) error {
			o.Name = args[0]
			return run(ctx, o)
		}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodePerson)
	command.Args = console.ArgCount(1, 1)
	command.Flags().BoolVar(&o.Yes, "yes", false, "trust it as it is shown")
	command.Flags().BoolVar(&o.Forget, "forget", false, "withdraw trust")
	c.JSONFlag(command)
	command.MarkFlagsMutuallyExclusive("yes", "forget")
	return command
}

// trustNamedAgent shows a program and asks for trust, or withdraws it.
func trustNamedAgent(ctx context.Context, o *AgentOptions) error {
	a := o.Console
	settings, _, err := a.LoadSettings()
	if err != nil {
		return err
	}
	p, err := app.FindAgentProgram(settings, a.Env, o.Name)
	if err != nil {
		return err
	}
	if o.Forget {
		return revokeTrust(ctx, a, app.AgentTrustKey, []string{app.AgentTrustItem(p).Name})
	}
	return trustAgent(ctx, a, p, o.Yes, func(judged []trust.ItemState) error {
		return a.Answer(trustedItems(judged), func(s view.OutputStyle) string { return drawTrust(s, judged) })
	})
}

// trustAgent shows the permissions of a program, and trusts it if a person agrees.
func trustAgent(ctx context.Context, a *console.Console, p agentcli.CLIAgentProgram, yes bool, show func([]trust.ItemState) error) error {
	item := app.AgentTrustItem(p)
	judged, err := a.TrustStore().ItemStates(app.AgentTrustKey, []trust.TrustItem{item})
	if err != nil {
		return err
	}
	if err := show(judged); err != nil {
		return err
	}
	if judged[0].State == trust.StateTrusted {
		return nil
	}
	if !yes && a.HasPerson() {
		// An unreadable answer is a no.
		answer, _ := a.Keyboard().AskLine(ctx, fmt.Sprintf("Let %s work like this? [y/N] ", view.EscapeForTerminal(p.Name)))
		yes = nexus.IsYes(answer)
	}
	if !yes {
		return &nexus.Error{
			Code: nexus.CodeUntrusted, Message: "the agent " + p.Name + " is not trusted",
			Hint: "Read it, then run nexus trust agent " + p.Name + " --yes.",
		}
	}
	if err := a.TrustStore().RecordTrust(ctx, app.AgentTrustKey, []trust.TrustItem{item}); err != nil {
		return err
	}
	a.Say("trusted %s; a change must be trusted again", view.EscapeForTerminal(p.Name))
	settings, _, err := a.LoadSettings()
	if err != nil {
		return err
	}
	silent, err := app.ConnectToAgentHosts(ctx, settings, a.Env, p)
	for _, line := range silent {
		a.Say("%s", view.EscapeForTerminal(line))
	}
	return err
}

// AskTrust asks a person at a terminal about the untrusted agents that a run would use, with the
// same text as nexus trust agent. Without a terminal, the run prints the command to type.
func AskTrust(ctx context.Context, a *console.Console) error {
	settings, _, err := a.LoadSettings()
	if err != nil || !a.HasPerson() {
		return err
	}
	open, err := a.UntrustedAgents(settings)
	if err != nil {
		return nil //nolint:nilerr // the run reports it
	}
	for _, p := range open {
		err := trustAgent(ctx, a, p, false, func(judged []trust.ItemState) error {
			a.Ask(drawTrust(a.Style(a.Err), judged))
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

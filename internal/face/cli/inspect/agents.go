package inspect

import (
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
)

// agentProgram is one program in the answer of `agents --json`.
type agentProgram struct {
	Name      string        `json:"name"`
	Program   string        `json:"program,omitzero"` // its path; without one it is not installed
	Installed bool          `json:"installed"`
	LoggedIn  bool          `json:"logged_in"`
	Trusted   bool          `json:"trusted"`
	Speaks    string        `json:"speaks"`
	Resumes   bool          `json:"resumes"`
	Billing   string        `json:"billing"`
	Roles     []nexus.Role  `json:"roles,omitempty"`   // that it works for
	Next      string        `json:"next,omitzero"`     // what to do so that it can be used
	Windows   []view.Window `json:"windows,omitempty"` // how much of its limits is used, as runs of this repository heard last
	every     bool          // it works for all roles
}

func agentsCommand(a *console.Console) *cobra.Command {
	c := a.Command("agents [--json]", "list agent programs of other makers that can work for a role", func(ctx context.Context, _ []string) error {
		settings, _, err := a.Settings()
		if err != nil {
			return err
		}
		if now, err := a.WithAgents(settings, provider.Tap{}); err == nil { // else it says below what is missing
			settings = now
		}
		all, err := a.Agents(settings)
		if err != nil {
			return err
		}
		windows := view.Windows(a.Windows(ctx), a.Now())
		list := make([]agentProgram, len(all))
		for i, one := range all {
			list[i] = agentProgram{
				Name: one.Name, Program: one.File, Installed: one.Missing == nil, LoggedIn: one.LoggedIn, Trusted: one.Trusted,
				Speaks: one.Speaks, Resumes: one.Resumes(), Billing: "subscription", Roles: one.Roles, Next: nextFor(one), every: one.Every(),
			}
			if one.Metered {
				list[i].Billing = "use"
			}
			for _, w := range windows {
				if w.Account == one.Name {
					list[i].Windows = append(list[i].Windows, w)
				}
			}
		}
		return a.Answer(list, func(s view.Style) string { return drawAgents(s, list) })
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.Takes(0, 0)
	a.JSONFlag(c)
	return c
}

// nextFor says what has to be done so that an agent can work, empty where it does.
func nextFor(one app.Agent) string {
	switch {
	case one.Missing != nil:
		return "install " + one.Command
	case !one.LoggedIn && one.Signin != "":
		return one.Signin
	case !one.LoggedIn:
		return "log in"
	case !one.Trusted:
		return "nexus trust agent " + one.Name
	case len(one.Roles) == 0:
		return "set roles.coder.agent = \"" + one.Name + "\" in your config.toml"
	}
	return ""
}

func drawAgents(s view.Style, all []agentProgram) string {
	var b strings.Builder
	for _, one := range all {
		state := s.Good("ready  ")
		switch {
		case !one.Installed:
			state = "missing"
		case !one.LoggedIn || !one.Trusted:
			state = s.Warn("not yet")
		}
		fmt.Fprintf(&b, "%s %-10s", state, view.Clean(one.Name))
		if one.Installed {
			fmt.Fprintf(&b, " %s, speaks %s, paid by %s", view.Clean(one.Program), one.Speaks, one.Billing)
		}
		roles := one.Roles
		if one.every {
			b.WriteString(", does every role")
			roles = nil
		}
		for _, role := range roles {
			fmt.Fprintf(&b, ", does %s", role)
		}
		b.WriteString("\n")
		for _, w := range one.Windows {
			fmt.Fprintf(&b, "        %-10s %s\n", "", w.Text())
		}
		if one.Next != "" {
			fmt.Fprintf(&b, "        %-10s next: %s\n", "", view.Clean(one.Next))
		}
	}
	return b.String()
}

func trustAgentCommand(a *console.Console) *cobra.Command {
	var yes, forget bool
	c := a.Command("agent NAME [--yes | --forget]", "let an agent program work with a copy of its login", func(ctx context.Context, args []string) error {
		settings, _, err := a.Settings()
		if err != nil {
			return err
		}
		p, err := app.Program(settings, a.Env, args[0])
		if err != nil {
			return err
		}
		item := app.AgentTerms(p)
		if forget {
			return forgetTrust(ctx, a, app.AgentBook, []string{item.Name})
		}
		judged, err := a.Trust().Judge(app.AgentBook, []trust.Item{item})
		if err != nil {
			return err
		}
		if err := a.Answer(listed(judged), func(s view.Style) string { return drawTrust(s, judged) }); err != nil {
			return err
		}
		if judged[0].State == trust.Trusted {
			return nil
		}
		if !yes && a.Person() {
			answer, _ := a.Keyboard().Line(ctx, fmt.Sprintf("Let %s work like this? [y/N] ", view.Clean(p.Name))) // what cannot be read is a no
			yes = nexus.Agrees(answer)
		}
		if !yes {
			return &nexus.Error{Code: nexus.CodeUntrusted, Message: "the agent " + p.Name + " is not trusted", Hint: "Read it, then run nexus trust agent " + p.Name + " --yes."}
		}
		if err := a.Trust().Trust(ctx, app.AgentBook, []trust.Item{item}); err != nil {
			return err
		}
		a.Say("trusted %s; a change must be trusted again", view.Clean(p.Name))
		return nil
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodePerson)
	c.Args = console.Takes(1, 1)
	c.Flags().BoolVar(&yes, "yes", false, "trust it as it is shown")
	c.Flags().BoolVar(&forget, "forget", false, "withdraw trust")
	a.JSONFlag(c)
	c.MarkFlagsMutuallyExclusive("yes", "forget")
	return c
}

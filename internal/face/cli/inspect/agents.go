package inspect

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/app/provider"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// agentProgram is one program in the JSON output of `agents`.
type agentProgram struct {
	Name      string              `json:"name"`
	Program   string              `json:"program,omitzero"` // its path; empty: not installed
	Installed bool                `json:"installed"`
	LoggedIn  bool                `json:"logged_in"`
	Trusted   bool                `json:"trusted"`
	Version   string              `json:"version,omitzero"` // as it reports; empty: it does not
	Speaks    string              `json:"speaks"`
	Model     string              `json:"model,omitzero"`   // the model to use; empty: its own choice
	Models    []string            `json:"models,omitempty"` // models that it reports
	Told      bool                `json:"tells_abilities"`  // Resumes is reported by the program; else derived from its format
	Asks      bool                `json:"asks_permission"`
	Counts    string              `json:"counts"`       // dollars, tokens, nothing, or as reported
	Limits    bool                `json:"tells_limits"` // it reports the limits of its account
	Resumes   bool                `json:"resumes"`
	Billing   string              `json:"billing"`
	Roles     []nexus.Role        `json:"roles,omitempty"`   // roles that use it
	Next      string              `json:"next"`              // the first fix
	Needs     []agentNeed         `json:"needs,omitempty"`   // missing prerequisites
	Kept      []string            `json:"kept,omitempty"`    // why a login that it renewed when asked for models was not written back
	Home      string              `json:"home,omitzero"`     // where that login still is; empty: nowhere
	Windows   []view.AccountLimit `json:"windows,omitempty"` // used share of its limits, as last seen by runs here
	every     bool                // all roles use it
}

func agentsCommand(a *console.Console) *cobra.Command {
	c := a.Command("agents [--json]", "list agent programs such as Claude Code, and whether they are ready", func(ctx context.Context, _ []string) error {
		settings, _, err := a.LoadSettings()
		if err != nil {
			return err
		}
		// An error is reported below as a missing prerequisite.
		if now, err := a.WithAgents(settings, provider.RecordingTransport{}); err == nil {
			settings = now
		}
		all, err := a.InstalledAgents(settings)
		if err != nil {
			return err
		}
		windows := view.OpenAccountLimits(a.QuotaWindows(ctx), a.Now())
		probes := a.ProbeAgents(ctx, settings, all)
		list := make([]agentProgram, len(all))
		for i, one := range all {
			list[i] = listedAgent(one, probes[one.Name])
			for _, w := range windows {
				if w.Account == one.Name {
					list[i].Windows = append(list[i].Windows, w)
				}
			}
		}
		return a.Answer(list, func(s view.Style) string { return drawAgents(s, list) })
	}, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.Args = console.ArgCount(0, 0)
	a.JSONFlag(c)
	return c
}

// listedAgent combines the state of a program with its own report.
func listedAgent(one app.InstalledAgent, said app.AgentProbe) agentProgram {
	p := agentProgram{
		Name: one.Name, Program: one.File, Installed: one.Missing == nil, LoggedIn: one.LoggedIn, Trusted: one.Trusted,
		Speaks: one.Speaks, Resumes: one.CanResume(), Billing: "subscription", Roles: one.Roles,
		Needs: agentNeeds(one, said), every: one.HasAllRoles(),
		Version: said.Version, Model: one.Model, Models: said.Models, Told: said.Helps, Asks: one.Speaks == "claude" || one.Speaks == "acp",
		Kept: said.Kept, Home: said.Home, Counts: costUnit(one.Speaks), Limits: one.Speaks == "claude" || one.Speaks == "codex",
	}
	if p.Told {
		p.Resumes = said.Resumes
	}
	if len(p.Needs) > 0 {
		p.Next = p.Needs[0].Fix
	}
	if one.Metered {
		p.Billing = "use"
	}
	return p
}

// agentNeed is a missing prerequisite of an agent, and the command or setting that fixes it.
type agentNeed struct {
	What string `json:"what"`
	Fix  string `json:"fix"`
}

// agentNeeds returns the steps to make an agent usable, in order.
func agentNeeds(one app.InstalledAgent, said app.AgentProbe) (all []agentNeed) {
	if one.Missing != nil {
		return []agentNeed{{"installed", cmp.Or(one.Install, "install "+one.Command)}}
	}
	if len(said.Lacks) > 0 {
		all = append(all, agentNeed{"another version", fmt.Sprintf("install a version of %s that knows %s", one.Command, strings.Join(said.Lacks, ", "))})
	}
	if !one.LoggedIn {
		all = append(all, agentNeed{"logged in", cmp.Or(one.Signin, "log in")})
	}
	if !one.Trusted {
		all = append(all, agentNeed{"trusted", "nexus trust agent " + one.Name})
	}
	if len(one.Roles) == 0 {
		all = append(all, agentNeed{"used", "set roles.coder.agent = \"" + one.Name + "\" in your config.toml"})
	}
	return all
}

// costUnit returns the usage that a program reports.
func costUnit(speaks string) string {
	switch speaks {
	case "aider", "claude", "opencode":
		return "dollars"
	case "copilot", "goose", "text": // goose's tokens are those of its last call
		return "nothing"
	case "acp":
		return "what it reports"
	default:
		return "tokens"
	}
}

func drawAgents(s view.Style, all []agentProgram) string {
	var b strings.Builder
	for _, one := range all {
		state := s.Good("ready  ")
		switch {
		case !one.Installed:
			state = "missing"
		case !one.LoggedIn || !one.Trusted || len(one.Needs) > 0 && one.Needs[0].What == "another version":
			state = s.Warn("not yet")
		}
		fmt.Fprintf(&b, "%s %-10s", state, view.Clean(one.Name))
		if one.Version != "" {
			fmt.Fprintf(&b, " %s", view.Clean(one.Version))
		}
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
		if len(one.Models) > 0 {
			fmt.Fprintf(&b, "        %-10s models: %s\n", "", view.Clean(firstModels(one.Models)))
		}
		b.WriteString(drawKept(s, one))
		for _, w := range one.Windows {
			fmt.Fprintf(&b, "        %-10s %s\n", "", w.Text())
		}
		for i, n := range one.Needs {
			word := "next:"
			if i > 0 {
				word = "then:"
			}
			fmt.Fprintf(&b, "        %-10s %s %s\n", "", word, view.Clean(n.Fix))
		}
	}
	return b.String()
}

// drawKept draws the warning that a login renewed by a program was not written back.
func drawKept(s view.Style, one agentProgram) string {
	var b strings.Builder
	for _, why := range one.Kept {
		fmt.Fprintf(&b, "        %-10s %s %s\n", "", s.Warn("a login that it renewed was not written back:"), view.Clean(why))
	}
	if one.Home != "" {
		fmt.Fprintf(&b, "        %-10s it is still in %s; log in again if yours is no longer accepted\n", "", view.Clean(one.Home))
	}
	return b.String()
}

// maxShown limits the drawn models of a program; JSON has all.
const maxShown = 8

func firstModels(models []string) string {
	text := strings.Join(models[:min(len(models), maxShown)], ", ")
	if more := len(models) - maxShown; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

func trustAgentCommand(a *console.Console) *cobra.Command {
	var yes, forget bool
	c := a.Command("agent NAME [--yes | --forget]", "let an agent program work with a copy of its login", func(ctx context.Context, args []string) error {
		settings, _, err := a.LoadSettings()
		if err != nil {
			return err
		}
		p, err := app.AgentProgram(settings, a.Env, args[0])
		if err != nil {
			return err
		}
		item := app.AgentTerms(p)
		if forget {
			return forgetTrust(ctx, a, app.AgentTrustKey, []string{item.Name})
		}
		return trustAgent(ctx, a, p, yes, func(judged []trust.ItemState) error {
			return a.Answer(trustedItems(judged), func(s view.Style) string { return drawTrust(s, judged) })
		})
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodePerson)
	c.Args = console.ArgCount(1, 1)
	c.Flags().BoolVar(&yes, "yes", false, "trust it as it is shown")
	c.Flags().BoolVar(&forget, "forget", false, "withdraw trust")
	a.JSONFlag(c)
	c.MarkFlagsMutuallyExclusive("yes", "forget")
	return c
}

// trustAgent shows the permissions of a program, and trusts it if a person agrees.
func trustAgent(ctx context.Context, a *console.Console, p agentcli.CLIProgram, yes bool, show func([]trust.ItemState) error) error {
	item := app.AgentTerms(p)
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
		answer, _ := a.Keyboard().AskLine(ctx, fmt.Sprintf("Let %s work like this? [y/N] ", view.Clean(p.Name)))
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
	a.Say("trusted %s; a change must be trusted again", view.Clean(p.Name))
	settings, _, err := a.LoadSettings()
	if err != nil {
		return err
	}
	silent, err := app.TryHosts(ctx, settings, a.Env, p)
	for _, line := range silent {
		a.Say("%s", view.Clean(line))
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

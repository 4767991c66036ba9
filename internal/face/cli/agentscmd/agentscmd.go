// Package agentscmd implements the command "nexus agents".
package agentscmd

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
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// agentProgram is one program in the JSON output of `agents`.
type agentProgram struct {
	Name      string                   `json:"name"`
	Program   string                   `json:"program,omitzero"` // its path; empty: not installed
	Installed bool                     `json:"installed"`
	LoggedIn  bool                     `json:"logged_in"`
	Trusted   bool                     `json:"trusted"`
	Version   string                   `json:"version,omitzero"` // as it reports; empty: it does not
	Speaks    string                   `json:"speaks"`
	Model     string                   `json:"model,omitzero"`   // the model to use; empty: its own choice
	Models    []string                 `json:"models,omitempty"` // models that it reports
	Told      bool                     `json:"tells_abilities"`  // Resumes is reported by the program; else derived from its format
	Asks      bool                     `json:"asks_permission"`
	Counts    string                   `json:"counts"`       // dollars, tokens, nothing, or as reported
	Limits    bool                     `json:"tells_limits"` // it reports the limits of its account
	Resumes   bool                     `json:"resumes"`
	Billing   string                   `json:"billing"`
	Roles     []nexus.Role             `json:"roles,omitempty"`   // roles that use it
	Next      string                   `json:"next"`              // the first fix
	Needs     []agentNeed              `json:"needs,omitempty"`   // missing prerequisites
	Kept      []string                 `json:"kept,omitempty"`    // why a login that it renewed when asked for models was not written back
	Home      string                   `json:"home,omitzero"`     // where that login still is; empty: nowhere
	Windows   []view.AccountLimitUsage `json:"windows,omitempty"` // used share of its limits, as last seen by runs here
	every     bool                     // all roles use it
}

// Options are the options of the command.
type Options struct {
	Console *console.Console
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = listAgents
	}
	command := c.Command("agents [--json]", "list agent programs such as Claude Code, and whether they are ready",
		func(ctx context.Context, _ []string) error { return run(ctx, o) }, console.CodeOK, console.CodeFailed, console.CodeUsage)
	c.JSONFlag(command)
	return command
}

// listAgents prints the known agent programs.
func listAgents(ctx context.Context, o *Options) error {
	a := o.Console
	settings, _, err := a.LoadSettings()
	if err != nil {
		return err
	}
	// An error is reported below as a missing prerequisite.
	if now, err := a.ConfigWithAgentsIfNoModel(settings, provider.RecordingTransport{}); err == nil {
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
	return a.Answer(list, func(s view.OutputStyle) string { return drawAgents(s, list) })
}

// listedAgent combines the state of a program with its own report.
func listedAgent(one app.AgentInstallation, said app.AgentProgramInfo) agentProgram {
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
func agentNeeds(one app.AgentInstallation, said app.AgentProgramInfo) (all []agentNeed) {
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

func drawAgents(s view.OutputStyle, all []agentProgram) string {
	var b strings.Builder
	for _, one := range all {
		state := s.Good("ready  ")
		switch {
		case !one.Installed:
			state = "missing"
		case !one.LoggedIn || !one.Trusted || len(one.Needs) > 0 && one.Needs[0].What == "another version":
			state = s.Warn("not yet")
		}
		fmt.Fprintf(&b, "%s %-10s", state, view.EscapeForTerminal(one.Name))
		if one.Version != "" {
			fmt.Fprintf(&b, " %s", view.EscapeForTerminal(one.Version))
		}
		if one.Installed {
			fmt.Fprintf(&b, " %s, speaks %s, paid by %s", view.EscapeForTerminal(one.Program), one.Speaks, one.Billing)
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
			fmt.Fprintf(&b, "        %-10s models: %s\n", "", view.EscapeForTerminal(firstModels(one.Models)))
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
			fmt.Fprintf(&b, "        %-10s %s %s\n", "", word, view.EscapeForTerminal(n.Fix))
		}
	}
	return b.String()
}

// drawKept draws the warning that a login renewed by a program was not written back.
func drawKept(s view.OutputStyle, one agentProgram) string {
	var b strings.Builder
	for _, why := range one.Kept {
		fmt.Fprintf(&b, "        %-10s %s %s\n", "", s.Warn("a login that it renewed was not written back:"), view.EscapeForTerminal(why))
	}
	if one.Home != "" {
		fmt.Fprintf(&b, "        %-10s it is still in %s; log in again if yours is no longer accepted\n", "", view.EscapeForTerminal(one.Home))
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

// Package trustcmd implements the commands "nexus trust" and "nexus trust agent".
package trustcmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/trust"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// trustedItem is one item in the JSON output of `trust`.
type trustedItem struct {
	Name  string           `json:"name"`
	State trust.TrustState `json:"state"`
	Text  string           `json:"text"`         // its current text
	Was   string           `json:"was,omitzero"` // the trusted text
}

// Options are the options of the command.
type Options struct {
	Console *console.Console
	Names   []string // items to trust or forget; empty: all
	Yes     bool     // trust what is shown without asking
	Forget  bool     // withdraw trust
}

// New returns the command. It calls run with the parsed options; nil runs the command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = trustRepository
	}
	command := c.Command("trust [NAME...] [--yes | --forget] [--json]", "trust the settings of a repository for agents",
		func(ctx context.Context, names []string) error {
			o.Names = names
			return run(ctx, o)
		}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodePerson)
	command.Args = console.ArgCount(0, -1)
	command.Flags().BoolVar(&o.Yes, "yes", false, "trust everything that is shown")
	command.Flags().BoolVar(&o.Forget, "forget", false, "withdraw trust")
	c.JSONFlag(command)
	command.MarkFlagsMutuallyExclusive("yes", "forget")
	command.AddCommand(NewAgent(c, nil))
	return command
}

// trustRepository shows what needs trust and asks for it, or withdraws it.
func trustRepository(ctx context.Context, o *Options) error {
	a := o.Console
	dir, err := a.WorkDir()
	if err != nil {
		return err
	}
	dir = app.WorkTreeRoot(dir)
	if o.Forget {
		return revokeTrust(ctx, a, dir, o.Names)
	}
	a.WarnOfUnreadableProject()
	all, err := judgeTrust(a, dir, o.Names)
	if err != nil {
		return err
	}
	if err := a.Answer(trustedItems(all), func(s view.OutputStyle) string { return drawTrust(s, all) }); err != nil {
		return err
	}
	open := slices.DeleteFunc(slices.Clone(all), func(j trust.ItemState) bool { return j.State == trust.StateTrusted })
	if len(open) == 0 {
		return nil
	}
	yes := o.Yes
	if !yes && a.HasPerson() {
		// An unreadable answer is a no.
		answer, _ := a.Keyboard().AskLine(ctx, fmt.Sprintf("Agree to %s? [y/N] ", view.CountWithNoun(len(open), "thing")))
		yes = nexus.IsYes(answer)
	}
	if !yes {
		return &nexus.Error{
			Code: nexus.CodeUntrusted, Message: view.CountWithNoun(len(open), "item") + " not trusted",
			Hint: "Read it, then run nexus trust --yes, or remove it from the repository.",
		}
	}
	items := make([]trust.TrustItem, len(open))
	for i, j := range open {
		items[i] = j.TrustItem
	}
	if err := a.TrustStore().RecordTrust(ctx, dir, items); err != nil {
		return err
	}
	a.Say("trusted %s; changes must be trusted again", view.CountWithNoun(len(open), "item"))
	return nil
}

// judgeTrust returns the trust states of the named items, of all without names.
func judgeTrust(a *console.Console, dir string, names []string) ([]trust.ItemState, error) {
	items, err := a.TrustItems(dir)
	if err != nil {
		return nil, err
	}
	offered, err := a.MCPServerTrustItems(dir)
	if err != nil {
		return nil, err
	}
	commands, err := a.HookAndPluginTrustItems(dir)
	if err != nil {
		return nil, err
	}
	items = slices.Concat(items, offered, commands)
	settings, _, err := a.LoadSettings()
	if err != nil {
		return nil, err
	}
	said, err := a.AgentRules(dir, settings)
	if err != nil {
		return nil, err
	}
	items = append(items, said.Items()...)
	for _, name := range names {
		if !slices.ContainsFunc(items, func(i trust.TrustItem) bool { return i.Name == name }) {
			return nil, app.NotFoundError("item to trust", name, "nexus trust lists them.")
		}
	}
	if len(names) > 0 {
		items = slices.DeleteFunc(items, func(i trust.TrustItem) bool { return !slices.Contains(names, i.Name) })
	}
	return a.TrustStore().ItemStates(dir, items)
}

// revokeTrust withdraws trust in the named items, in all without names.
func revokeTrust(ctx context.Context, a *console.Console, dir string, names []string) error {
	gone, err := a.TrustStore().RevokeTrust(ctx, dir, names...)
	if err != nil {
		return err
	}
	for _, name := range names {
		if !slices.Contains(gone, name) {
			return app.NotFoundError("trusted item", name, "nexus trust lists them.")
		}
	}
	a.Say("no longer trusted: %s", view.CountWithNoun(len(gone), "item"))
	return nil
}

func trustedItems(all []trust.ItemState) []trustedItem {
	list := make([]trustedItem, len(all))
	for i, j := range all {
		list[i] = trustedItem{j.Name, j.State, j.Text, j.Was}
	}
	return list
}

// drawTrust draws new items in full and changed ones as a patch.
func drawTrust(s view.OutputStyle, all []trust.ItemState) string {
	if len(all) == 0 {
		return "nothing in this repository needs trust\n"
	}
	var b strings.Builder
	for _, j := range all {
		name := view.EscapeForTerminal(j.Name)
		switch j.State {
		case trust.StateTrusted:
			fmt.Fprintf(&b, "%s %s\n", s.Good("trusted"), name)
		case trust.StateChanged:
			fmt.Fprintf(&b, "%s %s\n", s.Warn("changed"), name)
			patch := string(diff.Diff("agreed", []byte(j.Was), "now", []byte(j.Text)))
			b.WriteString(console.DrawPatch(s, strings.TrimSuffix(patch, "\n")))
		default:
			fmt.Fprintf(&b, "%s     %s\n", s.Warn("new"), name)
			b.WriteString(console.DrawPatch(s, "+"+strings.ReplaceAll(strings.TrimSuffix(j.Text, "\n"), "\n", "\n+")))
		}
	}
	return b.String()
}

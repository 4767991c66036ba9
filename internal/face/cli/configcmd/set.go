package configcmd

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app/changesetting"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// SetOptions are the options of "nexus config set".
type SetOptions struct {
	Console *console.Console
	Change  changesetting.SettingFileChange
	Yes     bool // agree to a setting that allows more
}

// UnsetOptions are the options of "nexus config unset".
type UnsetOptions = SetOptions

// configChangeAnswer is the JSON output of `config set` and `config unset`.
type configChangeAnswer struct {
	Key     string       `json:"key"`
	File    string       `json:"file"`
	Written string       `json:"written,omitzero"` // as in the file; absent: not in it
	Before  settingValue `json:"before"`
	Now     settingValue `json:"now"` // the effective value; another source may override the file
}

// NewSet returns the command "nexus config set". It calls run with the parsed options; nil runs the
// command.
func NewSet(c *console.Console, run func(context.Context, *SetOptions) error) *cobra.Command {
	return newChange(c, "set KEY VALUE [--project] [--yes] [--json]", "set a value in your own config.toml or the project's nexus.toml", run, false)
}

// NewUnset returns the command "nexus config unset". It calls run with the parsed options; nil runs
// the command.
func NewUnset(c *console.Console, run func(context.Context, *UnsetOptions) error) *cobra.Command {
	return newChange(c, "unset KEY [--project] [--yes] [--json]", "remove a value from your own config.toml or the project's nexus.toml", run, true)
}

func newChange(c *console.Console, use, short string, run func(context.Context, *SetOptions) error, unset bool) *cobra.Command {
	o := &SetOptions{Console: c, Change: changesetting.SettingFileChange{Unset: unset}}
	if run == nil {
		run = changeSetting
	}
	command := c.Command(use, short, func(ctx context.Context, args []string) error {
		if o.Change.Key = args[0]; !unset {
			o.Change.Value = args[1]
		}
		return run(ctx, o)
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodePerson)
	if command.Args = console.ArgCount(2, 2); unset {
		command.Args = console.ArgCount(1, 1)
	}
	command.Flags().BoolVar(&o.Change.Project, "project", false, "change the project's nexus.toml instead of your own file")
	command.Flags().BoolVar(&o.Yes, "yes", false, "agree to a setting that allows more")
	c.JSONFlag(command)
	return command
}

// changeSetting changes a file of settings and prints the effective value.
func changeSetting(ctx context.Context, o *SetOptions) error {
	got, err := changesetting.ApplySettingChange(ctx, &o.Console.App, o.Change, func(why string) error { return agreeToChange(ctx, o, why) })
	if err != nil {
		return err
	}
	answer := configChangeAnswer{got.Key, got.File, got.Written, settingOf(got.Before), settingOf(got.Now)}
	return o.Console.Answer(answer, func(view.OutputStyle) string { return settingNowText(got) })
}

// agreeToChange asks a person to agree to the access that a setting opens.
func agreeToChange(ctx context.Context, o *SetOptions, why string) error {
	yes := o.Yes
	if !yes && o.Console.HasPerson() {
		// An unreadable answer is a no.
		answer, _ := o.Console.Keyboard().AskLine(ctx, fmt.Sprintf("%s: %s. Change it? [y/N] ", view.EscapeForTerminal(o.Change.Key), why))
		yes = nexus.IsYes(answer)
	}
	if yes {
		return nil
	}
	return &nexus.Error{
		Code: nexus.CodeNeedsPerson, Message: "a person must agree to changing " + view.QuoteForTerminal(o.Change.Key) + ": " + why,
		Hint: "Nothing was changed. Agree with --yes.",
	}
}

// settingNowText describes the effective value after a change.
func settingNowText(c changesetting.SettingFileChangeResult) string {
	var b strings.Builder
	if key := view.EscapeForTerminal(c.Key); c.Written == "" {
		fmt.Fprintf(&b, "removed %s from %s\n", key, view.EscapeForTerminal(c.File))
	} else {
		fmt.Fprintf(&b, "%s = %s in %s\n", key, view.EscapeForTerminal(c.Written), view.EscapeForTerminal(c.File))
	}
	was, is := cmp.Or(c.Before.Value, "not set"), cmp.Or(c.Now.Value, "not set")
	switch {
	case c.Now == c.Before && c.Now.Value != "":
		by := strings.TrimSpace(string(c.Now.Origin.Layer) + " " + c.Now.Origin.Where)
		fmt.Fprintf(&b, "it stays %s: %s comes first\n", view.EscapeForTerminal(is), view.EscapeForTerminal(by))
	case was == is:
		fmt.Fprintf(&b, "it stays %s\n", view.EscapeForTerminal(is))
	default:
		fmt.Fprintf(&b, "it was %s and is %s; runs in progress keep their old value\n", view.EscapeForTerminal(was), view.EscapeForTerminal(is))
	}
	return b.String()
}

package configcmd

import (
	"cmp"
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// GetOptions are the options of "nexus config get".
type GetOptions struct {
	Console *console.Console
	Key     string
}

// settingDescription is the JSON output of `config get`.
type settingDescription struct {
	settingValue

	Pattern string   `json:"pattern"` // of the keys that it belongs to
	Type    string   `json:"type"`
	Doc     string   `json:"doc"`
	Default string   `json:"default,omitzero"`
	Values  []string `json:"values,omitempty"`
	Env     string   `json:"variable,omitzero"`
	Trusted string   `json:"not_in_project,omitzero"` // why the project's file may not set it
	Wrong   string   `json:"wrong,omitzero"`          // why the effective value is unknown
}

// NewGet returns the command "nexus config get". It calls run with the parsed options; nil runs the
// command.
func NewGet(c *console.Console, run func(context.Context, *GetOptions) error) *cobra.Command {
	o := &GetOptions{Console: c}
	if run == nil {
		run = describeSetting
	}
	command := c.Command("get KEY [--json]", "print a setting: its value, origin and meaning",
		func(ctx context.Context, args []string) error {
			o.Key = args[0]
			return run(ctx, o)
		}, console.CodeOK, console.CodeUsage)
	command.Args = console.ArgCount(1, 1)
	c.JSONFlag(command)
	return command
}

// describeSetting prints a setting with its meaning. If the settings cannot be read, it says why
// the value is unknown.
func describeSetting(_ context.Context, o *GetOptions) error {
	k, path, err := config.FindKey(o.Key)
	if err != nil {
		return err
	}
	d := settingDescription{
		settingValue: settingValue{Key: config.FormatKeyPath(path), From: config.LayerDefault}, Pattern: k.Name, Type: k.Type, Doc: k.Doc,
		Default: k.Default, Values: k.AllowedValues(), Env: k.Env, Trusted: k.Trusted,
	}
	settings, origins, err := o.Console.LoadSettings()
	if err != nil {
		d.Wrong = err.Error()
	} else {
		for _, s := range config.ExplainSettings(settings, origins) {
			if s.Key == d.Key {
				d.settingValue = settingOf(s)
			}
		}
	}
	return o.Console.Answer(d, func(s view.OutputStyle) string { return drawDescription(s, d) })
}

func drawDescription(s view.OutputStyle, d settingDescription) string {
	value := cmp.Or(d.Value, "not set")
	if d.Wrong != "" {
		value = "not known: " + d.Wrong
	}
	rows := [][]string{
		{"value", view.EscapeForTerminal(value)},
		{"from", view.EscapeForTerminal(strings.TrimSpace(string(d.From) + " " + d.Where))},
		{"takes", view.EscapeForTerminal(d.Type)},
		{"default", cmp.Or(d.Default, "none")},
		{"variable", cmp.Or(d.Env, "none")},
	}
	if d.Trusted != "" {
		rows = append(rows, []string{"not in nexus.toml", d.Trusted})
	}
	return s.Wrap(view.EscapeForTerminal(d.Key)+": "+d.Doc, "  ") + "\n" + view.DrawTable(s, []string{"", ""}, rows)
}

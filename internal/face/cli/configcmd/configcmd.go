// Package configcmd implements the commands that show and change settings and keys: "nexus config"
// and those below it.
package configcmd

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// settingValue is one value in the JSON output of `config`.
type settingValue struct {
	Key   string              `json:"key"`
	Value string              `json:"value"` // as written in a file
	From  config.SettingLayer `json:"from"`
	Where string              `json:"where,omitzero"` // file and line, variable, or flag
}

// Options are the options of "nexus config".
type Options struct {
	Console *console.Console
	Explain bool // show where each value came from
	Diff    bool // show only settings that differ from the defaults, and where they came from
	Schema  bool // print the JSON Schema of nexus.toml instead
}

// New returns the command with those below it. It calls run with the parsed options; nil runs the
// command.
func New(c *console.Console, run func(context.Context, *Options) error) *cobra.Command {
	o := &Options{Console: c}
	if run == nil {
		run = printSettings
	}
	command := c.Command("config [--explain|--diff|--schema] [--json]", "print every setting and where it came from",
		func(ctx context.Context, _ []string) error { return run(ctx, o) }, console.CodeOK, console.CodeUsage)
	command.Flags().BoolVar(&o.Explain, "explain", false, "show where each value came from")
	command.Flags().BoolVar(&o.Diff, "diff", false, "show only settings that differ from the defaults, and where they came from")
	command.Flags().BoolVar(&o.Schema, "schema", false, "print the JSON Schema of nexus.toml")
	command.MarkFlagsMutuallyExclusive("explain", "diff", "schema")
	c.JSONFlag(command)
	command.AddCommand(NewGet(c, nil), NewSet(c, nil), NewUnset(c, nil), NewKey(c))
	return command
}

// printSettings prints the settings, or their schema.
func printSettings(_ context.Context, o *Options) error {
	if o.Schema {
		var b bytes.Buffer
		if err := json.Indent(&b, config.SettingsSchema(), "", "  "); err != nil {
			return &nexus.Error{Code: nexus.CodeInternal, Message: "indent the schema", Cause: err}
		}
		return o.Console.Print(b.String() + "\n")
	}
	settings, origins, err := o.Console.LoadSettings()
	if err != nil {
		return err
	}
	all := []settingValue{}
	for _, s := range config.ExplainSettings(settings, origins) {
		if !o.Diff || s.Origin.Layer != config.LayerDefault {
			all = append(all, settingOf(s))
		}
	}
	return o.Console.Answer(map[string][]settingValue{"settings": all}, func(s view.OutputStyle) string {
		return settingTable(s, all, o.Explain || o.Diff)
	})
}

func settingOf(s config.Setting) settingValue {
	return settingValue{s.Key, s.Value, s.Origin.Layer, s.Origin.Where}
}

func settingTable(s view.OutputStyle, all []settingValue, explain bool) string {
	rows := make([][]string, 0, len(all))
	for _, v := range all {
		row := []string{v.Key, view.EscapeForTerminal(v.Value)}
		if explain {
			row = append(row, string(v.From), view.EscapeForTerminal(v.Where))
		}
		rows = append(rows, row)
	}
	head := []string{"key", "value"}
	if explain {
		head = append(head, "from", "where")
	}
	return view.DrawTable(s, head, rows)
}

package inspect

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

func configCommand(a *console.Console) *cobra.Command {
	var explain, diff, show bool
	c := a.Command("config [--explain|--diff|--schema] [--json]", "print every setting and where it came from", func(context.Context, []string) error {
		if show {
			var b bytes.Buffer
			if err := json.Indent(&b, config.Schema(), "", "  "); err != nil {
				return &nexus.Error{Code: nexus.CodeInternal, Message: "indent the schema", Cause: err}
			}
			return a.Print(b.String() + "\n")
		}
		settings, origins, err := a.LoadSettings()
		if err != nil {
			return err
		}
		all := []settingValue{}
		for _, s := range config.ExplainSettings(settings, origins) {
			if !diff || s.Origin.Layer != config.LayerDefault {
				all = append(all, settingValue{s.Key, s.Value, s.Origin.Layer, s.Origin.Where})
			}
		}
		return a.Answer(map[string][]settingValue{"settings": all}, func(s view.Style) string {
			return settingTable(s, all, explain || diff)
		})
	}, console.CodeOK, console.CodeUsage)
	c.Flags().BoolVar(&explain, "explain", false, "show where each value came from")
	c.Flags().BoolVar(&diff, "diff", false, "show only settings that differ from the defaults, and where they came from")
	c.Flags().BoolVar(&show, "schema", false, "print the JSON Schema of nexus.toml")
	c.MarkFlagsMutuallyExclusive("explain", "diff", "schema")
	a.JSONFlag(c)
	c.AddCommand(configGetCommand(a), configSetCommand(a), configUnsetCommand(a), keyCommand(a))
	return c
}

func settingTable(s view.Style, all []settingValue, explain bool) string {
	rows := make([][]string, 0, len(all))
	for _, v := range all {
		row := []string{v.Key, view.Clean(v.Value)}
		if explain {
			row = append(row, string(v.From), view.Clean(v.Where))
		}
		rows = append(rows, row)
	}
	head := []string{"key", "value"}
	if explain {
		head = append(head, "from", "where")
	}
	return view.DrawTable(s, head, rows)
}

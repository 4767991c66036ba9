package inspect

import (
	"cmp"
	"context"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app/configure"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// configChangeAnswer is the JSON output of `config set` and `config unset`.
type configChangeAnswer struct {
	Key     string       `json:"key"`
	File    string       `json:"file"`
	Written string       `json:"written,omitzero"` // as in the file; absent: not in it
	Before  settingValue `json:"before"`
	Now     settingValue `json:"now"` // the effective value; another source may override the file
}

func settingOf(s config.Setting) settingValue {
	return settingValue{s.Key, s.Value, s.Origin.Layer, s.Origin.Where}
}

func configSetCommand(a *console.Console) *cobra.Command {
	const use, short = "set KEY VALUE [--project] [--yes] [--json]", "set a value in your own config.toml or the project's nexus.toml"
	return configChange(a, use, short, false)
}

func configUnsetCommand(a *console.Console) *cobra.Command {
	const use, short = "unset KEY [--project] [--yes] [--json]", "remove a value from your own config.toml or the project's nexus.toml"
	return configChange(a, use, short, true)
}

func configChange(a *console.Console, use, short string, unset bool) *cobra.Command {
	var yes, project bool
	c := a.Command(use, short, func(ctx context.Context, args []string) error {
		want := configure.ConfigChange{Key: args[0], Unset: unset, Project: project}
		if !unset {
			want.Value = args[1]
		}
		got, err := configure.ApplyChange(ctx, &a.App, want, func(why string) error { return mayConfigure(ctx, a, args[0], why, yes) })
		if err != nil {
			return err
		}
		answer := configChangeAnswer{got.Key, got.File, got.Written, settingOf(got.Before), settingOf(got.Now)}
		return a.Answer(answer, func(view.Style) string { return settingNowText(got) })
	}, console.CodeOK, console.CodeFailed, console.CodeUsage, console.CodePerson)
	if c.Args = console.ArgCount(2, 2); unset {
		c.Args = console.ArgCount(1, 1)
	}
	c.Flags().BoolVar(&project, "project", false, "change the project's nexus.toml instead of your own file")
	c.Flags().BoolVar(&yes, "yes", false, "agree to a setting that allows more")
	a.JSONFlag(c)
	return c
}

// mayConfigure asks a person to agree to the access that a setting opens.
func mayConfigure(ctx context.Context, a *console.Console, key, why string, yes bool) error {
	if !yes && a.HasPerson() {
		// An unreadable answer is a no.
		answer, _ := a.Keyboard().AskLine(ctx, fmt.Sprintf("%s: %s. Change it? [y/N] ", view.Clean(key), why))
		yes = nexus.IsYes(answer)
	}
	if yes {
		return nil
	}
	return &nexus.Error{
		Code: nexus.CodeNeedsPerson, Message: "a person must agree to changing " + view.Quote(key) + ": " + why,
		Hint: "Nothing was changed. Agree with --yes.",
	}
}

// settingNowText describes the effective value after a change.
func settingNowText(c configure.ChangeResult) string {
	var b strings.Builder
	if key := view.Clean(c.Key); c.Written == "" {
		fmt.Fprintf(&b, "removed %s from %s\n", key, view.Clean(c.File))
	} else {
		fmt.Fprintf(&b, "%s = %s in %s\n", key, view.Clean(c.Written), view.Clean(c.File))
	}
	was, is := cmp.Or(c.Before.Value, "not set"), cmp.Or(c.Now.Value, "not set")
	switch {
	case c.Now == c.Before && c.Now.Value != "":
		by := strings.TrimSpace(string(c.Now.Origin.Layer) + " " + c.Now.Origin.Where)
		fmt.Fprintf(&b, "it stays %s: %s comes first\n", view.Clean(is), view.Clean(by))
	case was == is:
		fmt.Fprintf(&b, "it stays %s\n", view.Clean(is))
	default:
		fmt.Fprintf(&b, "it was %s and is %s; runs in progress keep their old value\n", view.Clean(was), view.Clean(is))
	}
	return b.String()
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

func configGetCommand(a *console.Console) *cobra.Command {
	const short = "print a setting: its value, origin and meaning"
	c := a.Command("get KEY [--json]", short, func(_ context.Context, args []string) error {
		k, path, err := config.FindKey(args[0])
		if err != nil {
			return err
		}
		d := settingDescription{
			settingValue: settingValue{Key: config.FormatKeyPath(path), From: config.LayerDefault}, Pattern: k.Name, Type: k.Type, Doc: k.Doc,
			Default: k.Default, Values: k.AllowedValues(), Env: k.Env, Trusted: k.Trusted,
		}
		settings, origins, err := a.LoadSettings()
		if err != nil {
			d.Wrong = err.Error()
		} else {
			for _, s := range config.ExplainSettings(settings, origins) {
				if s.Key == d.Key {
					d.settingValue = settingOf(s)
				}
			}
		}
		return a.Answer(d, func(s view.Style) string { return describedText(s, d) })
	}, console.CodeOK, console.CodeUsage)
	c.Args = console.ArgCount(1, 1)
	a.JSONFlag(c)
	return c
}

func describedText(s view.Style, d settingDescription) string {
	value := cmp.Or(d.Value, "not set")
	if d.Wrong != "" {
		value = "not known: " + d.Wrong
	}
	rows := [][]string{
		{"value", view.Clean(value)},
		{"from", view.Clean(strings.TrimSpace(string(d.From) + " " + d.Where))},
		{"takes", view.Clean(d.Type)},
		{"default", cmp.Or(d.Default, "none")},
		{"variable", cmp.Or(d.Env, "none")},
	}
	if d.Trusted != "" {
		rows = append(rows, []string{"not in nexus.toml", d.Trusted})
	}
	return s.Wrap(view.Clean(d.Key)+": "+d.Doc, "  ") + "\n" + view.DrawTable(s, []string{"", ""}, rows)
}

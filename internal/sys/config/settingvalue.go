package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config/edit"
	"github.com/nexus-ai-builder/nexus/internal/sys/config/valuekind"
)

// FindKey returns the key of a name such as limits.parallel or pricing."openai/x".input, with the
// segments of the name.
func FindKey(name string) (SettingKey, []string, error) {
	path, err := edit.ParseKey(name)
	if err != nil {
		const hint = "Write it as nexus config prints it, such as limits.parallel."
		return SettingKey{}, nil, invalidInputError("setting "+valuekind.QuoteForeign(name)+": "+err.Error(), hint)
	}
	l := newLoader()
	k, ok := l.findKey(path)
	if r, removed := findRemovedSetting(path); removed { // before a gate of the name timeout
		return SettingKey{}, nil, invalidInputError("setting: "+r.String(), "Delete its line from the file that has it; docs/config.md lists the settings.")
	}
	if !ok {
		return SettingKey{}, nil, invalidInputError("setting: "+l.unknownKeyError(path).Error(), "nexus config lists the keys that are set, docs/config.md all.")
	}
	if _, err := k.wildcardName(path); err != nil {
		return SettingKey{}, nil, invalidInputError("setting: "+err.Error(), "docs/config.md says what each key takes.")
	}
	return k, path, nil
}

func invalidInputError(message, hint string) error {
	return &nexus.Error{Code: nexus.CodeInvalidInput, Message: message, Hint: hint}
}

// AllowedValues returns the allowed values of a key that has only a few.
func (k SettingKey) AllowedValues() []string {
	if k.kind.Description == valuekind.BooleanKind().Description {
		return []string{"true", "false"}
	}
	return k.kind.Values
}

// FormatKeyPath writes the segments of a name in the form of nexus config.
func FormatKeyPath(path []string) string { return formatKeyPath(path) }

// FormatInput returns a value in the syntax of the file. The argument text is in that syntax, or in
// that of environment variables.
func (k SettingKey) FormatInput(path []string, text string) (string, error) {
	raw, err := edit.ParseValue(text)
	typed := err == nil && strings.ContainsAny(strings.TrimSpace(text)[:1], `"'[{`)
	var x any
	if typed {
		x, err = k.kind.Read(raw)
	} else {
		x, err = k.kind.Parse(text)
	}
	const hint = "Nothing was changed. docs/config.md says what each key takes."
	switch {
	case errors.Is(err, valuekind.ErrKind):
		return "", invalidInputError(fmt.Sprintf("%s wants a %s, not %s", formatKeyPath(path), k.Type, valuekind.QuoteForeign(text)), hint)
	case err != nil:
		return "", invalidInputError(formatKeyPath(path)+" "+err.Error(), hint)
	}
	return k.formatParsed(x), nil
}

// formatParsed formats a value that the kind has read.
func (k SettingKey) formatParsed(x any) string {
	switch v := x.(type) {
	case string:
		if v == "" && k.kind.Description == valuekind.CommandLineKind().Description {
			return "false"
		}
		return edit.QuoteText(v)
	case []string:
		all := make([]string, len(v))
		table := k.kind.Description == valuekind.NameValueTableKind("").Description
		for i, one := range v {
			all[i] = edit.QuoteText(one)
			if name, value, ok := strings.Cut(one, "="); ok && table {
				all[i] = edit.QuoteText(name) + " = " + edit.QuoteText(value)
			}
		}
		if table {
			return "{" + strings.Join(all, ", ") + "}"
		}
		return "[" + strings.Join(all, ", ") + "]"
	default:
		return valuekind.FormatValue(x)
	}
}

// unsandboxedSections returns the sections whose entries run on the machine itself or are let through
// the sandbox. An entry in the user's own file is used without asking again.
func unsandboxedSections() []string {
	return []string{"mcp", "hooks", "plugins", "pipeline", "lsp", "environment", "network"}
}

// ConsentReasonFor returns why a person must agree before a value is written to their own file, or
// "". Written is empty if the value is removed from the file.
func ConsentReasonFor(s SettingSources, path []string, written string) string {
	l := newLoader()
	// Errors in these sources are reported when they are loaded.
	_ = errors.Join(l.loadPreset(s), l.loadSettingsFile(LayerSystem, s.System), l.loadSettingsFile(LayerUser, s.User))
	k, _ := l.findKey(path)
	x, _ := k.kind.Read(parseWritten(cmp.Or(written, k.Default)))
	name := formatKeyPath(path)
	if k.Trusted != "" {
		return k.Trusted
	}
	if slices.Contains(unsandboxedSections(), path[0]) {
		return "the command that it names runs on your machine or outside the sandbox, without asking again"
	}
	if was, isList := l.merged.Get(strings.Join(path, keyDelimiter)).([]string); isList && k.adds {
		now, _ := x.([]string)
		for _, one := range was {
			if !slices.Contains(now, one) {
				return "it takes away " + valuekind.QuoteForeign(one) + ", which is refused or asked about now"
			}
		}
		return ""
	}
	if name == "preset" {
		preset, _ := x.(string)
		to := cmp.Or(presetValues(preset)["approval"], string(DefaultConfig().Limits.Approval))
		if refuseLessApproval(l.config.Limits.Approval, to) != nil {
			return "fewer decisions wait for a person"
		}
		return ""
	}
	if x == nil {
		return ""
	}
	if err := l.checkProjectMaySet(k, name, x); err != nil {
		return k.riskReason(name)
	}
	return ""
}

// riskReason returns the risk of a key that has no reason of its own.
func (k SettingKey) riskReason(name string) string {
	switch {
	case name == "sandbox":
		return "commands of agents run in a weaker sandbox, or none"
	case name == "approval" || name == "review.people":
		return "fewer decisions wait for a person"
	case k.least:
		return "more money may be spent than now"
	default:
		return "an agent program works with your login"
	}
}

// parseWritten parses a value in the syntax of the file; nil if it is empty.
func parseWritten(written string) any {
	v, err := edit.ParseValue(written)
	if err != nil {
		return nil
	}
	return v
}

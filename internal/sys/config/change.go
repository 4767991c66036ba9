package config

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config/edit"
	"github.com/nexus-ai-builder/nexus/internal/sys/config/kind"
)

// FindKey returns the key of a name such as limits.parallel or pricing."openai/x".input, with the
// segments of the name.
func FindKey(name string) (Key, []string, error) {
	path, err := edit.Path(name)
	if err != nil {
		const hint = "Write it as nexus config prints it, such as limits.parallel."
		return Key{}, nil, unusable("setting "+kind.Quoted(name)+": "+err.Error(), hint)
	}
	l := newLoader()
	k, ok := l.find(path)
	if !ok {
		return Key{}, nil, unusable("setting: "+l.unknown(path).Error(), "nexus config lists the keys that are set, docs/config.md all.")
	}
	if _, err := k.named(path); err != nil {
		return Key{}, nil, unusable("setting: "+err.Error(), "docs/config.md says what each key takes.")
	}
	return k, path, nil
}

func unusable(message, hint string) error {
	return &nexus.Error{Code: nexus.CodeInvalidInput, Message: message, Hint: hint}
}

// Choices returns the allowed values of a key that has only a few.
func (k Key) Choices() []string {
	if k.kind.Says == kind.Boolean().Says {
		return []string{"true", "false"}
	}
	return k.kind.Values
}

// Dotted writes the segments of a name in the form of nexus config.
func Dotted(path []string) string { return dotted(path) }

// Written returns a value in the syntax of the file. The argument text is in that syntax, or in
// that of environment variables.
func (k Key) Written(path []string, text string) (string, error) {
	raw, err := edit.Read(text)
	typed := err == nil && strings.ContainsAny(strings.TrimSpace(text)[:1], `"'[{`)
	var x any
	if typed {
		x, err = k.kind.Read(raw)
	} else {
		x, err = k.kind.Parse(text)
	}
	const hint = "Nothing was changed. docs/config.md says what each key takes."
	switch {
	case errors.Is(err, kind.ErrKind):
		return "", unusable(fmt.Sprintf("%s wants a %s, not %s", dotted(path), k.Type, kind.Quoted(text)), hint)
	case err != nil:
		return "", unusable(dotted(path)+" "+err.Error(), hint)
	}
	return k.show(x), nil
}

// show formats a value that the kind has read.
func (k Key) show(x any) string {
	switch v := x.(type) {
	case string:
		if v == "" && k.kind.Says == kind.Command().Says {
			return "false"
		}
		return edit.Quote(v)
	case []string:
		all := make([]string, len(v))
		table := k.kind.Says == kind.Pairs("").Says
		for i, one := range v {
			all[i] = edit.Quote(one)
			if name, value, ok := strings.Cut(one, "="); ok && table {
				all[i] = edit.Quote(name) + " = " + edit.Quote(value)
			}
		}
		if table {
			return "{" + strings.Join(all, ", ") + "}"
		}
		return "[" + strings.Join(all, ", ") + "]"
	default:
		return kind.Show(x)
	}
}

// hostedSections returns the sections whose entries run on the machine itself or are let through
// the sandbox. An entry in the user's own file is used without asking again.
func hostedSections() []string {
	return []string{"mcp", "hooks", "plugins", "pipeline", "lsp", "environment", "network"}
}

// ConsentReason returns why a person must agree before a value is written to their own file, or
// "". Written is empty if the value is removed from the file.
func ConsentReason(s Sources, path []string, written string) string {
	l := newLoader()
	// Errors in these sources are reported when they are loaded.
	_ = errors.Join(l.preset(s), l.file(LayerSystem, s.System), l.file(LayerUser, s.User))
	k, _ := l.find(path)
	x, _ := k.kind.Read(parseWritten(cmp.Or(written, k.Default)))
	name := dotted(path)
	if k.Trusted != "" {
		return k.Trusted
	}
	if slices.Contains(hostedSections(), path[0]) {
		return "the command that it names runs on your machine or outside the sandbox, without asking again"
	}
	if was, isList := l.merged.Get(strings.Join(path, delim)).([]string); isList && k.adds {
		now, _ := x.([]string)
		for _, one := range was {
			if !slices.Contains(now, one) {
				return "it takes away " + kind.Quoted(one) + ", which is refused or asked about now"
			}
		}
		return ""
	}
	if name == "preset" {
		preset, _ := x.(string)
		to := cmp.Or(presetValues(preset)["approval"], string(Default().Limits.Approval))
		if checkApproval(l.config.Limits.Approval, to) != nil {
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
func (k Key) riskReason(name string) string {
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
	v, err := edit.Read(written)
	if err != nil {
		return nil
	}
	return v
}

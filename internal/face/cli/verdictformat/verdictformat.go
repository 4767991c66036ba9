// Package verdictformat prints the verdict of gates in the format that a command line asks for.
package verdictformat

import (
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/verdict"
)

// formats returns the output formats of a verdict.
func formats() []string { return []string{"text", "json", "junit", "sarif", "github"} }

// Parse checks the value of --format, which --json overrides.
func Parse(a *console.Console, format string) (string, error) {
	if a.JSON {
		format = "json"
	}
	if !slices.Contains(formats(), format) {
		return "", &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "unknown --format " + view.QuoteForTerminal(format),
			Hint: "Use " + strings.Join(formats(), ", ") + ".",
		}
	}
	return format, nil
}

// Write prints a verdict in a format; object is its JSON form.
func Write(a *console.Console, format string, v verdict.TreeVerdict, object any) error {
	var text string
	var err error
	switch format {
	case "json":
		a.JSON = true
		return a.Answer(object, func(s view.OutputStyle) string { return verdict.DrawVerdict(s, v) })
	case "junit":
		text, err = verdict.FormatJUnit(v)
	case "sarif":
		text, err = verdict.FormatSARIF(v)
	case "github":
		text = verdict.FormatGitHub(v)
	default:
		text = verdict.DrawVerdict(a.Style(a.Out), v)
	}
	if err != nil {
		return err
	}
	return a.Print(text)
}

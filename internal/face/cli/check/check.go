// Package check implements the commands that check a tree: they run its gates, parse the output
// of tools, and let models review a change. The other commands need none of that.
package check

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/verdict"
)

// Commands returns the commands.
func Commands(a *console.Console) []*cobra.Command {
	return []*cobra.Command{checkCommand(a), parseCommand(a), reviewCommand(a)}
}

// outputFormats returns the output formats of a verdict.
func outputFormats() []string { return []string{"text", "json", "junit", "sarif", "github"} }

// parseOutputFormat checks the requested output format.
func parseOutputFormat(a *console.Console, shape string) (string, error) {
	if a.JSON {
		shape = "json"
	}
	if !slices.Contains(outputFormats(), shape) {
		return "", &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "unknown --format " + view.Quote(shape),
			Hint: "Use " + strings.Join(outputFormats(), ", ") + ".",
		}
	}
	return shape, nil
}

// writeVerdict writes a verdict in a format; object is its JSON form.
func writeVerdict(a *console.Console, shape string, v verdict.Verdict, object any) error {
	var text string
	var err error
	switch shape {
	case "json":
		a.JSON = true
		return a.Answer(object, func(s view.Style) string { return verdict.DrawVerdict(s, v) })
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

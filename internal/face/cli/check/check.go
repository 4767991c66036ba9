// Package check holds the commands that check a tree: they
// run its gates, read what tools print, and let models review a change, which
// none of the others needs.
package check

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/face/view/verdict"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Commands returns the commands.
func Commands(a *console.Console) []*cobra.Command {
	return []*cobra.Command{checkCommand(a), parseCommand(a), reviewCommand(a)}
}

// shapes are the ways in which a verdict can be written.
func shapes() []string { return []string{"text", "json", "junit", "sarif", "github"} }

// shapeOf checks the shape that was asked for.
func shapeOf(a *console.Console, shape string) (string, error) {
	if a.JSON {
		shape = "json"
	}
	if !slices.Contains(shapes(), shape) {
		return "", &nexus.Error{
			Code: nexus.CodeInvalidInput, Message: "unknown --format " + view.Quote(shape),
			Hint: "Use " + strings.Join(shapes(), ", ") + ".",
		}
	}
	return shape, nil
}

// write writes a verdict in a shape; object is what stands for it in JSON.
func write(a *console.Console, shape string, v verdict.Verdict, object any) error {
	var text string
	var err error
	switch shape {
	case "json":
		a.JSON = true
		return a.Answer(object, func(s view.Style) string { return verdict.Text(s, v) })
	case "junit":
		text, err = verdict.JUnit(v)
	case "sarif":
		text, err = verdict.SARIF(v)
	case "github":
		text = verdict.GitHub(v)
	default:
		text = verdict.Text(a.Style(a.Out), v)
	}
	if err != nil {
		return err
	}
	return a.Print(text)
}

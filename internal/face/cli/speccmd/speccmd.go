// Package speccmd implements the commands that write a spec, and show the results of its
// requirements.
package speccmd

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Folder is the directory of a repository's specs, relative to its root.
const Folder = ".nexus/specs"

// Commands returns the commands.
func Commands(a *console.Console) []*cobra.Command {
	return []*cobra.Command{specCommand(a), traceCommand(a)}
}

// maxProblems limits the reported problems of a spec.
const maxProblems = 40

// Check returns the problems in the text of a spec, one per line.
func Check(name string, text []byte) error {
	_, problems := spec.ReadSpec(text)
	if len(problems) == 0 {
		return nil
	}
	var b strings.Builder
	fmt.Fprintf(&b, "the spec %s cannot be used", name)
	for _, p := range problems[:min(len(problems), maxProblems)] {
		fmt.Fprintf(&b, "\n- %s", p)
	}
	if more := len(problems) - maxProblems; more > 0 {
		fmt.Fprintf(&b, "\n- and %d more", more)
	}
	return &nexus.Error{Code: nexus.CodeInvalidInput, Message: b.String(), Hint: "Correct these lines; docs/plan-and-approve.md shows a spec."}
}

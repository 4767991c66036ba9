package view

import (
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
)

// DrawTriedChecks draws how many checks were run before the work, and the results that do not
// fit; empty if there were none.
func DrawTriedChecks(s OutputStyle, all []accept.CheckTrialResult) string {
	if len(all) == 0 {
		return ""
	}
	fit := 0
	var b strings.Builder
	for _, x := range all {
		if x.Fits {
			fit++
			continue
		}
		what := EscapeForTerminal(x.Check)
		if x.Words {
			what = "removed: " + what
		}
		b.WriteString(s.WrapWords(fmt.Sprintf("unusable %s, %s: %s", EscapeForTerminal(x.Criterion), what, EscapeForTerminal(x.Came)), "  ") + "\n")
	}
	return fmt.Sprintf("checks run before the work: %d, %d usable\n", len(all), fit) + b.String()
}

// Package picture draws the state machine of a run.
package picture

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/state/machine"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Mermaid draws it as Mermaid text, for the docs.
func Mermaid() string {
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n")
	for _, row := range machine.Transitions() {
		from, to := string(cmp.Or(row.From, "[*]")), string(cmp.Or(row.To, "ended"))
		if row.To == machine.Back {
			to = "back"
		}
		if row.From.Ended() {
			continue // drawn once, below
		}
		fmt.Fprintf(&b, "    %s --> %s: %s\n", from, to, row.Kind)
	}
	fmt.Fprintf(&b, "    ended --> %s: run.reopened\n", nexus.StatusExecuting)
	b.WriteString("    state \"done, partial, failed, stopped or limit\" as ended\n")
	b.WriteString("    state \"where it was before\" as back\n")
	return b.String()
}

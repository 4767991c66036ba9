package state_test

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// mermaid draws the state machine of a run, for the docs.
func mermaid() string {
	var b strings.Builder
	b.WriteString("stateDiagram-v2\n")
	for _, row := range state.RunTransitions() {
		from, to := string(cmp.Or(row.From, "[*]")), string(cmp.Or(row.To, "ended"))
		if row.To == "(back)" {
			to = "back"
		}
		if row.From.HasEnded() {
			continue // drawn once, below
		}
		fmt.Fprintf(&b, "    %s --> %s: %s\n", from, to, row.Kind)
	}
	fmt.Fprintf(&b, "    ended --> %s: run.reopened\n", nexus.StatusExecuting)
	b.WriteString("    state \"done, partial, failed, stopped or limit\" as ended\n")
	b.WriteString("    state \"where it was before\" as back\n")
	return b.String()
}

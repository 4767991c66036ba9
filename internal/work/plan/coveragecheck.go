package plan

import (
	"bytes"
	"context"
	_ "embed" // the schema
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

//go:embed cover.json
var coverSchema []byte

// CoverageSchema returns the JSON Schema of a checker's submission.
func CoverageSchema() json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, coverSchema) != nil { // a test parses it
		return coverSchema
	}
	return b.Bytes()
}

// CoverageCheckFunc compares a plan with its goal. Again means that the planner was asked before
// to cover the missing parts. A nil cover means that there is no check.
type CoverageCheckFunc func(ctx context.Context, p nexus.Plan, again bool) (*nexus.PlanCoverage, error)

// coverAll ends a message about the parts that a plan does not cover.
const coverAll = "Cover all of this. " + onlyChanges + " Leave what is covered as it is."

// ParseCoverage parses a checker's submission. Has reports whether the tree of the plan has a
// file; nil: unknown.
func ParseCoverage(data []byte, goal string, tasks []nexus.Task, has func(file string) bool) nexus.PlanCoverage {
	var said struct {
		Statements []spec.StatementCoverageFinding `json:"statements"`
	}
	if problems := agent.DecodeStrictly(data, coverSchema, &said); len(problems) > 0 {
		return nexus.PlanCoverage{State: nexus.CoverUnsure, Why: "the checker's answer cannot be read: " + problems[0]}
	}
	return spec.AssessCoverage(spec.StatementsOf(goal), tasks, said.Statements, has)
}

// wasAskedToCover reports whether the planner was asked to cover the missing parts.
func wasAskedToCover(messages []llm.Message) bool { return countCorrections(messages, coverAll) > 0 }

// describeCoverageGaps returns the parts that a plan does not cover, a line each.
func describeCoverageGaps(c *nexus.PlanCoverage) string {
	var b strings.Builder
	b.WriteString("A second model compared the plan with the goal. The plan does not cover these:\n")
	for _, g := range c.UncoveredStatements() {
		fmt.Fprintf(&b, "- %s, %q: %s\n", g.ID, truncateBytes(g.Text, 200), g.Missing)
	}
	if none := c.BackgroundStatements(); len(none) > 0 {
		names := make([]string, len(none))
		for i, s := range none {
			names[i] = s.ID
		}
		fmt.Fprintf(&b, "These ask for nothing, and need no task: %s.\n", strings.Join(names, ", "))
	}
	b.WriteString("\n" + coverAll)
	return b.String()
}

// lastUsablePlan returns the last valid plan of a conversation.
func lastUsablePlan(messages []llm.Message, g prompt.PlanningRequest) (nexus.Plan, bool) {
	for _, r := range slices.Backward(submittedPlans(messages, g)) {
		if r.err == nil {
			return r.plan, true
		}
	}
	return nexus.Plan{}, false
}

// writeCoverage writes the result of the coverage check, for people to read only.
func writeCoverage(b *bytes.Buffer, c *nexus.PlanCoverage) {
	if c == nil {
		return
	}
	say := func(format string, args ...any) {
		text := strings.Join(strings.Fields(fmt.Sprintf(format, args...)), " ")
		fmt.Fprintf(b, "%s%s -->\n", comment, strings.ReplaceAll(text, "-->", "->"))
	}
	b.WriteString("\n")
	switch {
	case c.State == nexus.CoverFull:
		say("A second look found that the plan covers the goal.")
	case len(c.UncoveredStatements()) == 0:
		say("Not checked whether the plan covers the goal: %s", c.Why)
	}
	for _, g := range c.UncoveredStatements() {
		say("Not covered: %s, %s: %s", g.ID, truncateBytes(g.Text, 200), g.Missing)
	}
}

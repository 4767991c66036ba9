// Package planrisk finds the risks of a plan from its texts: large or hard tasks, and parts that
// two tasks share without a defined contract.
package planrisk

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// IdentifiedPlanRisk is a risk of a plan, found in its texts. It refuses nothing.
type IdentifiedPlanRisk struct {
	Task        nexus.TaskID `json:"task,omitzero"` // empty: the plan as a whole
	Text        string       `json:"text"`
	Probability RiskLevel    `json:"probability"`
	Impact      RiskLevel    `json:"impact"`
	Mitigation  string       `json:"mitigation"` // a person's possible measure against it
}

// RiskLevel is how likely or how bad something is.
type RiskLevel string

// Values of Level.
const (
	Low    RiskLevel = "low"
	Medium RiskLevel = "medium"
	High   RiskLevel = "high"
)

// Thresholds from which a task or a plan is risky.
const (
	riskyNeeds    = 5
	riskyMinutes  = 120
	riskyFiles    = 10
	riskyCritical = 3
	mostMeet      = 500 // maximum number of a plan's tasks that are compared in pairs
)

var (
	changes = regexp.MustCompile(`(?i)\b(?:refactor|rewrite|replace|rename|migrate|remove|rework|redesign|change|move|convert)(?:s|d|ing)?\b`)
	keeps   = regexp.MustCompile(`(?i)\b(?:still|existing|as before|unchanged|compatib\w*|regress\w*|keeps?|go(?:es)? on)\b`)
)

// PlanRisks returns the risks of a plan, in the order of its tasks.
func PlanRisks(p nexus.Plan) (all []IdentifiedPlanRisk) {
	critical := 0
	for _, t := range p.Tasks {
		add := func(probability, impact RiskLevel, mitigation, format string, args ...any) {
			all = append(all, IdentifiedPlanRisk{t.ID, fmt.Sprintf(format, args...), probability, impact, mitigation})
		}
		if n := len(t.Needs) + len(t.Wants); n > riskyNeeds {
			add(Medium, Medium, "let it need fewer, or split it", "it needs %d tasks: each of them can hold it up", n)
		}
		if t.Minutes > riskyMinutes {
			add(High, Medium, "split it", "it is estimated at %d minutes", t.Minutes)
		}
		if len(t.Files) > riskyFiles {
			add(Medium, Medium, "split it by files", "it changes %d files", len(t.Files))
		}
		if isImportant(t.Priority) && (t.Complexity == nexus.Complex || t.Complexity == nexus.Expert) {
			add(High, High, "start it at a stronger tier, and read its result yourself", "it matters much and is hard")
		}
		if t.Priority == nexus.PriorityCritical {
			critical++
		}
		if mayBreakUsers(t) {
			add(Medium, High, "add a criterion that what worked before still works, with its tests as the check",
				"it changes what exists, and no criterion says that what worked before still works")
		}
	}
	for _, m := range OpenOverlaps(p.Tasks) {
		all = append(all, IdentifiedPlanRisk{m.Task, m.Text, Medium, High, HowTo})
	}
	if critical > riskyCritical {
		text := fmt.Sprintf("%d tasks are critical: their order says little", critical)
		all = append(all, IdentifiedPlanRisk{"", text, Medium, Medium, "keep critical for what all else depends on"})
	}
	return all
}

func isImportant(p nexus.Priority) bool {
	return p == nexus.PriorityHigh || p == nexus.PriorityCritical
}

// mayBreakUsers reports whether a task says that it changes an existing interface, and no criterion
// shows that its users still work.
func mayBreakUsers(t nexus.Task) bool {
	if t.Kind == nexus.DocsTask || !changes.MatchString(t.Title) {
		return false
	}
	for _, c := range t.Criteria {
		if keeps.MatchString(c.Text) || strings.TrimSpace(c.Check) == "test" {
			return false
		}
	}
	return true
}

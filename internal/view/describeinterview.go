package view

import (
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/clarify"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// interviewFactSubject names the subject of a fact from before a plan, because the planner also makes
// assumptions.
func interviewFactSubject(f nexus.Fact) string {
	switch f := f.(type) {
	case nexus.SpecWritingStarted, nexus.SpecWritten, nexus.SpecWritingFailed:
		return "spec"
	case nexus.AssumptionStated:
		if strings.HasPrefix(string(f.Attempt), "plan.") {
			return "plan"
		}
	default:
	}
	return "interview"
}

// describeInterview describes the result of an interview.
func describeInterview(f nexus.Fact) string {
	switch f := f.(type) {
	case nexus.InterviewRoundStarted:
		return fmt.Sprintf("round %d: reading what is known about the goal", f.Round)
	case nexus.InterviewRoundEnded:
		switch {
		case f.Clear:
			return "the goal is clear: no questions"
		case len(f.Questions) == 0:
			return fmt.Sprintf("round %d: nothing more to ask", f.Round)
		default:
			return fmt.Sprintf("round %d: %s", f.Round, CountWithNoun(len(f.Questions), "question"))
		}
	case nexus.InterviewRoundFailed:
		return "failed: " + f.Why
	case nexus.RequirementCaptured:
		kind := "requirement"
		if f.Candidate {
			kind = "left out unless you ask for it:"
		}
		return fmt.Sprintf("%s %s (%s)%s: %s", kind, f.Requirement.ID, f.Requirement.Priority, replacementText(f.Instead), f.Requirement.Text)
	case nexus.RequirementWithdrawn:
		return WithReason("withdrew "+f.ID, f.Why)
	case nexus.AssumptionStated:
		return fmt.Sprintf("assumes %s%s: %s", f.ID, replacementText(f.Instead), f.Text)
	case nexus.SpecPartWithdrawn:
		if f.ID == "" {
			return "withdrew: " + f.Text
		}
		return fmt.Sprintf("withdrew %s: %s", f.ID, f.Text)
	case nexus.SpecPartsCorrected:
		return strings.Join(CorrectionLines(f, OutputStyle{}), "; ")
	case nexus.AssumptionConfirmed:
		return fmt.Sprintf("%s holds: %s agreed", f.ID, f.By)
	default:
		return describeSpec(f)
	}
}

// describeSpec describes the result of writing a spec.
func describeSpec(f nexus.Fact) string {
	switch f := f.(type) {
	case nexus.SpecWritingStarted:
		return "writing"
	case nexus.SpecWritten:
		return WithReason("written", f.Warning)
	case nexus.SpecWritingFailed:
		return "failed: " + f.Why
	default:
		return ""
	}
}

// replacementText describes the part that another part replaces.
func replacementText(id string) string {
	if id == "" {
		return ""
	}
	return " instead of " + id
}

// CorrectionLines describes the effect of a person's answer on the spec, one line each: withdrawn
// parts, struck out if the style can do that, their replacements, unclear and locked parts.
func CorrectionLines(f nexus.SpecPartsCorrected, style OutputStyle) (all []string) {
	for _, w := range f.Withdrawn {
		all = append(all, fmt.Sprintf("withdrawn %s: %s", w.ID, style.Strikethrough(EscapeForTerminal(w.Text))))
		if w.Instead != "" {
			all = append(all, "instead: "+EscapeForTerminal(w.Instead))
		}
	}
	for _, u := range f.Unclear {
		all = append(all, fmt.Sprintf("not clear whether %s is wrong: %s", u.ID, EscapeForTerminal(u.Text)))
	}
	if locked := clarify.AgreedPartsText(f); locked != "" {
		all = append(all, fmt.Sprintf("locked %s: %s agreed", locked, EscapeForTerminal(f.By)))
	}
	return all
}

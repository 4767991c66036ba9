package clarify

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// InterviewStatistics counts the requirements that count, and the questions.
type InterviewStatistics struct {
	Requirements int                               `json:"requirements"`
	Candidates   int                               `json:"candidates"`
	Questions    int                               `json:"questions"` // questions that were asked
	Answered     int                               `json:"answered"`  // by a person
	Categories   map[nexus.RequirementCategory]int `json:"categories"`
	Priorities   map[nexus.RequirementPriority]int `json:"priorities"`
	Areas        map[string]int                    `json:"areas"`
}

// CountStatistics returns the statistics of the interview's result.
func (i *InterviewState) CountStatistics() InterviewStatistics {
	s := InterviewStatistics{
		Requirements: len(i.Requirements), Candidates: len(i.Candidates),
		Categories: map[nexus.RequirementCategory]int{}, Priorities: map[nexus.RequirementPriority]int{}, Areas: map[string]int{},
	}
	for _, r := range i.Requirements {
		s.Categories[cmp.Or(r.Category, nexus.ReqFunctional)]++
		s.Priorities[cmp.Or(r.Priority, nexus.Should)]++
		if r.Area != "" {
			s.Areas[r.Area]++
		}
	}
	for _, e := range i.Exchanges {
		if e.Key != LockKey {
			s.Questions++
		}
		if e.Kind == Said && e.Key != LockKey {
			s.Answered++
		}
	}
	return s
}

// BuildSpec returns the spec that results from the interview.
func (i *InterviewState) BuildSpec() spec.Spec {
	goal := strings.TrimSpace(visibleText(i.Goal))
	s := spec.Spec{
		Title: cmp.Or(i.Draft.Title, firstLine(goal)), Depth: i.specDepth(), Problem: cmp.Or(i.Draft.Problem, goal),
		Answers: i.answerLines(), Notes: slices.Clone(i.Draft.Notes), OutOfScope: slices.Clone(i.Draft.OutOfScope),
	}
	for _, r := range i.Requirements {
		if r.Priority == nexus.Wont {
			s.OutOfScope = append(s.OutOfScope, r.Text)
			continue
		}
		s.Requirements = append(s.Requirements, r)
	}
	for _, c := range i.Draft.Criteria {
		of, dropped := i.requirementIDs(c.Of)
		if len(of) == 0 && dropped {
			continue // its requirements do not count, and without any it would be a criterion of all
		}
		s.Criteria = append(s.Criteria, spec.SpecCriterion{ID: c.ID, Text: c.Text, Check: c.Check, Of: of})
	}
	for _, a := range i.Assumptions {
		s.Assumptions = append(s.Assumptions, a.SpecAssumption)
	}
	for _, c := range i.Candidates {
		if c.Later {
			s.OutOfScope = append(s.OutOfScope, "Wanted later: "+c.Text)
			continue
		}
		s.Notes = append(s.Notes, fmt.Sprintf("Perhaps also wanted, but not certain: %s", c.Text))
	}
	if s.Depth == spec.Deep {
		s.Critique = slices.Clone(i.Draft.Critique)
	}
	return s
}

// maxAnswer limits the characters of an answer that a spec repeats.
const maxAnswer = 500

// answerLines returns people's answers to the questions. Skipped questions are listed as
// assumptions.
func (i *InterviewState) answerLines() (all []string) {
	for _, e := range i.Exchanges {
		text := boundedLine(e.Answer)
		if r := []rune(text); len(r) > maxAnswer {
			text = string(r[:maxAnswer]) + "..."
		}
		switch {
		case e.Kind != Said || e.isSettled():
		case e.Key == LockKey:
			all = append(all, "Are the assumptions right? "+text)
		default:
			all = append(all, e.Text+" "+text)
		}
	}
	return all
}

// LaterRequirements returns the requirements for later versions, including uncertain ones.
func (i *InterviewState) LaterRequirements() (all []nexus.Requirement) {
	for _, r := range slices.Concat(i.Requirements, i.Candidates) {
		if r.Later && r.Priority != nexus.Wont {
			all = append(all, r)
		}
	}
	return all
}

// specDepth returns the spec's depth, derived from the number of requirements.
func (i *InterviewState) specDepth() spec.SpecDepth {
	switch n := len(i.Requirements); {
	case n > 8:
		return spec.Deep
	default:
		return spec.Standard
	}
}

// requirementIDs returns the ids of the requirements with the given ids or texts, and whether one of
// them does not count.
func (i *InterviewState) requirementIDs(of []string) (all []string, dropped bool) {
	for _, name := range of {
		r := i.requirementByID(name)
		if r == nil {
			r = i.sameRequirement(nexus.Requirement{Text: name})
		}
		switch {
		case r == nil:
			_, gone := i.withdrawnPart(name)
			dropped = dropped || gone || slices.ContainsFunc(i.withdrawn, func(p specPart) bool { return normalizeText(p.text) == normalizeText(name) })
		case r.Priority == nexus.Wont || r.Confidence < Sure:
			dropped = true
		case !slices.Contains(all, r.ID):
			all = append(all, r.ID)
		}
	}
	return all, dropped
}

func firstLine(text string) string {
	text, _, _ = strings.Cut(strings.TrimSpace(text), "\n")
	text = strings.TrimSpace(strings.TrimLeft(text, "# "))
	if r := []rune(text); len(r) > 80 {
		text = string(r[:77]) + "..."
	}
	return text
}

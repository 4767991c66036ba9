// Package specify lets agents write a spec of a goal: research reports, the spec itself, and
// its critique.
package specify

import (
	"bytes"
	"context"
	_ "embed" // the schemas
	"encoding/json"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

//go:embed schema.json
var specSchema []byte

//go:embed report.json
var reportSchema []byte

// SpecSchema returns the JSON Schema of a specifier's submission.
func SpecSchema() json.RawMessage { return compactJSON(specSchema) }

// ResearchReportSchema returns the JSON Schema of a researcher's submission.
func ResearchReportSchema() json.RawMessage { return compactJSON(reportSchema) }

func compactJSON(data []byte) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, data) != nil { // a test parses it
		return data
	}
	return b.Bytes()
}

// maxTries limits the submissions of a spec.
const maxTries = 3

// ResearchTopic is a topic of research.
type ResearchTopic struct {
	Name string // name of its report
	Ask  string
}

// ResearchTopics returns the topics of research before a spec is written.
func ResearchTopics() []ResearchTopic {
	return []ResearchTopic{
		{"domain", "The domain: the words, rules and cases that whoever builds this must know, and what comparable programs do."},
		{"stack", "The stack: which parts, libraries and conventions of the repository this builds on, and what is missing."},
		{"pitfalls", "Pitfalls: what goes wrong with such a change, here and elsewhere, and how to notice it."},
	}
}

// ResearchReportText is a researcher's report.
type ResearchReportText struct {
	Topic string `json:"topic"`
	Text  string `json:"text"`
}

// SpecSessionRequest is the question to one session.
type SpecSessionRequest struct {
	Session nexus.SessionID
	Role    nexus.Role
	Text    string
	Handin  json.RawMessage
}

// SpecSessionFunc runs a session and returns its submission.
type SpecSessionFunc func(ctx context.Context, q SpecSessionRequest) (json.RawMessage, error)

// RunResearch lets a researcher report on each topic.
func RunResearch(ctx context.Context, goal string, ask SpecSessionFunc) (all []ResearchReportText, err error) {
	for i, t := range ResearchTopics() {
		id := nexus.SessionID(fmt.Sprintf("spec.1/%s.%d", nexus.Researcher, i+1))
		data, err := ask(ctx, SpecSessionRequest{id, nexus.Researcher, prompt.ResearchRequest{Session: id, Goal: goal, Topic: t.Ask}.FirstMessage(), ResearchReportSchema()})
		if err != nil {
			return all, fmt.Errorf("research %s: %w", t.Name, err)
		}
		var said struct {
			Report string `json:"report"`
		}
		if problems := agent.DecodeStrictly(data, reportSchema, &said); len(problems) > 0 {
			return all, unusableSubmissionError(nexus.Researcher, problems)
		}
		all = append(all, ResearchReportText{t.Name, strings.TrimSpace(said.Report)})
	}
	return all, nil
}

// WriteSpec lets a specifier write the spec of a goal, and criticize it if it is deep. Problems
// with a spec are returned to the specifier, twice at most. If the critique fails, the spec is
// a standard one with a warning; a spec that is interrupted in its critique is returned with
// the error.
func WriteSpec(ctx context.Context, goal string, depth spec.SpecDepth, reports []ResearchReportText, ask SpecSessionFunc) (s spec.Spec, warning string, err error) {
	brief := prompt.SpecRequest{Goal: goal}
	for _, r := range reports {
		brief.Reports = append(brief.Reports, prompt.PromptSection{Title: "Research: " + r.Topic, Body: r.Text, Fence: "markdown"})
	}
	n := 0
	s, err = askUntilUsable(ctx, &brief, &n, ask, nil)
	s.Depth, s.Critique = depth, nil
	if err != nil || depth != spec.Deep {
		return s, "", err
	}
	s.Depth = "" // the draft's text does not depend on it
	brief.Draft, brief.Wrong = string(spec.FormatMarkdown(s)), nil
	better, err := askUntilUsable(ctx, &brief, &n, ask, func(s spec.Spec) []string {
		if len(s.Critique) > 0 {
			return nil
		}
		return []string{"critique says nothing: say in it what was missing, vague, contradictory or could not be checked, and what became of it"}
	})
	switch {
	case err == nil:
		better.Depth = depth
		return better, "", nil
	case ctx.Err() == nil:
		warning, err = "the spec was not criticized, so its depth is standard: "+err.Error(), nil
	}
	s.Depth = spec.Standard
	return s, warning, err
}

// askUntilUsable asks until the spec is valid. Wants returns further problems; nil: none.
func askUntilUsable(ctx context.Context, brief *prompt.SpecRequest, n *int, ask SpecSessionFunc, wants func(spec.Spec) []string) (spec.Spec, error) {
	var problems []string
	for range maxTries {
		*n++
		brief.Session = nexus.SessionID(fmt.Sprintf("spec.1/%s.%d", nexus.Specifier, *n))
		data, err := ask(ctx, SpecSessionRequest{brief.Session, nexus.Specifier, brief.FirstMessage(), SpecSchema()})
		if err != nil {
			return spec.Spec{}, err
		}
		var s spec.Spec
		if s, problems = ParseSpec(data); len(problems) == 0 && wants != nil {
			problems = wants(s)
		}
		if len(problems) == 0 {
			return s, nil
		}
		if brief.Wrong = problems; s.Title != "" || brief.Draft == "" {
			brief.Draft = string(spec.FormatMarkdown(s))
		}
	}
	return spec.Spec{}, unusableSubmissionError(nexus.Specifier, problems)
}

// unusableSubmissionError returns an error about a role's invalid submission.
func unusableSubmissionError(role nexus.Role, problems []string) error {
	return &nexus.Error{
		Code: nexus.CodeNothingProposed, Message: fmt.Sprintf("the %s submitted nothing usable: %s", role, strings.Join(problems, "; ")),
		Hint: "Describe the goal in more detail, set a stronger model for roles." + string(role) + ", or write the spec by hand (docs/plan-and-approve.md).",
	}
}

// submittedSpec is a specifier's submission.
type submittedSpec struct {
	Title        string               `json:"title"`
	Problem      string               `json:"problem"`
	Requirements []nexus.Requirement  `json:"requirements"`
	Criteria     []spec.SpecCriterion `json:"criteria"`
	Assumptions  []string             `json:"assumptions"`
	Notes        []string             `json:"notes"`
	OutOfScope   []string             `json:"out_of_scope"`
	Critique     []string             `json:"critique"`
}

// ParseSpec parses a specifier's submission, numbers it, and returns its problems.
func ParseSpec(data []byte) (spec.Spec, []string) {
	var in submittedSpec
	if problems := agent.DecodeStrictly(data, specSchema, &in); len(problems) > 0 {
		return spec.Spec{}, problems
	}
	s := spec.Spec{
		Title: strings.Join(strings.Fields(in.Title), " "), Problem: in.Problem, Requirements: in.Requirements, Criteria: in.Criteria,
		Notes: in.Notes, OutOfScope: in.OutOfScope, Critique: in.Critique,
	}
	for i := range s.Requirements {
		s.Requirements[i].ID = fmt.Sprintf("REQ-%d", i+1)
	}
	for i := range s.Criteria {
		s.Criteria[i].ID = fmt.Sprintf("AC-%d", i+1)
	}
	for i, text := range in.Assumptions {
		s.Assumptions = append(s.Assumptions, spec.SpecAssumption{ID: fmt.Sprintf("A-%d", i+1), Text: text})
	}
	read, problems := spec.ReadSpec(spec.FormatMarkdown(s)) // in the form that a person would write
	var wrong []string
	for _, p := range problems {
		wrong = append(wrong, p.Text)
	}
	for _, c := range s.Criteria {
		if strings.Contains(strings.TrimSpace(c.Check), "\n") {
			wrong = append(wrong, c.ID+" has a check of several lines; give one command in one line")
		}
	}
	if len(wrong) == 0 {
		wrong = append(wrong, read.UncheckedRequirements()...)
	}
	return read, wrong
}

package review

import (
	"bytes"
	"cmp"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
)

// verifierGate is the gate in a verifier's findings.
const verifierGate = "verify"

//go:embed verdict.json
var verdictSchema []byte

// VerdictSchema returns the JSON Schema of a verdict. It excludes everything that the gates
// know: which tests pass, and how many.
func VerdictSchema() json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, verdictSchema) != nil { // a test parses it
		return verdictSchema
	}
	return b.Bytes()
}

// verifierVerdict is a verifier's submission.
type verifierVerdict struct {
	Approved *bool `json:"approved"`
	Criteria []struct {
		Number int    `json:"criterion"`
		Met    bool   `json:"met"`
		Note   string `json:"note"`
	} `json:"criteria"`
	TestModifications *struct {
		Files      []string `json:"files"`
		Legitimate bool     `json:"legitimate"`
		Reasoning  string   `json:"reasoning"`
	} `json:"testModifications"`
	Quality struct {
		Rating string   `json:"rating"`
		Issues []string `json:"issues"`
	} `json:"quality"`
	Fixes     []verifierRequestedFix `json:"fixes"`
	Reasoning string                 `json:"reasoning"`
}

type verifierRequestedFix struct {
	File      string `json:"file"`
	Line      int    `json:"line"`
	Criterion int    `json:"criterion"` // 0: it is about none
	Message   string `json:"message"`
}

// VerifierQuestion is the question to a verifier.
type VerifierQuestion struct {
	Criteria []nexus.Criterion // criteria of the task, in order
	// the change touches its own tests or gates, and the verifier has to explain that
	Explain bool
}

// ParseVerdict parses a verdict on a tree that passed its gates. With an error it does not
// count: Read is false, and Why is the reason.
func ParseVerdict(data []byte, a VerifierQuestion) (nexus.VerifierVerdictGiven, error) {
	v, err := decodeVerdict(data, len(a.Criteria))
	if err != nil {
		return nexus.VerifierVerdictGiven{Why: "no verdict: " + err.Error()}, fmt.Errorf("read verdict: %w", err)
	}
	return v.decideOutcome(a), nil
}

func decodeVerdict(data []byte, criteria int) (verifierVerdict, error) {
	var v verifierVerdict
	if len(data) > maxHandin {
		return v, fmt.Errorf("it has %d bytes, the maximum is %d", len(data), maxHandin)
	}
	if problems := agent.DecodeStrictly(data, verdictSchema, &v); len(problems) > 0 {
		return v, errors.New(strings.Join(problems, "; "))
	}
	if v.Approved == nil {
		return v, errors.New("approved is missing")
	}
	seen := map[int]bool{}
	for _, c := range v.Criteria {
		if c.Number < 1 || c.Number > criteria {
			return v, fmt.Errorf("there is no criterion %d; the task has %d", c.Number, criteria)
		}
		if seen[c.Number] {
			return v, fmt.Errorf("criterion %d is given twice", c.Number)
		}
		seen[c.Number] = true
	}
	switch v.Quality.Rating {
	case "good", "acceptable", "poor":
	default:
		return v, fmt.Errorf("the rating %q is not one of good, acceptable, poor", v.Quality.Rating)
	}
	return v, nil
}

// decideOutcome returns the result of a verdict. Its reasons in order of weight: test edits without a
// good reason, a criterion that is not met, poor quality, and last a missing approval.
func (v verifierVerdict) decideOutcome(a VerifierQuestion) nexus.VerifierVerdictGiven {
	f := nexus.VerifierVerdictGiven{Read: true, Criteria: v.criterionResults(a.Criteria), Why: truncateFindingText(v.Reasoning)}
	reason := ""
	switch {
	case v.hasUnjustifiedTestChanges(a.Explain):
		reason = "tests that judge the work were changed without a good reason"
	case slices.ContainsFunc(f.Criteria, func(c nexus.CriterionJudgement) bool { return !c.Met }):
		reason = "a criterion is not met"
	case v.Quality.Rating == "poor":
		reason = "its quality is poor"
	case !*v.Approved:
		reason = "it is not approved"
	default:
		return f
	}
	f.Category = nexus.VerifierRejected
	f.Why = reason
	if r := truncateFindingText(v.Reasoning); r != "" {
		f.Why += ": " + r
	}
	f.Findings = v.requiredFixes(f.Criteria)
	return f
}

// criterionResults returns the verdict about each criterion of the task. A criterion that it omits is
// not met, except the one that gates alone prove.
func (v verifierVerdict) criterionResults(of []nexus.Criterion) []nexus.CriterionJudgement {
	all := make([]nexus.CriterionJudgement, len(of))
	for i, c := range of {
		all[i] = nexus.CriterionJudgement{Criterion: c.Text, Met: c.IsRegressionOnly(), Note: "the verdict does not mention it"}
	}
	for _, c := range v.Criteria {
		all[c.Number-1].Met, all[c.Number-1].Note = c.Met, c.Note
	}
	return all
}

// hasUnjustifiedTestChanges reports whether tests were changed without a good reason. If a change has to be
// explained, a verdict that does not mention it is no explanation.
func (v verifierVerdict) hasUnjustifiedTestChanges(explain bool) bool {
	m := v.TestModifications
	if m == nil {
		return explain
	}
	return !m.Legitimate && (explain || len(m.Files) > 0)
}

// requiredFixes returns the required changes: the fixes, the unmet criteria that no fix is about,
// and tests that were changed without a good reason.
func (v verifierVerdict) requiredFixes(criteria []nexus.CriterionJudgement) []nexus.Finding {
	var all []nexus.Finding
	add := func(file string, line int, message string) {
		if message = truncateFindingText(message); message != "" {
			all = append(all, nexus.Finding{Gate: verifierGate, File: cleanPath(file), Line: line, Severity: nexus.Major, Message: message})
		}
	}
	if m := v.TestModifications; m != nil && !m.Legitimate {
		for _, file := range m.Files {
			add(file, 0, "restore this test as it was: "+cmp.Or(m.Reasoning, "it judges the work"))
		}
	}
	for _, x := range v.Fixes {
		add(x.File, x.Line, x.Message)
	}
	for i, c := range criteria {
		if !c.Met && !slices.ContainsFunc(v.Fixes, func(x verifierRequestedFix) bool { return x.Criterion == i+1 }) {
			add("", 0, strings.TrimSuffix("not met: "+c.Criterion+": "+c.Note, ": "))
		}
	}
	if v.Quality.Rating == "poor" {
		for _, issue := range v.Quality.Issues {
			add("", 0, issue)
		}
	}
	return all
}

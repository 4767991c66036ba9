// Package review chooses the reviewers of a change, parses their reviews,
// checks their findings against the tree, and combines several reviews into
// one. It also parses the verdict of a verifier.
//
// A change is read by each persona that was chosen, and one that is too large
// to be read at once in parts. A review that cannot be read is no review, and
// no review never approves. A verdict that cannot be read is none: then the
// gates' own run decides, as it decides in any case whether tests pass. So a
// verdict can refuse a tree that is green, and never make one pass that is
// not.
package review

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/repair"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
)

// Gate is the gate in review findings.
const Gate = "review"

// ClaimCategory is the category of a finding that the author's message claims something that
// is not in the change.
const ClaimCategory = "claim"

const (
	maxHandin   = 1 << 20 // largest submission in bytes
	maxFindings = 100
	maxText     = 4_000 // most bytes of a message, an advice, a quote or the summary
	maxCategory = 40
)

//go:embed schema.json
var schema []byte

// HandinSchema returns the JSON Schema of a reviewer's submission.
func HandinSchema() json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, schema) != nil { // a test parses it
		return schema
	}
	return b.Bytes()
}

type reviewerSubmission struct {
	Approved *bool                    `json:"approved"`
	Summary  string                   `json:"summary"`
	Findings []submittedReviewFinding `json:"findings"`
	Agreed   []string                 `json:"agreed"`
}

type submittedReviewFinding struct {
	File     string         `json:"file"`
	Line     int            `json:"line"`
	Quote    string         `json:"quote"`
	Severity nexus.Severity `json:"severity"`
	Category string         `json:"category"`
	Message  string         `json:"message"`
	Advice   string         `json:"advice"`
}

// ParseReview parses a submission. With an error the review does not count: Reviewed is false, and
// Summary is the reason.
func ParseReview(data []byte) (nexus.ReviewerVerdictGiven, error) {
	r, err := decodeReview(data)
	if err != nil {
		return nexus.ReviewerVerdictGiven{Summary: "not reviewed: " + err.Error()}, fmt.Errorf("read review: %w", err)
	}
	return r, nil
}

func decodeReview(data []byte) (nexus.ReviewerVerdictGiven, error) {
	var none nexus.ReviewerVerdictGiven
	if len(data) > maxHandin {
		return none, fmt.Errorf("it has %d bytes, the maximum is %d", len(data), maxHandin)
	}
	var h reviewerSubmission
	if problems := agent.DecodeStrictly(data, schema, &h); len(problems) > 0 {
		return none, errors.New(strings.Join(problems, "; "))
	}
	if h.Approved == nil {
		return none, errors.New("approved is missing")
	}
	if len(h.Findings) > maxFindings {
		return none, fmt.Errorf("it has %d findings, the maximum is %d", len(h.Findings), maxFindings)
	}
	r := nexus.ReviewerVerdictGiven{Reviewed: true, Approved: *h.Approved, Summary: truncateFindingText(h.Summary), Agreed: h.Agreed}
	for i, f := range h.Findings {
		checked, err := f.checkedFinding()
		if err != nil {
			return none, fmt.Errorf("finding %d: %w", i+1, err)
		}
		r.Findings = append(r.Findings, checked)
	}
	switch {
	case r.Summary == "":
		return none, errors.New("summary is missing")
	case !r.Approved && len(r.Findings) == 0:
		return none, errors.New("it does not approve, and no finding says why")
	}
	return r, nil
}

func (f submittedReviewFinding) checkedFinding() (nexus.Finding, error) {
	message := truncateFindingText(f.Message)
	switch f.Severity {
	case nexus.Critical, nexus.Major, nexus.Minor, nexus.Suggestion:
	default:
		return nexus.Finding{}, fmt.Errorf("severity %q is not one of critical, major, minor, suggestion", f.Severity)
	}
	switch {
	case message == "":
		return nexus.Finding{}, errors.New("message is missing")
	case f.Line < 0:
		return nexus.Finding{}, fmt.Errorf("line %d is below 0", f.Line)
	}
	category := categoryWord(f.Category)
	return nexus.Finding{
		Gate: Gate, File: cleanPath(f.File), Line: f.Line, Severity: cappedSeverity(f.Severity, category), Category: category, Message: message, Advice: truncateFindingText(f.Advice), Quote: truncateFindingText(f.Quote),
	}, nil
}

// cappedSeverity returns the severity of a finding of a category: style and taste are minor at most,
// whatever the reviewer submits, so that they never prevent landing.
func cappedSeverity(s nexus.Severity, category string) nexus.Severity {
	if s == nexus.Suggestion || !slices.ContainsFunc(strings.Split(category, "-"), isTasteWord) {
		return s
	}
	return nexus.Minor
}

// isTasteWord reports whether a word of a category means style or taste.
func isTasteWord(word string) bool {
	return slices.Contains([]string{
		"style", "styles", "styling", "stylistic", "taste", "format", "formatting", "whitespace", "indentation", "naming", "nit", "nits", "nitpick",
		"cosmetic", "cosmetics", "readability", "wording", "typo", "typos", "idiom", "idiomatic",
	}, word)
}

// categoryWord returns a category as one plain word, or "" if it is not one.
func categoryWord(category string) string {
	category = strings.ToLower(strings.TrimSpace(category))
	if len(category) > maxCategory || strings.ContainsFunc(category, func(r rune) bool { return r != '-' && (r < 'a' || r > 'z') }) {
		return ""
	}
	return category
}

// cleanPath returns a path as git writes it; empty stays empty.
func cleanPath(file string) string {
	file = strings.TrimSpace(file)
	if file == "" {
		return ""
	}
	return strings.TrimPrefix(path.Clean("/"+file), "/")
}

func truncateFindingText(text string) string {
	text = strings.TrimSpace(strings.ToValidUTF8(text, "\uFFFD"))
	if len(text) <= maxText {
		return text
	}
	return strings.ToValidUTF8(text[:maxText], "") + "..."
}

// BlocksLanding reports whether the change must not land as it is: it was not
// reviewed, or its findings forbid it.
func BlocksLanding(r nexus.ReviewerVerdictGiven, majors int) bool {
	return !r.Reviewed || repair.IsBlocking(r, majors)
}

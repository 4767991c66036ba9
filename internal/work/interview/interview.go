// Package interview conducts the interview about a goal: it sends the interviewer agent the
// known facts, and parses its submissions.
package interview

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/clarify"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
)

//go:embed handin.json
var schema []byte

const (
	maxHandin = 1 << 20 // largest submission of the interviewer in bytes
	maxTries  = 3       // submissions per round
)

// SubmissionSchema returns the JSON Schema of the interviewer's submission.
func SubmissionSchema() json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, schema) != nil { // a test parses it
		return schema
	}
	return b.Bytes()
}

// ParseSubmission parses the interviewer's submission, and returns its problems.
func ParseSubmission(data []byte, known *clarify.InterviewState) (clarify.InterviewSubmission, []string) {
	var h clarify.InterviewSubmission
	if len(data) > maxHandin {
		return h, []string{fmt.Sprintf("it has %d bytes, the maximum is %d", len(data), maxHandin)}
	}
	if problems := agent.DecodeStrictly(data, schema, &h); len(problems) > 0 {
		return clarify.InterviewSubmission{}, problems
	}
	return h, known.SubmissionProblems(h)
}

// InterviewerSendFunc sends a message to the interviewer, who answers with a submission. An empty message
// continues an interrupted session.
type InterviewerSendFunc func(ctx context.Context, message, why string) (agent.SessionStretchResult, error)

// RunInterviewRound has one round with the interviewer, and returns the resulting facts. An invalid
// submission is returned to it in the same session, twice at most; a contradiction to a
// person's words is returned once, and then removed.
func RunInterviewRound(ctx context.Context, known *clarify.InterviewState, round int, brief string, begun bool, talk InterviewerSendFunc) ([]nexus.Fact, error) {
	next, why := brief, "brief"
	if begun {
		next, why = "", ""
	}
	objected := false
	for {
		out, err := talk(ctx, next, why)
		if err != nil {
			return nil, err
		}
		if out.Refusal != nil {
			return nil, out.Refusal
		}
		if out.Outcome != nexus.Accepted {
			return []nexus.Fact{nexus.InterviewRoundFailed{Attempt: known.Attempt, Why: out.Why, Outcome: out.Outcome}}, nil
		}
		h, problems := ParseSubmission(out.Handin, known)
		tries := len(agent.AcceptedSubmissions(out.Messages))
		if len(problems) == 0 && !objected && tries < maxTries {
			problems = known.ObjectionsTo(h)
			objected = len(problems) > 0
		}
		if len(problems) == 0 {
			return known.SubmissionFacts(round, h), nil
		}
		text := strings.Join(problems, "\n")
		if tries >= maxTries {
			why := "the interviewer's answer cannot be used: " + strings.Join(problems, "; ")
			return []nexus.Fact{nexus.InterviewRoundFailed{Attempt: known.Attempt, Why: why}}, nil
		}
		next, why = text+"\n\nFix this and submit again.", "repair"
	}
}

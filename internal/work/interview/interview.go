// Package interview talks with the interviewer: it tells it what is known, and
// reads what it submits.
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
	maxHandin = 1 << 20 // bytes of what the interviewer submits
	maxTries  = 3       // times that it may submit in a round
)

// Schema returns the JSON Schema of what the interviewer submits.
func Schema() json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, schema) != nil { // a test reads it
		return schema
	}
	return b.Bytes()
}

// Parse reads what the interviewer submitted, and says what is wrong with it.
func Parse(data []byte, known *clarify.Interview) (clarify.Handin, []string) {
	var h clarify.Handin
	if len(data) > maxHandin {
		return h, []string{fmt.Sprintf("it has %d bytes, the maximum is %d", len(data), maxHandin)}
	}
	if problems := agent.Decode(data, schema, &h); len(problems) > 0 {
		return clarify.Handin{}, problems
	}
	return h, known.Problems(h)
}

// Talk says something to the interviewer, who answers with a submission. An
// empty message continues where the session stopped.
type Talk func(ctx context.Context, message, why string) (agent.Outcome, error)

// RunRound has one round with the interviewer, and returns the facts that follow.
// What cannot be used goes back to it in the same session, twice at most; what goes against the word of a person
// once, and is left out then.
func RunRound(ctx context.Context, known *clarify.Interview, round int, brief string, begun bool, talk Talk) ([]nexus.Fact, error) {
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
			return []nexus.Fact{nexus.InterviewFailed{Attempt: known.Attempt, Why: out.Why, Outcome: out.Outcome}}, nil
		}
		h, problems := Parse(out.Handin, known)
		tries := len(agent.Handins(out.Messages))
		if len(problems) == 0 && !objected && tries < maxTries {
			problems = known.Objections(h)
			objected = len(problems) > 0
		}
		if len(problems) == 0 {
			return known.FactsFrom(round, h), nil
		}
		text := strings.Join(problems, "\n")
		if tries >= maxTries {
			why := "the interviewer's answer cannot be used: " + strings.Join(problems, "; ")
			return []nexus.Fact{nexus.InterviewFailed{Attempt: known.Attempt, Why: why}}, nil
		}
		next, why = text+"\n\nFix this and submit again.", "repair"
	}
}

// Package runexplanation lets a model explain the events of a run, and accepts only statements with
// evidence: each statement names events, and statements whose events are not part of the
// question are dropped.
package runexplanation

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

//go:embed schema.json
var schema []byte

// SubmissionSchema returns the JSON Schema of an explainer's submission.
func SubmissionSchema() json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, schema) != nil { // a test parses it
		return schema
	}
	return b.Bytes()
}

// Session is the ID of an explainer's session.
const Session nexus.SessionID = "explain.1/" + nexus.SessionID(nexus.Explainer) + ".1"

// Output is the approximate number of tokens that an explainer writes.
const Output = 1_000

// maxTokens limits the input of an explainer.
const maxTokens = 20_000

// EventDescription is an event in words.
type EventDescription struct {
	Seq  int64
	Text string
}

// ExplanationSubject is the subject of an explanation.
type ExplanationSubject struct {
	About  string             // the run or the task, with its state
	Causes []string           // known causes
	Events []EventDescription // events of the run, or of the task, in order
}

// ExplainerMessage returns the message to an explainer. If it would be too long, the middle of the
// events is omitted.
func (c ExplanationSubject) ExplainerMessage() string {
	text, _ := prompt.FitSections([]prompt.PromptSection{
		{Body: fmt.Sprintf("Conversation: %s\nExplain %s.", Session, prompt.SingleLine(c.About))},
		{Title: "Known causes", Body: strings.Join(c.Causes, "\n"), Fence: "text"},
		{Title: "Events", Lead: "Each starts with its number. What they quote was written by others.", Body: c.eventLines(), Fence: "text"},
	}, maxTokens+1_000)
	return text
}

// maxBytes limits the text of the events: about three bytes are a token.
const maxBytes = 3 * maxTokens

// eventLines returns the events as lines: the first, and as many of the last as fit.
func (c ExplanationSubject) eventLines() string {
	var lines []string
	size := 0
	for _, e := range c.Events {
		lines = append(lines, fmt.Sprintf("%d %s", e.Seq, prompt.SingleLine(e.Text)))
		size += len(lines[len(lines)-1]) + 1
	}
	if size <= maxBytes {
		return strings.Join(lines, "\n")
	}
	head, room := 0, maxBytes
	for ; room > maxBytes*3/4; head++ {
		room -= len(lines[head]) + 1
	}
	tail := len(lines)
	for ; tail > head && len(lines[tail-1])+1 <= room; tail-- {
		room -= len(lines[tail-1]) + 1
	}
	left := fmt.Sprintf("(%d events are left out)", tail-head)
	return strings.Join(slices.Concat(lines[:head], []string{left}, lines[tail:]), "\n")
}

// EstimateInputTokens estimates the number of tokens of the message.
func (c ExplanationSubject) EstimateInputTokens() int64 {
	return prompt.EstimateTokens(c.ExplainerMessage())
}

// SourcedStatement is a statement of a model, with its evidence.
type SourcedStatement struct {
	Text   string  `json:"text"`
	Events []int64 `json:"events"`
}

// ReadExplanation parses an explainer's submission. Unknown events are removed from its statements, and
// statements without a remaining event are dropped: dropped contains the reasons.
func (c ExplanationSubject) ReadExplanation(data []byte) (kept []SourcedStatement, dropped []string, err error) {
	var said struct {
		Statements []SourcedStatement `json:"statements"`
	}
	problems := agent.DecodeStrictly(data, schema, &said)
	if len(problems) == 0 && len(said.Statements) == 0 {
		problems = []string{"it has no statement"}
	}
	if len(problems) > 0 {
		return nil, nil, &nexus.Error{
			Code: nexus.CodeNothingProposed, Message: "the explainer submitted nothing usable: " + strings.Join(problems, "; "),
			Hint: "Set a stronger model for roles." + string(nexus.Explainer) + ". The known causes need no model: leave out --explain.",
		}
	}
	known := map[int64]bool{}
	for _, e := range c.Events {
		known[e.Seq] = true
	}
	for _, s := range said.Statements {
		var wrong []string
		s.Events = slices.DeleteFunc(s.Events, func(n int64) bool {
			if !known[n] {
				wrong = append(wrong, fmt.Sprint(n))
			}
			return !known[n]
		})
		slices.Sort(s.Events)
		s.Events = slices.Compact(s.Events)
		text := prompt.SingleLine(s.Text)
		switch {
		case len(s.Events) == 0 && len(wrong) == 0:
			dropped = append(dropped, "it names no event: "+text)
			continue
		case len(s.Events) == 0:
			dropped = append(dropped, "it names events that have nothing to do with this ("+strings.Join(wrong, ", ")+"): "+text)
			continue
		case len(wrong) > 0:
			dropped = append(dropped, "events that have nothing to do with this ("+strings.Join(wrong, ", ")+") of: "+text)
		}
		kept = append(kept, s)
	}
	return kept, dropped, nil
}

package tool

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func ask(e Env) Tool {
	return Tool{
		Name:        "ask",
		Description: "Ask a person, only when you cannot go on otherwise. fallback: what you will assume without an answer.",
		Schema: json.RawMessage(`{"type":"object","properties":{"question":{"type":"string","minLength":1,"maxLength":2000},` +
			`"fallback":{"type":"string","minLength":1,"maxLength":1000}},"required":["question","fallback"],"additionalProperties":false}`),
		Run: func(ctx context.Context, input json.RawMessage) (Output, error) {
			in, err := decode[struct{ Question, Fallback string }](input)
			if err != nil {
				return Output{}, err
			}
			if e.Ask == nil {
				return Output{Text: "Nobody is there to answer. Go on with: " + in.Fallback}, nil
			}
			text, err := e.Ask(ctx, in.Question, in.Fallback)
			if err != nil {
				return Output{}, fmt.Errorf("the question could not be asked: %w", err)
			}
			return Output{Text: text}, nil
		},
	}
}

// message is what finish takes where the work lands as a commit, with the
// length of a subject twice: models are shown descriptions and no bounds.
const message = `,"subject":{"type":"string","maxLength":%[1]d,"description":"of the commit: imperative, %[1]d characters"}`

// claims is what finish takes where tests of criteria are named.
const claims = `,"checks":{"type":"array","maxItems":20,"description":"one for each criterion that the brief asks a check of","items":{"type":"object","properties":{` +
	`"criterion":{"type":"integer","minimum":1},"test":{"type":"string","maxLength":200},"file":{"type":"string","maxLength":500},` +
	`"command":{"type":"string","maxLength":500,"description":"runs that test alone"},"why":{"type":"string","maxLength":500,"description":"why no machine can check it"}},` +
	`"required":["criterion"],"additionalProperties":false}}`

// explains is what finish takes where an agent may write.
const explains = `,"explains":{"type":"array","maxItems":200,"description":"deletions and rewrites beyond the task, by path",` +
	`"items":{"type":"object","properties":{"name":{"type":"string","minLength":1,"maxLength":1000},"why":{"type":"string","minLength":1,"maxLength":1000}},` +
	`"required":["name","why"],"additionalProperties":false}}`

// SubjectLength is the most characters of the subject of a commit.
const SubjectLength = 72

// Submission is what an agent submits that has no schema of its own. The zero
// Submission says nothing.
type Submission struct {
	Subject  string              `json:"subject"` // of the commit; empty: it names none
	Summary  string              `json:"summary"` // body of the commit
	Explains []nexus.Explanation `json:"explains"`
}

// Message returns the subject and the summary as one text.
func (s Submission) Message() string { return strings.TrimSpace(s.Subject + "\n\n" + s.Summary) }

// Submitted returns what was submitted, nothing where it cannot be read.
func Submitted(handin []byte) Submission {
	var s Submission
	if json.Unmarshal(handin, &s) != nil { // the tool checked it; what is odd says nothing
		return Submission{}
	}
	return s
}

func finish(e Env) Tool {
	schema := e.Handin
	if schema == nil {
		schema = json.RawMessage(`{"type":"object","properties":{"summary":{"type":"string","minLength":1,"maxLength":4000},` +
			`"status":{"enum":["done","blocked"]},"reason":{"type":"string","description":"why blocked"},` +
			`"needs":{"enum":["person"],"description":"if blocked by what only a person can give"}},` +
			`"required":["summary","status"],"additionalProperties":false}`)
		more := ""
		if e.Writes {
			more += fmt.Sprintf(message, SubjectLength) + explains
		}
		if e.Claims {
			more += claims
		}
		schema = json.RawMessage(strings.Replace(string(schema), `},"required":`, more+`},"required":`, 1)) // at once: both have fields that are required
	}
	return Tool{
		Name:        "finish",
		Description: "Submit your work and end the session.",
		Schema:      schema,
		Run: func(_ context.Context, input json.RawMessage) (Output, error) {
			return Output{Text: "handed in", Finished: input}, nil
		},
	}
}

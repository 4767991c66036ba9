package tool

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func askTool(e AgentToolEnvironment) Tool {
	return Tool{
		Name:        "ask",
		Description: "Ask a person, only if you cannot continue otherwise. fallback: what you will assume without an answer.",
		Schema: json.RawMessage(`{"type":"object","properties":{"question":{"type":"string","minLength":1,"maxLength":2000},` +
			`"fallback":{"type":"string","minLength":1,"maxLength":1000}},"required":["question","fallback"],"additionalProperties":false}`),
		Run: func(ctx context.Context, input json.RawMessage) (CallOutput, error) {
			in, err := decodeInput[struct{ Question, Fallback string }](input)
			if err != nil {
				return CallOutput{}, err
			}
			if e.Ask == nil {
				return CallOutput{Text: "There was no answer. Continue with: " + in.Fallback}, nil
			}
			text, err := e.Ask(ctx, in.Question, in.Fallback)
			if err != nil {
				return CallOutput{}, fmt.Errorf("the question could not be asked: %w", err)
			}
			return CallOutput{Text: text}, nil
		},
	}
}

// message are the fields of finish for work that lands as a commit, with the length of a
// subject twice: models see descriptions and no limits.
const message = `,"subject":{"type":"string","maxLength":%[1]d,"description":"of the commit: imperative, %[1]d characters"}`

// claims are the fields of finish for tests of criteria.
const claims = `,"checks":{"type":"array","maxItems":20,"description":"one for each criterion for which the brief asks for a check","items":{"type":"object","properties":{` +
	`"criterion":{"type":"integer","minimum":1},"test":{"type":"string","maxLength":200},"file":{"type":"string","maxLength":500},` +
	`"command":{"type":"string","maxLength":500,"description":"runs that test alone"},"why":{"type":"string","maxLength":500,"description":"why no machine can check it"}},` +
	`"required":["criterion"],"additionalProperties":false}}`

// explains are the fields of finish for agents that may write.
const explains = `,"explains":{"type":"array","maxItems":200,"description":"deletions and rewrites beyond the task, by path",` +
	`"items":{"type":"object","properties":{"name":{"type":"string","minLength":1,"maxLength":1000},"why":{"type":"string","minLength":1,"maxLength":1000}},` +
	`"required":["name","why"],"additionalProperties":false}}`

// learned are the fields of finish for the repository's memory; see [memoryentry.ParseSubmission], which
// parses them leniently.
const learned = `,"learned":{"type":"array","description":"up to 3 facts that the next agent here needs and the code does not show; usually none",` +
	`"items":{"type":"object","properties":{"kind":{"type":"string","description":"decision, pattern, gotcha, fix or review"},"text":{"type":"string"},` +
	`"files":{"type":"array","items":{"type":"string"}},"symbols":{"type":"array","items":{"type":"string"}}},"required":["kind","text"]}}`

// answers are the fields of finish for answers to later findings: the message with the
// findings explains the form, and invalid answers are parsed leniently.
const answers = `,"answers":{"type":"array","items":{"type":"object"}}`

// SubjectLength limits the characters of a commit's subject.
const SubjectLength = 72

// DefaultWorkSubmission is the submission of a role without its own schema. The zero value is empty.
type DefaultWorkSubmission struct {
	Subject  string                     `json:"subject"` // subject of the commit; empty: none
	Summary  string                     `json:"summary"` // body of the commit
	Explains []nexus.RemovalExplanation `json:"explains"`
}

// ParseFindingAnswers returns a submission's answers to findings. It parses them leniently.
func ParseFindingAnswers(handin []byte) []nexus.FindingAnswer {
	var h struct {
		Answers []struct {
			Finding any    `json:"finding"`
			Comment any    `json:"comment"`
			Reason  string `json:"reason"`
			Status  string `json:"status"`
			Why     string `json:"why"`
		} `json:"answers"`
	}
	if json.Unmarshal(handin, &h) != nil {
		return nil
	}
	var all []nexus.FindingAnswer
	for _, a := range h.Answers {
		if id := answeredCommentID(a.Comment, a.Finding); id != "" {
			all = append(all, nexus.FindingAnswer{Comment: id, Status: nexus.FindingAnswerStatus(parseCommentReply(a.Status)), Why: truncateAnswer(strings.TrimSpace(cmp.Or(a.Why, a.Reason)))})
			continue
		}
		// a finding without a number stands for all of them
		number, _ := strconv.Atoi(strings.Trim(fmt.Sprint(a.Finding), "#. "))
		all = append(all, nexus.FindingAnswer{Finding: max(0, number), Status: parseAnswerStatus(a.Status), Why: truncateAnswer(strings.TrimSpace(a.Why))})
	}
	return all
}

// answeredCommentID returns the ID of the answered comment: c1, "C 1", "#c1". It may be in the field
// of a finding's number.
func answeredCommentID(comment, finding any) string {
	for _, v := range []any{comment, finding} {
		id := strings.ToLower(strings.Trim(strings.ReplaceAll(fmt.Sprint(v), " ", ""), "#."))
		if n, err := strconv.Atoi(strings.TrimPrefix(id, "c")); err == nil && n > 0 && (v == comment && comment != nil || strings.HasPrefix(id, "c")) {
			return "c" + strconv.Itoa(n)
		}
	}
	return ""
}

// parseCommentReply returns the reply to a comment for a word. An unknown word is a question.
func parseCommentReply(word string) nexus.CommentReplyKind {
	switch strings.ToLower(strings.TrimSpace(word)) {
	case "fixed", "done", "fix", "resolved":
		return nexus.CommentFixed
	case "declined", "decline", "disputed", "rejected", "wontfix", "won't fix", "disagree":
		return nexus.CommentDeclined
	case "answered", "answer":
		return nexus.CommentAnswered
	default:
		return nexus.CommentAsked
	}
}

// parseAnswerStatus returns the reply for a word.
func parseAnswerStatus(word string) nexus.FindingAnswerStatus {
	word = strings.NewReplacer(" ", "_", "-", "_").Replace(strings.ToLower(strings.TrimSpace(word)))
	switch word {
	case "dispute", "disagree", "disagreed", "wrong", "rejected":
		return nexus.Contested
	case "notmine", "not_my_part", "foreign":
		return nexus.NotMine
	case "done", "fix", "resolved":
		return nexus.Fixed
	}
	return nexus.FindingAnswerStatus(truncateAnswer(word))
}

// truncateAnswer cuts the text of an answer.
func truncateAnswer(text string) string {
	const most = 1000
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

// CommitMessage returns the subject and the summary as one text.
func (s DefaultWorkSubmission) CommitMessage() string {
	return strings.TrimSpace(s.Subject + "\n\n" + s.Summary)
}

// ParseSubmission returns a submission, empty if it cannot be parsed.
func ParseSubmission(handin []byte) DefaultWorkSubmission {
	var s DefaultWorkSubmission
	if json.Unmarshal(handin, &s) != nil { // the tool checked it; an invalid field is ignored
		return DefaultWorkSubmission{}
	}
	return s
}

func finishTool(e AgentToolEnvironment) Tool {
	schema := e.Handin
	if schema == nil {
		schema = json.RawMessage(`{"type":"object","properties":{"summary":{"type":"string","minLength":1,"maxLength":4000},` +
			`"status":{"enum":["done","blocked"]},"reason":{"type":"string","description":"why blocked"},` +
			`"needs":{"enum":["person"],"description":"if blocked by what only a person can give"}},` +
			`"required":["summary","status"],"additionalProperties":false}`)
		more := ""
		if e.Writes {
			more += fmt.Sprintf(message, SubjectLength) + explains + answers
		}
		if e.Claims {
			more += claims
		}
		if e.Recall {
			more += learned
		}
		// at once: both have required fields
		schema = json.RawMessage(strings.Replace(string(schema), `},"required":`, more+`},"required":`, 1))
	}
	return Tool{
		Name:        "finish",
		Description: "Submit your work and end the session.",
		Schema:      schema,
		Run: func(_ context.Context, input json.RawMessage) (CallOutput, error) {
			return CallOutput{Text: "submitted", Finished: input}, nil
		},
	}
}

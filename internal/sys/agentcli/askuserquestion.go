package agentcli

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

const (
	maxQuestions = 10
	maxOptions   = 20
	maxQuestion  = 1000 // bytes shown of a question
	maxLabel     = 300  // bytes shown of an option
)

// userQuestionCall are the questions in one call of Claude Code's tool AskUserQuestion:
//
//	input of the call -> readUserQuestions -> text -> a person -> answer, as the input of the call
//
// A person may choose among the agent's options or answer in other words, as in Claude Code
// itself.
type userQuestionCall struct {
	input map[string]json.RawMessage
	all   []userQuestion
}

type userQuestion struct {
	Text    string               `json:"question"`
	Several bool                 `json:"multiSelect"`
	Options []userQuestionOption `json:"options"`
}

type userQuestionOption struct {
	Label string `json:"label"`
	Says  string `json:"description"`
}

// readUserQuestions reads the input of a call. Its error is a reason, for the agent, why no person is
// asked.
func readUserQuestions(input []byte) (userQuestionCall, error) {
	var q userQuestionCall
	if json.Unmarshal(input, &q.input) != nil || json.Unmarshal(q.input["questions"], &q.all) != nil {
		return userQuestionCall{}, errors.New("the questions cannot be read")
	}
	if n := len(q.all); n == 0 || n > maxQuestions {
		return userQuestionCall{}, fmt.Errorf("there are %d questions, and at least 1 and at most %d can be asked at once", n, maxQuestions)
	}
	seen := map[string]bool{}
	for _, one := range q.all {
		if strings.TrimSpace(one.Text) == "" || seen[one.Text] || len(one.Options) > maxOptions {
			return userQuestionCall{}, fmt.Errorf("a question is empty, is there twice, or has more than %d options", maxOptions)
		}
		seen[one.Text] = true
	}
	return q, nil
}

// questionText returns the questions in words, with the possible answers.
func (q userQuestionCall) questionText() string {
	var b strings.Builder
	for i, one := range q.all {
		if len(q.all) > 1 {
			fmt.Fprintf(&b, "Question %d: ", i+1)
		}
		b.WriteString(sanitize.TruncateText(strings.TrimSpace(one.Text), maxQuestion) + "\n")
		for j, o := range one.Options {
			line := fmt.Sprintf("%d. %s", j+1, shortLabel(o.Label))
			if says := shortLabel(o.Says); says != "" {
				line += ": " + says
			}
			b.WriteString(line + "\n")
		}
		if one.Several {
			b.WriteString("Several of them can be chosen, with commas between them.\n")
		}
	}
	if len(q.all) > 1 {
		return b.String() + "Answer each with the number of the question and what you choose or say, such as 1=2; 2=neither, or decline."
	}
	if len(q.all[0].Options) == 0 {
		return b.String() + "Answer in your own words, or decline."
	}
	return b.String() + "Answer with the name or number of what you choose, or in your own words, or decline."
}

func shortLabel(s string) string {
	return sanitize.TruncateText(strings.Join(strings.Fields(s), " "), maxLabel)
}

// isDeclined reports whether the answer declines the question.
func isDeclined(answer string) bool {
	word := strings.ToLower(strings.TrimRight(strings.TrimSpace(answer), ".!"))
	return word == "decline" || word == "cancel"
}

// answerInput returns the input of the call with the answers in it. Its error tells the person what
// does not fit.
func (q userQuestionCall) answerInput(said string) (json.RawMessage, error) {
	said = strings.TrimSpace(said)
	if said == "" {
		return nil, errors.New("the answer is empty")
	}
	answers := map[string]string{}
	if len(q.all) == 1 {
		answers[q.all[0].Text] = q.all[0].labelsOrText(said)
	} else if err := q.splitAnswers(said, answers); err != nil {
		return nil, err
	}
	input := map[string]any{"answers": answers}
	for name, value := range q.input {
		if name != "answers" {
			input[name] = value
		}
	}
	data, err := json.Marshal(input)
	if err != nil {
		return nil, fmt.Errorf("encode the answers: %w", err)
	}
	return data, nil
}

// splitAnswers reads the answers to several questions.
func (q userQuestionCall) splitAnswers(answer string, answers map[string]string) error {
	for part := range strings.FieldsFuncSeq(answer, func(c rune) bool { return c == ';' || c == '\n' }) {
		if strings.TrimSpace(part) == "" {
			continue
		}
		number, said, ok := strings.Cut(part, "=")
		n, err := strconv.Atoi(strings.TrimSpace(number))
		said = strings.TrimSpace(said)
		switch {
		case !ok || err != nil || n < 1 || n > len(q.all):
			return fmt.Errorf("%q does not begin with the number of a question and =", sanitize.TruncateText(strings.TrimSpace(part), 40))
		case said == "":
			return fmt.Errorf("the answer to question %d is empty", n)
		}
		if _, twice := answers[q.all[n-1].Text]; twice {
			return fmt.Errorf("question %d is answered twice", n)
		}
		answers[q.all[n-1].Text] = q.all[n-1].labelsOrText(said)
	}
	for i, one := range q.all {
		if _, ok := answers[one.Text]; !ok {
			return fmt.Errorf("question %d is not answered", i+1)
		}
	}
	return nil
}

// labelsOrText returns an answer in the form of the tool: the labels of the chosen options, or the
// text of the person.
func (q userQuestion) labelsOrText(said string) string {
	if name, ok := q.chosenLabel(said); ok {
		return name
	}
	if !q.Several {
		return said
	}
	var names []string
	for part := range strings.SplitSeq(said, ",") {
		name, ok := q.chosenLabel(strings.TrimSpace(part))
		if !ok {
			return quoteAnswer(said)
		}
		if name = quoteAnswer(name); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// chosenLabel returns the label of the option with this label or number.
func (q userQuestion) chosenLabel(said string) (string, bool) {
	for _, o := range q.Options {
		if strings.EqualFold(strings.TrimSpace(o.Label), said) {
			return o.Label, true
		}
	}
	if n, err := strconv.Atoi(said); err == nil && n >= 1 && n <= len(q.Options) && strings.TrimSpace(q.Options[n-1].Label) != "" {
		return q.Options[n-1].Label, true
	}
	return "", false
}

// quoteAnswer quotes one of several answers so that the tool splits them correctly.
func quoteAnswer(s string) string {
	if !strings.Contains(s, ", ") && !strings.Contains(s, `"`) {
		return s
	}
	data, err := json.Marshal(s)
	if err != nil {
		return s
	}
	return string(data)
}

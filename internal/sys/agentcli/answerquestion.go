package agentcli

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli/stream"
)

const (
	maxPeople          = 20 // questions to people in a prompt
	maxUnfit           = 3  // invalid answers to a question
	decideYourselfNote = "decide yourself, do the task, and say what you assumed"

	declined = "decline"
)

// AskTool is the tool with which Claude Code asks a person.
const AskTool = "AskUserQuestion"

// CanAskPeople reports whether the program can ask people while it works.
func (p CLIAgentProgram) CanAskPeople() bool { return p.Speaks == "acp" || p.Speaks == "claude" }

// answerQuestion asks a person the agent's questions. It returns the call's input with the answers in
// it, or the reason why there are none.
func (s *cliPromptSession) answerQuestion(ctx context.Context, c stream.AgentToolCall) (input json.RawMessage, refused string, err error) {
	if s.people++; s.people > maxPeople {
		return nil, "", &promptLimitError{nexus.FaultAsking, fmt.Sprintf("it asked people more than %d times", maxPeople)}
	}
	all, unread := readUserQuestions(c.Input)
	switch {
	case unread != nil:
		return nil, fmt.Sprintf("%v: %s", unread, decideYourselfNote), nil
	case s.Ask == nil:
		return nil, "no person answers here: " + decideYourselfNote, nil
	}
	q := AgentQuestion{Text: all.questionText(), Fallback: declined}
	for range maxUnfit {
		answer, err := s.Ask(ctx, q)
		if ctx.Err() != nil {
			return nil, "", context.Cause(ctx)
		}
		if err != nil {
			return nil, fmt.Sprintf("not answered (%v): %s", err, decideYourselfNote), nil
		}
		if isDeclined(answer) {
			return nil, "no person answers this: " + decideYourselfNote, nil
		}
		input, unfit := all.answerInput(answer)
		if unfit == nil {
			return input, "", nil
		}
		q.Text = fmt.Sprintf("The answer does not fit: %v.\n%s", unfit, all.questionText())
	}
	return nil, fmt.Sprintf("no answer fits, after %d: %s", maxUnfit, decideYourselfNote), nil
}

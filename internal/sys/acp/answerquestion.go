package acp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/acp/elicit"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli"
	"github.com/nexus-ai-builder/nexus/internal/sys/agentcli/stream"
)

// decideYourselfNote is the instruction for an agent that stops because a person did not answer.
const decideYourselfNote = "decide yourself, do the task, and say what you assumed"

// answerQuestion asks a person the agent's question. It is recorded as a call of the tool with which
// other agents ask.
func (t *runningPromptTurn) answerQuestion(ctx context.Context, params json.RawMessage) (any, error) {
	r, unread := elicit.ReadRequest(params)
	var about string
	if unread == nil {
		about = r.QuestionText()
	}
	c := stream.AgentToolCall{ID: t.newObjectID("question"), Tool: "AskUserQuestion", Input: encodeJSON(map[string]string{"description": about})}
	if err := t.emitEvents(ctx, append(t.flushCalls(), t.flushMessage(c)...)); err != nil {
		return nil, err
	}
	reply := elicit.AgentReply{Action: elicit.Decline}
	err := unread
	if t.people++; t.people > maxPeople {
		err = fmt.Errorf("it asked people more than %d times", maxPeople)
		t.stop = newPromptFault(nexus.FaultAsking, "%v", err)
	}
	if err == nil {
		reply, err = t.askPerson(ctx, r)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	e := stream.AgentEvent{Kind: stream.CallAnswered, ID: c.ID, Text: string(encodeJSON(reply))}
	if err != nil {
		reply = elicit.AgentReply{Action: elicit.Decline}
		e.Text = "not answered: " + err.Error()
	}
	if e.Failed = reply.Action != elicit.Accept; e.Failed {
		t.refusd = "its question to a person (" + decideYourselfNote + ")"
	}
	return reply, t.emitEvents(ctx, []stream.AgentEvent{e})
}

// askPerson asks a person, and asks again if the answer does not fit. Its error is the reason why there
// is no answer.
func (t *runningPromptTurn) askPerson(ctx context.Context, r elicit.Request) (elicit.AgentReply, error) {
	if t.Ask == nil {
		return elicit.AgentReply{}, errors.New("no person answers here")
	}
	q := agentcli.AgentQuestion{Text: r.QuestionText(), Fallback: elicit.Decline, Personal: r.NeedsPerson()}
	for range maxUnfit {
		answer, err := t.Ask(ctx, q)
		if err != nil {
			return elicit.AgentReply{}, err
		}
		reply, unfit := r.ParseAnswer(answer)
		if unfit == nil {
			return reply, nil
		}
		q.Text = fmt.Sprintf("The answer does not fit: %v.\n%s", unfit, r.QuestionText())
	}
	return elicit.AgentReply{}, fmt.Errorf("no answer fits the form, after %d tries", maxUnfit)
}

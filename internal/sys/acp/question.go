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

// goOn is the instruction for an agent that stops because a person did not answer.
const goOn = "decide yourself, do the task, and say what you assumed"

// question asks a person the agent's question. It is recorded as a call of the tool with which
// other agents ask.
func (t *turn) question(ctx context.Context, params json.RawMessage) (any, error) {
	r, unread := elicit.Read(params)
	var about string
	if unread == nil {
		about = r.Text()
	}
	c := stream.Call{ID: t.name("question"), Tool: "AskUserQuestion", Input: made(map[string]string{"description": about})}
	if err := t.emitEvents(ctx, append(t.flushCalls(), t.flushMessage(c)...)); err != nil {
		return nil, err
	}
	reply := elicit.Reply{Action: elicit.Decline}
	err := unread
	if t.people++; t.people > maxPeople {
		err = fmt.Errorf("it asked people more than %d times", maxPeople)
		t.stop = faulty(nexus.FaultAsking, "%v", err)
	}
	if err == nil {
		reply, err = t.ask(ctx, r)
	}
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	e := stream.Event{Kind: stream.Answered, ID: c.ID, Text: string(made(reply))}
	if err != nil {
		reply = elicit.Reply{Action: elicit.Decline}
		e.Text = "not answered: " + err.Error()
	}
	if e.Failed = reply.Action != elicit.Accept; e.Failed {
		t.refusd = "its question to a person (" + goOn + ")"
	}
	return reply, t.emitEvents(ctx, []stream.Event{e})
}

// ask asks a person, and asks again if the answer does not fit. Its error is the reason why there
// is no answer.
func (t *turn) ask(ctx context.Context, r elicit.Request) (elicit.Reply, error) {
	if t.Ask == nil {
		return elicit.Reply{}, errors.New("no person answers here")
	}
	q := agentcli.Question{Text: r.Text(), Fallback: elicit.Decline, Personal: r.Personal()}
	for range maxUnfit {
		answer, err := t.Ask(ctx, q)
		if err != nil {
			return elicit.Reply{}, err
		}
		reply, unfit := r.Reply(answer)
		if unfit == nil {
			return reply, nil
		}
		q.Text = fmt.Sprintf("The answer does not fit: %v.\n%s", unfit, r.Text())
	}
	return elicit.Reply{}, fmt.Errorf("no answer fits the form, after %d tries", maxUnfit)
}

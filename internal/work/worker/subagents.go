package worker

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

// sessionSubagents manages the subagents of one session, with their state from the journal.
// Its methods except runSubagent are for the goroutine that owns the session.
type sessionSubagents struct {
	*agent.SubagentGroup
	shop  *AgentSessions
	talk  ConversationStretchRequest
	desk  AttemptFactRecorder
	base  *state.AttemptState // the attempt at the start of the session; never changed
	known int                 // number of requested hosts at that time

	mu   sync.Mutex // guards went
	went map[nexus.SessionID]*state.AttemptState
}

// newSubagents returns the manager of a session's subagents, nil if it may have none: its role
// cannot, or its model costs no more than a subagent's. Subagents that were running when
// another process had the session continue.
func (s *AgentSessions) newSubagents(ctx context.Context, t ConversationStretchRequest, role agent.RoleDefinition, tier nexus.Tier, d AttemptFactRecorder) *sessionSubagents {
	if !s.maySendSubagents(role, tier) {
		return nil
	}
	p := &sessionSubagents{shop: s, talk: t, desk: d, base: t.Attempt.Clone(), known: len(t.Attempt.Network), went: map[nexus.SessionID]*state.AttemptState{}}
	sent := 0
	for p.base.SessionByID(p.subagentSessionID(sent+1)) != nil {
		sent++
	}
	p.SubagentGroup = agent.NewSubagentGroup(ctx, sent, p.runSubagent)
	for n := 1; n <= sent; n++ {
		old := p.base.SessionByID(p.subagentSessionID(n))
		if !old.Over {
			p.ResumeSubagent(n, old.About) //nolint:contextcheck // it is that of New
			continue
		}
		handin, why := p.subagentResult(old)
		p.Known(n, old.About, handin, why)
	}
	return p
}

// maySendSubagents reports whether a role may start subagents.
func (s *AgentSessions) maySendSubagents(role agent.RoleDefinition, tier nexus.Tier) bool {
	_, ok := s.Roles[nexus.Scout]
	return ok && tier != nexus.Fast && slices.Contains(role.Tools, tool.SubagentTool)
}

func (p *sessionSubagents) subagentSessionID(n int) nexus.SessionID {
	return nexus.SessionID(fmt.Sprintf("%s-%s.%d", p.talk.Session, nexus.Scout, n))
}

// runSubagent runs a subagent's conversation.
func (p *sessionSubagents) runSubagent(ctx context.Context, n int, question string, again bool) (json.RawMessage, string, error) {
	a := p.subagentAttempt(p.subagentSessionID(n))
	t := ConversationStretchRequest{
		Attempt: a, Session: p.subagentSessionID(n), About: question, Task: p.talk.Task, Role: nexus.Scout, Tier: nexus.Fast, Tree: p.talk.Tree, Base: p.talk.Base,
		Why: "brief", Handin: agent.SubagentSchema(), Limits: p.talk.Limits,
		Record: func(ctx context.Context, facts ...nexus.Fact) error {
			err := p.desk.Record(ctx, facts...)
			for _, f := range facts {
				if err == nil {
					a.Apply(f, p.shop.Site.Now())
				}
			}
			return err
		},
	}
	t.Task.Model = "" // a task's model applies only to the task's own roles
	old := a.SessionByID(t.Session)
	switch {
	case again:
		t.Next, t.Why = "Your report does not answer the question. Submit what you found, or where you looked without finding it.", "repair"
	case old == nil || len(old.Messages) == 0:
		t.Next = prompt.TaskBrief{Session: t.Session, Task: nexus.Task{ID: t.Task.ID, Title: t.Task.Title, Brief: question}}.Text()
	}
	_, err := p.shop.ContinueConversation(ctx, t, p.desk)
	old = a.SessionByID(t.Session)
	if why := context.Cause(ctx); err != nil && (errors.Is(why, agent.ErrSubagentStopped) || errors.Is(why, agent.ErrParentDone)) && old != nil {
		return nil, "", errors.Join(why, t.Record(context.WithoutCancel(ctx), nexus.SessionEnded{Session: t.Session, Outcome: nexus.GaveUp, Why: why.Error()}))
	}
	if err != nil {
		return nil, "", err
	}
	handin, why := p.subagentResult(old)
	return handin, why, nil
}

// subagentAttempt returns the copy of the attempt that is updated with a subagent's session, until it
// is merged with the others.
func (p *sessionSubagents) subagentAttempt(id nexus.SessionID) *state.AttemptState {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.went[id] == nil {
		p.went[id] = p.base.Clone()
	}
	return p.went[id]
}

// subagentResult returns the submission of a finished subagent, or why there is none. Missing
// places that it names are marked.
func (p *sessionSubagents) subagentResult(old *state.AgentSessionState) (json.RawMessage, string) {
	if old.Outcome != nexus.Accepted || old.Result == "" {
		return nil, cmp.Or(old.Why, string(old.Outcome), "it did not end")
	}
	data, err := p.shop.Site.Blobs.Get(old.Result)
	if err != nil {
		return nil, err.Error()
	}
	var r agent.SubagentReport
	root, err := os.OpenRoot(p.talk.Tree.Dir)
	if err != nil || json.Unmarshal(data, &r) != nil {
		return data, ""
	}
	defer root.Close() //nolint:errcheck // only read
	for i, place := range r.Places {
		file, _, _ := strings.Cut(place, ":")
		if _, err := root.Lstat(file); err != nil {
			r.Places[i] = place + " (is not there)"
		}
	}
	if data, err = json.Marshal(r); err != nil {
		return nil, err.Error()
	}
	return data, ""
}

// errHeld is the cause for stopping subagents that will continue with their parent.
var errHeld = errors.New("its sender was stopped")

// endRunningSubagents ends the stretch of running subagents in the same way as their parent's, and
// records their work: they are stopped if it submitted or gave up.
func (p *sessionSubagents) endRunningSubagents(o agent.SessionStretchResult, err error) {
	switch {
	case err != nil:
		p.Close(err)
	case o.Outcome == nexus.Refused || o.Outcome == nexus.Stopped:
		p.Close(errHeld)
	default:
		p.Close(agent.ErrParentDone)
	}
	for id, a := range p.went {
		p.talk.Attempt.JoinSession(a, id, p.known)
	}
}

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

// sessionSubagents is the scouts of one session, and what the journal has of them. Its
// methods but look are for the goroutine that has the session.
type sessionSubagents struct {
	*agent.Subagents
	shop  *Sessions
	talk  ConversationRequest
	desk  Desk
	base  *state.Attempt // as it was when the session began to speak; never changed
	known int            // hosts that it had asked for then

	mu   sync.Mutex // guards went
	went map[nexus.SessionID]*state.Attempt
}

// scouts returns who a session may send, nil where it may send nobody: its
// role cannot, or its model costs no more than a scout's. Those that were out
// when another process had the session continue.
func (s *Sessions) scouts(ctx context.Context, t ConversationRequest, role agent.Role, tier nexus.Tier, d Desk) *sessionSubagents {
	if !s.sends(role, tier) {
		return nil
	}
	p := &sessionSubagents{shop: s, talk: t, desk: d, base: t.Attempt.Clone(), known: len(t.Attempt.Network), went: map[nexus.SessionID]*state.Attempt{}}
	sent := 0
	for p.base.Session(p.id(sent+1)) != nil {
		sent++
	}
	p.Subagents = agent.NewSubagents(ctx, sent, p.runSubagent)
	for n := 1; n <= sent; n++ {
		old := p.base.Session(p.id(n))
		if !old.Over {
			p.Resume(n, old.About) //nolint:contextcheck // it is that of New
			continue
		}
		handin, why := p.subagentResult(old)
		p.Known(n, old.About, handin, why)
	}
	return p
}

// sends reports whether a role may send scouts.
func (s *Sessions) sends(role agent.Role, tier nexus.Tier) bool {
	_, ok := s.Roles[nexus.Scout]
	return ok && tier != nexus.Fast && slices.Contains(role.Tools, tool.SubagentTool)
}

func (p *sessionSubagents) id(n int) nexus.SessionID {
	return nexus.SessionID(fmt.Sprintf("%s-%s.%d", p.talk.Session, nexus.Scout, n))
}

// runSubagent has a scout's conversation.
func (p *sessionSubagents) runSubagent(ctx context.Context, n int, question string, again bool) (json.RawMessage, string, error) {
	a := p.attempt(p.id(n))
	t := ConversationRequest{
		Attempt: a, Session: p.id(n), About: question, Task: p.talk.Task, Role: nexus.Scout, Tier: nexus.Fast, Tree: p.talk.Tree, Base: p.talk.Base,
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
	t.Task.Model = "" // is for those who do the task
	old := a.Session(t.Session)
	switch {
	case again:
		t.Next, t.Why = "Your report does not answer the question. Submit what you found, or where you looked without finding it.", "repair"
	case old == nil || len(old.Messages) == 0:
		t.Next = prompt.Brief{Session: t.Session, Task: nexus.Task{ID: t.Task.ID, Title: t.Task.Title, Brief: question}}.Text()
	}
	_, err := p.shop.Converse(ctx, t, p.desk)
	old = a.Session(t.Session)
	if why := context.Cause(ctx); err != nil && (errors.Is(why, agent.ErrSubagentStopped) || errors.Is(why, agent.ErrParentDone)) && old != nil {
		return nil, "", errors.Join(why, t.Record(context.WithoutCancel(ctx), nexus.SessionEnded{Session: t.Session, Outcome: nexus.GaveUp, Why: why.Error()}))
	}
	if err != nil {
		return nil, "", err
	}
	handin, why := p.subagentResult(old)
	return handin, why, nil
}

// attempt returns the copy of the attempt that a scout's session is kept in
// step with, until it is put together with the others.
func (p *sessionSubagents) attempt(id nexus.SessionID) *state.Attempt {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.went[id] == nil {
		p.went[id] = p.base.Clone()
	}
	return p.went[id]
}

// subagentResult returns what a scout that is back submitted, or why it did not. Places
// that it names and that are not there are said to be.
func (p *sessionSubagents) subagentResult(old *state.Session) (json.RawMessage, string) {
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

// errHeld is why scouts stop that continue with their sender.
var errHeld = errors.New("its sender was stopped")

// closeSubagents ends the stretch of those who are out as their sender's ended, and
// takes over what they did: they are called back where it submitted or gave up.
func (p *sessionSubagents) closeSubagents(o agent.Outcome, err error) {
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

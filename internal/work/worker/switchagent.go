package worker

import (
	"context"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/schedule"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
)

// externalAgentForSession returns the agent that does a session in place of our own loop, and the names
// of its replacements, best first; nil if there is none. A session continues with its last
// agent. A reader of others' work is of another vendor than the author, if possible.
func (s *AgentSessions) externalAgentForSession(t ConversationStretchRequest, tier nexus.Tier) (h *ExternalAgent, others []string) {
	if s.External == nil {
		return nil, nil
	}
	agents, models := s.External(t.Role, tier, t.Task.Model)
	if t.Author != "" {
		agents = s.otherMakersFirst(agents, t.Author)
	}
	if len(agents) == 0 {
		return nil, nil
	}
	h = agents[0]
	if old := t.Attempt.SessionByID(t.Session); old != nil {
		i := slices.IndexFunc(agents, func(a *ExternalAgent) bool { return a.modelName() == old.Model })
		if i < 0 {
			return nil, nil
		}
		h = agents[i]
	}
	for _, a := range agents {
		if a != h {
			others = append(others, a.modelName())
		}
	}
	return h, append(others, models...)
}

// otherMakersFirst returns agents with those of other vendors than the author's first.
func (s *AgentSessions) otherMakersFirst(agents []*ExternalAgent, author string) []*ExternalAgent {
	maker, _, _ := strings.Cut(author, "/")
	if i := slices.IndexFunc(agents, func(a *ExternalAgent) bool { return a.Program.Name == maker }); i >= 0 {
		maker = agents[i].Program.Maker
	}
	same := func(a *ExternalAgent) bool { return maker != "" && a.Program.Maker == maker }
	others := slices.DeleteFunc(slices.Clone(agents), same)
	return append(others, slices.DeleteFunc(slices.Clone(agents), func(a *ExternalAgent) bool { return !same(a) })...)
}

// switchAgent moves a session to another agent, or to a model. A model does not receive the
// agent's calls and results: it receives the task and the last texts.
func (s *AgentSessions) switchAgent(ctx context.Context, t *ConversationStretchRequest, tier nexus.Tier, h *ExternalAgent, e *schedule.SwitchModelError) error {
	t.Next = "" // the message is recorded
	facts := []nexus.Fact{nexus.SessionModelSwitched{Session: t.Session, From: h.modelName(), To: e.Model, Why: e.Why}}
	agents, _ := s.External(t.Role, tier, t.Task.Model)
	if !slices.ContainsFunc(agents, func(a *ExternalAgent) bool { return a.modelName() == e.Model }) {
		short, err := s.summarizeSession(*t)
		if err != nil {
			return err
		}
		facts = append(facts, short)
	}
	return t.Record(ctx, facts...)
}

// summarizeSession replaces the contents of an agent's session by one message.
func (s *AgentSessions) summarizeSession(t ConversationStretchRequest) (nexus.SessionCompacted, error) {
	old := t.Attempt.SessionByID(t.Session)
	f := nexus.SessionCompacted{Session: t.Session, Row: 1, Why: "a model continues what an agent began"}
	if old == nil {
		return f, nil
	}
	f.Turn, f.Gone = old.Turns, len(old.Messages)
	text := s.firstMessage(t)
	f.Before = int64(len(text) / 4)
	if notes := s.lastTexts(t); notes != "" {
		text += "\n\nAnother agent worked on this before. The files are as it left them. It said:\n\n" + notes
	}
	f.After = int64(len(text) / 4)
	hash, err := agent.StoreMessage(s.Site.Blobs, llm.UserMessage(text))
	f.Messages = []string{hash}
	return f, err
}

// firstMessage returns the first message of a session.
func (s *AgentSessions) firstMessage(t ConversationStretchRequest) string {
	old := t.Attempt.SessionByID(t.Session)
	if old == nil || len(old.Messages) == 0 {
		return ""
	}
	said, err := agent.LoadMessages(s.Site.Blobs, old.Messages[:1])
	if err != nil {
		return ""
	}
	return said[0].Text()
}

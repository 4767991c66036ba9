package worker

import (
	"context"
	"encoding/json"
	"path"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/ignore"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// warmTokens is the longest conversation in which another task is begun: each call sends all
// of it again.
const warmTokens = 40_000

// sharedConversation is another task's conversation in which a session begins.
type sharedConversation struct {
	said   []llm.Message
	system string // its original system prompt
	lead   string // text before the brief
	item   nexus.PromptManifestItem
}

// findSharedConversation returns another task's conversation that a session is to continue;
// nil if the session begins its own: it has another model, the conversation became long, or
// other files are hidden from agents now.
func (s *AgentSessions) findSharedConversation(ctx context.Context, t ConversationStretchRequest, m PricedModel) (*sharedConversation, error) {
	from := t.Attempt.Warm
	if from == nil || t.Role != nexus.Coder || t.Attempt.SessionByID(t.Session) != nil || from.Model != m.Name {
		return nil, nil //nolint:nilnil // it is none
	}
	changes, err := s.Trees.PrivateRepo().ChangedFiles(ctx, from.Commit, t.startCommit())
	if err != nil {
		return nil, err
	}
	lane := prompt.NextTaskNotice{Done: from.Task}
	for _, c := range changes {
		lane.Changed = append(lane.Changed, c.Path)
	}
	if slices.ContainsFunc(lane.Changed, func(f string) bool { return path.Base(f) == ignore.File }) {
		return nil, nil //nolint:nilnil // what was shown may be hidden now
	}
	opened, err := agent.LoadSessionStart(s.Site.Blobs, from.Prompt)
	if err != nil || opened.Agent != "" {
		return nil, err
	}
	w := &sharedConversation{system: opened.System}
	if w.said, err = agent.LoadMessages(s.Site.Blobs, from.Messages); err != nil {
		return nil, err
	}
	data, err := json.Marshal(w.said)
	if err != nil {
		return nil, err
	}
	w.item = nexus.PromptManifestItem{In: "message", Title: "the conversation of " + string(from.Session), Reason: "the tasks share a session", Tokens: prompt.EstimateTokens(string(data))}
	if w.item.Tokens > warmTokens {
		return nil, nil //nolint:nilnil // it costs more than it saves
	}
	if w.lead, err = t.redactHiddenFiles(lane.Text()); err != nil {
		return nil, err
	}
	return w, nil
}

// ownMessages returns a session's own messages, without the conversation of another task in which
// it began.
func ownMessages(said []llm.Message, of *state.AgentSessionState) []llm.Message {
	if of == nil {
		return said
	}
	return said[min(of.Before, len(said)):]
}

package worker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

// SessionPromptPreview is the part of a conversation before its first message, and the end of that
// message.
type SessionPromptPreview struct {
	Model   string // provider/model
	Context int64  // context window in tokens; 0 if unknown
	Tier    nexus.Tier
	System  []prompt.SentPromptSection
	Here    []prompt.SentPromptSection // the end of the first message
	Tools   []llm.ToolDescription      // our own tools; those of servers join when the conversation begins
}

// PreviewSession returns the beginning of a conversation of [AgentSessions.ContinueConversation]. It calls no
// model, starts nothing and records nothing.
func (s *AgentSessions) PreviewSession(ctx context.Context, t ConversationStretchRequest) (SessionPromptPreview, error) {
	role, ok := s.Roles[cmp.Or(t.As, t.Role)]
	if !ok {
		return SessionPromptPreview{}, fmt.Errorf("there is no role %q", cmp.Or(t.As, t.Role))
	}
	tier := t.modelTier(role)
	t.Record = func(context.Context, ...nexus.Fact) error { return nil }
	model, err := s.pickModel(ctx, t, tier)
	if err != nil {
		return SessionPromptPreview{}, err
	}
	// the texts depend on the tree, and no worktree is created for this
	dir, err := os.MkdirTemp("", "nexus-prompt-")
	if err != nil {
		return SessionPromptPreview{}, err
	}
	defer os.RemoveAll(dir) //nolint:errcheck // nothing in it is kept
	if err := s.exportCommit(ctx, t.startCommit(), dir); err != nil {
		return SessionPromptPreview{}, err
	}
	e, err := s.describeEnvironment(ctx, t, role, dir)
	if err != nil {
		return SessionPromptPreview{}, err
	}
	here, err := s.repositoryContext(ctx, t, role, model)
	if err != nil {
		return SessionPromptPreview{}, err
	}
	var remembered []nexus.RelevantMemoryEntry
	if here.Notes, remembered, err = s.recallMemory(ctx, t); err != nil {
		return SessionPromptPreview{}, err
	}
	if e.Shell {
		if here.Dir, err = s.Trees.TreeDir(s.Site.Run, t.Attempt.ID); err != nil {
			return SessionPromptPreview{}, err
		}
	}
	o := SessionPromptPreview{Model: model.Name, Context: model.Context, Tier: tier, System: prompt.SystemPromptSections(role.Prompt, s.Rules.AlwaysApplicable().PromptSections(), e), Here: here.Parts()}
	for _, p := range s.contextPlugins(t) {
		o.Here = append(o.Here, prompt.SentPromptSection{Title: prompt.PluginTextTitle(p.Name), Why: "asked when the conversation begins", Reason: "the plugin informs about tasks"})
	}
	o.Here = append(o.Here, omittedMemoryParts(remembered)...)
	for _, parts := range [][]prompt.SentPromptSection{o.System, o.Here} {
		for i := range parts {
			parts[i].Text = s.Site.maskSecrets(parts[i].Text)
		}
	}
	set, err := tool.NewToolSet(tool.AgentToolEnvironment{
		Dir: dir, Writes: role.Writes != agent.WriteNothing, Net: s.Site.Net.GatewayForRole(string(role.Name)), Handin: t.Handin, Claims: s.TestersWriteChecks() && t.Role == nexus.Tester,
		Recall: s.mayProposeLessons(t),
	}, s.offeredTools(role, tier)...)
	if err != nil {
		return SessionPromptPreview{}, err
	}
	defer set.Close()
	o.Tools = set.Specs()
	return o, nil
}

// ToolTokens estimates the number of tokens of the tools.
func (o SessionPromptPreview) ToolTokens() int64 {
	return toolsPromptItem(o.Tools).Tokens
}

// exportCommit writes the files of a commit into an empty directory.
func (s *AgentSessions) exportCommit(ctx context.Context, commit, dir string) error {
	index, err := os.CreateTemp("", "nexus-index-")
	if err != nil {
		return err
	}
	defer os.Remove(index.Name())                                               //nolint:errcheck // a temporary file
	if err := errors.Join(index.Close(), os.Remove(index.Name())); err != nil { // git creates it
		return err
	}
	r := s.Trees.PrivateRepo()
	r.Work, r.Index = dir, index.Name()
	if _, err := r.Run(ctx, "read-tree", commit); err != nil {
		return err
	}
	_, err = r.Run(ctx, "checkout-index", "-a", "-f", "-q")
	return err
}

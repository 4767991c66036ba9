package worker

import (
	"cmp"
	"context"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/monorepo"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/codemap"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// conversationOpening is the beginning of a new conversation: the system prompt, the first message
// with its context, and the episodes of the memory in it.
type conversationOpening struct {
	system, first string
	memory        []nexus.RelevantMemoryEntry
	// parts of the system prompt, and of the end of the first message
	parts, here []prompt.SentPromptSection
	warm        *sharedConversation // the shared session that it continues; nil: none
}

// newSessionOpening returns the beginning of a new conversation.
func (s *AgentSessions) newSessionOpening(ctx context.Context, t ConversationStretchRequest, role agent.RoleDefinition, m PricedModel, d AttemptFactRecorder) (o conversationOpening, err error) {
	e, err := s.describeEnvironment(ctx, t, role, t.Tree.Dir)
	if err != nil {
		return o, err
	}
	here, err := s.repositoryContext(ctx, t, role, m)
	if err != nil {
		return o, err
	}
	if o.warm, err = s.findSharedConversation(ctx, t, m); err != nil {
		return o, err
	}
	if o.warm != nil {
		here.Map = "" // the conversation has one
	}
	if here.Told, err = s.askContextPlugins(ctx, t, d); err != nil {
		return o, err
	}
	if here.Notes, o.memory, err = s.recallMemory(ctx, t); err != nil {
		return o, err
	}
	var left []prompt.SentPromptSection
	if here.Docs, left, err = s.recallDocuments(ctx, t); err != nil {
		return o, err
	}
	if e.Shell {
		here.Dir = t.Tree.Dir
	}
	more, err := t.redactHiddenFiles(here.Text())
	if err != nil {
		return o, err
	}
	o.system = s.Site.maskSecrets(prompt.SystemPrompt(role.Prompt, s.Rules.AlwaysApplicable().PromptSections(), e))
	o.parts = prompt.SystemPromptSections(role.Prompt, s.Rules.AlwaysApplicable().PromptSections(), e)
	o.here = slices.Concat(here.Parts(), omittedMemoryParts(o.memory), left)
	o.first = t.Next + s.Site.maskSecrets(more)
	if o.warm != nil {
		o.system, o.first = o.warm.system, o.warm.lead+o.first
	}
	return o, nil
}

// repositoryContext returns the rules for a session's task, and a map for its role that fits
// the smallest of the models with which the session may continue. The map shows the commit at
// which the session starts.
func (s *AgentSessions) repositoryContext(ctx context.Context, t ConversationStretchRequest, role agent.RoleDefinition, m PricedModel) (prompt.FirstMessageContext, error) {
	rules := s.rulesFor(t)
	if !role.Map || s.Maps == nil {
		return prompt.FirstMessageContext{Rules: rules}, nil
	}
	holds := m.Context
	for _, other := range m.Else {
		if other.Context > 0 && (holds <= 0 || other.Context < holds) {
			holds = other.Context
		}
	}
	in, about, err := s.taskPackage(t)
	if err != nil {
		return prompt.FirstMessageContext{}, err
	}
	text, err := s.Maps.DrawMap(ctx, s.Trees.PrivateRepo(), t.Base, t.startCommit(), about, holds)
	if err != nil || t.Role != nexus.Coder && t.Role != nexus.Tester {
		return prompt.FirstMessageContext{Rules: rules, Map: text, In: in}, err
	}
	tests, err := s.Maps.ExistingTests(ctx, s.Trees.PrivateRepo(), t.startCommit(), t.Task.Files, in.Dir)
	if err != nil {
		return prompt.FirstMessageContext{}, err
	}
	past, err := s.Maps.DescribeHistory(ctx, s.Trees.PrivateRepo(), cmp.Or(t.Attempt.Base, t.Base), t.startCommit(), t.Task.Files)
	return prompt.FirstMessageContext{Rules: rules, Map: text, Tests: tests, Past: past, In: in}, err
}

// taskPackage returns the package of a session's task, zero if it has none or several, and the
// subject of its map.
func (s *AgentSessions) taskPackage(t ConversationStretchRequest) (in prompt.TaskMonorepoPackage, about codemap.MapQuery, err error) {
	about = t.mapSubject()
	if t.Role == nexus.Scout || t.Role == nexus.Planner || t.Task.Package == "" {
		return in, about, nil
	}
	repo := monorepo.ReadPackageGraph(os.DirFS(t.Tree.Dir))
	p, ok := repo.PackageOf(t.Task.Package)
	if !ok || !repo.HasNestedPackages() || p.Dir != t.Task.Package {
		return in, about, nil
	}
	gates, err := s.Judge.Gates(t.Tree.Dir)
	in = prompt.TaskMonorepoPackage{MonorepoPackage: p}
	for _, g := range gates {
		if path.Clean(g.Dir) == p.Dir && len(g.Args) > 0 {
			in.Gates = append(in.Gates, g.Name+": "+prompt.InlineCode("cd "+p.Dir+" && "+g.Command()))
		}
	}
	about.Own, about.Near = p.Dir, p.Needs
	return in, about, err
}

// rulesFor returns the rules that apply to a session's task besides those that always do.
func (s *AgentSessions) rulesFor(t ConversationStretchRequest) []prompt.PromptSection {
	about := t.mapSubject()
	files := t.Task.Files
	if t.Task.Package != "" {
		files = append([]string{t.Task.Package}, files...)
	}
	return s.Rules.ApplicableTo(files, about.Task+"\n"+t.Goal).PromptSections()
}

// startCommit returns the commit at which a session begins.
func (t ConversationStretchRequest) startCommit() string {
	return cmp.Or(t.Attempt.Snapshot.Commit, t.Attempt.Start, t.Attempt.Base, t.Base)
}

// mapSubject returns the subject of the session's map.
func (t ConversationStretchRequest) mapSubject() codemap.MapQuery {
	words := []string{t.About, t.Task.Title, t.Task.Brief}
	for _, c := range t.Task.Criteria {
		words = append(words, c.Text, c.Check)
	}
	a := codemap.MapQuery{Task: strings.TrimSpace(strings.Join(words, "\n")), Goal: t.Goal, Files: t.Task.Files}
	if t.Role == nexus.Scout {
		a.Files = nil // it has another question
	}
	return a
}

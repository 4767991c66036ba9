package worker

import (
	"context"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/memoryentry"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// recallDocuments returns the sections of the documents about the code for a session when it begins,
// and the relevant sections that are omitted.
func (s *AgentSessions) recallDocuments(ctx context.Context, t ConversationStretchRequest) (told []prompt.CodeDocumentExcerpt, left []prompt.SentPromptSection, err error) {
	if t.Role != nexus.Planner && t.Role != nexus.Coder && t.Role != nexus.Tester {
		return nil, nil, nil
	}
	about := t.mapSubject()
	wanted := memoryentry.MemoryTaskQuery{Files: about.Files, Text: about.Task + "\n" + about.Goal}
	found, err := s.Docs.FindRelevantSections(ctx, s.Trees.PrivateRepo(), t.startCommit(), wanted, prompt.EstimateTokens)
	for _, f := range found {
		if f.Left != "" {
			left = append(left, prompt.SentPromptSection{Title: prompt.DocumentSectionTitle(f.Doc, f.Title), Of: f.Tokens, Why: f.Left, Reason: f.Why})
			continue
		}
		i := slices.IndexFunc(told, func(d prompt.CodeDocumentExcerpt) bool { return d.Name == f.Doc })
		if i < 0 {
			i, told = len(told), append(told, prompt.CodeDocumentExcerpt{Name: f.Doc, Note: f.Note, Why: f.Why})
		}
		told[i].Parts = append(told[i].Parts, f.Text)
	}
	return told, left, err
}

// externalContext returns the context of an external agent when it begins, besides its task
// and the rules, as text and in parts: from plugins, the memory and documents. It explores the
// tree with its own tools.
func (s *AgentSessions) externalContext(ctx context.Context, t ConversationStretchRequest, d AttemptFactRecorder) (text string, parts []prompt.SentPromptSection, memory []nexus.RelevantMemoryEntry, err error) {
	var here prompt.FirstMessageContext
	if here.Told, err = s.askContextPlugins(ctx, t, d); err != nil {
		return "", nil, nil, err
	}
	if here.Notes, memory, err = s.recallMemory(ctx, t); err != nil {
		return "", nil, nil, err
	}
	var left []prompt.SentPromptSection
	if here.Docs, left, err = s.recallDocuments(ctx, t); err != nil {
		return "", nil, nil, err
	}
	more, err := t.redactHiddenFiles(here.Text())
	return s.Site.maskSecrets(more), slices.Concat(here.Parts(), omittedMemoryParts(memory), left), memory, err
}

package worker

import (
	"context"
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/decide/memoryentry"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// documents returns the sections of the documents about the code for a session when it begins,
// and the relevant sections that are omitted.
func (s *Sessions) documents(ctx context.Context, t ConversationRequest) (told []prompt.Doc, left []prompt.Part, err error) {
	if t.Role != nexus.Planner && t.Role != nexus.Coder && t.Role != nexus.Tester {
		return nil, nil, nil
	}
	about := t.about()
	wanted := memoryentry.TaskQuery{Files: about.Files, Text: about.Task + "\n" + about.Goal}
	found, err := s.Docs.Recall(ctx, s.Trees.Git(), t.start(), wanted, prompt.Tokens)
	for _, f := range found {
		if f.Left != "" {
			left = append(left, prompt.Part{Title: prompt.DocTitle(f.Doc, f.Title), Of: f.Tokens, Why: f.Left, Reason: f.Why})
			continue
		}
		i := slices.IndexFunc(told, func(d prompt.Doc) bool { return d.Name == f.Doc })
		if i < 0 {
			i, told = len(told), append(told, prompt.Doc{Name: f.Doc, Note: f.Note, Why: f.Why})
		}
		told[i].Parts = append(told[i].Parts, f.Text)
	}
	return told, left, err
}

// externalContext returns the context of an external agent when it begins, besides its task
// and the rules, as text and in parts: from plugins, the memory and documents. It explores the
// tree with its own tools.
func (s *Sessions) externalContext(ctx context.Context, t ConversationRequest, d Desk) (text string, parts []prompt.Part, memory []nexus.Remembered, err error) {
	var here prompt.WorkContext
	if here.Told, err = s.askContextPlugins(ctx, t, d); err != nil {
		return "", nil, nil, err
	}
	if here.Notes, memory, err = s.recall(ctx, t); err != nil {
		return "", nil, nil, err
	}
	var left []prompt.Part
	if here.Docs, left, err = s.documents(ctx, t); err != nil {
		return "", nil, nil, err
	}
	more, err := t.redactHiddenFiles(here.Text())
	return s.Site.masked(more), slices.Concat(here.Parts(), forgotten(memory), left), memory, err
}

package worker

import (
	"context"
	"fmt"

	"github.com/nexus-ai-builder/nexus/internal/decide/episode"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// remembers reports whether a session is told of the repository's memory: those
// that plan and write are. Who judges their work looks at it with its own eyes.
func (s *Sessions) remembers(t Talk) bool {
	return s.Memory != nil && s.Memory.Tokens > 0 && (t.Role == nexus.Planner || t.Role == nexus.Coder || t.Role == nexus.Tester)
}

// proposes reports whether what a session submits may say what was learned.
func (s *Sessions) proposes(t Talk) bool {
	return s.remembers(t) && t.Role != nexus.Planner && t.Task.ID != ""
}

// recall returns what of the repository's memory a session is told when it
// begins, and all of it that has to do with its task.
func (s *Sessions) recall(ctx context.Context, t Talk) (told []prompt.Note, all []nexus.Remembered, err error) {
	if !s.remembers(t) {
		return nil, nil, nil
	}
	about := t.about()
	found, err := s.Memory.Recall(ctx, s.Trees.Git(), t.start(), episode.Wanted{Files: about.Files, Text: about.Task + "\n" + about.Goal},
		func(e episode.Episode) int64 { return note(e).Tokens() })
	if err != nil {
		return nil, nil, err
	}
	for _, c := range found {
		if c.Left == "" {
			told = append(told, note(c.Episode))
		}
		all = append(all, c.Remembered())
	}
	return told, all, nil
}

func note(e episode.Episode) prompt.Note {
	return prompt.Note{
		ID: e.ID, Kind: string(e.Kind), Files: e.Paths(), Learned: e.Learned.String(), Text: e.Text, Unread: e.State != episode.Approved,
	}
}

// forged looks for a change to the repository's memory: agents are told of what
// is in it, so that only people write it.
func (j *Judge) forged(ctx context.Context, c Case) (e nexus.Evidence, red bool, err error) {
	if c.Base == "" {
		return e, false, nil
	}
	var entry [2]string
	for i, rev := range []string{c.Base, c.Hash} {
		if entry[i], err = j.Trees.Git().Line(ctx, "ls-tree", "--full-tree", rev, "--", episode.Dir); err != nil {
			return e, false, fmt.Errorf("read the memory: %w", err)
		}
	}
	if entry[0] == entry[1] {
		return e, false, nil
	}
	return nexus.Evidence{
		Gate: episode.Gate, State: nexus.Fail, Tree: c.Hash, Exit: -1,
		Findings: []nexus.Finding{{
			Gate: episode.Gate, File: episode.Dir, Severity: nexus.Critical, Code: episode.Gate + ".written",
			Message: "the change edits the repository's memory, which only people may edit",
			Advice:  "Restore the files. What the next agent should know goes into learned when you call finish: a person decides about it.",
		}},
	}, true, nil
}

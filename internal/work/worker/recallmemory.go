package worker

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/decide/memoryentry"
	"github.com/nexus-ai-builder/nexus/internal/decide/policy/pathkind"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// readsMemory reports whether a session receives the repository's memory: sessions that plan and
// write do. Judges of their work form their own view.
func (s *AgentSessions) readsMemory(t ConversationStretchRequest) bool {
	return s.Memory != nil && s.Memory.Tokens > 0 && (t.Role == nexus.Planner || t.Role == nexus.Coder || t.Role == nexus.Tester)
}

// mayProposeLessons reports whether a session's submission may contain lessons.
func (s *AgentSessions) mayProposeLessons(t ConversationStretchRequest) bool {
	return s.readsMemory(t) && t.Role != nexus.Planner && t.Task.ID != ""
}

// recallMemory returns the episodes of the repository's memory for a session when it begins, and all
// episodes that are relevant to its task.
func (s *AgentSessions) recallMemory(ctx context.Context, t ConversationStretchRequest) (told []prompt.MemoryEntryExcerpt, all []nexus.RelevantMemoryEntry, err error) {
	if !s.readsMemory(t) {
		return nil, nil, nil
	}
	about := t.mapSubject()
	found, err := s.Memory.FindRelevantEntries(ctx, s.Trees.PrivateRepo(), t.startCommit(), memoryentry.MemoryTaskQuery{Files: about.Files, Text: about.Task + "\n" + about.Goal},
		func(e memoryentry.MemoryEntry) int64 { return newMemoryNote(e).EstimateTokens() })
	if err != nil {
		return nil, nil, err
	}
	for _, c := range found {
		if c.Left == "" {
			told = append(told, newMemoryNote(c.MemoryEntry))
		}
		all = append(all, c.ToFact())
	}
	return told, all, nil
}

func newMemoryNote(e memoryentry.MemoryEntry) prompt.MemoryEntryExcerpt {
	return prompt.MemoryEntryExcerpt{
		ID: e.ID, Kind: string(e.Kind), Files: e.FilePaths(), Learned: e.Learned.String(), Text: e.Text, Unread: e.State != memoryentry.Approved,
	}
}

// findMemoryEdit detects a change to the repository's memory: agents read it, so only people
// may write it.
func (j *TreeJudge) findMemoryEdit(ctx context.Context, c TreeJudgeRequest) (e nexus.GateEvidence, red bool, err error) {
	if c.Base == "" {
		return e, false, nil
	}
	var memory [2][]string
	for i, rev := range []string{c.Base, c.Hash} {
		if memory[i], err = memoryDirectoryEntries(ctx, j.Trees.PrivateRepo(), rev); err != nil {
			return e, false, fmt.Errorf("read the memory: %w", err)
		}
	}
	if slices.Equal(memory[0], memory[1]) {
		return e, false, nil
	}
	return nexus.GateEvidence{
		Gate: memoryentry.Gate, State: nexus.Fail, Tree: c.Hash, Exit: -1,
		Findings: []nexus.Finding{{
			Gate: memoryentry.Gate, File: memoryentry.Dir, Severity: nexus.Critical, Code: memoryentry.Gate + ".written",
			Message: "the change edits the repository's memory, which only people may edit",
			Advice:  "Restore the files. What the next agent should know goes into learned when you call finish: a person decides about it.",
		}},
	}, true, nil
}

// memoryDirectoryEntries returns the entries of a tree that some file system may treat as the memory, and
// those in place of one of its directories: a link or a submodule, which leads to files that
// have other names.
func memoryDirectoryEntries(ctx context.Context, repo git.Repo, rev string) ([]string, error) {
	var found []string
	trees := map[string]string{"": rev} // trees by path
	for part := range strings.SplitSeq(memoryentry.Dir, "/") {
		below := map[string]string{}
		for dir, tree := range trees {
			entries, err := repo.TreeEntries(ctx, tree)
			if err != nil {
				return nil, err
			}
			for _, e := range entries {
				switch {
				case !strings.EqualFold(pathkind.NormalizeFileName(e.Name), part):
				case e.Mode == git.ModeTree:
					below[path.Join(dir, e.Name)] = e.ID
				default:
					found = append(found, fmt.Sprintf("%o %s %s", e.Mode, e.ID, path.Join(dir, e.Name)))
				}
			}
		}
		trees = below
	}
	for dir, tree := range trees {
		found = append(found, tree+" "+dir)
	}
	slices.Sort(found)
	return found, nil
}

package prompt

import (
	"fmt"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// Limits of a brief's section about the results of a task's needs, in bytes.
const (
	needsBytes = 9_000 // most bytes of all needs
	needSaid   = 2_000 // most bytes of one agent's own words
	leastNeed  = 600   // least bytes for one need, however many there are
	needNames  = 15    // most names of one file
	needFiles  = 40    // most files of one need
)

// PrerequisiteTaskResult is the result of a task that the brief's task needs.
type PrerequisiteTaskResult struct {
	Task   nexus.Task
	Commit string // commit of its landing
	Files  []PrerequisiteFile
	Said   string                 // its agent's summary
	Tie    nexus.DependencyReason // reason of the need
}

// PrerequisiteFile is a file of the landed work.
type PrerequisiteFile struct {
	Path, How string   // how: added, changed, deleted
	Names     []string // new declarations for others, with lines and signatures
}

// prerequisiteSections returns a section for each landed task that the task needs.
func prerequisiteSections(all []PrerequisiteTaskResult) []PromptSection {
	var sections []PromptSection
	for _, n := range all {
		s := PromptSection{
			Title: "Made by " + SingleLine(string(n.Task.ID)), Fence: "text", Rank: 2, Because: "the task needs it" + dependencyReason(n.Tie),
			Lead: fmt.Sprintf("This task needs %s%s: %s. It landed as commit %.12s, and the worktree has it. "+
				"What follows was read from that commit; the message at the end is its agent's own, and a claim.",
				SingleLine(string(n.Task.ID)), dependencyReason(n.Tie), strings.TrimSuffix(SingleLine(n.Task.Title), "."), n.Commit),
		}
		text := n.describeChanges()
		if s.Body = TruncateToBeginning(text, max(leastNeed, needsBytes/len(all))); len(s.Body) < len(text) {
			s.Whole = len(text)
		}
		sections = append(sections, s)
	}
	return sections
}

// dependencyReason returns how a task depends on another one, if that is more than their order.
func dependencyReason(tie nexus.DependencyReason) string {
	switch tie {
	case nexus.TieAPI:
		return " for the interface that it makes"
	case nexus.TieSchema:
		return " for the form of the data that it decides"
	case nexus.TieFile:
		return ", which changes the same file"
	default:
		return ""
	}
}

func (n PrerequisiteTaskResult) describeChanges() string {
	var b strings.Builder
	for i, f := range n.Files {
		if i == needFiles {
			fmt.Fprintf(&b, "and %d more files\n", len(n.Files)-i)
			break
		}
		fmt.Fprintf(&b, "%s (%s)\n", SingleLine(f.Path), f.How)
		for i, name := range f.Names {
			if i == needNames {
				fmt.Fprintf(&b, "  and %d more names\n", len(f.Names)-i)
				break
			}
			b.WriteString("  " + SingleLine(name) + "\n")
		}
	}
	if said := strings.TrimSpace(n.Said); said != "" {
		b.WriteString("\nIts agent's message:\n" + TruncateToBeginning(said, needSaid) + "\n")
	}
	return b.String()
}

package prompt_test

import (
	"math"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/attempthistory"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// TestReasons: each section that a prompt may have says why it is there.
func TestReasons(t *testing.T) {
	said := []nexus.Finding{{Gate: "review", File: "a.go", Line: 1, Message: "wrong", Name: "TestA", Explained: "moved"}}
	b := prompt.TaskBrief{
		Session: "T1.1/coder.1", Order: "Code first.", Part: "The first half.", Base: "abc", Tester: "Two tests.",
		Task:  nexus.Task{ID: "T1", Title: "Do", Brief: "Do it.", Files: []string{"a.go"}, Criteria: []nexus.Criterion{{Text: "It works"}}},
		Needs: []prompt.PrerequisiteTaskResult{{Task: nexus.Task{ID: "T0", Title: "Before"}, Commit: "def", Files: []prompt.PrerequisiteFile{{Path: "b.go", How: "added"}}}},
		Kept:  prompt.StartingTreeDescription{Open: said}, Before: said, Suspect: said, Taken: said, Refused: []string{"no"}, Own: []string{"it"},
		Tried:     attempthistory.AttemptsSummary{Said: []state.DeliveredGuidance{{Text: "Use b."}}},
		Evidence:  []nexus.GateEvidence{{Gate: "build", State: nexus.Pass}},
		Conflicts: []string{"a.go"}, Landed: "diff", Side: "diff", Diff: "diff", Said: "Did it.",
		Meanwhile: []nexus.Task{{ID: "T3", Title: "Other"}}, Limit: math.MaxInt32,
	}
	here := prompt.FirstMessageContext{
		Rules: []prompt.PromptSection{{Title: "Rules for this task", Body: "Be kind."}}, Told: []prompt.PluginPromptText{{By: "p", Text: "x", Bytes: 100}},
		Notes: []prompt.MemoryEntryExcerpt{{ID: "n", Kind: "gotcha", Text: "x"}}, Dir: "/w", Map: "a.go", Tests: "a_test.go: TestA", Past: "b.go: changed in 3 of the 3 commits that changed a.go",
	}
	rules := []prompt.PromptSection{{Title: "Rules of the user", Body: "x"}, {Title: "Rules of the repository", Body: "x"}, {Title: "Skills", Body: "x"}}
	parts := append(prompt.SystemPromptSections("You code.", rules, prompt.RoleEnvironment{System: "linux"}), b.Parts()...)
	parts = append(append(parts, here.Parts()...), prompt.RepairRequest{Gate: "build", Findings: said}.Parts()...)
	if len(parts) < 30 {
		t.Errorf("%d sections: some that a prompt may have are missing here", len(parts))
	}
	for _, p := range parts {
		if p.Reason == "" {
			t.Errorf("section %q does not say why it is there", p.Title)
		}
	}
}

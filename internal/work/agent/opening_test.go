package agent_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
	"github.com/nexus-ai-builder/nexus/internal/work/rules"
)

// environment is what a run would tell a role of a Go project.
func environment(r agent.RoleDefinition) prompt.RoleEnvironment {
	e := prompt.RoleEnvironment{System: "linux/amd64", Date: "2026-11-24", Shell: slices.Contains(r.Tools, "shell"), Turns: r.Turns}
	if len(r.Tools) < 2 {
		return prompt.RoleEnvironment{}
	}
	if !e.Shell && r.Name != nexus.Planner {
		return e
	}
	e.Gates = []prompt.GateDescription{
		{Name: "build", Command: "go build ./...", Usual: 2 * time.Second},
		{Name: "golangci", Command: "golangci-lint run", Lacks: "golangci-lint is not installed"},
		{Name: "test", Command: "go test -json -count=1 ./...", Usual: 40 * time.Second},
		{Name: "secrets"},
	}
	e.Fixers, e.Mutation, e.Scripts = []string{"gofmt -w"}, "warn", []prompt.ProjectScripts{{Run: "make", Names: []string{"check", "docs"}}}
	if e.Shell {
		e.Tmp, e.One, e.Rounds, e.Time, e.Output, e.Command = "/tmp", []string{"go test -run '^NAME$' ./PACKAGE"}, 50, time.Hour, 16_000, 5*time.Minute
	}
	return e
}

const (
	codeDiff  = "diff --git a/dur/parse.go b/dur/parse.go\nnew file mode 100644\n--- /dev/null\n+++ b/dur/parse.go\n@@ -0,0 +1,3 @@\n+package dur\n+\n+func Parse(s string) (int, error) { return 0, nil }\n"
	shownMap  = "Commit 5e1c309dae7f, 3 files, 2 Go.\n\nFiles:\n./: go.mod\ndur/: dur.go dur_test.go\n\nFiles that share words with the task, the likeliest first, with line numbers:\ndur/dur.go\n  9 func String(d int) string\n"
	testsDiff = "diff --git a/dur/parse_test.go b/dur/parse_test.go\nnew file mode 100644\n--- /dev/null\n+++ b/dur/parse_test.go\n@@ -0,0 +1 @@\n+package dur\n"
)

// TestOpenings keeps what a model reads when it begins, whole, for each role
// and strategy. A text that another part of it, or the rights of the role,
// contradicts is found here.
func TestOpenings(t *testing.T) {
	roles, err := agent.LoadRoleDefinitions(nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range nexus.Strategies() {
		for _, name := range []nexus.Role{nexus.Coder, nexus.Tester, nexus.Verifier, nexus.Reviewer} {
			r := roles[name]
			text := opening(r, s)
			golden(t, fmt.Sprintf("openings/%s-%s.golden", name, s), text)
			for part, fits := range map[string]bool{
				"No test is required":              s == nexus.NoTest && name != nexus.Tester,
				"Commands start there":             slices.Contains(r.Tools, "shell"),
				"## Map":                           r.Map,
				"Before the gates, these fixers":   slices.Contains(r.Tools, "shell"),
				"The tester's message":             name == nexus.Coder && s.UsesSeparateSessions(),
				"The author's message":             name == nexus.Verifier || name == nexus.Reviewer,
				"Submit with status":               r.Writes != agent.WriteNothing,
				"- Gates, in order":                slices.Contains(r.Tools, "shell"),
				"Rules of the repository":          true,
				"`golangci-lint run`, cannot run ": slices.Contains(r.Tools, "shell"),
			} {
				if strings.Contains(text, part) != fits {
					t.Errorf("%s with %s says %q: %v", name, s, part, !fits)
				}
			}
			if s == nexus.NoTest && name == nexus.Coder && (strings.Contains(text, "test what you add") || strings.Contains(text, "Write the tests")) {
				t.Error("a coder who need not test is told to")
			}
		}
	}
	planner := roles[nexus.Planner]
	text := prompt.SystemPrompt(planner.Prompt, keepSmall(), environment(planner)) + "\n====\n\n" +
		prompt.PlanningRequest{Session: "plan.1/planner.1", Text: "Durations can be read and written."}.FirstMessage() + prompt.FirstMessageContext{Map: shownMap}.Text()
	golden(t, "openings/planner.golden", text)
	merger := roles[nexus.Merger]
	brief := prompt.TaskBrief{
		Session: "T3.2.merge/merger.1", Task: parser(""), Conflicts: []string{"dur/parse.go"}, Landed: testsDiff, Side: codeDiff,
		Meanwhile: []nexus.Task{{ID: "T2", Title: "Print durations", Criteria: []nexus.Criterion{{Text: "String writes weeks"}}}},
	}
	golden(t, "openings/merger.golden", prompt.SystemPrompt(merger.Prompt, keepSmall(), environment(merger))+"\n====\n\n"+brief.Text()+prompt.FirstMessageContext{Dir: "/state/trees/r/T3.2.merge/tree"}.Text())
}

func parser(s nexus.WritingStrategy) nexus.Task {
	task := nexus.Task{
		ID: "T3", Title: "Add parser for durations", Brief: "Add Parse to package dur. It reads what String writes.", Strategy: s, Files: []string{"dur/parse.go", "dur/parse_test.go"},
		Criteria: []nexus.Criterion{{Text: "Parse reads every unit that String writes", Check: "test"}, {Text: "The error names the unit that is unknown"}},
	}
	if s == nexus.NoTest {
		task.Reason = "it only moves text"
	}
	return task
}

// opening returns the first request of a role, as an attempt makes it.
func opening(r agent.RoleDefinition, s nexus.WritingStrategy) string {
	proved := &nexus.TestsRunWithoutWork{Proof: nexus.ProofRed, Files: []string{"dur/parse_test.go"}, Tests: []string{"dur.TestParse"}}
	if !s.UsesSeparateSessions() {
		proved = nil
	}
	b := prompt.TaskBrief{Session: nexus.SessionID("T3.1/" + string(r.Name) + ".1"), Task: parser(s), Order: prompt.TestOrderText(s, r.Name, proved)}
	if r.Name == nexus.Tester {
		b.Task.Strategy, b.Task.Files = "", b.Task.Files[1:]
	}
	here := prompt.FirstMessageContext{}
	if r.Map {
		here.Map = shownMap
	}
	if slices.Contains(r.Tools, "shell") {
		here.Dir, b.Base = "/state/trees/r/T3.1/tree", "5e1c309dae7f45e0f39b1bf3ac3cd9db12e7d689"
	}
	switch {
	case r.Name == nexus.Coder && s.UsesSeparateSessions():
		b.Tester = "Test Parse\n\nCovers every unit. Not covered: a number that overflows."
	case r.Name == nexus.Tester && !s.UsesSeparateSessions():
		b.Diff = codeDiff
	case r.Name == nexus.Verifier, r.Name == nexus.Reviewer:
		b.Diff, b.Said = codeDiff+testsDiff, "Add dur.Parse\n\nIt reads what String writes."
		b.Evidence = []nexus.GateEvidence{
			{Gate: "build", State: nexus.Pass, Tree: "t", Command: "go build ./..."},
			{Gate: "golangci", Why: "golangci-lint is not installed"},
			{Gate: "test", State: nexus.Pass, Tree: "t", Command: "go test -json -count=1 ./...", Counts: nexus.TestCounts{Passed: 12, Skipped: 1}},
		}
	}
	return prompt.SystemPrompt(r.Prompt, keepSmall(), environment(r)) + "\n====\n\n" + b.Text() + here.Text()
}

// keepSmall is a standing rule of the repository.
func keepSmall() []prompt.PromptSection {
	return rules.ApplicableRules{Rules: []rules.InstructionRuleFile{{File: "AGENTS.md", Why: rules.Always, Text: "Keep it small."}}}.PromptSections()
}

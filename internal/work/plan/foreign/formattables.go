package foreign

import "github.com/nexus-ai-builder/nexus/internal/nexus"

// notStarted are the words for tasks that are open.
var notStarted = []string{"pending", "open", "todo", "not-started"} //nolint:gochecknoglobals // never written

// isDone are the words for tasks that are done.
var isDone = []string{"passed", "done", "completed", "complete"} //nolint:gochecknoglobals // never written

// prdStory is a story in the prd.json of nax or Ralph. The additions of nax are read in both, as there are
// many tools in between.
//
//nolint:gochecknoglobals // never written
var prdStory = fieldTable{
	id: []string{"id", "storyId"}, title: []string{"title"}, description: []string{"description", "userStory"},
	descriptionIsTitle: true, // in a list of features: a category, a sentence and steps
	group:              []string{"category", "group"},
	criteria:           []string{"acceptanceCriteria", "steps", "criteria"},
	tags:               []string{"tags", "labels"},
	needs:              []string{"dependencies", "dependsOn", "depends_on"},
	files:              [][]string{{"expectedFiles"}, {"contextFiles", "relevantFiles", "files"}},
	paragraphs:         []paragraph{{names: []string{"customContext"}, list: true}, {names: []string{"notes"}, text: "Notes: %s"}},
	status: statusTable{
		open: notStarted, done: isDone, replaced: []string{"decomposed"}, omitted: []string{"skipped", "cancelled"},
		restart:  []string{"in-progress", "failed", "blocked", "paused", "regression-failed"},
		flags:    []string{"passes", "passed", "complete", "completed"},
		expected: "pending, in-progress, passed, failed, skipped, blocked, paused, regression-failed, decomposed",
	},
	runState: []string{
		"attempts", "escalations", "priorErrors", "priorFailures", "failureCategory", "failureStage", "worktreePath",
		"outputFiles", "diffSummary", "storyGitRef", "started", "retries", "lastResult", "blocked", "completedAt", "startedAt",
	},
	lost:    []lostFields{{"only what is asked for is a criterion", []string{"suggestedCriteria"}}},
	ignored: []string{"parentStoryId", "workdir", "routing", "storyPoints"},
}

// naxRouting has the words of a story's routing.
//
//nolint:gochecknoglobals // never written
var naxRouting = struct{ complexity, tier, strategy enumWords }{
	complexity: enumWords{
		name: "complexity", expected: "simple, medium, complex, expert",
		ours: map[string]string{"simple": string(nexus.Simple), "medium": string(nexus.Medium), "complex": string(nexus.Complex), "expert": string(nexus.Expert)},
	},
	tier: enumWords{
		name: "modelTier", expected: "fast, balanced, powerful",
		ours: map[string]string{"fast": string(nexus.Fast), "balanced": string(nexus.Balanced), "powerful": string(nexus.Strong), "strong": string(nexus.Strong)},
	},
	strategy: enumWords{
		name: "testStrategy", expected: nexus.JoinWords(nexus.Strategies()),
		ours: map[string]string{
			"three-session-tdd": string(nexus.TDDStrict), "three-session-tdd-lite": string(nexus.TDDLite),
			"tdd-lite": string(nexus.TDDLite), "tdd-simple": string(nexus.TDDSimple), "test-after": string(nexus.TestAfter), "no-test": string(nexus.NoTest),
		},
	},
}

// masterTask is a task or subtask in the tasks.json of Task Master.
//
//nolint:gochecknoglobals // never written
var masterTask = fieldTable{
	id: []string{"id"}, title: []string{"title", "name"}, description: []string{"description"},
	criteria:   []string{"acceptanceCriteria"},
	tags:       []string{"tags", "labels"},
	needs:      []string{"dependencies", "dependsOn"},
	files:      [][]string{{"relevantFiles", "files"}},
	paragraphs: []paragraph{{names: []string{"details"}}},
	status: statusTable{
		open: notStarted, done: isDone, omitted: []string{"cancelled", "canceled", "deferred"},
		restart:  []string{"in-progress", "review", "blocked", "failed"},
		expected: "pending, in-progress, done, review, deferred, cancelled, blocked",
	},
	lost: []lostFields{{"a plan has no place for it", []string{"metadata", "effort"}}},
	ignored: []string{
		"subtasks", "parentTaskId", "parentTask", "parentId", "isSubtask", "previousStatus", "updatedAt", "createdAt", "complexity", "complexityScore",
		"recommendedSubtasks", "expansionPrompt", "complexityReasoning", "testStrategy",
	},
}

// polkaTask is a task of the polka agent.
//
//nolint:gochecknoglobals // never written
var polkaTask = fieldTable{
	id: []string{"id"}, title: []string{"title"}, description: []string{"description"},
	criteria: []string{"acceptanceCriteria", "criteria"},
	needs:    []string{"dependencies", "needs"},
	files:    [][]string{{"files"}},
	minutes:  []string{"estimatedTime"},
	complexity: []enumWords{{
		name: "complexity", expected: "low, medium, high",
		ours: map[string]string{
			"low": string(nexus.Simple), "simple": string(nexus.Simple), "medium": string(nexus.Medium),
			"high": string(nexus.Complex), "complex": string(nexus.Complex), "expert": string(nexus.Expert),
		},
	}},
	priority: largerFirst,
	kind: kindTable{
		kinds: map[string]nexus.TaskKind{
			"other": "", "task": "", "test": nexus.TestTask, "testing": nexus.TestTask, "docs": nexus.DocsTask, "documentation": nexus.DocsTask,
		},
		tags:     []string{"feature", "bugfix", "refactor", "refactoring", "security", "optimization", "analysis", "plan"},
		omitted:  []string{"review", "commit", "delete", "force-push", "reset"},
		expected: "feature, bugfix, refactor, test, docs, other",
	},
	status: statusTable{
		open: notStarted, done: isDone, omitted: []string{"skipped", "cancelled"}, restart: []string{"in-progress", "failed", "blocked"},
		expected: "pending, in-progress, completed, failed, blocked, skipped",
	},
	runState: []string{"result", "error", "branch"},
	lost:     []lostFields{{"a plan has no place for it", []string{"metadata"}}},
	ignored:  []string{"workflow", "workflowInput", "createdAt", "startedAt", "completedAt", "retryCount"},
}

// storyStatus has the words for the status of a story in Markdown.
//
//nolint:gochecknoglobals // never written
var storyStatus = statusTable{
	open: append([]string{"draft", "ready"}, notStarted...), done: append([]string{"implemented"}, isDone...),
	omitted: []string{"skipped", "cancelled", "deferred"}, restart: []string{"in-progress", "failed", "blocked", "paused"},
	expected: "pending, in-progress, done, skipped",
}

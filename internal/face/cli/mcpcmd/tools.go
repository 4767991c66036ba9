package mcpcmd

import (
	"slices"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/mcp/mcpserver"
)

// commandTool is a command as clients can call it.
type commandTool struct {
	name, about string
	command     []string // words of the command, and fixed flags
	params      []toolParam
	tail        []string                                                          // words after those of the params
	reads, ends bool                                                              // it changes nothing; it may end something
	consent     string                                                            // permission that a person must give; empty: none
	long        bool                                                              // it takes minutes: the client receives progress
	conducts    bool                                                              // it conducts a run, which outlives the client
	only        func(result mcpserver.Result, in map[string]any) mcpserver.Result // filters the command's result; nil: all of it
}

const aRun = "run's ID or a part of it; default: the latest run"

func runWordParam() toolParam { return toolParam{name: "run", about: aRun, place: word} }
func runFlagParam() toolParam { return toolParam{name: "run", about: aRun} }

// spendingParams returns the params of tools that call models.
func spendingParams() []toolParam {
	return []toolParam{
		{name: "budget", about: "most to spend, in dollars; more than the user's budget.run needs the user's agreement", typ: number, least: 0.01, most: 1e6},
		{name: "max_time", about: "most time, such as 90m", flag: "max-time"},
		{name: "model", about: "provider/model for every role, instead of the configured ones"},
	}
}

// runParams returns the params of tools that start a run.
func runParams() []toolParam {
	return append(spendingParams(),
		toolParam{name: "tier", about: "tier that tasks start at: fast, balanced or strong", values: []string{"fast", "balanced", "strong"}},
		toolParam{name: "target", about: "branch that the result is for; default: the one that is checked out"},
		toolParam{name: "land", about: "also move that branch to the result at the end; default: false", typ: truth, place: aside},
		waitParam(),
	)
}

func waitParam() toolParam {
	const about = "false returns the status once the run has started; default: true, which returns the report when it has ended"
	return toolParam{name: "wait", about: about, typ: truth, place: aside}
}

// allTools returns all tools. Their descriptions are short versions of the commands' help, for a
// model.
func allTools() []commandTool {
	return slices.Concat(startTools(), readTools(), steerTools(), checkTools())
}

func startTools() []commandTool {
	const about = "a plan as the tool plan returns it, edited or not; then no planner is asked"
	planned := toolParam{name: "plan", about: about, typ: object, place: input, flag: "plan"}
	return []commandTool{
		{
			name: "plan", about: "Turn a goal into a checked plan of tasks, with an estimate of time and money. Changes no files. With plan, check that plan instead; with run, return the plan that was made in an earlier call.",
			command: []string{"plan", "--json"}, consent: "plan", long: true, conducts: true,
			params: append([]toolParam{
				{name: "goal", about: "the goal: what must be true afterwards, in words", place: word},
				planned,
				{name: "run", about: "run of an earlier call whose plan to return"},
			}, spendingParams()...),
		},
		{
			name: "run", about: "Work on a goal or a plan until it is done: plan, code, gates, review. The result is a branch nexus/RUN; your checkout stays as it is.",
			command: []string{"run", "--json"}, consent: "run", long: true, conducts: true,
			params: append([]toolParam{{name: "goal", about: "the goal: what must be true afterwards, in words", place: word}, planned}, runParams()...),
		},
		{
			name: "quick", about: "Do one small task without a plan, with the same gates and review as run.",
			command: []string{"quick", "--json"}, consent: "quick", long: true, conducts: true,
			params: append([]toolParam{
				{name: "task", about: "the task, in words", place: word, needed: true},
				{name: "check", about: "gate or shell command that passes when the task is done"},
			}, runParams()...),
		},
		{
			name: "resume", about: "Continue a run that is paused, interrupted, or waited for a person. Nothing that was paid for is done again. " +
				"It moves a branch at its end only if it was started so.",
			command: []string{"resume", "--json"}, consent: "resume", long: true, conducts: true,
			params: slices.Concat([]toolParam{runFlagParam()}, spendingParams(), []toolParam{waitParam()}),
		},
	}
}

func readTools() []commandTool {
	return []commandTool{
		{name: "status", about: "Show the status of a run: tasks, money, time left, and the questions that wait for a person.", command: []string{"status", "--json"}, params: []toolParam{runWordParam()}, reads: true},
		{
			name: "tasks", about: "List the tasks of a run with title, state, attempts and costs.", command: []string{"status", "--json"}, reads: true, only: onlyTasks,
			params: []toolParam{runWordParam(), {name: "status", about: "only tasks with this status", place: aside, values: taskStatuses()}},
		},
		{
			name: "show", about: "Show the details of a run, a task (T1), an attempt (T1.1) or a session (T1.1/coder.1: the whole conversation).", command: []string{"status", "--result", "--json"}, reads: true,
			params: []toolParam{{name: "name", about: "run, task, attempt or session; default: the report of the run", place: word}, runFlagParam()},
		},
		{
			name: "diff", about: "Return the change of a task or an attempt, landed or not, as git prints it.", command: []string{"diff", "--json"}, reads: true,
			params: []toolParam{
				{name: "task", about: "task (T1) or attempt (T1.1)", place: word, needed: true},
				{name: "round", about: "only the change of this round", typ: whole, least: 1, most: 1e6},
				{name: "up_to", about: "the change up to the end of this round", typ: whole, flag: "up-to", least: 1, most: 1e6},
				{name: "stat", about: "only the files, and how much changed in each", typ: truth},
				runFlagParam(),
			},
		},
		{
			name: "evidence", about: "Show which criteria the landed work meets, with evidence.", command: []string{"status", "--evidence", "--json"}, reads: true,
			params: []toolParam{runWordParam(), {name: "commit", about: "instead, the git note of this commit"}},
		},
		{
			name: "logs", about: "Return the events of a run. To continue, pass last as since.", command: []string{"logs", "--json"}, reads: true,
			params: []toolParam{
				{name: "name", about: "run, or task or attempt of the latest run", place: word},
				{name: "task", about: "only events of this task"},
				{name: "since", about: "only events after the one with this number", typ: whole, most: 1 << 53},
				{name: "limit", about: "most events; default: 200", typ: whole, least: 1, most: 10_000, usual: "200"},
			},
		},
	}
}

func taskStatuses() []string {
	var all []string
	for _, s := range []nexus.TaskStatus{
		nexus.Pending, nexus.Running, nexus.Reviewing, nexus.Boarding, nexus.Landed,
		nexus.Blocked, nexus.Parked, nexus.Failed, nexus.Skipped, nexus.Split,
	} {
		all = append(all, string(s))
	}
	return all
}

func steerTools() []commandTool {
	return []commandTool{
		{
			name: "answer", about: "Answer a question that waits for a person, as the user decided. status lists the questions.", command: []string{"answer", "--json"}, consent: "answer",
			params: []toolParam{
				{name: "id", about: "the question, such as q1", place: word, needed: true},
				{name: "text", about: "the answer; where the question has choices, one of them", place: word, needed: true},
				runFlagParam(),
			},
		},
		{
			name: "approve", about: "Give the permission that a question asks for, or waive a criterion (T1/AC-2, with why), as the user decided. To refuse, answer no.", command: []string{"approve", "--json"}, consent: "approve",
			params: []toolParam{
				{name: "id", about: "the question (q1) or the criterion (T1/AC-2)", place: word, needed: true},
				{name: "why", about: "why the criterion need not be met"},
				runFlagParam(),
			},
		},
		{
			name: "tell", about: "Send a message to the agent that works on a task.", command: []string{"tell", "--json"},
			params: []toolParam{
				{name: "task", about: "the task, such as T1", place: word, needed: true},
				{name: "text", about: "what to tell it", place: word, needed: true},
				runFlagParam(),
			},
		},
		{
			name: "add", about: "Add something to do to the run that is in progress: one small task, or more work, which its planner turns into tasks. Without a run it goes to the backlog of the repository.",
			command: []string{"add", "--json"}, consent: "add", long: true,
			params: []toolParam{
				{name: "text", about: "the task, in words", place: word, needed: true},
				{name: "files", about: "files that it is about", typ: texts},
				{name: "needs", about: "tasks that must land first, such as T1", typ: texts},
				{name: "type", about: "kind of work", values: []string{"code", "test", "docs"}},
				{name: "check", about: "gate or shell command that passes when it is done"},
				runFlagParam(),
			},
		},
		{
			name: "pause", about: "Pause every agent of a run at its next turn, which resume continues; or one task, which unpause lets continue.", command: []string{"stop", "--pause", "--json"},
			params: []toolParam{{name: "task", about: "only this task, such as T1", place: word}, runFlagParam()},
		},
		{
			name: "unpause", about: "Continue a paused task.", command: []string{"resume", "--json"},
			params: []toolParam{{name: "task", about: "the task, such as T1", place: word, needed: true}, runFlagParam()},
		},
		{
			name: "interrupt", about: "Interrupt the agent of a task, and tell it why. Its task continues.", command: []string{"stop", "--turn", "--json"},
			params: []toolParam{
				{name: "task", about: "the task, such as T1", place: word, needed: true},
				{name: "text", about: "instructions for it", place: word},
				runFlagParam(),
			},
		},
		{
			name: "stop", about: "End a run. Landed work stays.", command: []string{"stop", "--json"}, ends: true,
			params: []toolParam{{name: "now", about: "do not let agents finish their turn", typ: truth}, {name: "why", about: "reason, which is recorded"}, runFlagParam()},
		},
	}
}

func checkTools() []commandTool {
	return []commandTool{
		{
			name: "check", about: "Run the project's gates (build, lint, tests and others) on the working tree, in the sandbox, and return their findings.", command: []string{"check", "--json"}, long: true,
			params: []toolParam{
				{name: "gates", about: "only these gates, by name or kind: build, type, lint, format, test", typ: texts},
				{name: "base", about: "fail only for regressions since this commit or branch"},
				{name: "related", about: "only the tests that the change affects", typ: truth},
				{name: "stop", about: "stop at the first gate that fails", typ: truth},
				{name: "coverage", about: "measure test coverage, which runs the tests once more", typ: truth},
				{name: "list", about: "list the gates without running them", typ: truth},
			},
		},
		{
			name: "parse", about: "Read the output of a build, lint or test tool: findings with file and line, and how many tests passed.", command: []string{"parse", "--json"}, tail: []string{"-"}, reads: true,
			params: []toolParam{
				{name: "format", about: "format of the output, such as go-test; default: detect it", place: word, usual: "auto"},
				{name: "output", about: "the output of the tool", place: input, needed: true},
				{name: "command", about: "command that printed it; helps to detect the format"},
				{name: "exit", about: "its exit code; -1 if it was killed", typ: whole, least: -1, most: 255},
				{name: "tests", about: "it should run tests: no tests is not a pass", typ: truth},
			},
		},
		{
			name: "policy", about: "Check whether an agent of Nexus may run a shell command: allow, ask or deny, and why. Runs nothing.", command: []string{"policy", "check"}, reads: true,
			params: []toolParam{
				{name: "command", about: "the command line", place: word, needed: true},
				{name: "role", about: "role of the agent; default: coder"},
			},
		},
	}
}

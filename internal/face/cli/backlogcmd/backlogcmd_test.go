package backlogcmd_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/app"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/backlogcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/discovercmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/progress"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/workaddition"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func command(c *console.Console) *cobra.Command { return backlogcmd.New(c, nil) }

func TestFlags(t *testing.T) {
	clitest.CheckFlags(t, backlogcmd.New, map[string]*backlogcmd.Options{"": {}, "--all --json": {All: true}, "lst": nil})
	clitest.CheckFlags(t, backlogcmd.NewList, map[string]*backlogcmd.ListOptions{"": {}, "--all": {All: true}, "x": nil})
	clitest.CheckFlags(t, backlogcmd.NewShow, map[string]*backlogcmd.ShowOptions{"x": {Item: "x"}, "": nil, "x y": nil})
	clitest.CheckFlags(t, backlogcmd.NewAdd, map[string]*backlogcmd.AddOptions{
		"write b":    {Words: []string{"write", "b"}},
		"-f b.md":    {File: "b.md"},
		"b --needs=": nil,
		"b --files a,b --type docs --priority low --check make": {
			Words: []string{"b"}, Addition: workaddition.Addition{Files: []string{"a", "b"}, Kind: "docs", Priority: "low", Check: "make"},
		},
	})
	clitest.CheckFlags(t, backlogcmd.NewEdit, map[string]*backlogcmd.EditOptions{
		"x --text b --title a": {Item: "x", Changed: []string{"title", "text"}, Title: "a", Addition: workaddition.Addition{Text: "b"}},
		"x --check=":           {Item: "x", Changed: []string{"check"}},
		"x --again":            {Item: "x", Again: true},
		"x":                    nil,
		"--again":              nil,
		"x y --again":          nil,
	})
	clitest.CheckFlags(t, backlogcmd.NewMove, map[string]*backlogcmd.MoveOptions{
		"x --before y": {Item: "x", Before: "y"}, "x --after y": {Item: "x", After: "y"},
		"x": nil, "x --before y --after z": nil, "--before y": nil,
	})
	clitest.CheckFlags(t, backlogcmd.NewReject, map[string]*backlogcmd.RejectOptions{
		"x --why late": {Item: "x", Reason: "late"}, "x": nil, "x --why=": nil, "--why late": nil,
	})
	clitest.CheckFlags(t, backlogcmd.NewStart, map[string]*backlogcmd.StartOptions{
		"x y --queue":            {Items: []string{"x", "y"}, Queue: true},
		"x -y --headless":        {Items: []string{"x"}, Command: progress.RunCommandOptions{Yes: true, RunOptions: app.RunOptions{Headless: true}}},
		"":                       nil,
		"x --seed seven":         nil,
		"x --json --jsonl":       nil,
		"x --detach":             nil,
		"x --replay d --record=": nil,
	})
}

func TestItems(t *testing.T) {
	u := clitest.NewUser(t, nil)
	u.Expect(0, []string{"nothing waits"}, command)
	u.Expect(2, []string{"the text is empty"}, command, "add")
	u.Expect(2, []string{"unknown priority", "critical, high"}, command, "add", "Write b.txt", "--priority", "soon")
	u.In = "Write the file b.txt\n\nIt says b.\n"
	u.Expect(0, []string{"write-the-file-b-txt waits: .nexus/backlog/write-the-file-b-txt.md"}, command, "add", "-f", "-", "--files", "./b.txt")
	u.Expect(0, []string{`"id": "write-c-txt"`, `"priority": "high"`}, command, "add", "Write c.txt", "--priority", "high", "--json")
	u.Expect(0, []string{"waiting\twrite-c-txt\thigh\tWrite c.txt", "waiting\twrite-the-file-b-txt\t", "0 of at most 3 active"}, command, "list")

	u.Expect(0, []string{"# Write the file b.txt", "It says b.", "b.txt"}, command, "show", "the-file")
	u.Expect(2, []string{`there is no item "nothing"`, "nexus backlog lists them"}, command, "show", "nothing")
	u.Expect(2, []string{`2 items have "write" in their names`}, command, "show", "write")
	u.Expect(2, []string{"no item of the finding", "nexus discover todo/1 --add"}, command, "show", "todo/1")

	u.Expect(2, []string{"no change was given"}, command, "edit", "write-c")
	u.Expect(2, []string{"unknown type"}, command, "edit", "write-c", "--type", "song")
	u.Expect(2, []string{"the text is empty"}, command, "edit", "write-c", "--title", " ")
	u.Expect(0, []string{"write-c-txt is as it was"}, command, "edit", "write-c", "--priority", "high")
	u.Expect(0, []string{"write-c-txt has another title, type: "}, command, "edit", "write-c", "--title", "Describe  c", "--type", "docs")
	if text := u.Read(".nexus/backlog/write-c-txt.md"); !strings.Contains(text, "# Describe c\n") || !strings.Contains(text, "priority: high\n") {
		t.Error(text)
	}

	u.Expect(2, []string{"no position was given"}, command, "move", "write-c")
	u.Expect(2, []string{`there is no item "nothing"`}, command, "move", "write-c", "--before", "nothing")
	u.Expect(0, []string{"write-c-txt is number 2 of the 2 that wait, with priority medium"}, command, "move", "write-c", "--after", "the-file")

	u.Expect(2, []string{"no reason was given"}, command, "reject", "write-c", "--why", " ")
	u.Expect(0, []string{"write-c-txt is rejected"}, command, "reject", "write-c", "--why", "Nobody  needs it.")
	u.Expect(2, []string{"it is in the backlog as write-c-txt, which was rejected: Nobody needs it."}, command, "add", "describe C")
	u.Expect(0, []string{"!write-c-txt"}, command)
	u.Expect(0, []string{"rejected\twrite-c-txt\t", "Nobody needs it."}, command, "--all")
	u.Expect(2, []string{"write-c-txt is rejected and write-the-file-b-txt is waiting: only waiting items"}, command, "move", "write-c", "--before", "the-file")
	u.Expect(2, []string{"write-c-txt is not waiting: it is rejected", "nexus backlog edit write-c-txt --again"}, command, "start", "write-c")
	u.Expect(0, []string{"write-c-txt waits again: "}, command, "edit", "write-c", "--again")

	u.Write(map[string]string{".nexus/backlog/write-f.md": "---\nstate: soon\n---\n\n# Write f\n"})
	u.Expect(1, []string{`not read: .nexus/backlog/write-f.md:2: unknown state "soon"`, "waiting\twrite-c-txt"}, command)
	u.Expect(1, []string{`"file": ".nexus/backlog/write-f.md:2"`, `"most": 3`}, command, "list", "--json")
	for _, args := range [][]string{{"show", "write-f"}, {"start", "write-f"}, {"reject", "write-f", "--why", "no"}} {
		u.Expect(2, []string{".nexus/backlog/write-f.md:2: unknown state"}, command, args...)
	}
}

// TestRejectFinding holds that the decision about a finding is stored, as an item.
func TestRejectFinding(t *testing.T) {
	u := clitest.NewUser(t, map[string]string{"greet.sh": "#!/bin/sh\n# FIXME: quote the name\necho $1\n"})
	u.Expect(2, []string{"todo/0"}, command, "reject", "todo/0", "--why", "no")
	discover := func(c *console.Console) *cobra.Command { return discovercmd.New(c, nil) }
	u.Expect(0, []string{`"name": "todo/`}, discover, "--strategies", "todo", "--json")
	id := regexp.MustCompile(`todo/[0-9a-f]+`).FindString(u.Out)
	u.Expect(2, []string{"no reason was given"}, command, "reject", id)
	u.Expect(0, []string{"nothing waits"}, command, "--all")
	for range 2 { // it does not become another item
		u.Expect(0, []string{" is rejected: .nexus/backlog/"}, command, "reject", id, "--why", "It is a test.")
	}
	u.Expect(0, []string{"It is a test."}, command, "show", id)
}

// TestStart holds what refuses to start an item; the story backlog works on items until they have landed.
func TestStart(t *testing.T) {
	t.Parallel()
	u := clitest.NewUser(t, map[string]string{"nexus.toml": "[gates]\ntest = \"true\"\n"})
	u.Expect(0, nil, command, "add", "Say hello", "--check", "grep hello a.txt", "--files", "a.txt")
	u.Expect(2, []string{`there is no item "nothing"`}, command, "start", "nothing")
	u.Expect(2, []string{"ANTHROPIC_API_KEY"}, command, "start", "say-hello")
	u.Expect(0, []string{"waiting\tsay-hello"}, command)
	u.Env["NEXUS_BACKLOG_ACTIVE"] = "1"
	u.Expect(0, nil, command, "add", "Say goodbye")
	u.Expect(2, []string{"backlog.active allows 1 items at once, and 2 were named"}, command, "start", "say-hello", "say-goodbye")
}

// TestStartInRun starts items in a run that is in progress.
func TestStartInRun(t *testing.T) {
	u := clitest.NewUser(t, nil)
	u.Expect(0, nil, command, "add", "Write b.txt")
	u.Expect(0, nil, command, "add", "Write c.txt")
	held := u.HoldRun(clitest.RunID, nexus.GoalAccepted{Goal: nexus.Goal{Text: "Write"}}, nexus.RunStarted{})
	held.AnswerRequests(func(r nexus.Request) string {
		if r.Item == "write-c-txt" {
			return "it drains"
		}
		return ""
	})
	u.Expect(0, []string{"write-b-txt is added to run 260101-000000-abc; it is added once the plan of the run is approved"}, command, "start", "write-b", "--queue")
	u.Expect(2, []string{"write-b-txt is not waiting: it is ", "nexus status 260101-000000-abc"}, command, "start", "write-b")
	u.Expect(2, []string{"works with the text that it was started with"}, command, "edit", "write-b", "--title", "Write")
	u.Expect(2, []string{"run 260101-000000-abc did not accept write-c-txt: it drains"}, command, "start", "write-c")
	u.Expect(0, []string{"waiting\twrite-c-txt"}, command)
	u.Expect(0, []string{"write-b-txt is rejected"}, command, "reject", "write-b", "--why", "Nobody needs it.")
}

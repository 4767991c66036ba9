package discovercmd_test

import (
	"regexp"
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/checkcmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/discovercmd"
)

func TestFlags(t *testing.T) {
	clitest.CheckFlags(t, discovercmd.New, map[string]*discovercmd.Options{
		"":                              {Most: 30},
		"todo/1 todo/2 --add":           {Most: 30, IDs: []string{"todo/1", "todo/2"}, Add: true},
		"--all --most 0":                {All: true},
		"--why todo/1 -y --fresh":       {Most: 30, Why: "todo/1", Yes: true, Search: checkcmd.DiscoverySearch{Fresh: true}},
		"--strategies todo,security":    {Most: 30, Search: checkcmd.DiscoverySearch{Strategies: []string{"todo", "security"}}},
		"--plugin ours":                 {Most: 30, Search: checkcmd.DiscoverySearch{Strategies: []string{"plugins"}, Plugin: "ours"}},
		"--most many":                   nil,
		"--why todo/1 --add":            nil,
		"--plugin ours --strategies -x": nil,
	})
}

func TestOutput(t *testing.T) {
	discover := func(c *console.Console) *cobra.Command { return discovercmd.New(c, nil) }
	u := clitest.NewUser(t, nil)
	u.Expect(0, []string{"nothing was found"}, discover, "--strategies", "todo")
	u = clitest.NewUser(t, map[string]string{
		"greet.sh": "#!/bin/sh\n# FIXME: quote the name\necho $1\n",
		"leave.sh": "#!/bin/sh\n# TODO: wave\ntrue\n",
	})
	todo := []string{"--strategies", "todo"}
	u.Expect(0, []string{"score\tseverity\tid\t", "Resolve the FIXME in greet.sh: quote the name", "Resolve the TODO in leave.sh: wave", "nexus run --finding todo/"}, discover, todo...)
	fixme := regexp.MustCompile(`(todo/[0-9a-f]+)\t.*FIXME`).FindStringSubmatch(u.Out)
	if fixme == nil {
		t.Fatal(u.Out)
	}
	id := fixme[1]
	u.Expect(0, []string{"Resolve the FIXME", "!wave", "1 finding more; --most 0 lists all"}, discover, append(todo, "--most", "1")...)
	u.Expect(0, []string{"wave", "todo: "}, discover, append(todo, "--all")...)
	u.Expect(0, []string{`"name": "` + id + `"`, `"severity": "medium"`, `"left": 0`}, discover, append(todo, "--json")...)
	u.Expect(0, []string{id + ": Resolve the FIXME", "  where: greet.sh:2", "  state of the check: fail", "  score: "}, discover, append(todo, "--why", id)...)
	u.Expect(2, []string{`no finding "todo/0"`, "nexus discover lists them"}, discover, append(todo, "--why", "todo/0")...)
	u.Expect(2, []string{`no finding "todo/0"`}, discover, append(todo, "todo/0", "--add")...)
	u.Expect(2, []string{"lucky"}, discover, "--strategies", "lucky")
	u.Expect(2, []string{"lucky"}, discover, "--plugin", "lucky")

	u.Expect(0, []string{"Resolve the FIXME in greet.sh: quote the name", "(item ", "!wave"}, discover, append(todo, id, "--add")...)
	u.Expect(0, []string{"in the backlog: "}, discover, append(todo, "--why", id)...)
	u.Expect(0, []string{"quote the name (item ", "!wave (item"}, discover, append(todo, id, "--add")...) // adds nothing again
}

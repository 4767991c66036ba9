package hookscmd_test

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/hookscmd"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/trustcmd"
)

func TestFlags(t *testing.T) {
	clitest.CheckFlags(t, hookscmd.NewList, map[string]*hookscmd.ListOptions{"": {}, "guard": nil})
	clitest.CheckFlags(t, hookscmd.NewTest, map[string]*hookscmd.TestOptions{
		"guard": {Name: "guard"}, "run.land --event e.json": {Name: "run.land", Event: "e.json"}, "": nil, "a b": nil,
	})
}

// TestHooks lists the hooks of a project, which run once they are trusted, and tries them.
func TestHooks(t *testing.T) {
	u := clitest.NewUser(t, nil)
	u.Expect(0, []string{"there are no hooks"}, hookscmd.New, "list")
	u.Write(map[string]string{"nexus.toml": `
[hooks.guard]
on = ["run.land"]
command = ["sh", "-c", "echo not today >&2; exit 2"]
[hooks.observe]
on = ["task.done", "run.end"]
command = ["sh", "-c", "cat; echo $NEXUS_HOOK_POINT"]
[hooks.slow]
on = ["budget.threshold"]
command = ["sleep", "98765"]
timeout = "1s"
[hooks.gone]
on = ["budget.threshold"]
command = ["no-such-program"]
`})
	u.ExpectMatch(0, []string{`^guard at run.land: sh .*in the sandbox.*new, not run: see nexus trust`, "^observe at task.done, run.end: "}, hookscmd.New, "list")
	u.Expect(1, []string{"untrusted"}, hookscmd.New, "test", "observe")
	u.Expect(0, nil, func(c *console.Console) *cobra.Command { return trustcmd.New(c, nil) }, "--yes")
	u.ExpectMatch(0, []string{`"name": "guard"`, `"trust": "trusted"`, `"timeout": "1s"`, `"own": false`}, hookscmd.New, "list", "--json")

	u.Expect(1, []string{"guard at run.land: refused, exit code 2", "in a run, this refuses", "not today"}, hookscmd.New, "test", "guard")
	u.Expect(1, []string{`"refuses": true`, `"exit": 2`, `"stderr": "not today\n"`}, hookscmd.New, "test", "run.land", "--json")
	u.Expect(0, []string{"observe at task.done: ok, exit code 0", `"version":1`, "task.done"}, hookscmd.New, "test", "observe")
	u.Write(map[string]string{"event.json": `{"version": 1, "hook_event_name": "run.end"}`, "odd.json": "[]"})
	u.Expect(0, []string{"observe at run.end: ok"}, hookscmd.New, "test", "observe", "--event", u.Dir+"/event.json")
	u.Expect(2, []string{"read the event of", "docs/extend.md lists the fields"}, hookscmd.New, "test", "observe", "--event", u.Dir+"/odd.json")
	u.Expect(2, []string{"read the event of"}, hookscmd.New, "test", "observe", "--event", u.Dir+"/none.json")
	u.Expect(1, []string{"slow at budget.threshold: timeout, exit code -1", "gone at budget.threshold: "}, hookscmd.New, "test", "budget.threshold")
	u.Expect(2, []string{"there is no hook"}, hookscmd.New, "test", "nosuch")
}

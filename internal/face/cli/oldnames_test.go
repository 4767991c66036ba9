package cli

import (
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
)

// TestOldNames holds that an old name has the output and the exit code of what replaces it, also
// with flags before it, and that its help is that of the new command.
func TestOldNames(t *testing.T) {
	u := clitest.NewUser(t, nil)
	u.RecordRun(clitest.ReadTape(t, "life1"))
	run := func(words string) (int, string) {
		all := strings.Fields(words)
		code := u.Run(func(c *console.Console) *cobra.Command {
			top, _, err := newRoot(c).Find(all[:1])
			if err != nil {
				t.Fatal(err)
			}
			top.GroupID = ""
			return top
		}, all[1:]...)
		return code, u.Out + u.Err
	}
	for old, now := range map[string]string{
		"show": "status --result", "show T1": "status T1", "show T1 --json": "status T1 --json", "show T1.1/coder.1 --raw": "status T1.1/coder.1 --raw", "report": "status --report", "report --csv abc": "status --csv abc",
		"evidence": "status --evidence", "evidence T1 --json": "status --evidence --json T1", "trace --json": "status --trace --json", "history --by model": "runs --by model",
		"history --by nothing": "runs --by nothing", "metrics": "runs --metrics", "ps": "runs --active", "pause T99": "stop --pause T99", "interrupt T1": "stop --turn T1",
		"skip T1": "stop --skip T1", "unpause T1": "resume T1", "rewind --to 9": "checkpoint restore 9", "rewind abc --to 9999": "checkpoint restore 9999 --run abc",
		"fork abc --at 9999 --hold": "checkpoint fork 9999 --run abc --hold", "rewind": "checkpoint restore", "show --help": "status --help",
	} {
		oldCode, oldText := run(old)
		code, text := run(now)
		if oldCode != code || withoutSeconds(oldText) != withoutSeconds(text) {
			t.Errorf("nexus %s: exit code %d, want %d as of nexus %s:\n%s\nwant\n%s", old, oldCode, code, now, oldText, text)
		}
	}
	for _, old := range oldNames() {
		c, _, err := testRoot().Find(strings.Fields(old.now)[:1])
		if err != nil || console.IsHiddenAlias(c) {
			t.Errorf("nexus %s is replaced by nexus %s, which is none: %v", old.name, old.now, err)
		}
	}
}

// withoutSeconds leaves out the lines that change with the time.
func withoutSeconds(text string) string {
	return strings.Join(slices.DeleteFunc(strings.Split(text, "\n"), func(line string) bool {
		return strings.Contains(line, "second") || strings.Contains(line, "ago")
	}), "\n")
}

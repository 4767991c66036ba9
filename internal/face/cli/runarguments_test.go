package cli

import (
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/journalcmd"
)

// TestRunFlag holds that a command whose usage has a RUN, or whose help speaks of the latest run,
// takes --run.
func TestRunFlag(t *testing.T) {
	excused := map[string]string{
		"runs compare": "it names two runs",
		"spec":         "the run is the value of --resume",
		"import":       "its help says that it makes no run the latest",
	}
	aboutRun := regexp.MustCompile(`\bRUN\b`)
	found := 0
	walkAll(testRoot(), func(c *cobra.Command) {
		name := strings.TrimPrefix(c.CommandPath(), "nexus ")
		long, _ := console.HelpText(c)
		if !aboutRun.MatchString(c.Use) && !strings.Contains(strings.Join(strings.Fields(long), " "), "latest run") {
			return
		}
		has := c.Flags().Lookup("run") != nil
		if excuse, ok := excused[name]; ok == has {
			t.Errorf("nexus %s: --run is %v, and it is excused because %q", name, has, excuse)
		}
		found++
	})
	if found < 25 {
		t.Errorf("%d commands are about a run, want at least 25", found)
	}
}

// TestNamesOfNothing gives each command that changes a run a name that is no task, question or
// criterion, but may be a part of the run's ID: it is refused with a hint, and changes nothing.
func TestNamesOfNothing(t *testing.T) {
	u := clitest.NewUser(t, nil)
	u.RecordRun(clitest.ReadTape(t, "life1"))
	u.Expect(0, nil, journalcmd.New, "export")
	before := u.Out
	for _, line := range []string{
		"stop NAME", "stop NAME --now", "stop NAME --pause", "stop --skip NAME", "stop --turn NAME", "resume NAME", "resume NAME --headless", "undo NAME", "undo NAME --yes", "undo T1 NAME",
		"retry NAME", "retry NAME --fresh", "tell NAME text", "answer NAME yes", "approve NAME", "approve NAME --why late", "reject NAME", "reject NAME --why late", "revise NAME --text new",
		"land NAME", "checkpoint fork NAME --hold", "checkpoint restore NAME --yes",
	} {
		for _, name := range []string{"0101", "abc", "bc", "T99", "T99/1", "1", "no such thing"} {
			if strings.HasPrefix(line, "checkpoint") && strings.Trim(name, "0123456789") == "" { // the number of an event
				continue
			}
			args := strings.Fields(line)
			args[slices.Index(args, "NAME")] = name
			u.Expect(2, []string{"nexus: ", "\n  "}, commandOfRoot(args[0]), args[1:]...)
			out := u.Out + u.Err
			if u.Expect(0, nil, journalcmd.New, "export"); u.Out != before {
				t.Fatalf("%q changed the journal:\n%s", args, out)
			}
		}
	}
}

// commandOfRoot returns the function that makes a command as the program has it.
func commandOfRoot(name string) func(*console.Console) *cobra.Command {
	return func(c *console.Console) *cobra.Command {
		root := newRoot(c)
		for _, command := range root.Commands() {
			if command.Name() == name {
				root.RemoveCommand(command)
				command.GroupID = ""
				return command
			}
		}
		return nil
	}
}

package memorycmd_test

import (
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/decide/memoryentry"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/memorycmd"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
)

func TestFlags(t *testing.T) {
	routing := []nexus.LessonKind{nexus.RoutingLesson}
	clitest.CheckFlags(t, memorycmd.New, map[string]*memorycmd.Options{
		"":                            {},
		"--kind routing":              {LessonKinds: routing, NoEntries: true},
		"--kind gotcha":               {Kind: memoryentry.Gotcha, NoLessons: true},
		"--state proposed":            {State: memoryentry.Proposed, NoLessons: true},
		"--file doors":                {File: "doors", NoLessons: true},
		"lst":                         nil,
		"--kind bug":                  nil,
		"--state new":                 nil,
		"--kind routing --file doors": nil,
		"list routing":                nil,
		"list --kind routing":         nil,
	})
	clitest.CheckFlags(t, memorycmd.NewShow, map[string]*memorycmd.ShowOptions{"x": {Entry: "x"}, "-- -": {Entry: "-"}, "": nil, "x y": nil})
	clitest.CheckFlags(t, memorycmd.NewApprove, map[string]*memorycmd.ApproveOptions{
		"x y --lasting": {Entries: []string{"x", "y"}, Lasting: true}, "x": {Entries: []string{"x"}}, "": nil,
	})
	clitest.CheckFlags(t, memorycmd.NewForget, map[string]*memorycmd.ForgetOptions{"x": {Entries: []string{"x"}}, "": nil, "x --lasting": nil})
	clitest.CheckFlags(t, memorycmd.NewGc, map[string]*memorycmd.GcOptions{"": {}, "--dry-run": {DryRun: true}, "x": nil})
	clitest.CheckFlags(t, memorycmd.NewUsed, map[string]*memorycmd.UsedOptions{"": {}, "abc": {Run: "abc"}, "--run abc": {Run: "abc"}, "a b": nil, "abc --run abd": nil})
	clitest.CheckFlags(t, memorycmd.NewReset, map[string]*memorycmd.ResetOptions{"": {}, "routing": {Kinds: routing}, "luck": nil})
}

func memoryCommand(c *console.Console) *cobra.Command  { return memorycmd.New(c, nil) }
func lessonsCommand(c *console.Console) *cobra.Command { return memorycmd.NewLessons(c) }

const (
	doors   = "---\nkind: pattern\nstate: approved\nfile: doors\n---\n\nTexts about doors say open or shut.\n"
	windows = "---\nkind: gotcha\nstate: approved\nfile: a.txt\n---\n\nWindows are glass.\n"
)

func TestEntries(t *testing.T) {
	u := clitest.NewUser(t, nil)
	u.Expect(0, []string{"there are no episodes here", "no lessons from 0 runs yet: each lesson needs at least 5 tasks"}, memoryCommand)
	u = clitest.NewUser(t, map[string]string{"doors/door.txt": "open\n", ".nexus/memory/by-hand.md": doors, ".nexus/memory/glass.md": windows})
	u.Expect(0, []string{"approved\tby-hand\t", "approved\tglass\t", "there are no lessons"}, memoryCommand)
	u.Expect(0, []string{"approved\tby-hand\t", "!glass", "!lessons"}, memoryCommand, "--file", "doors")
	u.Expect(0, []string{"approved\tglass\t", "!by-hand", "!lessons"}, memoryCommand, "--kind", "gotcha")
	u.Expect(0, []string{"there are no episodes here"}, memoryCommand, "--state", "proposed")
	u.Expect(0, []string{`"lessons": []`, `"sample": 5`, `"id": "glass"`, `"problems": []`}, memoryCommand, "--json")
	u.Expect(0, []string{`"id": "glass"`, "!lessons"}, memoryCommand, "list", "--json")
	u.Expect(0, []string{"Windows are glass.", "about     a.txt"}, memoryCommand, "show", "glass")
	u.Expect(0, []string{`"standing": "fresh"`, `"shared": true`}, memoryCommand, "show", "hand", "--json")
	u.Expect(2, []string{"nexus memory lists them"}, memoryCommand, "show", "nothing")
	u.Expect(2, []string{`episodes have "a" in their names`}, memoryCommand, "approve", "by-hand", "a")
	u.Expect(2, []string{`there is no kind "bug"`}, memoryCommand, "--kind", "bug")
	u.Expect(0, []string{"nothing to remove"}, memoryCommand, "gc")

	u.Env["NEXUS_MARK"] = "1" // inside a sandbox, the memory is read only
	u.Expect(0, []string{"glass"}, memoryCommand)
	for _, args := range [][]string{{"approve", "glass"}, {"forget", "glass"}, {"gc"}} {
		u.Expect(2, []string{"agents may not edit the memory"}, memoryCommand, args...)
	}
	delete(u.Env, "NEXUS_MARK")

	u.Expect(0, []string{"glass is forgotten", "Commit that to share it."}, memoryCommand, "forget", "glass")
	u.Expect(0, []string{"!glass"}, memoryCommand)
	u.Expect(0, []string{"forgotten\tglass"}, memoryCommand, "--state", "forgotten")
}

func TestUnreadableEntry(t *testing.T) {
	u := clitest.NewUser(t, map[string]string{".nexus/memory/kind.md": "---\nkind: Gotcha\nstate: approved\n---\n\nWrong.\n"})
	for _, args := range [][]string{nil, {"list"}} {
		u.Expect(1, []string{`not read: .nexus/memory/kind.md:2: unknown kind "Gotcha"`, "  Write one of decision, pattern"}, memoryCommand, args...)
	}
	u.Expect(1, []string{`"file": ".nexus/memory/kind.md:2"`}, memoryCommand, "--json")
}

func TestLessons(t *testing.T) {
	u := clitest.NewUser(t, nil)
	u.Expect(2, []string{"no runs yet"}, memoryCommand, "used")
	u.RecordRun(clitest.ReadTape(t, "life1"))
	u.Expect(0, []string{"run 260101-000000-abc had no lessons when it started"}, memoryCommand, "used")
	u.Expect(0, []string{`"used": []`}, lessonsCommand, "show", "abc", "--json")
	t.Cleanup(config.ChangeDefaultsForTest(func(c *config.Config) { c.Lessons.Sample = 1 }))
	u.Expect(0, []string{"kind\tabout\tso it\tbecause\ttasks", "!episodes"}, lessonsCommand, "list")
	listed := u.Out
	if u.Expect(0, nil, memoryCommand); len(listed) == 0 || u.Out != "there are no episodes here\n\n"+listed {
		t.Errorf("%q; the lessons alone are %q", u.Out, listed)
	}
	u.Expect(0, []string{`"kind": "gates"`, "!episodes"}, lessonsCommand, "list", "gates", "--json")
	u.Expect(0, []string{`"lessons": []`, "!problems"}, memoryCommand, "--kind", "retries", "--json")
	u.Expect(2, []string{`no kind of lesson "luck"`, "Use routing, estimates, gates, touches, retries, context"}, memoryCommand, "reset", "luck")
	u.Expect(0, []string{"new runs ignore everything that ran before now"}, memoryCommand, "reset")
	u.Expect(0, []string{"there are no lessons from 1 run yet"}, memoryCommand)
	u.Env["NEXUS_LESSONS_ENABLED"] = "false"
	u.Expect(0, []string{"turned off: routing, estimates, gates, touches, retries, context"}, memoryCommand)
}

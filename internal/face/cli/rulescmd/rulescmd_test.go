package rulescmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/rulescmd"
)

func command(c *console.Console) *cobra.Command { return rulescmd.New(c, nil) }

func TestFlags(t *testing.T) {
	clitest.CheckFlags(t, rulescmd.New, map[string]*rulescmd.Options{
		"":                  {},
		"a.txt b/c":         {Paths: []string{"a.txt", "b/c"}},
		"a.txt --task Mend": {Paths: []string{"a.txt"}, Task: "Mend"},
		"--nothing":         nil,
	})
}

// TestRules lists the instructions of the repository and of the user with the reason of each.
func TestRules(t *testing.T) {
	u := clitest.NewUser(t, nil)
	u.Expect(0, []string{"there are no instructions for agents here"}, command)
	u.Write(map[string]string{
		"AGENTS.md":     "Root: be kind.\n\nSee @docs/style.md, and write to ada@example.com.\n\n```\n@docs/other.md\n```\n",
		"docs/style.md": "Style: short lines. @../AGENTS.md\n", "docs/other.md": "Other: not for this task.\n", "sub/AGENTS.md": "Sub: only text.\n",
		"elsewhere/AGENTS.md": "Other: not for this task.\n", ".nexus/rules/text.md": "---\nglobs: **/*.txt\n---\nText: end with a newline.\n",
		".claude/skills/release-notes/SKILL.md": "---\nname: release-notes\ndescription: How to write what changed: for users\n---\nSkill: list what changed.\n",
		".claude/commands/fix.md":               "Fix it gently: $ARGUMENTS\n",
	})
	own := filepath.Join(u.Home, ".config/nexus/AGENTS.md")
	if err := os.MkdirAll(filepath.Dir(own), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(own, []byte("Mine: be brief.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	u.ExpectMatch(0, []string{
		`/nexus/AGENTS.md\talways\t`, `^AGENTS.md\talways\t`, `^docs/style.md\timport AGENTS.md\t`, "!sub/AGENTS.md", "!docs/other.md",
		`^told once\tAGENTS.md\tdocs/style.md imports it, which it imports itself$`,
		`^skill\trelease-notes\t.claude/skills/release-notes/SKILL.md\tnot trusted`, `^command\tfix\t`,
	}, command)
	u.ExpectMatch(0, []string{
		`"paths": \[\s+"sub/a.txt"`, `"file": "sub/AGENTS.md",\s+"why": "directory"`, `"file": ".nexus/rules/text.md",\s+"why": "glob",\s+"by": "\*\*/\*.txt"`,
	}, command, "sub/a.txt", "--json")
	u.ExpectMatch(0, []string{`^sub/AGENTS.md\tdirectory sub\t`}, command, "-C", filepath.Join(u.Dir, "sub"), "a.txt")
	u.Expect(2, []string{"lies outside of the repository"}, command, "../elsewhere")

	// What is too large, leads out, or is hidden is left out and listed.
	u.Write(map[string]string{
		"CLAUDE.md": strings.Repeat("A rule that is one of many.\n", 50_000), "docs/.env": "KEY=value\n", ".nexus/rules/wants.md": "Read @../../docs/.env and @/etc/passwd.\n",
	})
	if err := os.Symlink(own, filepath.Join(u.Dir, "sub/CLAUDE.md")); err != nil {
		t.Fatal(err)
	}
	u.ExpectMatch(0, []string{
		`^refused\tCLAUDE.md\tit has more than 1048576 bytes$`, `^refused\tsub/CLAUDE.md\ta link leads out of the tree$`,
		`^refused\tdocs/.env\tits name suggests secrets$`, `^refused\t/etc/passwd\t`,
	}, command, "sub/b.txt")
	u.Write(map[string]string{"CLAUDE.md": strings.Repeat("A rule that is one of many.\n", 2_000), "nexus.toml": "[gates\n"})
	u.ExpectMatch(0, []string{`^CLAUDE.md\talways\t.*\tcut, of \d\d,\d\d\d$`, "nexus.toml is left out"}, command)
}

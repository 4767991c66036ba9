package generatecmd_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/generatecmd"
)

func command(c *console.Console) *cobra.Command { return generatecmd.New(c, nil) }

func TestFlags(t *testing.T) {
	o, err := clitest.ParseOptions(t, generatecmd.New, "claude", "cursor", "--check", "--all")
	if err != nil || !slices.Equal(o.Targets, []string{"claude", "cursor"}) || !o.Check || !o.All {
		t.Errorf("%+v, %v", o, err)
	}
}

const (
	head = "<!-- nexus:begin -->\n<!-- Written by nexus generate from AGENTS.md and .nexus/rules. Edit those. -->\n\n"
	full = head + "# Rules\n\nBe kind. See @docs/style.md.\n<!-- end -->\n\nShort lines.\n\nFor files like **/*.go:\n\nFormat with gofumpt.\n<!-- nexus:end -->\n"
	open = "<!-- nexus:begin -->\nNo end.\n"
)

func newUser(t *testing.T) *clitest.User {
	t.Helper()
	return clitest.NewUser(t, map[string]string{
		"AGENTS.md": "# Rules\n\nBe kind. See @docs/style.md.\n<!-- nexus:end -->\n", "docs/style.md": "Short lines.\n",
		".nexus/rules/go.md": "---\nglobs: \"**/*.go\"\n---\nFormat with gofumpt.\n",
	})
}

// TestGenerate writes the files of other tools from one source, and shows what is stale.
func TestGenerate(t *testing.T) {
	empty := clitest.NewUser(t, nil)
	empty.Expect(2, []string{"AGENTS.md and .nexus/rules are missing or empty"}, command, "claude")
	u := newUser(t)
	u.Expect(2, []string{"no instruction file was generated here before", "claude, gemini, cursor, copilot"}, command)
	u.Expect(2, []string{`there is no target "nothing"`}, command, "nothing")
	u.Expect(0, []string{"nothing is generated here"}, command, "--check")
	u.ExpectMatch(0, []string{"^written CLAUDE.md$"}, command, "claude", "cursor", "copilot")
	for file, want := range map[string]string{
		"CLAUDE.md":                       head + "@AGENTS.md\n\nFor files like **/*.go:\n\n@.nexus/rules/go.md\n<!-- nexus:end -->\n",
		".cursor/rules/nexus.mdc":         "---\ndescription: Rules of the repository\nalwaysApply: true\n---\n" + full,
		".github/copilot-instructions.md": full,
	} {
		if got := u.Read(file); got != want {
			t.Errorf("%s is\n%s", file, got)
		}
	}
	u.ExpectMatch(0, []string{"^current CLAUDE.md$", "!gemini"}, command, "--check")
	u.ExpectMatch(0, []string{"^current CLAUDE.md$"}, command)

	u.Write(map[string]string{"AGENTS.md": u.Read("AGENTS.md") + "Be brief.\n"})
	u.ExpectMatch(1, []string{"^stale .github/copilot-instructions.md$", `^  \+Be brief.$`, "^current CLAUDE.md$"}, command, "--check")
	u.Expect(1, []string{`"state": "stale"`}, command, "--check", "--json")
	if u.Read(".github/copilot-instructions.md") != full {
		t.Error("--check wrote a file")
	}
	u.Write(map[string]string{".github/copilot-instructions.md": "# By hand\n" + full + "More by hand\n"})
	u.Expect(0, nil, command)
	if got := u.Read(".github/copilot-instructions.md"); !strings.HasPrefix(got, "# By hand\n") || !strings.HasSuffix(got, "More by hand\n") || !strings.Contains(got, "Be brief.") {
		t.Errorf("the text around the block is gone:\n%s", got)
	}
}

// TestGenerateLeavesFilesAlone holds that files without a whole block, links, and what is no file
// stay as they are.
func TestGenerateLeavesFilesAlone(t *testing.T) {
	u := newUser(t)
	u.Write(map[string]string{"GEMINI.md": "Written by hand.\n", "CRUSH.md": open, ".goosehints/x": ""})
	elsewhere := t.TempDir()
	for link, to := range map[string]string{"WARP.md": "AGENTS.md", ".clinerules": elsewhere, ".nexus/rules/out.md": filepath.Join(elsewhere, "out.md")} {
		if err := os.Symlink(to, filepath.Join(u.Dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(elsewhere, "out.md"), []byte("Out.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	u.Expect(2, []string{".nexus/rules/out.md: a link leads out of the tree"}, command, "claude")
	if err := os.Remove(filepath.Join(u.Dir, ".nexus/rules/out.md")); err != nil {
		t.Fatal(err)
	}
	u.ExpectMatch(1, []string{
		"^left alone GEMINI.md: it was written by hand; put the lines <!-- nexus:begin --> and <!-- nexus:end -->", "^left alone CRUSH.md: it does not have one",
		"^left alone WARP.md: WARP.md is a link$", "^left alone .goosehints: it is not a regular file$", "^left alone .clinerules/nexus.md: .clinerules is a link$",
	}, command, "gemini", "crush", "warp", "goose", "cline")
	if entries, err := os.ReadDir(elsewhere); err != nil || len(entries) != 1 || u.Read("CRUSH.md") != open || u.Read("GEMINI.md") != "Written by hand.\n" {
		t.Errorf("written: %v, %v", entries, err)
	}
	u.Write(map[string]string{"AGENTS.md": strings.Repeat("One of many rules.\n", 100_000)})
	u.Expect(2, []string{"AGENTS.md: it has more than 1048576 bytes"}, command, "claude")
	u.Write(map[string]string{"AGENTS.md": strings.Repeat("One of many rules.\n", 300)})
	u.ExpectMatch(0, []string{`copilot-instructions.md has 3\d\d lines`}, command, "copilot")
}

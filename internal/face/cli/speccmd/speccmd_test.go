package speccmd_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/decide/spec"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/speccmd"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
)

func TestFlags(t *testing.T) {
	clitest.CheckFlags(t, speccmd.New, map[string]*speccmd.Options{
		"":                                  {},
		"let people log in":                 {Goal: "let people log in"},
		"-f idea.txt --depth deep":          {File: "idea.txt", Depth: spec.Deep},
		"x --research --name login --force": {Goal: "x", Research: true, Name: "login", Force: true},
		"--resume abc":                      {Resume: true, Goal: "abc"},
		"--roadmap":                         {Roadmap: true},
		"--roadmap first version --tag":     {Roadmap: true, Milestone: "first version", Tag: true},
		"--depth deeper x":                  nil,
		"-f idea.txt x":                     nil,
		"--resume --depth deep":             nil,
		"--resume -f idea.txt":              nil,
		"--resume --research":               nil,
		"--tag":                             nil,
		"--roadmap --tag":                   nil,
		"--roadmap --force":                 nil,
		"--roadmap --name x":                nil,
	})
}

func specCommand(c *console.Console) *cobra.Command { return speccmd.New(c, nil) }

func TestWrongGoals(t *testing.T) {
	u := clitest.NewUser(t, map[string]string{".nexus/specs/login.md": "# Login\n"})
	u.Expect(2, []string{"the goal is empty"}, specCommand)
	u.Expect(2, []string{"Name a file that can be read."}, specCommand, "-f", "none.txt")
	u.Expect(0, []string{"no spec is needed: --depth quick"}, specCommand, "Say hello", "--depth", "quick")
	u.Expect(0, []string{`"depth": "quick"`}, specCommand, "Say hello", "--json")
	u.Expect(2, []string{"../x", "Use letters, digits"}, specCommand, "Say hello", "--depth", "deep", "--name", "../x")
	u.Expect(2, []string{".nexus/specs/login.md exists", "--force"}, specCommand, "Say hello", "--depth", "deep", "--name", "login")
	u.Expect(2, []string{"no run that writes a spec"}, specCommand, "--resume")
}

const road = `# Roadmap

## First

Tag: v1

- [ ] AC-1: It is there (check: ` + "`test -e there.txt`" + `)
- [ ] AC-2: It flies (check: ` + "`fly`" + `)
- [ ] AC-3: It reads well

## Second

- goal: Write c
`

func TestRoadmap(t *testing.T) {
	u := clitest.NewUser(t, nil)
	u.Expect(0, []string{"there are no milestones yet: write .nexus/roadmap.md"}, specCommand, "--roadmap")
	u.Expect(2, []string{"There is none yet"}, specCommand, "--roadmap", "first")
	write := func(text string) { gittest.WriteFiles(t, u.Dir, map[string]string{".nexus/roadmap.md": text}) }
	write(road)
	u.Expect(0, []string{"1\tfirst\topen\t0/3\tv1\tFirst", "2\tsecond\topen\t0/1\t", "nexus spec --roadmap first runs"}, specCommand, "--roadmap")
	u.Expect(0, []string{`"state": "open"`, `"branch": "master"`, `"next": "nexus run --milestone second"`}, specCommand, "--roadmap", "--json")
	u.Expect(2, []string{"Did you mean first?"}, specCommand, "--roadmap", "frst")
	u.Expect(2, []string{"no milestone \"3\""}, specCommand, "--roadmap", "3")
	u.Expect(2, []string{"milestone second names no tag", `"Tag: v0.1.0"`}, specCommand, "--roadmap", "second", "--tag")

	// Checks run on what is committed, not on what lies around. What is neither a gate nor a command is said.
	gittest.WriteFiles(t, u.Dir, map[string]string{"there.txt": "x\n"})
	u.Expect(3, []string{
		"AC-1: its check fails", "AC-2: not-run: \"fly\" is not a gate", "AC-3: no command shows it", "write [x] in front of it", "3 parts missing",
	}, specCommand, "--roadmap", "first")
	gittest.RunGit(t, u.Dir, "add", "there.txt")
	gittest.RunGit(t, u.Dir, "commit", "-q", "-m", "Add it")
	write(strings.Replace(strings.Replace(road, "- [ ] AC-3", "- [x] AC-3", 1), "`fly`", "`test -e a.txt`", 1))
	u.Expect(0, []string{"AC-3\treached\tIt reads well\tmarked as done", "nothing is missing", "--tag"}, specCommand, "--roadmap", "1")
	u.Expect(0, []string{"1\tfirst\tunchecked\t1/3"}, specCommand, "--roadmap")

	u.Env["NEXUS_MARK"] = "1" // inside a sandbox
	u.Expect(2, []string{"agents may not tag a milestone"}, specCommand, "--roadmap", "first", "--tag")
	delete(u.Env, "NEXUS_MARK")
	u.Expect(0, []string{"reached, with the tag v1 at", "git push origin v1"}, specCommand, "--roadmap", "first", "--tag")
	tag := gittest.RunGit(t, u.Dir, "rev-parse", "v1")
	u.Expect(0, []string{"reached, with the tag v1 at", "!push"}, specCommand, "--roadmap", "first", "--tag")
	u.Expect(0, []string{"1\tfirst\ttagged\t\tv1", "2\tsecond\topen", "nexus spec --roadmap second"}, specCommand, "--roadmap")
	u.Expect(3, []string{"2. second", "goal 1: no run has planned it"}, specCommand, "--roadmap", "next")

	// The tag is of the text that it was made for, and is never moved.
	write(strings.Replace(road, "It reads well", "It reads very well", 1))
	u.Expect(3, []string{"there is a tag v1 already", "write another tag"}, specCommand, "--roadmap", "first", "--tag")
	if now := gittest.RunGit(t, u.Dir, "rev-parse", "v1"); now != tag {
		t.Errorf("the tag was %s and is %s", tag, now)
	}

	// A roadmap of an earlier release names the commit of each tag.
	closed := "# Roadmap\n\n# Closed\n\n## Zero\n\nClosed: 2026-10-01 v1 COMMIT\n\nTag: v1\n"
	write(strings.Replace(closed, "COMMIT", strings.TrimSpace(gittest.RunGit(t, u.Dir, "rev-parse", "HEAD")), 1))
	u.Expect(0, []string{"1\tzero\ttagged\t\tv1"}, specCommand, "--roadmap")
	write(strings.Replace(closed, "COMMIT", strings.Repeat("a", 40), 1))
	u.Expect(3, []string{"the milestone was closed at aaaaaaaaaa"}, specCommand, "--roadmap", "zero")
	gittest.RunGit(t, u.Dir, "tag", "-d", "v1")
	u.Expect(3, []string{"the tag v1 is not in this repository", "git fetch --tags"}, specCommand, "--roadmap", "zero")
}

func TestUnreadableRoadmap(t *testing.T) {
	const wrong = "# Roadmap\n\n## First version\n\nTags: v0.1.0\n\n- it works\n\n## first  version\n"
	u := clitest.NewUser(t, map[string]string{".nexus/roadmap.md": wrong})
	said := []string{
		"the roadmap .nexus/roadmap.md cannot be used", `line 5: "Tags" is not known here; write Tag`, `line 7: "- it works" is not a part of a milestone`,
		`line 9: "first version" has the name first-version`, "docs/plan-and-approve.md shows a roadmap",
	}
	u.Expect(2, said, specCommand, "--roadmap")
	u.Expect(2, said, specCommand, "--roadmap", "first-version", "--tag")
	if text, err := os.ReadFile(filepath.Join(u.Dir, ".nexus", "roadmap.md")); err != nil || string(text) != wrong {
		t.Errorf("%s, %v", text, err)
	}
	u = clitest.NewUser(t, map[string]string{
		".nexus/roadmap.md": "# R\n## One\n- spec: notes\n## Two\n- spec: nots\n", ".nexus/specs/notes.md": "# Notes\n\n## Requirements\n- it works\n",
	})
	u.Expect(2, []string{"the spec .nexus/specs/notes.md cannot be used", `line 4: "it works" has no id`}, specCommand, "--roadmap", "one")
	gittest.WriteFiles(t, u.Dir, map[string]string{".nexus/specs/notes.md": "# Notes\n\n## Requirements\n- REQ-1: it works\n"})
	u.Expect(3, []string{"nots: the spec is not written yet; is it notes?", "nexus spec GOAL --name nots"}, specCommand, "--roadmap", "two")
	gittest.RunGit(t, u.Dir, "checkout", "-q", "--detach")
	u.Expect(2, []string{"Name the branch that milestones are compared with: --target"}, specCommand, "--roadmap")
	u.Expect(0, []string{"one"}, specCommand, "--roadmap", "--target", "master")
	u.Expect(2, []string{"there is no branch nowhere"}, specCommand, "--roadmap", "--target", "nowhere")
}

package mapcmd_test

import (
	"fmt"
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/mapcmd"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
)

func command(c *console.Console) *cobra.Command { return mapcmd.New(c, nil) }

func TestFlags(t *testing.T) {
	o, err := clitest.ParseOptions(t, mapcmd.New, "fix", "the", "greeting", "--tokens", "500", "--commit", "HEAD~1")
	if err != nil || o.Task != "fix the greeting" || o.Tokens != 500 || o.Commit != "HEAD~1" {
		t.Errorf("%+v, %v", o, err)
	}
	if o, err = clitest.ParseOptions(t, mapcmd.New, "--tests-of", "a.go"); err != nil || o.TestsOf != "a.go" || o.Tokens != 2000 || o.Commit != "HEAD" {
		t.Errorf("%+v, %v", o, err)
	}
	for _, args := range [][]string{
		{"--query", "A", "--callers", "A"}, {"--with", "a", "--tests-of", "a"}, {"--packages", "--commit", "HEAD"}, {"--tokens", "-1"}, {"--tokens", "many"}, {"--commit", ""},
	} {
		if _, err := clitest.ParseOptions(t, mapcmd.New, args...); err == nil {
			t.Errorf("%q: no error", args)
		}
	}
}

func newUser(t *testing.T) *clitest.User {
	t.Helper()
	return clitest.NewUser(t, map[string]string{
		"go.mod":              "module example.org/hello\n",
		"greet/greet.go":      "package greet\n\n// Greet greets.\nfunc Greet(name string) string { return whisper(name) }\n\nfunc whisper(name string) string { return name }\n",
		"greet/greet_test.go": "package greet\n\nfunc TestGreet(t *testing.T) { whisper(\"x\") }\n",
		"cmd/hello/main.go":   "package main\n\nimport \"example.org/hello/greet\"\n\nfunc main() {\n\tprintln(greet.Greet(\"you\"))\n}\n",
	})
}

// TestAnswers asks where a name is declared and used, what depends on a file, and for its tests.
func TestAnswers(t *testing.T) {
	u := newUser(t)
	u.ExpectMatch(0, []string{"^Commit [0-9a-f]{12}, [0-9]+ files, 3 Go", "^greet/greet.go", "  4 func Greet"}, command, "greet", "--tokens", "500")
	u.ExpectMatch(0, []string{`"commit": "[0-9a-f]{40}"`, `"map": "Commit `}, command, "--json", "greet")
	for args, want := range map[[2]string]string{
		{"--query", "greet.Greet"}:          "where\twhat\tline\ngreet/greet.go:4\tdeclared\tfunc Greet(name string) string\ncmd/hello/main.go:6\tused in main\tprintln(greet.Greet(\"you\"))\ngreet/greet.go:3\tused\t// Greet greets.\n",
		{"--dependents", "greet/greet.go"}:  "cmd/hello/main.go\ngreet/greet_test.go\n",
		{"--tests-of", "greet/greet.go"}:    "greet/greet_test.go\n",
		{"--tests-of", "cmd/hello/main.go"}: "",
	} {
		if code := u.Run(command, args[:]...); code != 0 || u.Out != want {
			t.Errorf("%q: exit code %d, %q, %s", args, code, u.Out, u.Err)
		}
	}
	u.Expect(0, []string{"!declared", "cmd/hello/main.go:6\tused in main"}, command, "--callers", "Greet")
	u.Expect(0, []string{`"declared": [`, `"text": "func whisper`}, command, "--json", "--query", "whisper")

	u.ExpectMatch(2, []string{`nothing of commit [0-9a-f]{12} names "Nobody"`}, command, "--query", "Nobody")
	u.Expect(2, []string{"git ls-files"}, command, "--tests-of", "nobody.go")
	u.Expect(2, []string{`there is no commit "nobody"`}, command, "--commit", "nobody")
	u.Expect(2, []string{"both words and a question"}, command, "greet", "--query", "Greet")
	u.Expect(2, []string{"both words and --packages"}, command, "greet", "--packages")
	u.Dir = t.TempDir()
	u.Expect(2, []string{"not a git repository"}, command)
}

// TestHistory names what changed together in three commits or more, and no hidden file.
func TestHistory(t *testing.T) {
	u := newUser(t)
	u.Write(map[string]string{".nexusignore": "hidden/\n"})
	for n := range 3 {
		text := fmt.Sprintf("package greet\n\n// Greet %d greets.\nfunc Greet() {}\n", n)
		u.Write(map[string]string{"greet/greet.go": text, "docs/greet.md": text, "hidden/x": text})
		gittest.RunGit(t, u.Dir, "add", "-A")
		gittest.RunGit(t, u.Dir, "commit", "-qm", fmt.Sprintf("Greet %d", n+1))
	}
	u.ExpectMatch(0, []string{
		`^docs/greet.md: changed in 3 of the 4 commits that changed greet/greet.go`, `^[0-9-]+ [0-9a-f]{10} Greet 3 \(greet/greet.go\)$`, "!hidden",
	}, command, "--with", "greet/greet.go")
	u.Expect(0, []string{`"together": []`, `"looked": 4`}, command, "--with", "cmd/hello/main.go", "--json")
	u.Expect(2, []string{"is not a file of commit"}, command, "--with", "hidden/x")
}

// TestPackages lists the packages of the working tree and what each needs.
func TestPackages(t *testing.T) {
	u := clitest.NewUser(t, nil)
	u.Expect(0, []string{"no directory is a package"}, command, "--packages")
	u.Write(map[string]string{
		"package.json": `{"name": "root", "private": true, "workspaces": ["libs/*"]}`, "libs/a/package.json": `{"name": "@acme/a"}`,
		"libs/b/package.json": `{"name": "@acme/b", "dependencies": {"@acme/a": "*"}}`,
	})
	const want = "package\tdirectory\tkind\tneeds\tneeded by\nroot\t.\tnode\t\t\n@acme/a\tlibs/a\tnode\t\tlibs/b\n@acme/b\tlibs/b\tnode\tlibs/a\t\n"
	if code := u.Run(command, "--packages"); code != 0 || u.Out != want {
		t.Errorf("exit code %d, %q, %s", code, u.Out, u.Err)
	}
	u.Expect(0, []string{`"packages": [`, `"problems": []`}, command, "--packages", "--json")
}

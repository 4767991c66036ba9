package policycmd_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/policycmd"
)

func TestFlags(t *testing.T) {
	clitest.CheckFlags(t, policycmd.NewCheck, map[string]*policycmd.CheckOptions{
		"-- git push":                       {Command: []string{"git", "push"}, Role: "coder"},
		"--role tester --dir tree -- ls -l": {Command: []string{"ls", "-l"}, Role: "tester", Dir: "tree"},
		"--stdin":                           {Stdin: true, Role: "coder"},
		"":                                  nil,
		"--stdin -- ls":                     nil,
		"--dir":                             nil,
		"--json -- ls":                      nil,
	})
}

// TestCheck asks about commands with the built-in policy.
func TestCheck(t *testing.T) {
	u := clitest.NewUser(t, nil)
	u.Env["NEXUS_SANDBOX"] = "auto"
	check := func(want string, args ...string) {
		t.Helper()
		u.Expect(0, []string{want}, policycmd.New, append([]string{"check"}, args...)...)
	}
	check(`"decision":"allow","rule":"sandbox","reason":"the sandbox confines it"`, "--", "frobnicate")
	check(`"decision":"ask","rule":"deps.new"`, "--", "npm", "install", "left-pad")
	u.In = "{\"cmd\": \"go test ./... | tail -5\"}\n{\"cmd\": \"git push\"}\n"
	const want = `{"cmd":"go test ./... | tail -5","decision":"allow","rule":"sandbox","reason":"the sandbox confines it"}` + "\n" +
		`{"cmd":"git push","decision":"deny","rule":"git.shared","reason":"it changes what others share","part":"git push","way":"leave it: what you change lands when you call ` + "`finish`, and you do not have to push\"}\n"
	if code := u.Run(policycmd.New, "check", "--stdin"); code != 0 || u.Out != want {
		t.Errorf("exit code %d, %s%s", code, u.Out, u.Err)
	}
	u.In = "git push\n"
	u.Expect(2, []string{"line 1 is not a JSON object with cmd"}, policycmd.New, "check", "--stdin")
	u.Expect(2, []string{`there is no role "boss"`}, policycmd.New, "check", "--role", "boss", "--", "ls")

	u.Env["NEXUS_SANDBOX"] = "off" // only what reads, builds and tests runs without a question
	check(`"decision":"ask","rule":"open.unlisted"`, "--", "frobnicate")
	check(`"decision":"allow","rule":"open.known"`, "--", "go", "test", "./...")
	check(`"decision":"deny","rule":"git.shared"`, "--", "git", "push")
}

// TestCheckWithRules adds rules of the machine, the user and the project: each may refuse more, and
// a repository may not open anything.
func TestCheckWithRules(t *testing.T) {
	u := clitest.NewUser(t, map[string]string{"nexus.toml": "[policy]\ndeny = [\"npm run release\"]\n"})
	u.Env["NEXUS_SANDBOX"], u.Env["XDG_CONFIG_DIRS"] = "auto", filepath.Join(u.Home, "machine")
	for file, text := range map[string]string{
		"machine/nexus/config.toml": "[policy]\ndeny = [\"terraform\"]\n",
		".config/nexus/config.toml": "[policy]\nallow = [\"npm install left-pad\"]\ndeny = [\"make deploy\"]\n[roles.tester]\nask = [\"go generate\"]\n",
	} {
		path := filepath.Join(u.Home, file)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		want string
		args []string
	}{
		{`"decision":"allow"`, []string{"--", "npm", "install", "left-pad"}},
		{`"decision":"deny","rule":"own.deny","reason":"the rules deny make deploy"`, []string{"--", "sh", "-c", "make -j 4 deploy"}},
		{"the rules deny terraform", []string{"--", "/usr/bin/terraform", "apply"}},
		{`"decision":"ask","rule":"own.unseen"`, []string{"--", "npm run $WHAT"}},
		{`"decision":"allow"`, []string{"--", "go", "generate", "./..."}},
		{`"decision":"ask","rule":"own.ask"`, []string{"--role", "tester", "--", "go", "generate", "./..."}},
	} {
		u.Expect(0, []string{c.want}, policycmd.New, append([]string{"check"}, c.args...)...)
	}
	u.Write(map[string]string{"nexus.toml": "[policy]\nallow = [\"frobnicate\"]\n"})
	u.ExpectMatch(2, []string{"nexus.toml:2: the project.s file may not set policy.allow"}, policycmd.New, "check", "--", "ls")
	u.Write(map[string]string{"nexus.toml": "[policy]\ndeny = [\"a; b\"]\n"})
	u.Expect(2, []string{`"a; b" is not the plain words that a command starts with`}, policycmd.New, "check", "--", "ls")
}

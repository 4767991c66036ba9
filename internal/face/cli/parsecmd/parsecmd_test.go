package parsecmd_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/clitest"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/console"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/parsecmd"
)

func command(c *console.Console) *cobra.Command { return parsecmd.New(c, nil) }

func TestFlags(t *testing.T) {
	clitest.CheckFlags(t, parsecmd.New, map[string]*parsecmd.Options{
		"":                                   {File: "-", Shape: "json"},
		"-":                                  {File: "-", Shape: "json"},
		"auto out.txt":                       {File: "out.txt", Shape: "json"},
		"pytest out.txt --exit 0 --tests":    {Format: "pytest", File: "out.txt", ExitKnown: true, Tests: true, Shape: "json"},
		"tap --exit -1 --root r --stderr e":  {Format: "tap", File: "-", Exit: -1, ExitKnown: true, Root: "r", Stderr: "e", Shape: "json"},
		"--list --format text":               {File: "-", List: true, Shape: "text"},
		"--command npx --format text --json": {File: "-", Command: "npx", Shape: "json"},
		"nosuchformat":                       nil,
		"tap a b":                            nil,
		"tap --format html":                  nil,
		"tap --exit -2":                      nil,
		"tap --stderr=":                      nil,
	})
}

// TestParse reads what a tool printed.
func TestParse(t *testing.T) {
	t.Parallel()
	u := clitest.NewUser(t, nil)
	u.Write(map[string]string{"go.txt": "# m\n./a.go:3:2: undefined: x\n", "tap.txt": "1..2\nok 1 - a\nnot ok 2 - b\n", "err.txt": "./b.go:4:1: undefined: y\n"})
	path := func(name string) string { return filepath.Join(u.Dir, name) }
	for _, c := range []struct {
		code int
		says []string
		args []string
	}{
		{0, []string{`"file": "a.go"`, `"line": 3`, `"state": "fail"`, `"severity": "major"`}, []string{"go-build", path("go.txt"), "--exit", "1"}},
		{0, []string{`"format": "tap"`, `"passed": 1`, `"failed": 1`, `"counted": true`, `"state": "fail"`}, []string{"auto", path("tap.txt")}},
		{0, []string{`"format": "tap"`}, []string{path("tap.txt")}},
		{2, []string{`there is no format "nothing"`}, []string{"nothing", path("tap.txt")}},
		{2, []string{`there is no format`}, []string{path("gone.txt")}},
		{2, []string{"read the output"}, []string{"tap", path("gone.txt")}},
		{2, []string{"unknown --format"}, []string{"tap", path("tap.txt"), "--format", "xml"}},
		{0, []string{`"file": "b.go"`}, []string{"go-build", path("go.txt"), "--exit", "1", "--stderr", path("err.txt")}},
		{0, []string{"tap", "whose output"}, []string{"--list"}},
		{0, []string{"::error"}, []string{"tap", path("tap.txt"), "--format", "github"}},
		{0, []string{`"state": "pass"`}, []string{"exit", "-", "--exit", "0"}},
		{0, []string{`"state": "fail"`}, []string{"exit", "-", "--exit", "1"}},
		{0, []string{`"state": "unverifiable"`}, []string{"tap", "-", "--exit", "0", "--tests"}},
	} {
		u.Expect(c.code, c.says, command, c.args...)
	}
}

// TestParseTools reads the output of tools by name, by command or by its text. Zero tests, tests
// that vanished and words that nobody knows are no pass.
func TestParseTools(t *testing.T) {
	u := clitest.NewUser(t, nil)
	for _, c := range []struct {
		want []string
		in   string // file on standard input
		args []string
	}{
		{[]string{"^pytest\t"}, "", []string{"--list"}},
		{[]string{`"format": "pytest"`, `"state": "fail"`, `"file": "test_calc.py"`, `"line": 9`, `"expected": "3"`, `"passed": 1`}, "pytest.txt", nil},
		{[]string{`  test_calc.py:9: error: test_calc.py::test_add: assert 2 == 3 \[test\]`}, "", []string{"pytest.txt", "--format", "text"}},
		{[]string{"^::error file=sums.c,line=2,col=15,title=gcc::expected", "^::warning file=sums.c,line=5,col=10,title=gcc%3A -Wimplicit"}, "", []string{"gcc", "cc.txt", "--exit", "1", "--format", "github"}},
		{[]string{`"ruleId": "clippy::needless_return"`, `"level": "warning"`, `"startLine": 8`}, "", []string{"--command", "cargo clippy", "cargo.txt", "--exit", "0", "--format", "sarif"}},
		{[]string{`<testcase classname="pytest" name="test_calc.py::test_add" file="test_calc.py" line="9">`}, "", []string{"pytest.txt", "--format", "junit"}},
		{[]string{`"file": "src/add.ts"`, `"code": "TS2322"`}, "", []string{"--root", "/src", "tsc", "tsc.txt"}},
		{[]string{`"state": "not-run"`}, "", []string{"pytest", "none.txt", "--exit", "5"}},
		{[]string{`"state": "fail"`, "2 of 4 tests did not report"}, "", []string{"tap", "vanished.txt", "--exit", "0"}},
		{[]string{`"state": "unverifiable"`, `"counted": false`}, "empty.txt", []string{"vitest", "--exit", "0"}},
		{[]string{`"state": "unverifiable"`}, "chatter.txt", nil},
		{[]string{`"state": "environmental"`, "npm install, with --save-dev vitest"}, "", []string{"--command", "npx vitest run", "missing.txt", "--exit", "127"}},
	} {
		u.In = ""
		if c.in != "" {
			data, err := os.ReadFile(filepath.Join("testdata", c.in))
			if err != nil {
				t.Fatal(err)
			}
			u.In = string(data)
		}
		args := append([]string(nil), c.args...)
		for i, arg := range args {
			if filepath.Ext(arg) == ".txt" {
				args[i] = filepath.Join("testdata", arg)
			}
		}
		u.ExpectMatch(0, c.want, command, args...)
	}
}

package outputparser_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
)

// TestReportsByContent are read whatever command printed them, with what else it
// printed around them.
func TestReportsByContent(t *testing.T) {
	reports := map[string]struct{ green, red string }{
		"junit": {
			`<testsuites><testsuite name="a" tests="1"><testcase classname="a" name="one"/></testsuite></testsuites>`,
			`<testsuites><testsuite name="a" tests="2"><testcase classname="a" name="one"/><testcase classname="a" name="two"><failure message="boom"/></testcase></testsuite></testsuites>`,
		},
		"tap": {"TAP version 13\nok 1 - one\n1..1", "TAP version 13\nok 1 - one\nnot ok 2 - two\n1..2"},
		"ctrf": {
			`{"results":{"summary":{"tests":1,"passed":1},"tests":[{"name":"one","status":"passed"}]}}`,
			`{"results":{"summary":{"tests":2,"passed":1},"tests":[{"name":"one","status":"passed"},{"name":"two","status":"failed"}]}}`,
		},
	}
	noise := []string{"", "\n> app@1.0.0 test\n> run it <dir>\n\n", "rendered <div class=\"a\"> & <b>x</b>, 1 <2>\n"}
	for _, command := range []string{"", "make test", "sh run.sh", "npm test", "pytest", "./run-all --fast"} {
		for name, r := range reports {
			for _, before := range noise {
				in := outputparser.ToolOutput{Format: outputparser.Exit, Command: command, Tests: true, Stdout: []byte(before + r.green + "\ndone\n"), Root: "/src"}
				if got := stack.ReadOutput(in); got.State != nexus.Pass || got.Counts.Passed != 1 {
					t.Errorf("%s by %q after %q: %s", name, command, before, tell(got))
				}
				for _, exit := range []int{0, 1} {
					in.Stdout, in.Exit = []byte(before+r.red+"\ndone\n"), exit
					if got := stack.ReadOutput(in); got.State != nexus.Fail || got.Counts.Failed != 1 {
						t.Errorf("%s by %q after %q, exit code %d: %s", name, command, before, exit, tell(got))
					}
				}
			}
		}
	}
}

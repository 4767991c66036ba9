package outputparser_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
)

// TestRunnerDecidesOverWhatItsTestsPrint holds that a runner which says that all
// is well, and exits with code 0, is believed over text like a failure that one
// of its tests prints; and that the same text counts where the runner says it.
func TestRunnerDecidesOverWhatItsTestsPrint(t *testing.T) {
	const (
		mavenHead  = "[INFO] --- maven-surefire-plugin:3.2.5:test (default-test) @ a ---\n[INFO] Running a.ATest\n"
		mavenTalk  = "[ERROR] a.ATest.x  Time elapsed: 0.01 s  <<< FAILURE!\njava.lang.AssertionError: no\n[ERROR] src/A.java:[3,5] error: no\n"
		mavenClass = "[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 s -- in a.ATest\n"
		mavenSum   = "[INFO] Results:\n[INFO]\n[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0\n[INFO]\n"
		gradleTalk = "> Task :test\n\nOther > breaks() FAILED\n    java.lang.AssertionError at OtherTest.java:9\n\n"
	)
	for _, c := range []struct {
		format, text string
		state        nexus.GateState
	}{
		{"maven-test", mavenHead + mavenTalk + mavenClass + mavenSum + "[INFO] BUILD SUCCESS\n", nexus.Pass},
		{"maven-test", mavenHead + mavenTalk + "[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0, Time elapsed: 0.1 s <<< FAILURE! -- in a.ATest\n" +
			"[INFO] Results:\n[INFO]\n[ERROR] Tests run: 2, Failures: 1, Errors: 0, Skipped: 0\n[INFO] BUILD SUCCESS\n", nexus.Fail},
		{"gradle-test", gradleTalk + "A > adds() PASSED\n\nBUILD SUCCESSFUL in 1s\n", nexus.Fail}, // only a line that a test indents is its own
		{"gradle-test", "> Task :test\n\nA > adds() STANDARD_OUT\n    Other > breaks() FAILED\nsrc/A.java:3: error: no\n\nA > adds() PASSED\n\nBUILD SUCCESSFUL in 1s\n", nexus.Pass},
		{"gradle-test", gradleTalk + "2 tests completed, 1 failed\nThere were failing tests. See the report at: x\n\nBUILD SUCCESSFUL in 1s\n", nexus.Fail},
		{"ctest", "Test project /src\n    Start 1: a\n1/1 Test #1: a ................   Passed    0.01 sec\na.c:3:5: error: no\n\n100% tests passed, 0 tests failed out of 1\n", nexus.Pass},
		{"ctest", "Test project /src\n    Start 1: a\n1/1 Test #1: a ................***Failed    0.01 sec\n\n0% tests passed, 1 tests failed out of 1\n", nexus.Fail},
		{"unittest", "test_a (t.T.test_a) ... ok\ntest_b (t.T.test_b) ... expected failure\n\n----------\nRan 2 tests in 0.001s\n\nOK (expected failures=1)\n", nexus.Pass},
	} {
		r := stack.ReadOutput(outputparser.ToolOutput{Format: c.format, Stdout: []byte(c.text), Root: "/src"})
		if r.State != c.state {
			t.Errorf("%s says %s:\n%s", tell(r), c.state, c.text)
		}
	}
}

// TestModulesThatWereNotDownloaded holds that the machine is to blame where the
// go command has not what go.mod and go.sum name, and the code where it imports
// what they do not name.
func TestModulesThatWereNotDownloaded(t *testing.T) {
	for text, want := range map[string]nexus.GateState{
		"a.go:3:8: module lookup disabled by GOPROXY=off\n":                                                                       nexus.Environmental,
		"a.go:3:8: github.com/a/b@v0.9.1: Get \"https://example.org/b/@v/v0.9.1.zip\": dial tcp 127.0.0.1:9: connect: refused\n":  nexus.Environmental,
		"go: github.com/a/b@v0.9.1: module lookup disabled by GOPROXY=off\n":                                                      nexus.Environmental,
		"a.go:3:8: cannot find module providing package example.org/x: module lookup disabled by GOPROXY=off\n":                   nexus.Fail,
		"a.go:3:8: no required module provides package example.org/x; to add it:\n\tgo get example.org/x\n":                       nexus.Fail,
		"a.go:3:8: missing go.sum entry for module providing package github.com/a/b; to add:\n\tgo mod download github.com/a/b\n": nexus.Fail,
	} {
		if r := stack.ReadOutput(outputparser.ToolOutput{Format: outputparser.GoBuild, Stderr: []byte(text), Exit: 1, Root: "/src"}); r.State != want {
			t.Errorf("%s is right, not %s\n%s", want, tell(r), text)
		}
	}
}

// TestClassesHaveTheirLines holds that PMD and SpotBugs name places, and tables
// and other machines' formats.
func TestClassesHaveTheirLines(t *testing.T) {
	find := func(suffix string) string {
		all := []string{"src/main/java/a/App.java"}
		if i := slices.IndexFunc(all, func(f string) bool { return strings.HasSuffix(f, suffix) }); i >= 0 {
			return all[i]
		}
		return ""
	}
	const (
		pmd = "[INFO] --- maven-pmd-plugin:3.26.0:check (default-cli) @ a ---\n[WARNING] PMD Failure: a.App:5 Rule:UnusedPrivateField Priority:3 Avoid unused private fields such as 'x'.\n" +
			"[INFO] BUILD FAILURE\n[ERROR] Failed to execute goal org.apache.maven.plugins:maven-pmd-plugin:3.26.0:check (default-cli) on project a: PMD has found 1 violation.\n"
		bugs = "[INFO] --- spotbugs-maven-plugin:4.8.6.6:check (default-cli) @ a ---\n[ERROR] High: Dead store to x in a.App.main(String[]) [a.App] At App.java:[line 7] DLS_DEAD_LOCAL_STORE\n" +
			"[ERROR] Failed to execute goal com.github.spotbugs:spotbugs-maven-plugin:4.8.6.6:check (default-cli) on project a: failed with 1 bugs and 0 errors\n"
		pmdXML = `<?xml version="1.0"?>` + "\n<pmd>\n<file name=\"/src/A.java\">\n<violation beginline=\"5\" endline=\"5\" rule=\"X\">\nno\n</violation>\n</file>\n</pmd>\n"
		table  = "filename,test_name,issue_text,line_number,more_info\na.py,b,\"x, y\",7,https://example.org/\n"
	)
	for text, want := range map[string]string{pmd: "src/main/java/a/App.java:5", bugs: "src/main/java/a/App.java:7", pmdXML: "A.java:5", table: "a.py:7"} {
		in, _ := stack.OutputFormats().DetectFormat(outputparser.ToolOutput{Command: "./check", Stdout: []byte(text), Exit: 1, Root: "/src", Find: find})
		r := stack.ReadOutput(in)
		if !slices.ContainsFunc(r.Findings, func(f nexus.Finding) bool { return fmt.Sprintf("%s:%d", f.File, f.Line) == want }) || r.State != nexus.Fail {
			t.Errorf("%s is not in %s\n%s", want, tell(r), text)
		}
	}
}

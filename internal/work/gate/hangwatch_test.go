package gate_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
	"github.com/nexus-ai-builder/nexus/internal/work/gate"
)

func hangSigns() gate.HangDetectionRules {
	return gate.HangDetectionRules{Over: `^\d+ passed`, Linger: 10 * time.Second, Told: `^ok \d+`, Quiet: time.Minute}
}

// heard plays a runner that says each of its words after the given time, and
// returns how long it was left alone after the last.
func heard(t *testing.T, s gate.HangDetectionRules, words ...any) (lived time.Duration, end gate.WatchedRunEnd) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		ctx, w := gate.WatchForHang(t.Context(), s)
		for _, x := range words {
			switch x := x.(type) {
			case string:
				w.ReceiveOutput([]byte(x))
			case time.Duration:
				select {
				case <-time.After(x):
				case <-ctx.Done():
				}
			}
		}
		began := time.Now()
		select {
		case <-ctx.Done():
		case <-time.After(time.Hour):
		}
		lived = time.Since(began)
		end = w.Close(context.Cause(ctx))
	})
	return lived, end
}

func TestWatch(t *testing.T) {
	for name, tt := range map[string]struct {
		signs gate.HangDetectionRules
		words []any
		lives time.Duration
		want  gate.WatchedRunEnd
	}{
		"it said that all is over":        {hangSigns(), []any{"ok 1\n", "3 passed in 1s\n"}, 10 * time.Second, gate.WatchedRunEnd{Over: true, Hung: true, ExitSilence: 10 * time.Second}},
		"in two pieces, with colours":     {hangSigns(), []any{"\x1b[32m3 pas", "sed\x1b[0m in 1s\n"}, 10 * time.Second, gate.WatchedRunEnd{Over: true, Hung: true, ExitSilence: 10 * time.Second}},
		"it goes on to say something":     {hangSigns(), []any{"3 passed\n", 9 * time.Second, "a word\n"}, 10 * time.Second, gate.WatchedRunEnd{Over: true, Hung: true, ExitSilence: 10 * time.Second}},
		"it is silent within a test":      {hangSigns(), []any{"ok 1\n"}, time.Minute, gate.WatchedRunEnd{Hung: true, TestSilence: time.Minute}},
		"it has told of no test yet":      {hangSigns(), []any{"begin\n"}, time.Hour, gate.WatchedRunEnd{}},
		"nobody limits it":                {gate.HangDetectionRules{Over: `^\d+ passed`}, []any{"3 passed\n"}, time.Hour, gate.WatchedRunEnd{Over: true, ExitSilence: time.Hour}},
		"it is slow between two tests":    {gate.HangDetectionRules{Told: `^ok \d+`}, []any{time.Minute, "ok 1\n", 2 * time.Hour, "ok 2\n"}, time.Hour, gate.WatchedRunEnd{TestSilence: 2 * time.Hour}},
		"the word has no end of its line": {hangSigns(), []any{"3 passed"}, time.Hour, gate.WatchedRunEnd{Over: true}},
		"a long line":                     {hangSigns(), []any{strings.Repeat("x", 10_000) + "\n3 passed\n"}, 10 * time.Second, gate.WatchedRunEnd{Over: true, Hung: true, ExitSilence: 10 * time.Second}},
		"nothing is looked for":           {gate.HangDetectionRules{}, []any{"3 passed\nok 1\n"}, time.Hour, gate.WatchedRunEnd{}},
	} {
		t.Run(name, func(t *testing.T) {
			lived, end := heard(t, tt.signs, tt.words...)
			if lived != tt.lives || !cmp.Equal(end, tt.want) {
				t.Errorf("it lived %s and ended as %+v, want %s and %+v", lived, end, tt.lives, tt.want)
			}
		})
	}
}

// TestExitInTheLastMoment checks that a runner which exits by itself while the
// time is up does not count as hanging.
func TestExitInTheLastMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, w := gate.WatchForHang(t.Context(), hangSigns())
		w.ReceiveOutput([]byte("3 passed\n"))
		<-ctx.Done()
		if !errors.Is(context.Cause(ctx), gate.ErrHung) {
			t.Error(context.Cause(ctx))
		}
		if end := w.Close(nil); end.Hung || !end.Over {
			t.Errorf("%+v", end)
		}
	})
}

const jestOpen = `PASS ./a.test.js
Ran all test suites.

Jest has detected the following 2 open handles potentially keeping Jest from exiting:

  ` + "\u25cf" + `  TCPSERVERWRAP

      1 | const http = require("node:http");
    > 2 | s.listen(0);
        |   ^

      at listen (node_modules/x/index.js:1:1)
      at Object.listen (web/a.test.js:2:57)

  ` + "\u25cf" + `  Timeout

      at setInterval (web/b.test.js:7:3)
      at later (web/c.test.js:8:3)
`

func TestHandles(t *testing.T) {
	is := func(what, file string, line, column int) nexus.Finding {
		return nexus.Finding{Code: parserbase.CodeHang, File: file, Line: line, Column: column, Message: what + " is still open when the tests are done, and keeps the runner from exiting"}
	}
	for name, tt := range map[string]struct {
		in   parserbase.ToolOutput
		want []nexus.Finding
	}{
		"nothing": {parserbase.ToolOutput{Stdout: []byte("1 passed\n  \u25cf  TCPSERVERWRAP\n    at a.js:1:1\n")}, nil},
		"jest":    {parserbase.ToolOutput{Stderr: []byte(jestOpen)}, []nexus.Finding{is("a server that listens (TCPSERVERWRAP)", "web/a.test.js", 2, 57), is("a timer (Timeout)", "web/b.test.js", 7, 3)}},
		"a probe": {parserbase.ToolOutput{Root: "/t", Stdout: []byte("# nexus: still open: PROCESSWRAP at /t/a b/x.js:3:4\n  # nexus: still open: PROCESSWRAP at /t/a b/x.js:3:4\n"), Stderr: []byte("nexus: still open: thread Thread-1 (loop) at /usr/lib/python3/threading.py:9\n")}, []nexus.Finding{
			is("a child process (PROCESSWRAP)", "a b/x.js", 3, 4), is("the thread Thread-1 (loop)", "", 0, 0),
		}},
	} {
		if diff := cmp.Diff(tt.want, gate.FindOpenHandles(tt.in)); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
	if n := len(gate.FindOpenHandles(parserbase.ToolOutput{Root: "/t", Stdout: []byte(many())})); n != 20 {
		t.Errorf("%d things are named", n)
	}
}

func many() string {
	var b strings.Builder
	for i := range 100 {
		b.WriteString("nexus: still open: Timeout at /t/" + strings.Repeat("x", i+1) + ".js:1:1\n")
	}
	return b.String()
}

func TestRunning(t *testing.T) {
	for _, tt := range []struct{ format, out, test, file string }{
		{"pytest", "tests/test_a.py ..                 [ 50%]\ntests/test_b.py .F", "", "tests/test_b.py"},
		{"pytest", "tests/test_a.py ..                 [100%]\n", "", ""},
		{"pytest", "tests/test_a.py::test_x[a b] PASSED [ 50%]\ntests/test_a.py::test_y[c d] ", "tests/test_a.py::test_y[c d]", ""},
		{"unittest", "test_a (tests.T.test_a) ... ok\ntest_b (tests.T.test_b) ... ", "test_b (tests.T.test_b)", ""},
		{"unittest", "test_a (tests.T.test_a) ... ok\n", "", ""},
		{"cargo-test", "test a ... ok\ntest b::c has been running for over 60 seconds\n", "b::c", ""},
		{"cargo-test", "test a ... ok\ntest b ... ", "b", ""},
		{"ctest", "    Start 1: one\n1/2 Test #1: one ......   Passed    0.00 sec\n    Start 2: two\n", "two", ""},
		{"minitest", "A#test_a = 0.00 s = .\nA#test_b = ", "A#test_b", ""},
		{"jest", "anything", "", ""},
	} {
		test, file := gate.FindRunningTest(tt.format, parserbase.ToolOutput{Stdout: []byte(tt.out)})
		if test != tt.test || file != tt.file {
			t.Errorf("%s: %q, %q of %q", tt.format, test, file, tt.out)
		}
	}
}

// TestOver checks, for each runner that says when its tests are done, that it
// is heard in what the runner prints.
func TestOver(t *testing.T) {
	for format, line := range map[string]string{
		"jest": "Ran all test suites matching /a/i.", "vitest": "   Duration  312ms (transform 20ms)", "mocha": "  2 passing (4ms)", "tap": "# duration_ms 46.6",
		"node": "\u2139 duration_ms 46.6", "pytest": "========= 1 failed, 2 passed in 0.01s =========", "unittest": "Ran 2 tests in 0.000s", "rspec": "2 examples, 0 failures",
		"minitest": "2 runs, 2 assertions, 0 failures, 0 errors, 0 skips", "phpunit": "OK (2 tests, 2 assertions)", "ctest": "100% tests passed, 0 tests failed out of 2",
		"maven-test": "[INFO] BUILD SUCCESS", "gradle-test": "BUILD SUCCESSFUL in 4s", "cargo-test": "     Summary [   0.005s] 2 tests run: 2 passed, 0 skipped", "playwright": "  2 passed (1.2s)",
	} {
		f, ok := stack.OutputFormats().FindFormat(format)
		if !ok || f.Over == "" {
			t.Errorf("%s says nothing", format)
			continue
		}
		if _, end := heard(t, gate.HangDetectionRules{Over: f.Over, Linger: time.Second}, "a test\n"+line+"\n"); !end.Over {
			t.Errorf("%s: %q is not heard by %q", format, line, f.Over)
		}
	}
}

func FuzzHandles(f *testing.F) {
	f.Add([]byte(jestOpen))
	f.Add([]byte("# nexus: still open: PROCESSWRAP at /t/x.js:3:4\n"))
	f.Add([]byte("tests/test_b.py .F\ntest a ... "))
	f.Fuzz(func(t *testing.T, out []byte) {
		in := parserbase.ToolOutput{Root: "/t", Stdout: out}
		for _, h := range gate.FindOpenHandles(in) {
			if h.Code != parserbase.CodeHang || h.Message == "" || strings.HasPrefix(h.File, "/") || strings.Contains(h.File, "..") && strings.HasPrefix(h.File, "../") || h.Line < 0 {
				t.Errorf("%+v", h)
			}
		}
		for _, format := range []string{"pytest", "unittest", "cargo-test", "ctest", "minitest"} {
			gate.FindRunningTest(format, in)
		}
		ctx, w := gate.WatchForHang(t.Context(), hangSigns())
		w.ReceiveOutput(out)
		w.Close(context.Cause(ctx))
	})
}

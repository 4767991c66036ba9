package outputparser_test

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

// read plays recorded output of a tool that ran in /src.
func recorded(t *testing.T, format, name string, exit int) outputparser.ParsedToolOutput {
	t.Helper()
	data, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return stack.ReadOutput(outputparser.ToolOutput{Format: format, Stdout: data, Exit: exit, Root: "/src", Modules: map[string]string{"example.org/m": "."}})
}

// show writes a report as a few lines.
func show(r outputparser.ParsedToolOutput) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d/%d/%d", r.State, r.Counts.Passed, r.Counts.Failed, r.Counts.Skipped)
	if r.Why != "" {
		fmt.Fprintf(&b, " (%s)", r.Why)
	}
	for _, f := range r.Findings {
		first, _, more := strings.Cut(f.Message, "\n")
		if more {
			first += " ..."
		}
		fmt.Fprintf(&b, "\n%s:%d:%d [%s] %s: %s", f.File, f.Line, f.Column, f.Code, f.Test, first)
	}
	return b.String()
}

func TestRecordedOutput(t *testing.T) {
	for _, tt := range []struct {
		format, file string
		exit         int
		want         string
	}{
		{"go-test-json", "test-ok.json", 0, "pass 1/0/1"},
		{"go-test-json", "test-none.json", 0, "not-run 0/0/0 (no test ran)"},
		{"go-test-json", "test-main.json", 1, "environmental 1/0/0 (every test passed, yet go test failed)\n:0:0 [exit] example.org/m/tm: failed without a message"},
		{"go-test-json", "test-gone.json", 0, "fail 1/1/0\n:0:0 [vanished] example.org/m/esc.TestGone: the test started and never ended"},
		{"go-test-json", "test-deep.json", 1, "fail 0/3/0\nesc/x_test.go:3:0 [panic] example.org/m/esc.TestA: panic: assignment to entry in nil map [recovered, repanicked]"},
		{"go-test-json", "test-goroutine.json", 1, "fail 0/1/0\nesc/x_test.go:3:0 [panic] example.org/m/esc.TestA: panic: elsewhere"},
		{"go-test-json", "test-race.json", 1, "fail 0/1/0\nrace/x_test.go:3:0 [race] example.org/m/race.TestRace: WARNING: DATA RACE ..."},
		{"go-test-json", "test-all.json", 1, `fail 5/7/1
:0:0 [vanished] example.org/m/exit.TestExit: the test started and never ended
bad/bad_test.go:4:0 [test] example.org/m/bad.TestBad: bad_test.go:4: some log ...
bad/bad_test.go:8:0 [test] example.org/m/bad.TestBad/sub_one: bad_test.go:8: sub failed
bad/bad_test.go:12:0 [test] example.org/m/bad.TestParent/only: bad_test.go:12: only sub
hang/x_test.go:3:0 [timeout] example.org/m/hang.TestHang: panic: test timed out after 3s ...
imp/x.go:2:8 [compile] : cannot find module providing package github.com/not/there: import lookup disabled by -mod=readonly
ini/x_test.go:3:0 [panic] example.org/m/ini: panic: at start
nobuild/x.go:2:23 [compile] : cannot use "x" (untyped string constant) as int value in return statement
nobuild/x.go:3:12 [compile] : declared and not used: y
nobuild/x.go:3:20 [compile] : undefined: undefined
pan/pan_test.go:4:0 [panic] example.org/m/pan.TestPanic: panic: runtime error: index out of range [3] with length 0 [recovered, repanicked]
testnobuild/x_test.go:3:28 [compile] : undefined: foo
vetbad/x_test.go:3:40 [vet] : fmt.Printf format %d has arg "x" of wrong type string`},
		{"go-build", "build.txt", 1, "fail 0/0/0\nimp/x.go:2:8 [compile] : cannot find module providing package github.com/not/there: import lookup disabled by -mod=readonly"},
		{"go-vet", "vet.txt", 1, `fail 0/0/0
nobuild/x.go:2:23 [vet] : cannot use "x" (untyped string constant) as int value in return statement
vetbad/x_test.go:3:40 [vet] : fmt.Printf format %d has arg "x" of wrong type string`},
		{"go-vet", "vet.json", 0, "fail 0/0/0\nvetbad/x_test.go:3:40 [printf] : fmt.Printf format %d has arg \"x\" of wrong type string"},
	} {
		t.Run(tt.file, func(t *testing.T) {
			if d := cmp.Diff(strings.Split(tt.want, "\n"), strings.Split(show(recorded(t, tt.format, tt.file, tt.exit)), "\n")); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestFailedTestKeepsItsWords(t *testing.T) {
	for _, f := range recorded(t, "go-test-json", "test-all.json", 1).Findings {
		if f.Test != "example.org/m/bad.TestBad" {
			continue
		}
		want := "    bad_test.go:4: some log\n    bad_test.go:5: got 1\n        want 2\nstray print no newline before\npartial"
		if d := cmp.Diff(strings.TrimSpace(want), f.Message); d != "" {
			t.Error(d)
		}
	}
}

func TestText(t *testing.T) {
	for _, tt := range []struct {
		name, format, out, err string
		exit                   int
		tests                  bool
		want                   string
	}{
		{name: "clean build", format: "go-build", want: "pass 0/0/0"},
		{name: "C warnings do not matter", format: "go-build", err: "# x\nx.c:3:1: warning: unused\n", want: "pass 0/0/0"},
		{name: "nothing to build", format: "go-build", err: "go: warning: \"./...\" matched no packages\n", want: "not-run 0/0/0 (there are no Go packages)"},
		{name: "nothing to vet", format: "go-vet", err: "go: warning: \"./...\" matched no packages\nno packages to vet\n", exit: 1, want: "not-run 0/0/0 (there are no Go packages)"},
		{name: "nothing to test", format: "go-test-json", err: "go: warning: \"./...\" matched no packages\nno packages to test\n", exit: 1, want: "not-run 0/0/0 (there are no Go packages)"},
		{name: "continued", format: "go-build", err: "# a\n./a.go:1:19: missing go.sum entry for module; to add:\n\tgo get a\n", exit: 1, want: "fail 0/0/0\na.go:1:19 [compile] : missing go.sum entry for module; to add: ..."},
		{name: "go.mod", format: "go-build", err: "go: errors parsing go.mod:\ngo.mod:3: unknown directive: requ\n", exit: 1, want: "fail 0/0/0\ngo.mod:3:0 [compile] : unknown directive: requ"},
		{name: "import cycle", format: "go-build", err: "package a\n\timports b\n\timports a: import cycle not allowed\n", exit: 1, want: "fail 0/0/0\n:0:0 [compile] : package a ..."},
		{name: "too new a go", format: "go-build", err: "go: go.mod requires go >= 1.99 (running go 1.26.8; GOTOOLCHAIN=local)\n", exit: 1, want: "environmental 0/0/0 (go: go.mod requires go >= 1.99 (running go 1.26.8; GOTOOLCHAIN=local))\ngo.mod:0:0 [environment] : go: go.mod requires go >= 1.99 (running go 1.26.8; GOTOOLCHAIN=local)"},
		{name: "a toolchain that cannot be fetched", format: "cargo", err: "info: syncing channel updates for stable-x86_64-unknown-linux-gnu\nerror: could not create temp file /h/.rustup/tmp/a1_file: Read-only file system (os error 30)\n", exit: 1, want: "environmental 0/0/0 (error: could not create temp file /h/.rustup/tmp/a1_file: Read-only file system (os error 30))\n:0:0 [environment] : error: could not create temp file /h/.rustup/tmp/a1_file: Read-only file system (os error 30)"},
		{name: "disk full", format: "go-build", err: "# a\ncompile: writing output: write /tmp/x: no space left on device\n", exit: 1, want: "environmental 0/0/0 (compile: writing output: write /tmp/x: no space left on device)\n:0:0 [environment] : compile: writing output: write /tmp/x: no space left on device"},
		{name: "silent failure", format: "go-build", exit: 2, want: "fail 0/0/0\n:0:0 [exit] : exit code 2 without a message"},
		{name: "colours", format: "go-build", err: "\x1b[1mx.go:3:2: \x1b[31mundefined: y\x1b[0m\r\n", exit: 1, want: "fail 0/0/0\nx.go:3:2 [compile] : undefined: y"},
		{name: "outside the tree", format: "go-build", err: "/usr/lib/x.go:3:2: odd\n../y.go:1:1: odd\n", exit: 1, want: "fail 0/0/0\n:0:0 [compile] : ../y.go:1:1: odd\n:0:0 [compile] : /usr/lib/x.go:3:2: odd"},
		{name: "in the tree", format: "go-build", err: "/src/a b/x.go:3:2: odd\n", exit: 1, want: "fail 0/0/0\na b/x.go:3:2 [compile] : odd"},
		{name: "doubles", format: "go-build", err: "x.go:3:2: a\nx.go:3:2: a\nx.go:1:2: b\n", exit: 1, want: "fail 0/0/0\nx.go:1:2 [compile] : b\nx.go:3:2 [compile] : a"},
		{name: "vet JSON cut off", format: "go-vet", err: "{\n\t\"a\": {\n", want: "unverifiable 0/0/0 (go vet printed JSON of a kind that is not known)"},
		{name: "vet finds text with exit 0", format: "go-vet", err: "x.go:3:2: bad\n", want: "fail 0/0/0\nx.go:3:2 [vet] : bad"},
		{name: "gofmt", format: "gofmt", out: "a.go\nsub/b.go\n", want: "fail 0/0/0\na.go:0:0 [gofmt] : is not formatted\nsub/b.go:0:0 [gofmt] : is not formatted"},
		{name: "gofmt clean", format: "gofmt", want: "pass 0/0/0"},
		{name: "gofmt syntax", format: "gofmt", err: "a.go:1:17: expected 'IDENT'\n", exit: 2, want: "fail 0/0/0\na.go:1:17 [compile] : expected 'IDENT'"},
		{name: "golangci", format: "golangci", out: `{"Issues":[{"FromLinter":"errcheck","Text":"unchecked","Pos":{"Filename":"a.go","Line":3,"Column":2}}],"Report":{}}` + "\n1 issues:\n", exit: 1, want: "fail 0/0/0\na.go:3:2 [errcheck] : unchecked"},
		{name: "golangci clean", format: "golangci", out: `{"Issues":[],"Report":{}}`, want: "pass 0/0/0"},
		{name: "golangci without JSON", format: "golangci", out: "0 issues.\n", want: "unverifiable 0/0/0 (golangci-lint printed no JSON)"},
		{name: "golangci config", format: "golangci", err: "Error: can't load config: unsupported version\n", exit: 3, want: "environmental 0/0/0 (Error: can't load config: unsupported version)\n:0:0 [golangci] : Error: can't load config: unsupported version"},
		{name: "golangci of another version", format: "golangci", err: "Error: unknown flag: --out-format\nThe command is terminated due to an error: unknown flag: --out-format\n", exit: 3, want: "not-run 0/0/0 (the configuration is for another version of golangci-lint than the one installed)"},
		{name: "no events", format: "go-test-json", out: "hello\n", want: "unverifiable 0/0/0 (go test printed no events)"},
		{name: "failed build flag", format: "go-test-json", err: "flag provided but not defined: -nope\n", exit: 2, want: "fail 0/0/0\n:0:0 [compile] : flag provided but not defined: -nope"},
		{name: "forged events in foreign output", format: "go-test-json", exit: 1, out: `{"Action":"pass","Package":"x","Test":"T"}` + "\n", want: "fail 0/1/0\n:0:0 [vanished] x.T: the test started and never ended"},
		{name: "failed test with exit 0", format: "go-test-json", out: `{"Action":"run","Package":"x","Test":"T"}` + "\n" + `{"Action":"fail","Package":"x","Test":"T"}` + "\n" + `{"Action":"fail","Package":"x"}` + "\n", want: "fail 0/1/0\n:0:0 [test] x.T: failed without a message"},
		{name: "process ends between tests", format: "go-test-json", out: `{"Action":"start","Package":"x"}
{"Action":"run","Package":"x","Test":"T"}
{"Action":"output","Package":"x","Test":"T","Output":"--- PASS: T (0.00s)\n"}
{"Action":"pass","Package":"x","Test":"T"}
{"Action":"pass","Package":"x"}
`, want: "fail 1/0/0\n:0:0 [vanished] x: the test process ended before the tests were done"},
		{name: "exit", format: "exit", out: "done\n", want: "pass 0/0/0"},
		{name: "exit code", format: "exit", out: "boom\n", exit: 3, want: "fail 0/0/0\n:0:0 [exit] : boom"},
		{name: "unknown tests", format: "exit", out: "done\n", tests: true, want: "unverifiable 0/0/0 (it exits 0, but nothing in its output says how many tests ran)"},
		{
			name: "nothing fetched", format: "exit", exit: 101,
			err:  "error: no matching package named `no-panic` found\nlocation searched: crates.io index\nAs a reminder, you're using offline mode (--offline) which can sometimes cause surprising resolution failures\n",
			want: "environmental 0/0/0 (no matching package named `no-panic` found)\n:0:0 [environment] : no matching package named `no-panic` found",
		},
		{name: "missing tool", format: "exit", err: "sh: 1: cargo: not found\n", exit: 127, want: "environmental 0/0/0 (sh: 1: cargo: not found)\n:0:0 [missing-tool] : sh: 1: cargo: not found"},
		{name: "not executable", format: "exit", err: "sh: 1: ./x: Permission denied\n", exit: 126, want: "environmental 0/0/0 (the command cannot be executed: sh: 1: ./x: Permission denied)\n:0:0 [environment] : the command cannot be executed: sh: 1: ./x: Permission denied"},
		{name: "killed", format: "exit", exit: -1, want: "environmental 0/0/0 (it was killed)"},
		{name: "cargo", format: "exit", tests: true, out: "test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured\ntest result: ok. 2 passed; 0 failed; 0 ignored\n", want: "pass 5/0/1"},
		{name: "cargo zero", format: "exit", tests: true, out: "test result: ok. 0 passed; 0 failed; 0 ignored; 0 measured; 9 filtered out\n", want: "not-run 0/0/0 (no test ran)"},
		{name: "cargo red", format: "exit", tests: true, exit: 101, out: "test a::b ... FAILED\ntest result: FAILED. 1 passed; 1 failed; 0 ignored\n", want: "fail 1/1/0\n:0:0 [test] a::b: failed without a message"},
		{name: "rustc", format: "exit", exit: 101, err: "error[E0308]: mismatched types\n  --> src/main.rs:3:5\n", want: "fail 0/0/0\nsrc/main.rs:3:5 [E0308] : mismatched types"},
		{name: "pytest", format: "exit", tests: true, exit: 1, out: "FAILED tests/test_a.py::test_x - assert 1 == 2\n==== 1 failed, 3 passed, 1 skipped in 0.12s ====\n", want: "fail 3/1/1\ntests/test_a.py:0:0 [test] tests/test_a.py::test_x: assert 1 == 2"},
		{name: "pytest none", format: "exit", tests: true, exit: 5, out: "==== no tests ran in 0.01s ====\n", want: "not-run 0/0/0 (no test ran)"},
		{name: "jest", format: "exit", tests: true, out: "Tests:       1 skipped, 5 passed, 6 total\n", want: "pass 5/0/1"},
		{name: "swallowed exit code", format: "exit", tests: true, out: "Tests:       1 failed, 5 passed, 6 total\n", want: "fail 5/1/0\n:0:0 [test] : 1 tests failed, though the command exits 0"},
		{name: "vitest", format: "exit", tests: true, out: "      Tests  1 failed | 4 passed (5)\n", exit: 1, want: "fail 4/1/0\n:0:0 [test] : 1 tests failed"},
		{name: "mocha", format: "exit", tests: true, out: "  4 passing (12ms)\n  1 pending\n", want: "pass 4/0/1"},
		{name: "node", format: "exit", tests: true, out: "# tests 2\n# pass 2\n# fail 0\n# skipped 0\n", want: "pass 2/0/0"},
		{name: "unittest", format: "exit", tests: true, err: "Ran 4 tests in 0.001s\n\nOK (skipped=1)\n", want: "pass 3/0/1"},
		{name: "maven", format: "exit", tests: true, out: "[INFO] Tests run: 2, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 1 s\n[INFO] Tests run: 5, Failures: 0, Errors: 0, Skipped: 1\n", want: "pass 4/0/1"},
		{name: "go test", format: "exit", tests: true, out: "ok  \ta/b\t0.1s\n?   \ta/c\t[no test files]\n", want: "pass 1/0/0"},
		{name: "go test, and yet red", format: "exit", tests: true, exit: 1, out: "ok  \ta/b\t0.1s\n", want: "environmental 1/0/0 (every test passed, yet go test failed)"},
		{name: "go test that fails without a word", format: "go-test", exit: 1, out: "ok  \ta/b\t0.1s\nexit status 1\nFAIL\ta/c\t0.1s\nFAIL\n", want: "fail 1/0/0\n:0:0 [exit] a/c: failed without a message"},
		{name: "go test cut off", format: "go-test", exit: 1, out: "=== RUN   TestA\n    a_test.go:3: here\n", want: "fail 0/1/0\na_test.go:3:0 [vanished] TestA: the test started and never ended ..."},
		{
			name: "go test without a module", format: "go-test", exit: 1, out: "FAIL\t./... [setup failed]\nFAIL\n",
			err:  "# ./...\npattern ./...: directory prefix . does not contain main module or its dependencies\n",
			want: "not-run 0/0/0 (no test ran: pattern ./...: directory prefix . does not contain main module or its dependencies)\n:0:0 [compile] : pattern ./...: directory prefix . does not contain main module or its dependencies",
		},
		{name: "go test without a file", format: "go-test", out: "?   \ta/c\t[no test files]\n", want: "not-run 0/0/0 (no test ran)"},
		{
			name: "tests, then a linter", format: "exit", tests: true, exit: 1,
			out:  "Tests:       1 passed, 1 total\nRan all test suites.\n\n/src/a.js\n  3:5  error  'x' is never used  no-unused-vars\n\n\u2716 1 problem (1 error, 0 warnings)\n",
			want: "fail 1/0/0\na.js:3:5 [no-unused-vars] : 'x' is never used",
		},
		{name: "tests, and then nobody knows", format: "exit", tests: true, exit: 1, out: "Tests:       1 passed, 1 total\n", want: "environmental 1/0/0 (every test passed, yet its exit code is 1)\n:0:0 [exit] : Tests:       1 passed, 1 total"},
		{name: "go test nothing", format: "exit", tests: true, out: "ok  \ta/b\t0.1s [no tests to run]\n", want: "not-run 0/0/0 (no test ran)"},
		{name: "python", format: "exit", exit: 1, err: "Traceback (most recent call last):\n  File \"/src/a.py\", line 3, in <module>\n    f()\n  File \"/src/b.py\", line 7, in f\n    x\nNameError: name 'x' is not defined\n", want: "fail 0/0/0\nb.py:7:0 [] : NameError: name 'x' is not defined"},
		{name: "typescript", format: "exit", exit: 2, out: "src/a.ts(3,5): error TS2322: Type 'x'\n", want: "fail 0/0/0\nsrc/a.ts:3:5 [TS2322] : Type 'x'"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := stack.ReadOutput(outputparser.ToolOutput{Format: tt.format, Stdout: []byte(tt.out), Stderr: []byte(tt.err), Exit: tt.exit, Tests: tt.tests, Root: "/src"})
			if d := cmp.Diff(strings.Split(tt.want, "\n"), strings.Split(show(r), "\n")); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestHugeOutputIsBounded(t *testing.T) {
	var b strings.Builder
	for i := range 2000 {
		fmt.Fprintf(&b, "x.go:%d:1: %s\n", i, strings.Repeat("y", 5000))
	}
	r := stack.ReadOutput(outputparser.ToolOutput{Format: "go-build", Stderr: []byte(b.String()), Exit: 1})
	if n := len(r.Findings); n != 2000 {
		t.Errorf("%d findings, the last one is %v", n, r.Findings[n-1])
	}
	if some := parserbase.LimitFindings(r.Findings); len(some) != 201 || some[200].Message != "and 1800 more findings" {
		t.Errorf("%d findings are shown, the last one is %v", len(some), some[len(some)-1])
	}
	if n := len(r.Findings[0].Message); n > 2100 {
		t.Errorf("a message of %d bytes", n)
	}
}

func TestTruncatedTestOutputNeedsNoEnds(t *testing.T) {
	out := `{"Action":"run","Package":"x","Test":"A"}` + "\n" + `{"Action":"pa` + "\n...\n" + `{"Action":"pass","Package":"x","Test":"B"}` + "\n" + `{"Action":"pass","Package":"x"}` + "\n"
	r := stack.ReadOutput(outputparser.ToolOutput{Format: "go-test-json", Stdout: []byte(out), Cut: true})
	if r.State == nexus.Pass {
		t.Errorf("passed though A's end is missing: %s", show(r))
	}
}

// FuzzRead holds every format to the rules: no panic, no pass from a failing
// exit, no pass without a test where tests are wanted, no pass with findings.
func FuzzRead(f *testing.F) {
	for _, name := range []string{"test-all.json", "test-gone.json", "vet.json", "build.txt", "test-race.json"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		for i := range stack.OutputFormats() {
			f.Add(i, data[:min(len(data), 4000)], []byte("x.go:1:1: y\n"), 0, true, false)
		}
	}
	f.Add(5, []byte("test result: ok. 1 passed; 0 failed"), []byte("\x1b[1m\xff\r\x1b]0;"), 1, true, true)
	f.Fuzz(func(t *testing.T, format int, out, err []byte, exit int, tests, cut bool) {
		all := stack.OutputFormats()
		in := outputparser.ToolOutput{Format: all[uint(format)%uint(len(all))].Name, Stdout: out, Stderr: err, Exit: exit, Tests: tests, Cut: cut, Root: "/src", Modules: map[string]string{"a": "../.."}}
		r := stack.ReadOutput(in)
		switch {
		case r.State == "":
			t.Error("no state")
		case r.State == nexus.Pass && (exit != 0 || len(r.Findings) > 0 || r.Counts.Failed > 0):
			t.Errorf("passed with exit %d: %s", exit, show(r))
		case r.State == nexus.Pass && (tests || in.Format == outputparser.GoTestJSON) && r.Counts.Passed == 0:
			t.Errorf("passed without a test: %s", show(r))
		case r.State == nexus.Fail && len(r.Findings) == 0:
			t.Error("failed without a finding")
		}
		for _, f := range r.Findings {
			if strings.HasPrefix(f.File, "/") || strings.HasPrefix(f.File, "..") {
				t.Errorf("file %q is not in the tree", f.File)
			}
			if strings.ContainsAny(f.File+f.Message+f.Test+f.Code, "\x1b\x00\r") {
				t.Errorf("control characters in %+v", f)
			}
		}
		if _, err := json.Marshal(r); err != nil {
			t.Error(err)
		}
		again := stack.ReadOutput(in)
		if d := cmp.Diff(r, again); d != "" {
			t.Errorf("read twice, two reports: %s", d)
		}
	})
}

// TestVirtualEnvironments reads what Python's package managers say where
// nothing is installed: neither red on the work, nor green.
func TestVirtualEnvironments(t *testing.T) {
	const red = "=== FAILURES ===\n1 failed in 0.01s\n"
	for name, tt := range map[string]struct {
		command, stdout, stderr string
		exit                    int
		state                   nexus.GateState
	}{
		"poetry makes one":            {"poetry run pytest", red, "Creating virtualenv calc-PL-20KDR-py3.11 in /tmp/home/.cache/pypoetry/virtualenvs\n", 1, nexus.Environmental},
		"poetry makes one, green":     {"poetry run pytest", "=== 1 passed in 0.01s ===\n", "Creating virtualenv calc in /src/.venv\n", 0, nexus.Environmental},
		"poetry has no such tool":     {"poetry run pytest", "Command not found: pytest\n", "", 1, nexus.Environmental},
		"poetry has one":              {"poetry run pytest", red, "", 1, nexus.Fail},
		"a test speaks of one":        {"poetry run pytest", strings.Repeat("x\n", 20) + "Creating virtualenv a in /b\n" + red, "", 1, nexus.Fail},
		"another runner":              {"pytest", red, "Creating virtualenv a in /b\n", 1, nexus.Fail},
		"pipenv makes one":            {"cd web && pipenv run pytest", red, "Loading .env environment variables...\nCreating a virtualenv for this project...\nPipfile: /src/Pipfile\n", 1, nexus.Environmental},
		"pipenv cannot make one":      {"pipenv run pytest", "", "Creating a virtualenv for this project...\nfail\n", 1, nexus.Environmental},
		"pipenv has no such tool":     {"pipenv run pytest", "", "Error: the command pytest could not be found within PATH or Pipfile's [scripts].\n", 1, nexus.Environmental},
		"uv makes one":                {"uv run --no-sync pytest", red, "Using CPython 3.13.1\nCreating virtual environment at: .venv\n", 1, nexus.Environmental},
		"npx has no such tool":        {"npx --no-install eslint .", "", "npm error code ENOTCACHED\nnpm error request to https://example.com/eslint failed: cache mode is 'only-if-cached' but no cached response is available.\n", 1, nexus.Environmental},
		"uv has no such tool":         {"uv run --no-sync pytest", "", "error: Failed to spawn: `pytest`\n  Caused by: No such file or directory (os error 2)\n", 2, nexus.Environmental},
		"uv cannot read its manifest": {"uv run --no-sync pytest", "", "error: Failed to parse: `pyproject.toml`\n  Caused by: TOML parse error at line 1, column 1\n", 2, nexus.Fail},
	} {
		for _, format := range []string{"pytest", "exit"} {
			r := stack.ReadOutput(outputparser.ToolOutput{Format: format, Command: tt.command, Stdout: []byte(tt.stdout), Stderr: []byte(tt.stderr), Exit: tt.exit, Tests: true})
			if r.State != tt.state || r.State == nexus.Environmental && (len(r.Findings) != 1 || r.Findings[0].Code != "missing-tool" || r.Findings[0].Advice == "") {
				t.Errorf("%s, %s: %s", name, format, show(r))
			}
		}
	}
}

// TestNoTestRan tells a script that could not load its tests from one whose
// tests fail, whoever runs them.
func TestNoTestRan(t *testing.T) {
	for _, tt := range []struct {
		name, format, out string
		exit              int
		want              nexus.GateState
	}{
		{"a script that starts mocha", "exit", "> mocha\n\nError: Cannot find module 'chai'\nRequire stack:\n- /src/a.js\n", 1, nexus.NotRun},
		{"a script that starts ruby", "exit", "a.rb:1:in `require': cannot load such file -- x (LoadError)\n", 1, nexus.NotRun},
		{"a script that fails", "exit", "AssertionError: 1 == 2\n    at a.js:1:1\n", 1, nexus.Fail},
		{"a test that fails for a module", "pytest", "=== test session starts ===\ncollected 1 item\n=== short test summary info ===\nFAILED a.py::t - ModuleNotFoundError: No module named 'x'\n=== 1 failed in 0.1s ===\n", 1, nexus.Fail},
		{"a plain file of node that fails", "tap", "TAP version 13\n# AssertionError [ERR_ASSERTION]: 1 == 2\n# Subtest: /src/a.test.js\nnot ok 1 - /src/a.test.js\n  ---\n  error: 'test failed'\n  ...\n1..1\n# tests 1\n# pass 0\n# fail 1\n", 1, nexus.Fail},
		{"a runner that exits 0 all the same", "exit", "TAP version 13\n# SyntaxError: Unexpected token\n# Subtest: /src/a.test.js\nnot ok 1 - /src/a.test.js\n1..1\n# tests 1\n# pass 0\n# fail 1\n", 0, nexus.NotRun},
		{"a test that began and did not end", "go-test-json", `{"Action":"run","Package":"m","Test":"TestA"}` + "\n" + `{"Action":"fail","Package":"m"}` + "\n", 1, nexus.Fail},
		{"packages that do not build", "go-test-json", `{"ImportPath":"m","Action":"build-output","Output":"# m\n"}` + "\n" + `{"ImportPath":"m","Action":"build-output","Output":"./a_test.go:3:2: undefined: x\n"}` + "\n" + `{"Action":"fail","Package":"m","FailedBuild":"m"}` + "\n", 1, nexus.NotRun},
	} {
		r := stack.ReadOutput(outputparser.ToolOutput{Format: tt.format, Stdout: []byte(tt.out), Exit: tt.exit, Tests: true, Root: "/src"})
		if r.State != tt.want || r.State == nexus.NotRun && (!strings.HasPrefix(r.Why, "no test ran: ") || len(r.Findings) == 0 || r.Counts.Failed != 0) {
			t.Errorf("%s: %s", tt.name, show(r))
		}
	}
}

package outputparser_test

import (
	"bytes"
	"flag"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

// family returns the names of the formats that test picks, and seeds a fuzz
// test with the recordings of these.
func family(f *testing.F, pick func(outputparser.OutputFormat) bool) []string {
	f.Helper()
	var names []string
	for _, x := range stack.OutputFormats() {
		if pick(x) {
			names = append(names, x.Name)
		}
	}
	for _, r := range recordings(f) {
		if i := slices.Index(names, r.in.Format); i >= 0 {
			f.Add(uint8(i), r.in.Stdout, r.in.Stderr, r.in.Exit)
			f.Add(uint8(i), r.in.Stdout[:len(r.in.Stdout)/2], r.in.Stderr, 0)
		}
	}
	f.Add(uint8(0), []byte{}, []byte{}, 0)
	return names
}

// hold checks what holds for every report, whatever was read.
func hold(t *testing.T, in outputparser.ToolOutput) {
	t.Helper()
	r := stack.ReadOutput(in)
	if r.State == nexus.Pass || r.State == nexus.Flaky {
		if in.Exit != 0 || r.Counts.Failed > 0 || slices.ContainsFunc(r.Findings, parserbase.IsBlocking) {
			t.Errorf("passed: %s", tell(r))
		}
		if f, _ := stack.OutputFormats().FindFormat(in.Format); f.Tests && r.Counts.Passed == 0 && r.State == nexus.Pass {
			t.Errorf("passed without a test: %s", tell(r))
		}
	}
	if r.State == "" || r.State == nexus.Fail && len(r.Findings) == 0 || len(r.Findings) > parserbase.Enough {
		t.Errorf("odd: %s", tell(r))
	}
	for _, f := range r.Findings {
		if f.Line < 0 || f.Column < 0 || f.File == "" && f.Line != 0 || f.Line == 0 && f.Column != 0 || strings.HasPrefix(f.File, "/") || strings.HasPrefix(f.File, "..") ||
			strings.ContainsAny(f.Message+f.Test+f.Code+f.File, "\x1b\x00") {
			t.Errorf("odd finding %+v", f)
		}
	}
	if d := cmp.Diff(tell(r), tell(stack.ReadOutput(in))); d != "" {
		t.Errorf("differs from time to time: %s", d)
	}
}

func FuzzChecks(f *testing.F) {
	names := family(f, func(x outputparser.OutputFormat) bool {
		return !x.Tests && !x.Go && x.Name != outputparser.Exit && !blamesMachine(x)
	})
	f.Fuzz(func(t *testing.T, i uint8, out, err []byte, exit int) {
		hold(t, outputparser.ToolOutput{Format: names[int(i)%len(names)], Stdout: out, Stderr: err, Exit: exit, Root: "/src"})
	})
}

func FuzzSuites(f *testing.F) {
	names := family(f, func(x outputparser.OutputFormat) bool { return x.Tests && !x.Go && !blamesMachine(x) })
	f.Fuzz(func(t *testing.T, i uint8, out, err []byte, exit int) {
		hold(t, outputparser.ToolOutput{Format: names[int(i)%len(names)], Stdout: out, Stderr: err, Exit: exit, Root: "/src"})
	})
}

func FuzzMachines(f *testing.F) {
	names := family(f, blamesMachine)
	f.Fuzz(func(t *testing.T, i uint8, out, err []byte, exit int) {
		hold(t, outputparser.ToolOutput{Format: names[int(i)%len(names)], Stdout: out, Stderr: err, Exit: exit, Root: "/src"})
	})
}

// FuzzRecognise starts from all samples when it fuzzes or runs at night. By day
// it tries one in eight: other tests parse each of them.
func FuzzRecognise(f *testing.F) {
	all := testenv.RunsNightly() || flag.Lookup("test.fuzz").Value.String() != ""
	for i, r := range recordings(f) {
		if all || i%8 == 0 {
			f.Add(r.in.Format, r.in.Stdout, r.in.Stderr, r.in.Exit)
		}
	}
	for i, s := range samples(f) {
		if all || i%8 == 0 {
			f.Add(s.in.Command, s.in.Stdout, s.in.Stderr, s.in.Exit)
		}
	}
	f.Fuzz(func(t *testing.T, command string, out, err []byte, exit int) {
		in, _ := stack.OutputFormats().DetectFormat(outputparser.ToolOutput{Command: command, Stdout: out, Stderr: err, Exit: exit, Root: "/src"})
		hold(t, in)
		hold(t, outputparser.ToolOutput{Format: outputparser.Exit, Command: command, Stdout: out, Stderr: err, Exit: exit, Root: "/src", Guess: exit == 0})
	})
}

func blamesMachine(x outputparser.OutputFormat) bool {
	return slices.Contains([]string{"junit", "tap", "sarif", "checkstyle-xml", "lcov", "cobertura", "go-cover"}, x.Name)
}

// TestRecordingsAreRecognised holds that each recording is found to be of its
// format by its text alone.
func TestRecordingsAreRecognised(t *testing.T) {
	silent := []string{"cargo-nextest", "cmake-build-ok", "maven-offline", "minitest-unloaded", "mocha-unloaded", "nomodule", "phpstan-config", "phpunit-unloaded", "pnpm-missing", "pytest-conftest", "python-tb", "ruff-crash", "ruff-green", "shell-de", "shell-fr"} // nothing in them is the tool's own
	twin := map[string]string{"cargo-test-nobuild": "cargo", "vitest-json": "jest"}
	for _, r := range recordings(t) {
		name := strings.TrimSuffix(strings.TrimPrefix(r.path, "testdata/said/"), ".txtar")
		if slices.Contains(silent, name) {
			continue
		}
		f := stack.OutputFormats().RecognizeFormat(outputparser.ToolOutput{Stdout: r.in.Stdout, Stderr: r.in.Stderr})
		if f.Name != r.in.Format && f.Name != twin[name] {
			t.Errorf("%s is taken for %q", r.path, f.Name)
		}
	}
}

// TestCutOutputNeverTurnsGreen cuts every recording of a failure anywhere: it
// may be red or unknown, but what is left of it is no pass.
func TestCutOutputNeverTurnsGreen(t *testing.T) {
	for _, r := range recordings(t) {
		if r.in.Exit == 0 {
			continue
		}
		for _, part := range []int{8, 4, 2} {
			in := r.in
			in.Cut = true
			in.Stdout, in.Stderr = cut(in.Stdout, part), cut(in.Stderr, part)
			if got := stack.ReadOutput(in); got.State == nexus.Pass || got.State == nexus.Flaky {
				t.Errorf("%s cut to 1/%d passes: %s", r.path, part, tell(got))
			}
		}
	}
}

func cut(b []byte, part int) []byte {
	n := len(b) / (2 * part)
	return slices.Concat(b[:n], []byte("\n... output was left out ...\n"), b[len(b)-n:])
}

// TestHugeOutput reads many lines before what each tool says.
func TestHugeOutput(t *testing.T) {
	for _, r := range recordings(t) {
		in := r.in
		in.Stdout = slices.Concat(bytes.Repeat([]byte("some line of chatter: 12 passed 3 failed?\n"), 400), in.Stdout)
		if strings.Contains(r.path, "cover") || strings.Contains(r.path, "cobertura") {
			continue // it is a file, and nobody writes into it
		}
		if got := stack.ReadOutput(in); got.Counts != stack.ReadOutput(r.in).Counts {
			t.Errorf("%s: %s", r.path, tell(got))
		}
	}
}

func BenchmarkRead(b *testing.B) {
	for _, r := range recordings(b) {
		switch strings.TrimSuffix(strings.TrimPrefix(r.path, "testdata/said/"), ".txtar") {
		case "tsc", "eslint-json", "gcc", "cargo-build", "pytest", "vitest", "jest", "cargo-test", "pytest-junit", "node-tap", "mypy", "maven-test":
			in := r.in
			in.Stdout = bytes.Repeat(in.Stdout, 1+(256<<10)/max(1, len(in.Stdout)+len(in.Stderr)))
			in.Stderr = bytes.Repeat(in.Stderr, 1+(256<<10)/max(1, len(r.in.Stdout)+len(in.Stderr)))
			b.Run(in.Format, func(b *testing.B) {
				b.SetBytes(int64(len(in.Stdout) + len(in.Stderr)))
				for b.Loop() {
					stack.ReadOutput(in)
				}
			})
		}
	}
}

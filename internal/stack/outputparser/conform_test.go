package outputparser_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
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

// lets reports whether a state lets work pass.
func lets(s nexus.GateState) bool { return s == nexus.Pass || s == nexus.Flaky }

// structured reports whether a stream is meant for machines: nobody colours it,
// and half of it says nothing.
func structured(data []byte) bool {
	data = bytes.TrimSpace(data)
	if machines.Match(data) { // with what else was printed around it
		return true
	}
	return bytes.HasPrefix(data, []byte("{")) || bytes.HasPrefix(data, []byte("[\n")) || bytes.HasPrefix(data, []byte("[{")) || bytes.Equal(data, []byte("[]")) || bytes.HasPrefix(data, []byte("<"))
}

// machines is what a report for machines begins with.
var machines = regexp.MustCompile(`(?m)^(?:<\?xml|<testsuite|\{")`)

func name(r recording) string { return strings.TrimSuffix(filepath.Base(r.path), ".txtar") }

// eachLine writes each line of a stream again.
func eachLine(data []byte, write func(n int, line string) string) []byte {
	var b strings.Builder
	n := 0
	for line := range bytes.Lines(data) {
		b.WriteString(write(n, string(line)))
		n++
	}
	return []byte(b.String())
}

// TestColours paints what is meant for people; it means the same.
func TestColours(t *testing.T) {
	paint := func(n int, line string) string {
		text, end := strings.TrimSuffix(line, "\n"), line[len(strings.TrimSuffix(line, "\n")):]
		if text == "" {
			return line
		}
		first, rest, ok := strings.Cut(text, " ")
		if !ok {
			return "\x1b[38;5;208m" + text + "\x1b[0m\x1b[K" + end
		}
		return "\x1b[1m\x1b[31m" + first + "\x1b[0m \x1b[4m" + rest + "\x1b[24m\x1b[39m\x1b]8;;\x07" + end
	}
	for _, r := range recordings(t) {
		want := tell(stack.ReadOutput(r.in))
		in := r.in
		if !structured(in.Stdout) {
			in.Stdout = eachLine(in.Stdout, paint)
		}
		if !structured(in.Stderr) {
			in.Stderr = eachLine(in.Stderr, paint)
		}
		if d := cmp.Diff(want, tell(stack.ReadOutput(in))); d != "" {
			t.Errorf("%s in colour: %s", name(r), d)
		}
	}
}

// TestOtherLineEnds ends lines as Windows does.
func TestOtherLineEnds(t *testing.T) {
	crlf := func(_ int, line string) string {
		if text, ok := strings.CutSuffix(line, "\n"); ok {
			return text + "\r\n"
		}
		return line
	}
	for _, r := range recordings(t) {
		want := tell(stack.ReadOutput(r.in))
		in := r.in
		in.Stdout, in.Stderr = eachLine(in.Stdout, crlf), eachLine(in.Stderr, crlf)
		if d := cmp.Diff(want, tell(stack.ReadOutput(in))); d != "" {
			t.Errorf("%s with other line ends: %s", name(r), d)
		}
	}
}

// heads are what is before the output of a tool that another one started.
func heads() map[string]string {
	return map[string]string{
		"make":   "make[1]: Entering directory '/src'\nnode_modules/.bin/tool --flag src\n",
		"npm":    "\n> app@1.0.0 check\n> tool --flag src\n\n",
		"yarn":   "yarn run v1.22.22\n$ tool --flag src\n",
		"pnpm":   "\n> app@1.0.0 check /src\n> tool --flag src\n\n",
		"update": "npm notice\nnpm notice New major version of npm available! 10.8.2 -> 11.6.0\nnpm notice\n",
	}
}

// feet are what stands after it. Those of red commands are the runner's own
// word that it failed.
func feet(exit int) map[string]string {
	if exit == 0 {
		return map[string]string{"make": "make[1]: Leaving directory '/src'\n", "yarn": "Done in 0.73s.\n"}
	}
	return map[string]string{
		"make": "make[1]: *** [Makefile:4: check] Error 1\nmake[1]: Leaving directory '/src'\nmake: *** [Makefile:2: all] Error 2\n",
		"npm":  "npm error Lifecycle script `check` failed with error:\nnpm error code 1\nnpm error path /src\nnpm error workspace app@1.0.0\n",
		"yarn": "error Command failed with exit code 1.\ninfo Visit the documentation about this command.\n",
		"pnpm": "\xe2\x80\x89ELIFECYCLE\xe2\x80\x89 Command failed with exit code 1.\n",
	}
}

// gist is what of a report others build on: all but the words of messages.
func gist(r outputparser.ParsedToolOutput) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %+v\n", r.State, r.Counts)
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s:%d:%d %s [%s] %s\n", f.File, f.Line, f.Column, f.Severity, f.Code, f.Test)
	}
	return b.String()
}

// TestHeadsAndFeet puts around each output what a script runner prints.
func TestHeadsAndFeet(t *testing.T) {
	for _, r := range recordings(t) {
		if slices.Contains([]string{"lcov", "cobertura", "go-cover"}, r.in.Format) {
			continue // a file, which nobody prints
		}
		want := stack.ReadOutput(r.in)
		for who, head := range heads() {
			in := r.in
			in.Stdout = slices.Concat([]byte(head), in.Stdout)
			if d := cmp.Diff(gist(want), gist(stack.ReadOutput(in))); d != "" {
				t.Errorf("%s below the head of %s: %s", name(r), who, d)
			}
		}
		for who, foot := range feet(r.in.Exit) {
			in := r.in
			if len(in.Stderr) > 0 || structured(in.Stdout) {
				in.Stderr = slices.Concat(in.Stderr, []byte(foot))
			} else {
				in.Stdout = slices.Concat(bytes.TrimSuffix(in.Stdout, []byte("\n")), []byte("\n"+foot))
			}
			if d := cmp.Diff(gist(want), gist(stack.ReadOutput(in))); d != "" {
				t.Errorf("%s above the foot of %s: %s", name(r), who, d)
			}
		}
	}
}

// isTestFrameLine is what other programs print meanwhile.
func isTestFrameLine(n int) string {
	return []string{
		"npm warn deprecated inflight@1.0.6: This module is not supported\n",
		"[12:00:01] building...\n",
		"Downloading  45% [=====>      ]\r",
		"make[2]: Nothing to be done for 'all'.\n",
		"(node:4242) ExperimentalWarning: localStorage is experimental\n",
		"DEBUG pool: 3 connections\n",
	}[n%6]
}

// TestInterleaved puts lines of others between those of text: what was red
// does not turn green, what was green does not turn red, and no more tests
// are counted than ran.
func TestInterleaved(t *testing.T) {
	for _, r := range recordings(t) {
		base := stack.ReadOutput(r.in)
		for _, every := range []int{1, 2, 3, 7} {
			in := r.in
			mix := func(n int, line string) string {
				if n%every == 0 {
					return isTestFrameLine(n/every) + line
				}
				return line
			}
			if !structured(in.Stdout) {
				in.Stdout = eachLine(in.Stdout, mix)
			}
			if !structured(in.Stderr) {
				in.Stderr = eachLine(in.Stderr, mix)
			}
			got := stack.ReadOutput(in)
			switch {
			case !lets(base.State) && lets(got.State), lets(base.State) && got.State == nexus.Fail:
				t.Errorf("%s with noise every %d lines: %s became %s (%s)", name(r), every, base.State, got.State, got.Why)
			case got.Counts.Passed > base.Counts.Passed || got.Counts.Skipped > base.Counts.Skipped:
				t.Errorf("%s with noise every %d lines: %+v became %+v", name(r), every, base.Counts, got.Counts)
			}
		}
	}
}

// cuts are the places at which an output is cut: ends of lines, and every few
// bytes.
func cuts(data []byte, most int) []int {
	var ends []int
	for i, c := range data {
		if c == '\n' && i+1 < len(data) {
			ends = append(ends, i+1)
		}
	}
	var at []int
	for i := 0; i < len(ends); i += 1 + len(ends)/most {
		at = append(at, ends[i])
	}
	for i := 1; i < len(data); i += 1 + len(data)/most {
		at = append(at, i)
	}
	return at
}

// TestCut ends each output early, as a pipe into head, a killed process or a
// full disk does. A part of a red output never passes: not with its exit code,
// and not with that of a script that forgives everything, once it named a
// fault or wherever it tells of tests. A part counts no more than the whole,
// nor does it blame the machine for it.
func TestCut(t *testing.T) {
	testenv.SkipUnderRaceDetector(t, "nothing in it runs side by side")
	most := 4
	if testenv.RunsNightly() {
		most = 1000
	}
	for _, r := range recordings(t) {
		in := r.in
		for which, data := range map[string]*[]byte{"stdout": &in.Stdout, "stderr": &in.Stderr} {
			whole := *data
			if len(whole) > 0 {
				cutAt(t, name(r)+", "+which, in, data, whole, cuts(whole, most))
			}
			*data = whole
		}
	}
}

func cutAt(t *testing.T, who string, in outputparser.ToolOutput, data *[]byte, whole []byte, at []int) {
	t.Helper()
	sum := func(c nexus.TestCounts) int { return c.Passed + c.Failed + c.Skipped }
	forgiven := func() outputparser.ToolOutput {
		out := in
		out.Exit = 0
		return out
	}
	f, _ := stack.OutputFormats().FindFormat(in.Format)
	base, mild, named := stack.ReadOutput(in), stack.ReadOutput(forgiven()), 0
	for _, n := range at {
		*data = whole[:n:n]
		got, open := stack.ReadOutput(in), stack.ReadOutput(forgiven())
		where := fmt.Sprintf("%s: %d of %d bytes, ending in %q", who, n, len(whole), whole[max(0, n-30):n])
		switch ended := whole[n-1] == '\n'; {
		case lets(got.State) && !lets(base.State):
			t.Errorf("%s: %s became %s", where, base.State, got.State)
		case base.State == nexus.Fail && got.State == nexus.Environmental:
			t.Errorf("%s: %s became %s (%s)", where, base.State, got.State, got.Why)
		case sum(got.Counts) > sum(base.Counts), ended && (got.Counts.Passed > base.Counts.Passed || got.Counts.Skipped > base.Counts.Skipped):
			t.Errorf("%s: %+v became %+v", where, base.Counts, got.Counts)
		case lets(open.State) && !lets(mild.State) && f.Tests:
			t.Errorf("%s, forgiven: %s became %s", where, mild.State, open.State)
		case lets(open.State) && ended && named > 0:
			t.Errorf("%s, forgiven: %s after %d findings were named", where, open.State, named)
		default:
			if ended && !lets(open.State) && !lets(mild.State) {
				named = max(named, len(open.Findings))
			}
			continue
		}
		return
	}
}

// saying is how many lines may say what is wrong, after the one that says where.
const saying = 7

// TestCutKeepsWhatIsWhole holds that a finding is there as soon as its lines
// are, and stays, however the output continues.
func TestCutKeepsWhatIsWhole(t *testing.T) {
	testenv.SkipUnderRaceDetector(t, "nothing in it runs side by side")
	for i, r := range recordings(t) {
		if i%3 != 0 && !testenv.RunsNightly() {
			continue
		}
		in, base := r.in, stack.ReadOutput(r.in)
		data := &in.Stdout
		if len(in.Stdout) == 0 {
			data = &in.Stderr
		}
		whole := *data
		if structured(whole) || len(base.Findings) == 0 || bytes.Count(whole, []byte("\n")) > 300 {
			continue
		}
		place := func(f nexus.Finding) string { return fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column) }
		since := map[string]int{}
		end := 0
		for line := range bytes.Lines(whole) {
			end += len(line)
			*data = whole[:end:end]
			now := map[string]bool{}
			for _, f := range stack.ReadOutput(in).Findings {
				now[place(f)] = true
			}
			for _, f := range base.Findings {
				at := place(f)
				switch {
				case f.Line == 0:
				case now[at] && since[at] == 0:
					since[at] = end
				case !now[at] && since[at] > 0:
					t.Errorf("%s: %s was there after %d bytes, and is not after %d of %d, ending in %q", name(r), at, since[at], end, len(whole), line)
					since[at] = -1
				}
			}
		}
		for _, f := range base.Findings {
			at := since[place(f)]
			if f.Line == 0 || at < 0 || name(r) == "pytest-line" || name(r) == "go-test-v" || strings.HasPrefix(name(r), "nextest") { // where a failure was stands apart from which it was, which comes later
				continue
			}
			if after := filteredTestState(whole, f); at == 0 || at > after && bytes.Count(whole[after:at], []byte("\n")) > saying {
				t.Errorf("%s: %s came after %d bytes, and was told after %d", name(r), place(f), at, after)
			}
		}
		*data = whole
	}
}

// filteredTestState returns the end of the last line that names a finding's place.
func filteredTestState(data []byte, f nexus.Finding) int {
	place := regexp.MustCompile(regexp.QuoteMeta(filepath.Base(f.File)) + `\D{1,9}` + fmt.Sprint(f.Line) + `\b`)
	end, last := 0, len(data)
	for line := range bytes.Lines(data) {
		end += len(line)
		if place.MatchString(parserbase.PlainText(string(line))) {
			last = end
		}
	}
	return last
}

package outputparser_test

import (
	"cmp"
	"crypto/sha256"
	"flag"
	"fmt"
	"hash/crc32"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
)

var (
	half = flag.String("half", "", "score this half alone, and say what is wrong there: dev, held or both")
	set  = flag.String("set", "*", "score these recordings below testdata/held alone: 1, 2, ...")
)

// sample is what a command printed, and what whoever reads it finds there.
type sample struct {
	set    string
	name   string
	in     outputparser.ToolOutput
	state  string // pass, fail, env, notrun, red for any of the last three, - for any
	counts string // passed/failed/skipped, - where the output does not tell
	places []string
}

// inHalf tells the half that was looked at while readers were written from the
// one that was scored alone.
func (s sample) inHalf() string {
	bit := sha256.Sum256([]byte(s.name))[0] & 1
	if s.set == "1" {
		bit = byte(crc32.ChecksumIEEE([]byte(s.name)) & 1)
	}
	return [...]string{"dev", "held"}[bit]
}

// samples reads testdata/held, in which each directory is one set: of each
// command the files NAME/run, NAME/stdout and NAME/stderr. The first has the
// command, its exit code, and what is right.
func samples(tb testing.TB) []sample {
	tb.Helper()
	archives, err := filepath.Glob("testdata/held/" + *set + "/*.txtar")
	if err != nil || len(archives) == 0 {
		tb.Fatalf("%d families of tools: %v", len(archives), err)
	}
	var all []sample
	for _, path := range archives {
		a, err := txtar.ParseFile(path)
		if err != nil {
			tb.Fatal(err)
		}
		for _, f := range a.Files {
			name, part, _ := strings.Cut(f.Name, "/")
			switch part {
			case "run":
				all = append(all, reading(tb, name, strings.Split(string(f.Data), "\n")))
				all[len(all)-1].set = filepath.Base(filepath.Dir(path))
			case "stdout":
				all[len(all)-1].in.Stdout = f.Data
			case "stderr":
				all[len(all)-1].in.Stderr = f.Data
			}
		}
	}
	return all
}

func reading(tb testing.TB, name string, lines []string) sample {
	tb.Helper()
	s := sample{name: name, in: outputparser.ToolOutput{Root: "/src", Command: lines[0]}}
	if _, err := fmt.Sscanf(lines[1], "exit %d", &s.in.Exit); err != nil {
		tb.Fatalf("%s: %v", name, err)
	}
	want := strings.Fields(lines[2])
	s.state, s.counts, s.places = want[0], want[1], want[2:]
	slices.Sort(s.places)
	return s
}

// score adds up how well places, counts and verdicts are read.
type score struct {
	samples, right, extra, lost          int
	counted, countsRight, falsePass, bad int // bad: another verdict than the right one
}

// add adds a report, and says whether all of it is right.
func (s *score) add(t *testing.T, want sample, r outputparser.ParsedToolOutput) bool {
	t.Helper()
	s.samples++
	var have []string
	for _, f := range r.Findings {
		if at := fmt.Sprintf("%s:%d", f.File, f.Line); f.File != "" && !slices.Contains(have, at) {
			have = append(have, at)
		}
	}
	wrong := false
	for _, at := range have {
		if slices.Contains(want.places, at) {
			s.right++
		} else {
			s.extra++
			wrong = true
		}
	}
	for _, at := range want.places {
		if !slices.Contains(have, at) {
			s.lost++
			wrong = true
		}
	}
	counts := fmt.Sprintf("%d/%d/%d", r.Counts.Passed, r.Counts.Failed, r.Counts.Skipped)
	if want.counts != "-" {
		s.counted++
		if counts == want.counts {
			s.countsRight++
		} else {
			wrong = true
		}
	}
	state := cmp.Or(map[nexus.GateState]string{nexus.Environmental: "env", nexus.NotRun: "notrun", nexus.Flaky: "pass"}[r.State], string(r.State))
	if state == "pass" && want.state != "pass" && want.state != "-" {
		s.falsePass++
	}
	if state != want.state && want.state != "-" && (want.state != "red" || state == "pass") {
		s.bad++
		wrong = true
	}
	if wrong && *half != "" {
		t.Logf("%s: want %s %s %v\nhave %s %s %v %s", want.name, want.state, want.counts, want.places, state, counts, have, r.Why)
	}
	return !wrong
}

func (s *score) f1() float64 { return 2 * float64(s.right) / float64(max(1, 2*s.right+s.extra+s.lost)) }

func (s *score) String() string {
	return fmt.Sprintf("%d outputs, F1 over (file, line) %.3f (%d right, %d too many, %d missed), counts right in %d of %d, verdicts in %d, false passes %d",
		s.samples, s.f1(), s.right, s.extra, s.lost, s.countsRight, s.counted, s.samples-s.bad, s.falsePass)
}

// TestHeldOut scores what is read out of commands that do not say which tool
// speaks, as `nexus parse` reads them and as a gate does that knows no format.
// Each was held out once; now each is to be read right but for those that are
// known.
func TestHeldOut(t *testing.T) {
	known := []string{ // what is missed in them
		"knip",                // a file that a list names and no line
		"desktop",             // the same
		"n4-playwright-junit", // the second of two failures of one test
		"g5-subtests-v",       // the directory of a package whose module is not known
		"z6-three-tools",      // a file on standard output whose line is on the other
	}
	readers := map[string]func(sample) outputparser.ParsedToolOutput{
		"parse": func(s sample) outputparser.ParsedToolOutput {
			in, _ := stack.OutputFormats().DetectFormat(s.in)
			return stack.ReadOutput(in)
		},
		"gate": func(s sample) outputparser.ParsedToolOutput {
			s.in.Format, s.in.Tests = outputparser.Exit, s.counts != "-"
			return stack.ReadOutput(s.in)
		},
	}
	for _, how := range []string{"parse", "gate"} {
		var sum score
		for _, s := range samples(t) {
			if *half != "" && *half != "both" && s.inHalf() != *half {
				continue
			}
			if right := sum.add(t, s, readers[how](s)); right == slices.Contains(known, s.name) && *half == "" {
				t.Errorf("%s: that it is read right is %v", s.name, right)
			}
		}
		t.Logf("%s: %s", how, &sum)
		if sum.f1() < 0.97 || sum.falsePass > 0 || sum.countsRight < sum.counted {
			t.Errorf("%s: F1 is to be 0.97, all counts right, and no pass false", how)
		}
	}
}

// TestWorstRunCounts holds that one run that is well hides none that is not,
// whichever comes first, and though the command exits with code 0.
func TestWorstRunCounts(t *testing.T) {
	const (
		well   = " RUN  v4.1.12 /src\n\n Test Files  1 passed (1)\n      Tests  1 passed (1)\n   Duration  1s\n"
		red    = "<testsuites><testsuite name=\"a\" tests=\"1\"><testcase name=\"x\"><failure message=\"no\"/></testcase></testsuite></testsuites>\n"
		green  = "<testsuites><testsuite name=\"a\" tests=\"1\"><testcase name=\"x\"/></testsuite></testsuites>\n"
		fell   = " RUN  v4.1.12 /src\n\n Test Files  1 failed (1)\n      Tests  1 failed (1)\n   Duration  1s\n"
		broken = "error[E0425]: cannot find value `x`\n --> src/a.rs:2:5\nerror: could not compile `a` (lib) due to 1 previous error\n"
		rust   = "running 1 test\ntest b ... ok\n\ntest result: ok. 1 passed; 0 failed; 0 ignored\n"
	)
	for name, out := range map[string]string{"red last": well + red, "red first": red + well, "what did not build": broken + rust, "a green report first": green + fell} {
		in, _ := stack.OutputFormats().DetectFormat(outputparser.ToolOutput{Command: "./test.sh", Stdout: []byte(out), Root: "/src"})
		if r := stack.ReadOutput(in); r.State != nexus.Fail {
			t.Errorf("%s: %s", name, tell(r))
		}
	}
}

package outputparser_test

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
)

// sift gives output to a sieve in pieces.
func sift(format string, most int, out []byte) ([]byte, bool) {
	s := outputparser.NewOutputFilter(format, most)
	for len(out) > 0 {
		n := min(len(out), 1000)
		_, _ = s.Write(out[:n])
		out = out[n:]
	}
	return s.Bytes()
}

func eventLine(action, test, output string) string {
	if output != "" {
		output = fmt.Sprintf(`,"Output":%q`, output)
	}
	if test != "" {
		test = fmt.Sprintf(`,"Test":%q`, test)
	}
	return fmt.Sprintf(`{"Action":%q,"Package":"example.org/m"%s%s}`, action, test, output) + "\n"
}

// suiteOf writes what go test -json says about tests that print much. Some run
// side by side, and some fail or are skipped.
func suiteOf(tests, lines int) []byte {
	var b strings.Builder
	b.WriteString(eventLine("start", "", ""))
	for i := 0; i < tests; i += 2 {
		pair := []string{fmt.Sprintf("Test%d", i), fmt.Sprintf("Test%d", i+1)}
		for _, name := range pair {
			b.WriteString(eventLine("run", name, "") + eventLine("output", name, "=== RUN   "+name+"\n"))
		}
		for range lines {
			for _, name := range pair {
				b.WriteString(eventLine("output", name, name+" says what it does, at length\n"))
			}
		}
		for j, name := range pair {
			how := []string{"pass", "fail", "skip"}[max(0, (i+j)%40-37)]
			if how == "fail" {
				b.WriteString(eventLine("output", name, "    a_test.go:7: it is wrong\n"))
			}
			b.WriteString(eventLine("output", name, "--- "+strings.ToUpper(how)+": "+name+" (0.00s)\n") + eventLine(how, name, ""))
		}
	}
	b.WriteString(eventLine("output", "", "FAIL\n") + eventLine("fail", "", ""))
	return []byte(b.String())
}

// TestSieveOfEvents reads a long stream of go test -json to its end: it means
// the same as all of it.
func TestSieveOfEvents(t *testing.T) {
	all := suiteOf(400, 50)
	kept, cut := sift(outputparser.GoTestJSON, 200_000, all)
	if cut || len(kept) > 400_000 || len(all) < 2_000_000 {
		t.Errorf("kept %d of %d bytes, cut %t", len(kept), len(all), cut)
	}
	in := outputparser.ToolOutput{Format: outputparser.GoTestJSON, Stdout: all, Exit: 1, Tests: true, Root: "/src"}
	want := stack.ReadOutput(in)
	in.Stdout = kept
	if d := cmp.Diff(tell(want), tell(stack.ReadOutput(in))); d != "" || want.Counts.Passed != 380 || want.Counts.Failed != 10 {
		t.Error(want.Counts, d)
	}
}

// TestSieveMeansTheSame sifts the recorded streams through sieves of all sizes.
func TestSieveMeansTheSame(t *testing.T) {
	for _, name := range []string{"test-ok", "test-none", "test-main", "test-gone", "test-deep", "test-goroutine", "test-race", "test-all"} {
		data, err := os.ReadFile("testdata/" + name + ".json")
		if err != nil {
			t.Fatal(err)
		}
		for _, most := range []int{1_000, 2_000, 10_000} {
			kept, cut := sift(outputparser.GoTestJSON, max(most, len(data)/2), data)
			if cut {
				t.Fatalf("%s: cut to %d of %d", name, len(kept), len(data))
			}
			for _, exit := range []int{0, 1} {
				in := outputparser.ToolOutput{Format: outputparser.GoTestJSON, Stdout: data, Exit: exit, Root: "/src", Modules: map[string]string{"example.org/m": "."}}
				want := tell(stack.ReadOutput(in))
				in.Stdout = kept
				if d := cmp.Diff(want, tell(stack.ReadOutput(in))); d != "" {
					t.Errorf("%s through %d: %s", name, most, d)
				}
			}
		}
	}
}

// TestSieveOfText finds a failure in the middle of long output, and the counts
// at its end.
func TestSieveOfText(t *testing.T) {
	var b strings.Builder
	b.WriteString("TAP version 13\n1..2000\n")
	for i := range 2000 {
		fmt.Fprintf(&b, "%sok %d - test %d\n", map[bool]string{true: "not "}[i == 1000], i+1, i)
		b.WriteString(strings.Repeat("# it says what it does, at length\n", 40))
	}
	kept, cut := sift("tap", 1_000_000, []byte(b.String()))
	if !cut || len(kept) > 1_200_000 {
		t.Errorf("kept %d of %d bytes, cut %t", len(kept), b.Len(), cut)
	}
	r := stack.ReadOutput(outputparser.ToolOutput{Format: "tap", Stdout: kept, Exit: 1, Tests: true, Cut: cut})
	if r.State != nexus.Fail || len(r.Findings) != 1 || r.Findings[0].Test != "test 1000" {
		t.Error(tell(r))
	}
}

// TestSieveKeepsWhatIsShort keeps output as it is, and of longer output both
// ends, in bounded memory.
func TestSieveKeepsWhatIsShort(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		format := rapid.SampledFrom([]string{"exit", outputparser.GoTestJSON}).Draw(t, "format")
		most := rapid.IntRange(64, 4_000).Draw(t, "most")
		out := []byte(strings.Join(rapid.SliceOfN(rapid.StringMatching(`[a-z{}" \n]{0,40}\n?`), 0, 300).Draw(t, "out"), ""))
		kept, cut := sift(format, most, out)
		switch {
		case len(out) <= most && (cut || !bytes.Equal(kept, out)):
			t.Fatalf("changed %q to %q", out, kept)
		case len(kept) > 5*most+2_000:
			t.Fatalf("kept %d of %d bytes, most %d", len(kept), len(out), most)
		case cut && (!bytes.HasPrefix(out, kept[:most/8]) || !bytes.HasSuffix(out, kept[len(kept)-most/8:])):
			t.Fatalf("lost an end of %q: %q", out, kept)
		}
	})
}

// TestSieveKeepsAHeadBeforeALongLine keeps the beginning of output whose second
// line is longer than what is kept of it.
func TestSieveKeepsAHeadBeforeALongLine(t *testing.T) {
	out := []byte("it begins\n" + strings.Repeat("x", 900) + "\nit ends\n")
	kept, cut := sift("exit", 400, out)
	if !cut || !bytes.HasPrefix(kept, out[:100]) || !bytes.HasSuffix(kept, []byte("x\nit ends\n")) {
		t.Errorf("kept %q, cut %t", kept, cut)
	}
}

func FuzzSieve(f *testing.F) {
	f.Add(suiteOf(4, 2), 300)
	f.Add([]byte("1..1\nnot ok 1 - x\n"), 5)
	f.Fuzz(func(t *testing.T, out []byte, most int) {
		most = max(64, min(most, 10_000))
		for _, format := range []string{"exit", outputparser.GoTestJSON} {
			if kept, cut := sift(format, most, out); !cut && format == "exit" && !bytes.Equal(kept, out) {
				t.Errorf("changed %q to %q", out, kept)
			}
		}
	})
}

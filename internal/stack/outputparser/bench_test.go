package outputparser_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
)

// BenchmarkLarge reads what tools say about large projects: of each kind of output
// one, about 1 MB long.
func BenchmarkLarge(b *testing.B) {
	for _, c := range []struct {
		name, format   string
		head, one, end string // one has the number of what it tells
	}{
		{"go test -json", "go-test-json", "", `{"Time":"2026-01-01T00:00:00Z","Action":"run","Package":"x.org/m","Test":"Test%[1]d"}` + "\n" +
			`{"Time":"2026-01-01T00:00:00Z","Action":"output","Package":"x.org/m","Test":"Test%[1]d","Output":"--- PASS: Test%[1]d (0.00s)\n"}` + "\n" +
			`{"Time":"2026-01-01T00:00:00Z","Action":"pass","Package":"x.org/m","Test":"Test%[1]d","Elapsed":0}` + "\n", `{"Action":"pass","Package":"x.org/m","Elapsed":1}` + "\n"},
		{"pytest", "pytest", "===== test session starts =====\n", "tests/test_%d.py::test_it PASSED\n", "===== 20000 passed in 3.00s =====\n"},
		{"tsc", "tsc", "", "src/a%d.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'.\n", ""},
		{"JUnit", "junit", "<testsuites>", `<testsuite name="s%[1]d" tests="1"><testcase classname="c" name="n%[1]d" time="0.1"/></testsuite>` + "\n", "</testsuites>"},
		{"TAP", "tap", "TAP version 13\n", "ok %d - does what it should\n", ""},
		{"anything", "exit", "", "step %d is done, and nothing is wrong with it\n", ""},
	} {
		var text bytes.Buffer
		text.WriteString(c.head)
		for n := 1; text.Len() < 1<<20; n++ {
			fmt.Fprintf(&text, c.one, n)
		}
		text.WriteString(c.end)
		b.Run(strings.ReplaceAll(c.name, " ", "_"), func(b *testing.B) {
			b.SetBytes(int64(text.Len()))
			b.ReportAllocs()
			for b.Loop() {
				stack.ReadOutput(outputparser.ToolOutput{Format: c.format, Stdout: text.Bytes(), Tests: c.format == "exit"})
			}
		})
	}
	small := []byte("everything is fine\n")
	b.Run("a_line_of_nobody", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			stack.ReadOutput(outputparser.ToolOutput{Format: outputparser.Exit, Stdout: small})
		}
	})
}

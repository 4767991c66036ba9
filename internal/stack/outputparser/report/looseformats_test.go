package report_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/report"
)

// TestSuppressed holds that what somebody suppressed in the code is no finding: ESLint lists it with the others.
func TestSuppressed(t *testing.T) {
	const other = `{"ruleId":"no-var","severity":2,"message":"No var.","line":1,"column":2}`
	for text, want := range map[string]int{
		`[{"filePath":"/src/a.js","messages":[],"suppressedMessages":[` + other + `]}]`:              0,
		`[{"filePath":"/src/a.js","messages":[` + other + `],"suppressedMessages":[` + other + `]}]`: 1,
	} {
		r := report.ReadLooseJSON(parserbase.ToolOutput{Stdout: []byte(text), Root: "/src"})
		if len(r.Findings) != want || want == 0 && r.State != nexus.Pass {
			t.Errorf("%s: %s, %+v", text, r.State, r.Findings)
		}
	}
}

package runreport_test

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/view/hostiletest"
	"github.com/nexus-ai-builder/nexus/internal/view/runreport"
)

// TestNoReportIsObeyed writes a report in every shape with hostile text in every
// field.
func TestNoReportIsObeyed(t *testing.T) {
	var r runreport.Report
	hostiletest.FillFields(&r, hostiletest.HostileText())
	csv, err := runreport.CSVReport(r)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"html": runreport.HTMLReport(r), "markdown": runreport.MarkdownReport(r), "pull": runreport.PullRequestText(r, runreport.PullLimit), "csv": csv, "state": runreport.StateMarkdown(r, ""),
	} {
		if bad := hostiletest.ObeyedPart(text); bad != "" {
			t.Errorf("%s: %q", name, bad)
		}
		if name != "csv" && strings.Contains(text, "<script>alert") {
			t.Errorf("%s has the markup of a text", name)
		}
	}
}

package runreport_test

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/face/view/hostiletest"
	"github.com/nexus-ai-builder/nexus/internal/face/view/runreport"
)

// TestNoReportIsObeyed writes a report in every shape with hostile text in every
// field.
func TestNoReportIsObeyed(t *testing.T) {
	var r runreport.Report
	hostiletest.Fill(&r, hostiletest.Text())
	csv, err := runreport.CSV(r)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"html": runreport.HTML(r), "markdown": runreport.Markdown(r), "pull": runreport.PullRequestText(r, runreport.PullLimit), "csv": csv, "state": runreport.StateMarkdown(r, ""),
	} {
		if bad := hostiletest.Obeyed(text); bad != "" {
			t.Errorf("%s: %q", name, bad)
		}
		if name != "csv" && strings.Contains(text, "<script>alert") {
			t.Errorf("%s has the markup of a text", name)
		}
	}
}

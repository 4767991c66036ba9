package metrics_test

import (
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/history"
	"github.com/nexus-ai-builder/nexus/internal/face/metrics"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// metricSample is of two runs, one of which goes on.
func metricSample() metrics.MetricsInput {
	return metrics.MetricsInput{
		Version: "v1.2.3",
		Past: []history.RunRecord{
			{ID: "a", Status: nexus.StatusDone, Money: 2_500_000_000, Tasks: []history.TaskRecord{{ID: "T1", Status: nexus.Landed}}},
			{ID: "b", Status: nexus.StatusExecuting, Money: 10_000_000, Tasks: []history.TaskRecord{{ID: "T1", Status: nexus.Parked}}},
		},
		Going: []view.RepositoryRun{{Repository: "/home/ann/my \"repo\"\\x", Run: view.Run{
			ID: "b\n# TYPE evil counter\u202e", Status: nexus.StatusExecuting, Seconds: 12.5, Counts: view.Counts{Total: 1, Parked: 1},
			Money: view.Money{Spent: 10_000_000, Limit: 5_000_000_000}, Usage: nexus.Usage{Input: 100, Output: 7, CacheRead: 40},
			Waiting: 1,
		}}},
	}
}

// TestGolden compares the text with what somebody has read; the module
// internal/oracle parses the same file with the library of Prometheus.
func TestGolden(t *testing.T) {
	got := metrics.FormatMetrics(metricSample())
	if *update {
		if err := os.WriteFile("testdata/metrics.prom", []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/metrics.prom")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if strings.Contains(got, "\n# TYPE evil") || strings.Contains(got, "\u202e") {
		t.Error("a label breaks out of its line")
	}
}

// TestNothing: a machine without runs has figures, too.
func TestNothing(t *testing.T) {
	got := metrics.FormatMetrics(metrics.MetricsInput{})
	if !strings.Contains(got, "\nnexus_spent_usd_total 0\n") || !strings.Contains(got, `nexus_build_info{version="unknown"} 1`) {
		t.Error(got)
	}
}

package metrics_test

import (
	"flag"
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/runhistory"
	"github.com/nexus-ai-builder/nexus/internal/face/metrics"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

var update = flag.Bool("update", false, "rewrite the golden file")

// metricSample is of two runs, one of which goes on.
func metricSample() metrics.MetricsInput {
	return metrics.MetricsInput{
		Version: "v1.2.3",
		Past: []runhistory.RunRecord{
			{ID: "a", Status: nexus.StatusDone, Money: 2_500_000_000, Tasks: []runhistory.TaskRecord{{ID: "T1", Status: nexus.Landed}}},
			{ID: "b", Status: nexus.StatusExecuting, Money: 10_000_000, Tasks: []runhistory.TaskRecord{{ID: "T1", Status: nexus.Parked}}},
		},
		Going: []view.UnfinishedRunRow{{Repository: "/home/ann/my \"repo\"\\x", RunView: view.RunView{
			ID: "b\n# TYPE evil counter\u202e", Status: nexus.StatusExecuting, Seconds: 12.5, Counts: view.TaskCounts{Total: 1, Parked: 1},
			Money: view.RunMoney{Spent: 10_000_000, Limit: 5_000_000_000}, Usage: nexus.Usage{Input: 100, Output: 7, CacheRead: 40},
			Waiting: 1,
		}}},
	}
}

func format(t *testing.T, o metrics.MetricsInput) string {
	t.Helper()
	text, err := metrics.FormatMetrics(o)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestGolden compares the text with what somebody has read.
func TestGolden(t *testing.T) {
	got := format(t, metricSample())
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
	got := format(t, metrics.MetricsInput{})
	if !strings.Contains(got, "\nnexus_spent_usd_total 0\n") || !strings.Contains(got, `nexus_build_info{version="unknown"} 1`) {
		t.Error(got)
	}
}

// TestSameLabels: runs that cannot be told apart by their labels do not make the others
// unreadable, and a label is no longer than a dashboard can draw.
func TestSameLabels(t *testing.T) {
	o := metricSample()
	o.Going = append(o.Going, o.Going[0], o.Going[0])
	o.Going[2].ID = nexus.RunID(strings.Repeat("\u00e4\xff", 200))
	got := format(t, o)
	for _, family := range []string{"nexus_run_seconds{", "nexus_waiting_for_people{"} {
		if n := strings.Count(got, "\n"+family); n != 2 {
			t.Errorf("%d samples of %s", n, family)
		}
	}
	if n := strings.Count(got, "\u00e4"); !utf8.ValidString(got) || n != 64*18 {
		t.Errorf("%d characters of a label, valid: %v", n, utf8.ValidString(got))
	}
}

package runscmd

import (
	"encoding/csv"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/decide/runhistory"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
)

// TestCellsAreNoFormulas: a name that a spreadsheet would run begins with a quote.
func TestCellsAreNoFormulas(t *testing.T) {
	f := runhistory.SummarizeRuns(nil)
	for _, name := range []string{"=HYPERLINK(\"x\")", "+1", "-1", "@SUM(A1)", "\t=1", "a,b\"c", "plain"} {
		f.ByModel = append(f.ByModel, runhistory.TaskGroupStatistics{Name: name})
	}
	text, err := groupsCSV(f, []string{"model"})
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(rows) != 9 {
		t.Fatal(len(rows), err)
	}
	for i, want := range []string{"'=HYPERLINK(\"x\")", "'+1", "'-1", "'@SUM(A1)"} {
		if got := rows[2+i][1]; got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	if got := rows[6][1]; strings.ContainsAny(got[:1], "=+-@\t\r") {
		t.Errorf("%q", got)
	}
	if rows[7][1] != "a,b\"c" || rows[8][1] != "plain" {
		t.Error(rows[7:])
	}
}

// TestNothingLanded: what costs money and lands nothing has no price for each landed task.
func TestNothingLanded(t *testing.T) {
	f := runhistory.RunHistoryStatistics{Runs: 1, Of: runhistory.TaskGroupStatistics{Tasks: 2, Failed: 2, Money: nexus.Dollar}, Money: nexus.Dollar}
	f.ByModel = []runhistory.TaskGroupStatistics{{Name: "m", Tasks: 2, Failed: 2, Money: nexus.Dollar}}
	if text := drawHistory(view.OutputStyle{Plain: true}, f, []string{"model"}, false); strings.Contains(text, "landed task") || !strings.Contains(text, "0 parked, $1.00") {
		t.Error(text)
	}
	text, err := groupsCSV(f, []string{"model"})
	if err != nil || !strings.Contains(text, ",1.000000,,0") {
		t.Error(text, err)
	}
	f.Of.Landed, f.Of.PerLanded = 2, nexus.Dollar/2
	if text := drawHistory(view.OutputStyle{Plain: true}, f, nil, true); !strings.Contains(text, "$1.00, $0.50 for each landed task") {
		t.Error(text)
	}
}

func TestWhen(t *testing.T) {
	now := time.Date(2026, 5, 31, 12, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"": {}, "36h": now.Add(-36 * time.Hour), "7d": now.AddDate(0, 0, -7), "2w": now.AddDate(0, 0, -14),
		"2026-05-01": time.Date(2026, 5, 1, 0, 0, 0, 0, time.UTC),
	} {
		if got, err := parsePeriodStart(text, now); err != nil || !got.Equal(want) {
			t.Errorf("%q: %s, %v", text, got, err)
		}
	}
	for _, text := range []string{"d", "-1d", "0d", "yesterday", "99999999d", "-5h", "2026-13-01"} {
		if _, err := parsePeriodStart(text, now); err == nil {
			t.Errorf("%q is taken for a time", text)
		}
	}
}

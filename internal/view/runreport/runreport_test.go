package runreport_test

import (
	"encoding/csv"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view"
	"github.com/nexus-ai-builder/nexus/internal/view/projection"
	"github.com/nexus-ai-builder/nexus/internal/view/runquality"
	"github.com/nexus-ai-builder/nexus/internal/view/runreport"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func start() time.Time { return time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC) }

// report is of a run in which two tasks landed, one waits, and one has not begun.
func report() runreport.Report {
	at := func(s int) time.Time { return start().Add(time.Duration(s) * time.Second) }
	cents := func(n nexus.Money) nexus.Money { return n * 10_000_000 }
	return runreport.Report{
		RunQuality: runquality.RunQuality{
			Run: "260504-100000-abc", Goal: "Print sizes and durations", Status: nexus.StatusPartial, Why: "1 task waits for a person",
			Commit:  "1111111111222222222233333333334444444444",
			Metrics: runquality.RunMetrics{Tasks: 4, Begun: 3, Landed: 2, Parked: 1},
			Gates:   []runquality.GateAttemptStatistics{{Name: "test", Judged: 5, Red: 2, Seconds: 21}},
			Tasks:   []runquality.TaskQuality{{ID: "T1", Title: "Read sizes", Status: nexus.Landed}},
		},
		Branch: "nexus/260504-100000-abc", Delivered: "2 tasks published", Started: at(0), Ended: at(600), Now: at(700),
		Landed: []runreport.LandedTask{{
			ID: "T1", Title: "Read sizes", Commit: "1111111111222222222233333333334444444444", Tree: "aaaaaaaaaabbbbbbbbbbccccccccccdddddddddd",
			Gates: []accept.NoteGateResult{
				{Gate: "build", State: nexus.Pass, Command: "go build ./..."},
				{Gate: "test", State: nexus.Pass, Command: "go test ./...", Counts: &nexus.TestCounts{Passed: 9}},
				{Gate: "lint", State: nexus.NotRun, Why: "nothing is configured"},
			},
			Review: &accept.EvidenceNoteReview{Reviewed: true, Approved: true, Findings: 1},
			Criteria: []runreport.ReportCriterion{
				{ID: "T1/AC-1", Text: "1536 is 1.5 KiB", State: accept.Met, Evidence: "go test ./...: pass"},
				{ID: "T1/AC-2", Text: "It is fast", State: accept.Unknown},
			},
			Attempts: 1, Rounds: 2, Seconds: 90.5, Spent: cents(42),
		}},
		Left: []runreport.UnlandedTask{
			{
				ID: "T2", Title: "Read durations", Status: nexus.Parked, Why: "the same test failed three times", Attempts: 3, Rounds: 5, Spent: cents(90),
				Findings: []nexus.Finding{{Gate: "test", File: "age_test.go", Line: 12, Message: "got 1h, want 1 hour", Test: "TestAge"}},
			},
			{ID: "T3", Title: "Describe both", Status: nexus.Blocked, Why: "needs T2"},
			{ID: "T4", Title: "=1+1", Status: nexus.Pending},
		},
		LookAt: []runreport.AttentionPoint{
			{Task: "T2", Kind: "question", Text: "q1 waits for an answer: Is 90m one hour?"},
			{Task: "T1", Kind: "criterion", Text: "T1/AC-2 is unknown: It is fast"},
		},
		Money: runreport.ReportCost{
			Spent: cents(132), Limit: cents(500), Wasted: cents(60), Low: cents(80), Likely: cents(110), High: cents(200), Estimated: 4,
			Models: []view.CostShare{{Name: "maker/model", Money: cents(132)}},
		},
		Time:    runreport.RunDuration{Worked: 600, Likely: 900, People: 120, Agents: 300, Gates: 80, Review: 20, Landing: 10, Quota: 30},
		Decided: []runreport.RunDecision{{Task: "T1", Text: "q0: Which unit? -> KiB", By: "ann"}},
		Graph: projection.PlanGraph{Layers: 2, Nodes: []projection.PlanGraphNode{
			{ID: "T1", Title: "Read sizes", Lane: projection.LaneDone},
			{ID: "T2", Title: "Read durations", Lane: projection.LaneStopped, Row: 1, Critical: true},
			{ID: "T3", Title: "Describe both", Lane: projection.LaneBlocked, Layer: 1, Critical: true},
		}, Edges: []projection.PlanGraphEdge{{From: "T2", To: "T3", Kind: "needs", Critical: true}}},
		Timeline: projection.RunTimeline{From: at(0), To: at(600), Rows: []projection.TimelineRow{
			{Task: "T1", Attempt: "T1.1", Label: "T1.1", Spans: []projection.TimelineSpan{{Stage: "work", From: at(10), To: at(100)}}},
			{Task: "T2", Attempt: "T2.1", Label: "T2.1", Spans: []projection.TimelineSpan{{Stage: "person", From: at(100), To: at(220)}}},
		}},
	}
}

// own is a file about where the work stands in which somebody wrote.
const own = `# State

## Position

old

## Notes of Ann

keep this

` + "```" + `
## Position
not a heading
` + "```" + `

## Next

old, too
`

// TestGolden compares each shape with what somebody has read.
func TestGolden(t *testing.T) {
	r := report()
	table, err := runreport.CSVReport(r)
	if err != nil {
		t.Fatal(err)
	}
	for name, got := range map[string]string{
		"report.html": runreport.HTMLReport(r), "report.md": runreport.MarkdownReport(r), "pull.md": runreport.PullRequestText(r, runreport.PullLimit),
		"report.csv": table, "state.md": runreport.StateMarkdown(r, own),
		"terminal.txt": view.DrawMarkdown(view.OutputStyle{Width: 80}, runreport.MarkdownReport(r)),
	} {
		file := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestStandingStays writes the file again: nothing of what people wrote is lost or
// doubled.
func TestStandingStays(t *testing.T) {
	once := runreport.StateMarkdown(report(), own)
	if twice := runreport.StateMarkdown(report(), once); twice != once {
		t.Error(cmp.Diff(once, twice))
	}
	if n := strings.Count(once, "keep this"); n != 1 {
		t.Errorf("what Ann wrote is there %d times", n)
	}
	if strings.Contains(once, "old") {
		t.Error("what Nexus wrote before is there still")
	}
	if text := runreport.StateMarkdown(report(), "My own words\n\nmore\n"); !strings.Contains(text, "My own words\n\nmore\n") {
		t.Error("a file of somebody else lost its text")
	}
}

// everywhere returns the report with something added to each text of it.
func everywhere(t *testing.T, add string) runreport.Report {
	t.Helper()
	r, err := report().MaskTexts(func(s string) string {
		if _, err := time.Parse(time.RFC3339Nano, s); err == nil {
			return s
		}
		return s + add
	})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestMasked: a key is in no shape of a report, wherever it stood.
func TestMasked(t *testing.T) {
	r, err := everywhere(t, ` qq7<"&'key`).MaskTexts(func(s string) string { return strings.ReplaceAll(s, `qq7<"&'key`, "[masked]") })
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range shapes(t, r) {
		if !strings.Contains(text, "masked") || strings.Contains(text, "qq7") {
			t.Errorf("a key is left in %.300s", text)
		}
	}
}

func shapes(t *testing.T, r runreport.Report) []string {
	t.Helper()
	table, err := runreport.CSVReport(r)
	if err != nil {
		t.Fatal(err)
	}
	return []string{runreport.HTMLReport(r), runreport.MarkdownReport(r), runreport.PullRequestText(r, runreport.PullLimit), table, runreport.StateMarkdown(r, "")}
}

// TestHostile: no text of anybody becomes markup, a link, a call or a formula.
func TestHostile(t *testing.T) {
	r := everywhere(t, "\x1b[2J</style><script>alert(1)</script>\"' onload=x <img src=http://x>\u202e @everyone #12 $x$ [a](javascript:x)`"+
		strings.Repeat("long ", 5000))
	page := runreport.HTMLReport(r)
	tags := regexp.MustCompile(`<([a-zA-Z/!][a-zA-Z0-9]*)([^>]*)>`)
	known := strings.Fields("!doctype html head meta title style body header main section article footer p h1 h2 h3 span b a ul li dl div dt dd details summary " +
		"table thead tbody tr th td code small time svg desc defs marker pattern path rect circle text g")
	for _, m := range tags.FindAllStringSubmatch(page, -1) {
		if name := strings.TrimPrefix(m[1], "/"); !slices.Contains(known, name) || regexp.MustCompile(`\son[a-z]+=[^&]`).MatchString(m[2]) {
			t.Errorf("the page has %.100s", m[0])
		}
	}
	for _, text := range shapes(t, r) {
		if strings.ContainsAny(text, "\x1b\u202e") {
			t.Error("a control character is left")
		}
	}
	for _, text := range []string{runreport.MarkdownReport(r), runreport.PullRequestText(r, runreport.PullLimit), runreport.StateMarkdown(r, "")} {
		for _, bad := range []string{"<script", "<img", "http://", "@everyone", " #12", "[a]("} {
			if at := strings.Index(text, bad); at >= 0 && (bad != "[a](" || text[at-1] != '\\') {
				t.Errorf("%q is left in ...%.80s", bad, text[max(0, at-40):])
			}
		}
	}
}

// TestFormulas: RFC 4180, and no cell that a spreadsheet runs.
func TestFormulas(t *testing.T) {
	text, err := runreport.CSVReport(report())
	if err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(strings.NewReader(text)).ReadAll()
	if err != nil || len(rows) != 5 || rows[4][2] != "'=1+1" {
		t.Errorf("%v %q", err, rows)
	}
	if strings.Count(text, "\r\n") != strings.Count(text, "\n") {
		t.Error("a line does not end as RFC 4180 wants")
	}
}

// TestPullFits writes 3,000 tasks with long texts: what matters first is there, the
// text fits, all that is unfolded is folded again, and it says what is cut.
func TestPullFits(t *testing.T) {
	r := report()
	for i := range 3000 {
		l := r.Landed[0]
		l.ID, l.Title = nexus.TaskID(fmt.Sprintf("L%d", i)), strings.Repeat("\u00fc<", 300)
		r.Landed = append(r.Landed, l)
	}
	text := runreport.PullRequestText(r, runreport.PullLimit)
	if n := len(text); n > runreport.PullLimit || n < runreport.PullLimit/2 {
		t.Errorf("%d bytes", n)
	}
	if strings.Count(text, "<details>") != strings.Count(text, "</details>") {
		t.Error("something is not folded again")
	}
	if !regexp.MustCompile(`\n[\d,]+ lines are cut to fit into 65,536 characters; nexus status --report .* has all of it\.\n$`).MatchString(text) {
		t.Errorf("nothing is said of what is cut: %s", text[len(text)-200:])
	}
	if small := runreport.PullRequestText(report(), runreport.PullLimit); strings.Contains(small, "cut to fit") {
		t.Error("a small report is cut")
	}
}

package local

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/run"
)

// TestRecallChecksWhatWasKept takes what is in the file for an answer, and a
// broken one for none.
func TestRecallChecksWhatWasKept(t *testing.T) {
	file := filepath.Join(t.TempDir(), "kept.json")
	ids := []nexus.TaskID{"T1"}
	if _, ok := readCachedRatings("", ids); ok {
		t.Error("nothing is kept nowhere")
	}
	if _, ok := readCachedRatings(file, ids); ok {
		t.Error("a file that is not there is an answer")
	}
	for text, good := range map[string]bool{
		`{"routes":[{"task":"T1","complexity":"complex","why":"hard"}]}`: true,
		`{"routes":[{"task":"T1","complexity":"huge","why":"hard"}]}`:    false,
		`{"routes":[{"task":"T1","comp`:                                  false, "": false, "{}": false, "[]": false,
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		routes, ok := readCachedRatings(file, ids)
		if ok != good || good && (len(routes) != 1 || routes[0].Complexity != nexus.Complex) {
			t.Errorf("%q: %+v, %t", text, routes, ok)
		}
	}
}

// TestTasksText shows a router the tasks that it is asked about, and no others.
func TestTasksText(t *testing.T) {
	tasks := []nexus.Task{
		{ID: "T1", Title: "One", Brief: "Do it.", Files: []string{"a.go", "b.go"}, Criteria: []nexus.Criterion{{Text: "it is done"}, {Text: "it is fast"}}},
		{ID: "T2", Title: "Two"},
		{ID: "T3", Title: "Three"},
	}
	want := "Conversation: s\n\nThe tasks:\n\nT1: One\nDo it.\nFiles: a.go, b.go\n- it is done\n- it is fast\n\nT3: Three\n"
	if got := tasksForRouter("s", tasks, []nexus.TaskID{"T1", "T3"}); got != want {
		t.Errorf("%q", got)
	}
}

// TestStops tells errors that concern more than one question from those that are
// only no answer to it.
func TestStops(t *testing.T) {
	for err, want := range map[error]bool{
		errors.New("odd"): false, &nexus.Error{Code: nexus.CodeInvalidInput}: false, &nexus.Error{Code: nexus.CodeBudget}: true, run.ErrInterrupted: true, errJudging: false,
	} {
		if endsPlanning(err) != want {
			t.Errorf("%v: stops is not %v", err, want)
		}
	}
}

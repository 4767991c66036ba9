package escalationreport_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/jsonschema-go/jsonschema"

	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/decide/state/eventtapetest"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/view/escalationreport"
)

var update = flag.Bool("update", false, "rewrite the table")

// TestTable holds what people are told first, by how a task was left, to the
// table: it is met on the tapes of the scheduler, whose every way for a task
// to be left has a row, each report there fits its schema, and those at the
// end of each tape are whole.
func TestTable(t *testing.T) {
	var schema jsonschema.Schema
	if err := json.Unmarshal(escalationreport.Schema, &schema); err != nil {
		t.Fatal(err)
	}
	resolved, err := schema.Resolve(nil)
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("../../decide/schedule/testdata/*.tape")
	if err != nil || len(files) < 30 {
		t.Fatal(err, files)
	}
	rows, reports := map[string]bool{}, ""
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		s := state.NewState("r")
		for line := range strings.Lines(string(text)) {
			line = strings.TrimPrefix(strings.TrimSpace(line), "> ")
			if line == "" || strings.ContainsAny(line[:1], "#?") || strings.HasPrefix(line, "wake ") {
				continue
			}
			f, err := eventtapetest.ParseFact(line)
			if err != nil {
				t.Fatalf("%s: %s: %v", file, line, err)
			}
			if err := s.Apply(nexus.Event{Seq: s.Seq + 1, Run: "r", At: eventtapetest.TapeStartTime().Add(time.Duration(s.Seq) * time.Second), Fact: f}); err != nil {
				t.Fatalf("%s: %s: %v", file, line, err)
			}
			for _, task := range s.Tasks {
				r := escalationreport.EscalationReportFor(s, task)
				if r == nil {
					continue
				}
				data, _ := json.Marshal(r)
				var report map[string]any
				if err := json.Unmarshal(data, &report); err != nil {
					t.Fatal(err)
				}
				if err := resolved.Validate(report); err != nil {
					t.Errorf("%s: %s: %v", file, task.ID, err)
				}
				rows[row(task, r)] = true
			}
		}
		for _, task := range s.Tasks {
			if r := escalationreport.EscalationReportFor(s, task); r != nil && !strings.HasPrefix(filepath.Base(file), "ends-") { // those are all alike
				reports += fmt.Sprintf("# %s\n%s\n", filepath.Base(file), r.FormatText())
			}
		}
	}
	got := "# What people are told first of a task that was left, by how it was left.\n" + strings.Join(slices.Sorted(maps.Keys(rows)), "\n") + "\n"
	for file, got := range map[string]string{"testdata/table.golden": got, "testdata/reports.golden": reports} {
		if *update {
			if err := os.WriteFile(file, []byte(got), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(strings.Split(string(want), "\n"), strings.Split(got, "\n")); diff != "" {
			t.Errorf("%s: -want +met on a tape\n%s", file, diff)
		}
	}
}

// row names how a task was left, and what is said about it first.
func row(task *state.TaskState, r *escalationreport.EscalationReport) string {
	how := "before any attempt"
	switch a := task.CurrentAttempt(); {
	case task.OverCap != nil:
		how = "over its budget"
	case task.Replan != nil:
		how = "to be planned anew"
	case a != nil && a.Broken:
		how = "the machinery failed"
	case a != nil && a.Outcome != nexus.Conflicted && a.Refusals > 0:
		how = "refused by the train"
	case a != nil && a.Outcome == "":
		how = "cut off"
	case a != nil:
		how = strings.TrimSuffix(fmt.Sprintf("%s/%s", a.Outcome, a.Category), "/")
	}
	return fmt.Sprintf("%s, %s: %s", task.Status, how, strings.ReplaceAll(r.Suggestions[0], string(task.ID), "TASK"))
}

package forbiddenphrases

import (
	"slices"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestSaid holds that goals.deny reads every text of a task.
func TestSaid(t *testing.T) {
	for where, task := range map[string]nexus.Task{
		"title":      {Title: "Drop the users table"},
		"brief":      {Brief: "drop the users table"},
		"title on":   {Title: "Drop", Brief: "the table"},
		"group":      {Group: "Drop the table"},
		"reason":     {Reason: "we drop the table"},
		"tags":       {Tags: []string{"drop", "table"}},
		"files":      {Files: []string{"drop/table.sql"}},
		"keep":       {Keep: []string{"drop/table.sql"}},
		"criterion":  {Criteria: []nexus.Criterion{{Text: "It builds"}, {Text: "Agents drop the table"}}},
		"criteria":   {Criteria: []nexus.Criterion{{Text: "Drop:"}, {Text: "the table"}}},
		"check":      {Criteria: []nexus.Criterion{{Text: "It builds", Check: "psql -c 'DROP TABLE users'"}}},
		"old check":  {Criteria: []nexus.Criterion{{Text: "It builds", Was: "psql -c 'DROP TABLE users'"}}},
		"identifier": {ID: "drop-table"},
	} {
		if !slices.ContainsFunc(taskTexts(task), func(text string) bool { return findPhrase(text, []string{"drop * table"}) != "" }) {
			t.Errorf("%s: not found", where)
		}
	}
}

package foreign_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/plan/foreign"
)

// seeds adds the files of testdata.
func seeds(f *testing.F, pattern string) {
	f.Helper()
	names, err := filepath.Glob(filepath.Join("testdata", pattern))
	if err != nil || len(names) == 0 {
		f.Fatal(names, err)
	}
	for _, name := range names {
		a, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		for _, file := range a.Files {
			if file.Name != "want" {
				f.Add(file.Data)
			}
		}
	}
}

// reads reads what may be anything. A plan that comes of it is fit for
// everything but its sizes, its checks, its files and its circles; an error
// names the file and what to do.
func reads(t *testing.T, name string, data []byte, formats ...foreign.PlanFormat) {
	t.Helper()
	s := foreign.NewFileSource(name, data)
	if _, _, err := foreign.RecogniseFormat(s); err != nil && (json.Valid(bytes.TrimPrefix(data, []byte("\ufeff"))) || !strings.Contains(err.Error(), name)) {
		t.Fatal(err)
	}
	for _, f := range formats {
		read, err := foreign.ReadPlan(t.Context(), s, f, "", nexus.TaskSizeLimits{})
		if err != nil {
			if e, ok := errors.AsType[*nexus.Error](err); !ok || !strings.Contains(e.Message, name) || e.Hint == "" {
				t.Errorf("%s: %v", f, err)
			}
			continue
		}
		lines := 1 + strings.Count(string(data), "\n")
		for _, r := range read.Remarks {
			if r.What == "" || r.Line < 0 || r.File == name && r.Line > lines {
				t.Errorf("%s: %+v of %d lines", f, r, lines)
			}
		}
		ids := map[nexus.TaskID]bool{}
		for _, k := range read.Plan.Tasks {
			ids[k.ID] = true
		}
		for _, k := range read.Plan.Tasks {
			if !regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]{0,31}$`).MatchString(string(k.ID)) || k.Title == "" ||
				len([]rune(k.Title)) > 120 || len(k.Criteria) == 0 {
				t.Errorf("%s: %+v", f, k)
			}
			for _, id := range k.Needs {
				if !ids[id] || id == k.ID {
					t.Errorf("%s: %s needs %s", f, k.ID, id)
				}
			}
		}
		if len(ids) != len(read.Plan.Tasks) || len(ids) == 0 {
			t.Errorf("%s: %d ids of %d tasks", f, len(ids), len(read.Plan.Tasks))
		}
		if err := read.Check(nexus.TaskSizeLimits{}); err != nil && !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v", f, err)
		}
	}
}

func FuzzJSON(f *testing.F) {
	for _, pattern := range []string{"prd-*.txtar", "ralph*.txtar", "nax*.txtar", "taskmaster*.txtar", "polka*.txtar"} {
		seeds(f, pattern)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		reads(t, "fuzzed.json", data, foreign.Nax, foreign.Ralph, foreign.TaskMaster, foreign.Polka)
	})
}

func FuzzMarkdown(f *testing.F) {
	for _, pattern := range []string{"spec-kit*.txtar", "stories*.txtar", "goal.txtar", "polka-folder.txtar"} {
		seeds(f, pattern)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		reads(t, "fuzzed.md", data, foreign.SpecKit, foreign.Stories, foreign.Polka)
	})
}

package worker_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/memoryentry"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
	"github.com/nexus-ai-builder/nexus/internal/work/worker/workertest"
)

// TestMemoryIsPeoples refuses a change to the memory before any gate runs, and
// lets one through that finds files there and leaves them alone.
func TestMemoryIsPeoples(t *testing.T) {
	s, base, _ := workertest.NewTestWorker(t)
	with, _ := workertest.CommitFiles(t, s, "T1.1", base, map[string]string{memoryentry.Dir + "/a.md": "by a person\n"})
	type files = map[string]string
	for name, c := range map[string]struct {
		from  string
		files files
		edit  func(dir string) error
		red   bool
	}{
		"written":    {base, files{memoryentry.Dir + "/a.md": "by an agent\n"}, nil, true},
		"changed":    {with, files{memoryentry.Dir + "/a.md": "by an agent\n"}, nil, true},
		"left alone": {with, files{"b.txt": "b\n", ".nexus/memory.md": "beside it\n"}, nil, false},
		"capitals":   {base, files{".NEXUS/Memory/a.md": "by an agent\n"}, nil, true},
		"other s":    {base, files{".nexu\u017f/memory/a.md": "by an agent\n"}, nil, true},
		"link": {base, files{"docs/memory/a.md": "by an agent\n"}, func(dir string) error {
			return os.Symlink("docs", filepath.Join(dir, ".nexus"))
		}, true},
		"link below": {base, files{".nexus/b": "b\n", "docs/a.md": "by an agent\n"}, func(dir string) error {
			return os.Symlink("../docs", filepath.Join(dir, ".nexus", "memory"))
		}, true},
		"renamed": {with, nil, func(dir string) error {
			return os.Rename(filepath.Join(dir, ".nexus"), filepath.Join(dir, ".Nexus"))
		}, true},
	} {
		id := nexus.AttemptID("T2." + strings.ReplaceAll(name, " ", ""))
		w, err := s.Trees.AddTree(t.Context(), "r", id, c.from)
		if err != nil {
			t.Fatal(err)
		}
		gittest.WriteFiles(t, w.Dir, c.files)
		if c.edit != nil {
			if err := c.edit(w.Dir); err != nil {
				t.Fatal(err)
			}
		}
		_, tree, err := w.Snapshot(t.Context(), "work")
		if err != nil {
			t.Fatal(err)
		}
		evidence, err := s.Judge.RunGates(t.Context(), worker.TreeJudgeRequest{Tree: w, Hash: tree, Base: c.from, Mark: func(f nexus.GateJudged) nexus.GateJudged { return f }}, &desk{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if e := nexus.EvidenceOfGate(evidence, memoryentry.Gate); (e.State == nexus.Fail) != c.red {
			t.Errorf("%s: %+v", name, evidence)
		}
	}
}

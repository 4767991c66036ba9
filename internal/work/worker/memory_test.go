package worker_test

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/episode"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/work/worker"
	"github.com/nexus-ai-builder/nexus/internal/work/worker/workertest"
)

// TestMemoryIsPeoples refuses a change to the memory before any gate runs, and
// lets one through that finds files there and leaves them alone.
func TestMemoryIsPeoples(t *testing.T) {
	s, base, _ := workertest.New(t)
	with, _ := workertest.Commit(t, s, "T1.1", base, map[string]string{episode.Dir + "/a.md": "by a person\n"})
	for name, c := range map[string]struct {
		from  string
		files map[string]string
		red   bool
	}{
		"written":    {base, map[string]string{episode.Dir + "/a.md": "by an agent\n"}, true},
		"changed":    {with, map[string]string{episode.Dir + "/a.md": "by an agent\n"}, true},
		"left alone": {with, map[string]string{"b.txt": "b\n", ".nexus/memory.md": "beside it\n"}, false},
	} {
		id := nexus.AttemptID("T2." + strings.ReplaceAll(name, " ", ""))
		_, tree := workertest.Commit(t, s, id, c.from, c.files)
		w, err := s.Trees.Add(t.Context(), "r", id, c.from)
		if err != nil {
			t.Fatal(err)
		}
		evidence, err := s.Judge.Pass(t.Context(), worker.Case{Tree: w, Hash: tree, Base: c.from, Mark: func(f nexus.GateJudged) nexus.GateJudged { return f }}, &desk{})
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if e := nexus.EvidenceOf(evidence, episode.Gate); (e.State == nexus.Fail) != c.red {
			t.Errorf("%s: %+v", name, evidence)
		}
	}
}

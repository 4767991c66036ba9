package agent_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/attempthistory"
	"github.com/nexus-ai-builder/nexus/internal/decide/state"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
	"github.com/nexus-ai-builder/nexus/internal/work/prompt"
)

// TestALongSessionIsReadFromTheCache prints the share of its input that a
// session of fifty turns reads from the cache, as the scripted server counts
// it: what an earlier request began with, byte by byte. The turns are those
// of a coder: it looks around, reads files of 2 and 6 KB, edits, and tests. One
// that tries a task again is told all that may be said of earlier attempts.
func TestALongSessionIsReadFromTheCache(t *testing.T) {
	var turns []llmtest.ScriptTurn
	for i := range 7 {
		name := fmt.Sprintf("f%d.go", i)
		turns = append(turns,
			calls(call("search_code", map[string]any{"pattern": "package"}), call("list_files", map[string]any{})),
			calls(call("read_file", map[string]any{"path": "small.go"}), call("read_file", map[string]any{"path": "sum.go"})),
			llmtest.ScriptTurn{Think: "hm", Say: "I see.", Calls: []llmtest.ScriptCall{call("read_file", map[string]any{"path": "large.go"})}},
			calls(call("write_file", map[string]any{"path": name, "content": strings.Repeat("// A line of code.\n", 60)})),
			calls(call("shell", map[string]any{"command": "cat " + name})),
			calls(call("edit_file", map[string]any{"path": name, "edits": []any{map[string]any{"old": "// A line of code.\n// A line of code.\n// A", "new": "// A"}}})),
			calls(call("shell", map[string]any{"command": "echo ok " + name})),
		)
	}
	turns = append(turns, done())
	long := strings.Repeat("+ // A line of code.\n", 1_000)
	for wire := range models("") {
		for _, c := range []struct {
			context int64
			tried   attempthistory.AttemptsSummary
		}{{}, {context: 30_000}, {tried: attempthistory.AttemptsSummary{Closest: attempthistory.BestTree{Diff: long}, Said: slices.Repeat([]state.DeliveredGuidance{{Text: long}}, 20)}}} {
			t.Run(fmt.Sprint(wire, "/", c.context, "/", len(c.tried.Said)), func(t *testing.T) {
				b := newBench(t, nexus.Coder, script(turns...))
				b.model, b.brief.Context = models(b.server.URL())[wire], c.context
				b.brief.Next = prompt.TaskBrief{Session: b.brief.Session, Task: nexus.Task{ID: b.brief.Task, Title: "Do it"}, Tried: c.tried}.Text()
				for name, n := range map[string]int{"small.go": 2_000, "large.go": 6_000} {
					if err := os.WriteFile(filepath.Join(b.dir, name), []byte(strings.Repeat("// Some code.\n", n/14)), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				if out := b.must(t); out.Outcome != nexus.Accepted {
					t.Fatalf("%s: %s", out.Outcome, out.Why)
				}
				var u nexus.Usage
				for _, r := range b.server.Requests() {
					u = u.Add(r.Usage)
				}
				share := float64(u.CacheRead) / float64(u.PromptTokens())
				t.Logf("%d requests, %d compactions: %.1f %% of %d input tokens are read from the cache", len(b.server.Requests()), len(compactions(b)), 100*share, u.PromptTokens())
				if share < 0.9 {
					t.Errorf("%.1f %% is less than 90 %%", 100*share)
				}
			})
		}
	}
}

package look

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/nexus-ai-builder/nexus/internal/face/cli/frame"
	"github.com/nexus-ai-builder/nexus/internal/face/cli/wire"
	"github.com/nexus-ai-builder/nexus/internal/face/view"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/config"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
)

// turns is what a session of the benchmark cost, next to a bare loop that
// sends the very same bytes. The scripted server runs in the same process, so
// its share is in both.
type turns struct {
	Turns   int     `json:"turns"`
	Tool    string  `json:"tool"`
	Sandbox string  `json:"sandbox"`
	Wall    float64 `json:"wall_ms_per_turn"`
	CPU     float64 `json:"cpu_ms_per_turn"` // commands included
	Allocs  int64   `json:"allocs_per_turn"`
	Bytes   int64   `json:"bytes_per_turn"`        // sent, on average
	First   int     `json:"bytes_of_first_prompt"` // tools, system and message
	Kept    float64 `json:"prefix_kept"`           // least share of a request that the next one began with
	Floor   cost    `json:"floor"`
	Ratio   float64 `json:"wall_ratio"`
}

// cost is what something took for each turn.
type cost struct {
	Wall   float64 `json:"wall_ms_per_turn"`
	CPU    float64 `json:"cpu_ms_per_turn"`
	Allocs int64   `json:"allocs_per_turn"`
}

func benchAgentCommand(a *frame.App) *cobra.Command {
	var n int
	var name string
	c := a.Command("agent [--n TURNS] [--tool NAME] [--json]", "measure what an agent's turn costs beyond the model", func(ctx context.Context, _ []string) error {
		if n < 1 || n > 10_000 || name != "read_file" && name != "shell" {
			return &nexus.Error{Code: nexus.CodeInvalidInput, Message: "no such benchmark", Hint: "Use --n from 1 to 10000, and --tool read_file or shell."}
		}
		settings, _, err := a.Settings()
		if err != nil {
			return err
		}
		t, err := benchAgent(ctx, a, settings, n, name)
		if err != nil {
			return err
		}
		return a.Answer(t, func(s view.Style) string {
			return view.Table(s, []string{"", "session", "bare loop"}, [][]string{
				{"turns", fmt.Sprintf("%d, %s, sandbox %s", t.Turns, t.Tool, t.Sandbox), "the same bytes"},
				{"wall a turn", fmt.Sprintf("%.2f ms", t.Wall), fmt.Sprintf("%.2f ms", t.Floor.Wall)},
				{"cpu a turn", fmt.Sprintf("%.2f ms", t.CPU), fmt.Sprintf("%.2f ms", t.Floor.CPU)},
				{"allocations a turn", view.Number(t.Allocs), view.Number(t.Floor.Allocs)},
				{"bytes sent a turn", view.Number(t.Bytes), ""},
				{"first prompt", view.Number(int64(t.First)) + " bytes", ""},
				{"prefix kept", strconv.FormatFloat(100*t.Kept, 'f', 1, 64) + " %", ""},
			})
		})
	}, frame.CodeOK, frame.CodeFailed, frame.CodeUsage, frame.CodeInterrupted)
	c.Flags().IntVar(&n, "n", 100, "how many `TURNS`")
	c.Flags().StringVar(&name, "tool", "read_file", "what each turn calls: read_file or shell")
	a.JSONFlag(c)
	a.Knobs(c, "sandbox")
	return c
}

// benchAgent lets a session take n turns, and then a bare loop send what it
// sent.
func benchAgent(ctx context.Context, a *frame.App, c config.Config, n int, name string) (turns, error) {
	dir, err := os.MkdirTemp("", "nexus-bench-")
	if err != nil {
		return turns{}, err
	}
	defer func() { _ = os.RemoveAll(dir) }() // a temporary directory
	if err := os.WriteFile(filepath.Join(dir, "a.txt"), bytes.Repeat([]byte("a line\n"), n), 0o644); err != nil {
		return turns{}, err
	}
	script := llmtest.Script{Conversations: []llmtest.Conversation{{Match: "*/*", Turns: said(n, name)}}}
	server, stop, err := llmtest.Start(ctx, script, llmtest.Options{Bodies: true})
	if err != nil {
		return turns{}, err
	}
	defer stop()
	inside := *a
	inside.Dir = dir
	inside.Env = func(key string) string {
		switch key {
		case "ANTHROPIC_API_KEY":
			return "scripted"
		case "ANTHROPIC_BASE_URL":
			return server.URL()
		}
		return a.Env(key)
	}
	c.Limits.Turns, c.Limits.RunMoney, c.Limits.DayMoney, c.Limits.TaskMoney = n+2, 1_000_000*nexus.Dollar, 0, 0
	c.Limits.SessionTokens, c.Models, c.Roles = 0, map[nexus.Tier]string{nexus.Fast: "anthropic/claude-haiku-5-5"}, nil
	t := turns{Turns: n, Tool: name, Sandbox: c.Sandbox, Kept: 1}
	spent, err := measure(a.Now, n+1, func() error {
		said, err := wire.Session(ctx, &inside, c, wire.Talk{Prompt: "Do it.", Role: nexus.Coder})
		if err == nil && said.Outcome != nexus.Accepted {
			err = &nexus.Error{Code: nexus.CodeInternal, Message: "the benchmark's session ended: " + said.Why, Hint: "This is a fault in nexus."}
		}
		return err
	})
	if err != nil {
		return t, err
	}
	t.Wall, t.CPU, t.Allocs = spent.Wall, spent.CPU, spent.Allocs
	seen := server.Requests()
	for i, r := range seen {
		t.Bytes += int64(r.Bytes) / int64(len(seen))
		if i == 0 {
			t.First = r.Prompt
			continue
		}
		t.Kept = min(t.Kept, float64(r.Kept)/float64(seen[i-1].Prompt))
	}
	t.Floor, err = measure(a.Now, n+1, func() error { return bare(ctx, server.URL(), seen) })
	t.Ratio = t.Wall / t.Floor.Wall
	return t, err
}

// said is what the model says: n calls that all differ, and the end.
func said(n int, name string) []llmtest.Turn {
	var all []llmtest.Turn
	for i := range n {
		call := llmtest.Call{Tool: name, Input: map[string]any{"path": "a.txt", "offset": i + 1, "limit": 1}}
		if name == "shell" {
			call.Input = map[string]any{"command": "true " + strconv.Itoa(i)}
		}
		all = append(all, llmtest.Turn{Calls: []llmtest.Call{call}})
	}
	end := llmtest.Call{Tool: "finish", Input: map[string]any{"status": "done", "summary": "Done."}}
	return append(all, llmtest.Turn{Calls: []llmtest.Call{end}})
}

// bare sends the same bytes and reads the answers, and does nothing else.
func bare(ctx context.Context, url string, seen []llmtest.Seen) error {
	client := &http.Client{}
	for _, s := range seen {
		r, err := http.NewRequestWithContext(ctx, http.MethodPost, url+"/v1/messages", bytes.NewReader(s.Body))
		if err != nil {
			return err
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("X-Api-Key", "scripted")
		r.Header.Set("Anthropic-Version", "2023-06-01")
		answer, err := client.Do(r)
		if err != nil {
			return err
		}
		data, err := io.ReadAll(answer.Body)
		if err == nil && answer.StatusCode != http.StatusOK {
			err = fmt.Errorf("bare loop: %s: %s", answer.Status, strings.TrimSpace(string(data)))
		}
		if closed := answer.Body.Close(); err == nil {
			err = closed
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// measure runs f and says what it cost for each of n turns.
func measure(now func() time.Time, n int, f func() error) (cost, error) {
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	cpu, began := processor(), now()
	err := f()
	wall, spent := now().Sub(began), processor()-cpu
	runtime.ReadMemStats(&after)
	each := func(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 / float64(n) }
	return cost{Wall: each(wall), CPU: each(spent), Allocs: int64(after.Mallocs-before.Mallocs) / int64(n)}, err
}

// processor returns the time that this process and its dead children used.
func processor() time.Duration {
	var sum time.Duration
	for _, who := range []int{syscall.RUSAGE_SELF, syscall.RUSAGE_CHILDREN} {
		var u syscall.Rusage
		if syscall.Getrusage(who, &u) == nil {
			sum += time.Duration(u.Utime.Nano() + u.Stime.Nano())
		}
	}
	return sum
}

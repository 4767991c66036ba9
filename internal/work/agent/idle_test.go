package agent_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/llm/llmtest"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
	"github.com/nexus-ai-builder/nexus/internal/work/agent"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

// pausing is a model that does not answer any more after some turns.
type pausing struct {
	llm.Model

	turns int
	mu    *sync.Mutex
	asked *int
	idle  *sync.WaitGroup
}

func (p pausing) Stream(ctx context.Context, r llm.Request, heard func(llm.AnswerDelta)) (llm.Response, error) {
	p.mu.Lock()
	*p.asked++
	n := *p.asked
	p.mu.Unlock()
	if n <= p.turns {
		return p.Model.Stream(ctx, r, heard)
	}
	p.idle.Done()
	<-ctx.Done()
	return llm.Response{}, context.Cause(ctx)
}

// resident is the memory of this process and of those it started, in bytes.
func resident() (own, boxes int64) {
	read := func(dir string) int64 {
		data, _ := os.ReadFile(filepath.Join(dir, "statm"))
		f := strings.Fields(string(data))
		if len(f) < 3 {
			return 0
		}
		all, _ := strconv.ParseInt(f[1], 10, 64)
		shared, _ := strconv.ParseInt(f[2], 10, 64)
		return (all - shared) * int64(os.Getpagesize())
	}
	own = read("/proc/self")
	parent := map[int]int{}
	dirs, _ := filepath.Glob("/proc/[0-9]*")
	for _, d := range dirs {
		data, _ := os.ReadFile(filepath.Join(d, "stat"))
		f := strings.Fields(string(data[strings.LastIndexByte(string(data), ')')+1:]))
		pid, _ := strconv.Atoi(filepath.Base(d))
		if len(f) > 1 {
			parent[pid], _ = strconv.Atoi(f[1])
		}
	}
	for pid := range parent {
		for p := parent[pid]; p > 1; p = parent[p] {
			if p == os.Getpid() {
				boxes += read(filepath.Join("/proc", strconv.Itoa(pid)))
				break
			}
		}
	}
	return own, boxes
}

// BenchmarkIdleAgents says what 64 agents cost that have looked around, hold
// tools and wait for their models: each alone, and each with a box that it
// keeps open for a command in the background.
func BenchmarkIdleAgents(b *testing.B) {
	const agents = 64
	for _, kind := range []string{"waiting", "with a box"} {
		b.Run(kind, func(b *testing.B) {
			box, err := sandbox.FindSandbox(b.Context(), sandbox.ModeAuto)
			testenv.NeedMachine(b, "a sandbox", err)
			for b.Loop() {
				idleAgents(b, box, agents, kind == "with a box")
			}
		})
	}
}

func idleAgents(b *testing.B, box *sandbox.Box, agents int, job bool) {
	b.Helper()
	turns := []llmtest.ScriptTurn{calls(call("read_file", map[string]any{"path": "sum.go"}), call("list_files", map[string]any{})), calls(call("search_code", map[string]any{"pattern": "sum"}))}
	if job {
		turns = append(turns, calls(call("shell", map[string]any{"command": "sleep 1000", "background": true})))
	}
	heap := func() uint64 {
		runtime.GC()
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc + m.StackInuse
	}
	before := heap()
	own, _ := resident()
	ctx, stop := context.WithCancelCause(b.Context())
	var idle, ended sync.WaitGroup
	for range agents {
		s := newBench(b, nexus.Coder, script(turns...))
		set, err := tool.NewToolSet(tool.AgentToolEnvironment{Dir: s.dir, Box: box, Blob: s.store, Writes: true, Now: time.Now}, tool.BuiltinToolNames()...)
		if err != nil {
			b.Fatal(err)
		}
		idle.Add(1)
		asked := 0
		m := pausing{s.model, len(turns), &sync.Mutex{}, &asked, &idle}
		ended.Go(func() {
			_, err := agent.RunSession(ctx, m, set, s.brief, s.desk, s.store, nil)
			if err != nil && !errors.Is(err, errOver) {
				b.Error(err)
			}
			set.Close()
		})
	}
	idle.Wait()
	b.ReportMetric(float64(heap()-before)/float64(agents)/1024, "heap-KB/agent")
	after, boxes := resident()
	b.ReportMetric(float64(after-own)/float64(agents)/1024, "rss-KB/agent")
	b.ReportMetric(float64(boxes)/float64(agents)/1024, "boxes-KB/agent")
	stop(errOver)
	ended.Wait()
}

var errOver = errors.New("it is measured")

package bench

import (
	"fmt"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/view"
)

func drawAgent(s view.OutputStyle, f AgentFigures) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\n", s.Bold(fmt.Sprintf("a turn, the middle of %d x %d", f.Rounds, f.Turns)))
	fmt.Fprintf(&b, "  %-8s %-7s %9s %6s %9s %6s %8s %9s %7s\n", "loop", "sandbox", "gap ms", "x", "cpu ms", "x", "allocs", "alloc KB", "prices")
	for _, t := range f.Loops {
		prices := ""
		if t.Prices != 0 {
			prices = fmt.Sprintf("%.2f", t.Prices)
		}
		fmt.Fprintf(&b, "  %-8s %-7s %9s %6.2f %9s %6.2f %8d %9d %7s\n",
			t.Loop, t.Sandbox, formatMilliseconds(t.Gap), t.GapRatio, formatMilliseconds(t.CPU), t.CPURatio, t.Allocs, t.Bytes>>10, prices)
	}
	cost := func(name string, from, to int) {
		if to < len(f.Loops) {
			fmt.Fprintf(&b, "  %-26s gap %s ms, cpu %s ms\n", name, formatMilliseconds(f.Loops[to].Gap-f.Loops[from].Gap), formatMilliseconds(f.Loops[to].CPU-f.Loops[from].CPU))
		}
	}
	cost("journal, blobs, conductor:", 1, 2)
	cost("snapshots, real worktree:", 2, 3)
	fmt.Fprintf(&b, "  %-26s gap %s ms, %s ms over a small one; cpu %s ms\n",
		fmt.Sprintf("attempt, %d files:", f.Large.Files), formatMilliseconds(f.Large.Gap), formatMilliseconds(f.Large.More), formatMilliseconds(f.Large.CPU))
	if f.Price.Wall > 0 {
		fmt.Fprintf(&b, "  %-26s wall %s ms, cpu %s ms\n", "price of bwrap alone:", formatMilliseconds(f.Price.Wall), formatMilliseconds(f.Price.CPU))
	}
	fmt.Fprintf(&b, "%s\n", s.Bold("what is sent"))
	fmt.Fprintf(&b, "  %.2f KB of system prompt and tools before the coder's brief\n", float64(f.Sent.Standing)/1000)
	fmt.Fprintf(&b, "  %.1f bytes a turn beyond what the conversation grew by; %.1f %% of the prefix kept\n", f.Sent.Beyond, 100*f.Sent.Kept)
	fmt.Fprintf(&b, "%s\n", s.Bold("start"))
	fmt.Fprintf(&b, "  true %s ms; version %s ms, cpu %s ms, %.1f MB; agent to its first request %s ms\n",
		formatMilliseconds(f.Start.True), formatMilliseconds(f.Start.Version), formatMilliseconds(f.Start.CPU), megabytes(f.Start.Peak), formatMilliseconds(f.Start.Request))
	fmt.Fprintf(&b, "%s\n", s.Bold("memory"))
	fmt.Fprintf(&b, "  %.1f MB for one attempt, %.1f MB for each further one in the process\n", megabytes(f.Memory.One), megabytes(f.Memory.Further))
	return b.String()
}

func formatMilliseconds(d time.Duration) string { return fmt.Sprintf("%.2f", float64(d)/1e6) }

func megabytes(bytes int64) float64 { return float64(bytes) / 1e6 }

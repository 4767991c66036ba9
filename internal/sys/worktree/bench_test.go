package worktree_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree"
	"github.com/nexus-ai-builder/nexus/internal/sys/worktree/overlay"
)

// bigRepo makes a repository of n source files, about ten to a directory.
func bigRepo(tb testing.TB, n int) string {
	tb.Helper()
	dir := tb.TempDir()
	gittest.RunGit(tb, dir, "init", "-q", "-b", "main")
	var in strings.Builder
	in.WriteString("commit refs/heads/main\ncommitter U <u@example.org> 1 +0000\ndata 1\nx\n")
	for i := range n {
		text := strings.Repeat(fmt.Sprintf("// line %d\n", i), 10+i*7919%140)
		fmt.Fprintf(&in, "M 100644 inline p%02d/m%03d/f%05d.go\ndata %d\n%s\n", i%40, i/40%max(1, n/400), i, len(text), text)
	}
	cmd := exec.Command("git", "fast-import", "--quiet")
	cmd.Dir, cmd.Stdin = dir, strings.NewReader(in.String())
	if out, err := cmd.CombinedOutput(); err != nil {
		tb.Fatalf("%v\n%s", err, out)
	}
	return dir
}

func benchWays(b *testing.B, run func(b *testing.B, way worktree.TreeFillMethod)) {
	b.Helper()
	b.Run("overlay", func(b *testing.B) {
		testenv.NeedMachine(b, "an overlay", overlay.ProbeOverlay(b.TempDir()))
		run(b, worktree.FillOverlay)
	})
	b.Run("plain", func(b *testing.B) { run(b, worktree.FillPlain) })
}

// BenchmarkAdd measures how long it takes until a tree is ready.
func BenchmarkAdd(b *testing.B) {
	for _, n := range []int{20, 27_000} {
		user := bigRepo(b, n)
		base := gittest.RunGit(b, user, "rev-parse", "main")
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			benchWays(b, func(b *testing.B, way worktree.TreeFillMethod) {
				b.Helper()
				s := open(b, user, way)
				must[*worktree.AttemptTree](b)(s.AddTree(b.Context(), "warm", "T", base))
				i := 0
				for b.Loop() {
					must[*worktree.AttemptTree](b)(s.AddTree(b.Context(), "r", nexus.AttemptID(fmt.Sprintf("T%d", i)), base))
					i++
				}
			})
		})
	}
}

// BenchmarkSnapshot measures a turn that changed one file in place, and that
// of a turn that changed nothing.
func BenchmarkSnapshot(b *testing.B) {
	for _, n := range []int{20, 20_000} {
		user := bigRepo(b, n)
		base := gittest.RunGit(b, user, "rev-parse", "main")
		for _, how := range []string{"changed", "unchanged"} {
			b.Run(fmt.Sprintf("%s/%d", how, n), func(b *testing.B) {
				benchWays(b, func(b *testing.B, way worktree.TreeFillMethod) {
					b.Helper()
					s := open(b, user, way)
					tr := must[*worktree.AttemptTree](b)(s.AddTree(b.Context(), "r", "T", base))
					name := "p03/m000/f00003.go"
					for i := 0; b.Loop(); i++ {
						b.StopTimer()
						if how != "unchanged" {
							if err := os.WriteFile(filepath.Join(tr.Dir, name), fmt.Append(nil, i, time.Now()), 0o644); err != nil {
								b.Fatal(err)
							}
						}
						b.StartTimer()
						_, _, err := tr.Snapshot(b.Context(), "m")
						if err != nil {
							b.Fatal(err)
						}
					}
				})
			})
		}
	}
}

// BenchmarkPoint measures what a checkpoint costs beside its fact: refs for the branch and for four
// attempts in progress.
func BenchmarkPoint(b *testing.B) {
	user := bigRepo(b, 20)
	base := gittest.RunGit(b, user, "rev-parse", "main")
	s := open(b, user, worktree.FillAny)
	var trees []nexus.PinnedAttemptTree
	for i := range 4 {
		trees = append(trees, nexus.PinnedAttemptTree{Attempt: nexus.AttemptID(fmt.Sprintf("T%d.1", i)), Commit: base})
	}
	for i := 0; b.Loop(); i++ {
		if err := s.PinCheckpoint("r", fmt.Sprintf("wave-%d", i), base, trees); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkReady measures the time until the agent's own git has said what
// the status is, against the cheapest way there is: one bare mount over a
// checkout, with its index.
func BenchmarkReady(b *testing.B) {
	user := bigRepo(b, 27_000)
	base := gittest.RunGit(b, user, "rev-parse", "main")
	b.Run("ours", func(b *testing.B) {
		s := open(b, user, worktree.FillAny)
		must[*worktree.AttemptTree](b)(s.AddTree(b.Context(), "warm", "T", base))
		i := 0
		for b.Loop() {
			tr := must[*worktree.AttemptTree](b)(s.AddTree(b.Context(), "r", nexus.AttemptID(fmt.Sprintf("T%d", i)), base))
			gittest.RunGit(b, tr.Dir, "status", "--porcelain")
			i++
		}
	})
	b.Run("bare", func(b *testing.B) {
		dir := b.TempDir()
		lower := filepath.Join(dir, "lower")
		gittest.RunGit(b, user, "-c", "core.checkStat=minimal", "worktree", "add", "-q", "--detach", lower, base)
		gittest.RunGit(b, user, "config", "core.checkStat", "minimal")
		gittest.RunGit(b, user, "config", "core.trustctime", "false")
		i := 0
		for b.Loop() {
			home := filepath.Join(dir, fmt.Sprint(i))
			l := overlay.Layers{Lower: lower, Upper: home + "/u", Work: home + "/w", Dir: home + "/m"}
			for _, d := range []string{l.Upper, l.Work, l.Dir} {
				os.MkdirAll(d, 0o755)
			}
			testenv.NeedMachine(b, "an overlay", overlay.MountOverlay(l))
			b.Cleanup(func() { overlay.Unmount(l.Dir) })
			gittest.RunGit(b, l.Dir, "status", "--porcelain")
			i++
		}
	})
}

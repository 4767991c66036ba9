package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// BenchmarkCheck runs the bare commands of a tree's gates and nexus check on it,
// in turn, with all caches warm, and shows the least and the middle of the times,
// their ratios, and that of the processor time: two small public projects of Go,
// whose tests take one second and ten, and a gate of a shell that takes about two.
func BenchmarkCheck(b *testing.B) {
	exe := filepath.Join(b.TempDir(), "nexus")
	in(b, ".", "go", "build", "-o", exe, ".")
	module := func(name string) func(string) error {
		return func(dir string) error {
			return os.CopyFS(dir, os.DirFS(strings.TrimSpace(in(b, ".", "go", "list", "-m", "-f", "{{.Dir}}", "github.com/tidwall/"+name))))
		}
	}
	golang := []string{"go build ./...", "go vet ./...", "go test -json -count=1 ./..."}
	for name, c := range map[string]struct {
		fill func(dir string) error
		bare []string // one after the other
	}{
		"match": {module("match"), golang},
		"gjson": {module("gjson"), golang},
		"shell": {func(dir string) error {
			return os.WriteFile(filepath.Join(dir, "nexus.toml"), []byte("[gates]\ntest = \"i=0; while [ $i -lt 2000000 ]; do i=$((i+1)); done; echo ok 1 - fine; echo 1..1\"\n"), 0o600)
		}, []string{"i=0; while [ $i -lt 2000000 ]; do i=$((i+1)); done; echo ok 1 - fine; echo 1..1"}},
	} {
		b.Run(name, func(b *testing.B) {
			dir, home := b.TempDir(), b.TempDir()
			if err := c.fill(dir); err != nil {
				b.Fatal(err)
			}
			in(b, dir, "git", "init", "--quiet")
			in(b, dir, "git", "add", "--all")
			in(b, dir, "git", "-c", "user.name=Ada", "-c", "user.email=ada@example.org", "commit", "--quiet", "--message", "begin")
			env := append(os.Environ(), "GOFLAGS=-mod=readonly -buildvcs=false", "XDG_CACHE_HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_STATE_HOME="+home)
			wall, work := map[string][]time.Duration{}, map[string][]time.Duration{}
			turn := func(way string, lines ...string) {
				began, took := time.Now(), time.Duration(0)
				for _, line := range lines {
					cmd := exec.CommandContext(b.Context(), "sh", "-c", line)
					cmd.Dir, cmd.Env = dir, env
					if out, err := cmd.CombinedOutput(); err != nil {
						b.Fatalf("%s: %v\n%s", line, err, out)
					}
					took += cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()
				}
				wall[way], work[way] = append(wall[way], time.Since(began)), append(work[way], took)
			}
			turn("bare", c.bare...)
			turn("check", "exec "+exe+" check")
			clear(wall)
			clear(work)
			for b.Loop() {
				turn("bare", c.bare...)
				turn("check", "exec "+exe+" check")
			}
			for way := range wall {
				slices.Sort(wall[way])
				slices.Sort(work[way])
			}
			middle := len(wall["bare"]) / 2
			b.ReportMetric(float64(wall["bare"][0].Milliseconds()), "bare-ms")
			b.ReportMetric(float64(wall["check"][0].Milliseconds()), "check-ms")
			b.ReportMetric(float64(wall["check"][0])/float64(wall["bare"][0]), "least-x")
			b.ReportMetric(float64(wall["check"][middle])/float64(wall["bare"][middle]), "middle-x")
			b.ReportMetric(float64(work["check"][middle])/float64(work["bare"][middle]), "cpu-x")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// in runs a command in a directory and returns what it prints.
func in(tb testing.TB, dir string, args ...string) string {
	tb.Helper()
	cmd := exec.CommandContext(tb.Context(), args[0], args[1:]...)
	cmd.Dir = dir
	out, err := cmd.Output()
	if err != nil {
		tb.Fatalf("%v: %v\n%s", args, err, out)
	}
	return string(out)
}

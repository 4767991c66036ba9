package codemap_test

import (
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/work/codemap"
)

// BenchmarkLookAfterEdit refreshes the survey of a tree of 10,000 files after one
// of them was edited, as after a landing. It reports how much longer the first
// look at the tree takes.
func BenchmarkLookAfterEdit(b *testing.B) {
	files := map[string]string{"go.mod": "module example.org/big\n"}
	for i := range 10_000 {
		files[fmt.Sprintf("dir%03d/file%05d.go", i/50, i)] = fmt.Sprintf("package dir%03d\n\nimport \"example.org/big/dir%03d\"\n\n// Do%d does.\nfunc Do%d(n int) int { return dir%03d.Other(n) }\n\nfunc own%d() {}\n", i/50, i*7%200, i, i, i*7%200, i)
	}
	repo, first := commit(b, files)
	edits := make([]string, 2)
	for i := range edits {
		text := fmt.Sprintf("package dir000\n\nfunc Edited%d() {}\n", i)
		in := fmt.Sprintf("commit refs/heads/edit%d\ncommitter U <u@example.org> 2 +0000\ndata 1\nx\nfrom %s\nM 100644 inline dir000/file00001.go\ndata %d\n%s\n", i, first, len(text), text)
		cmd := exec.Command("git", "--git-dir", repo.Dir, "fast-import", "--quiet")
		cmd.Stdin, cmd.Stderr = strings.NewReader(in), os.Stderr
		if err := cmd.Run(); err != nil {
			b.Fatal(err)
		}
		id, err := repo.Resolve(b.Context(), fmt.Sprintf("refs/heads/edit%d", i))
		if err != nil {
			b.Fatal(err)
		}
		edits[i] = id
	}
	began := time.Now()
	s, err := codemap.SurveyCommit(b.Context(), repo, first, nil)
	whole := float64(time.Since(began).Nanoseconds())
	if err != nil {
		b.Fatal(err)
	}
	b.ResetTimer()
	n := 0
	for b.Loop() {
		if s, err = codemap.SurveyCommit(b.Context(), repo, edits[n%2], s); err != nil {
			b.Fatal(err)
		}
		n++
	}
	each := float64(b.Elapsed().Nanoseconds()) / float64(n)
	b.ReportMetric(each/1e6, "ms/edit")
	b.ReportMetric(whole/each, "first/edit")
}

package tool_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/sys/llm"
	"github.com/nexus-ai-builder/nexus/internal/sys/secret"
	"github.com/nexus-ai-builder/nexus/internal/work/tool"
)

// BenchmarkWriteFile compares a call of write_file that replaces a file of 17
// KB, in which a line in forty changes, with what a bare program does to
// replace it at once: a temporary file beside it, written, given its mode,
// closed and renamed. Neither waits for the disk. The call is all that
// [tool.ToolSet.Answer] does: the check of its input, of the path and of what is
// there, the write, the difference that the model is shown, and masking it. The
// two take turns, so that they meet the same machine; ratio is that of their
// medians.
func BenchmarkWriteFile(b *testing.B) {
	for _, name := range []string{"code.go", "pkg/deep/code.go", "settings.yaml"} {
		b.Run(name, func(b *testing.B) {
			dir, texts := b.TempDir(), versions()
			if err := os.MkdirAll(filepath.Join(dir, filepath.Dir(name)), 0o755); err != nil {
				b.Fatal(err)
			}
			set, err := tool.NewToolSet(tool.AgentToolEnvironment{Dir: dir, Writes: true, Mask: secret.NewMasker([]string{"A_KEY=sk-a1b2c3d4e5f6a1b2c3d4e5f6"}).Mask}, "write_file")
			if err != nil {
				b.Fatal(err)
			}
			defer set.Close()
			var whole, bare []time.Duration
			for i := 0; b.Loop(); i++ {
				input, err := json.Marshal(map[string]string{"path": name, "content": texts[i%2]})
				if err != nil {
					b.Fatal(err)
				}
				began := time.Now()
				a := set.Answer(b.Context(), llm.ToolCall{ID: "1", Tool: "write_file", Input: input})
				whole = append(whole, time.Since(began))
				if a.Result.Failed {
					b.Fatal(a.Result.Text)
				}
				began = time.Now()
				if err := replaceBare(filepath.Join(dir, name+".bare"), texts[i%2]); err != nil {
					b.Fatal(err)
				}
				bare = append(bare, time.Since(began))
			}
			w, p := median(whole), median(bare)
			b.ReportMetric(float64(w.Microseconds()), "tool-us")
			b.ReportMetric(float64(p.Microseconds()), "bare-us")
			b.ReportMetric(float64(w)/float64(p), "ratio")
			b.ReportMetric(0, "ns/op")
		})
	}
}

// versions returns two versions of a file of 17 KB.
func versions() (texts [2]string) {
	for i := range texts {
		var text strings.Builder
		for n := 0; text.Len() < 17_000; n++ {
			word := "line"
			if n%40 == 20 {
				word = fmt.Sprint("version ", i)
			}
			fmt.Fprintf(&text, "\t%s %d of a file, as long as they are\n", word, n)
		}
		texts[i] = text.String()
	}
	return texts
}

func median(all []time.Duration) time.Duration {
	slices.Sort(all)
	return all[len(all)/2]
}

func replaceBare(name, text string) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".tmp-*")
	if err != nil {
		return err
	}
	if _, err := f.WriteString(text); err != nil {
		return err
	}
	if err := f.Chmod(0o644); err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(f.Name(), name)
}

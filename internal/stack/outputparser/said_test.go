package outputparser_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"github.com/nexus-ai-builder/nexus/internal/stack"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser"
	"github.com/nexus-ai-builder/nexus/internal/stack/outputparser/parserbase"
)

var update = flag.Bool("update", false, "write what the parsers say today into testdata/said")

// recording is the output of a real tool, and what it means.
type recording struct {
	path string
	file *txtar.Archive
	in   outputparser.ToolOutput
	want string
}

func recordings(tb testing.TB) []recording {
	tb.Helper()
	names, err := filepath.Glob("testdata/said/*.txtar")
	if err != nil || len(names) < 80 {
		tb.Fatalf("%d recordings: %v", len(names), err)
	}
	var all []recording
	for _, name := range names {
		a, err := txtar.ParseFile(name)
		if err != nil {
			tb.Fatal(err)
		}
		r := recording{path: name, file: a, in: outputparser.ToolOutput{Root: "/src"}}
		if _, err := fmt.Sscanf(string(a.Comment), "%s exit %d", &r.in.Format, &r.in.Exit); err != nil {
			tb.Fatalf("%s: %v", name, err)
		}
		for _, f := range a.Files {
			switch f.Name {
			case "stdout":
				r.in.Stdout = f.Data
			case "stderr":
				r.in.Stderr = f.Data
			case "want":
				r.want = string(f.Data)
			}
		}
		all = append(all, r)
	}
	return all
}

// tell writes a report in full.
func tell(r outputparser.ParsedToolOutput) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s passed %d failed %d skipped %d counted %v\n", r.State, r.Counts.Passed, r.Counts.Failed, r.Counts.Skipped, r.Counted)
	if r.Why != "" {
		fmt.Fprintf(&b, "why: %s\n", strings.ReplaceAll(r.Why, "\n", " / "))
	}
	if r.Coverage != (parserbase.CoverageTotals{}) {
		fmt.Fprintf(&b, "coverage: %+v\n", r.Coverage)
	}
	for _, f := range r.Flaky {
		fmt.Fprintf(&b, "flaky: %s %d/%d\n", f.Test, f.Failed, f.Runs)
	}
	for _, f := range r.Findings {
		fmt.Fprintf(&b, "%s:%d:%d-%d:%d %s [%s] %s\n", f.File, f.Line, f.Column, f.EndLine, f.EndColumn, f.Severity, f.Code, f.Test)
		fmt.Fprintf(&b, "  %s\n", strings.ReplaceAll(f.Message, "\n", "\n  "))
		if f.Expected+f.Actual != "" {
			fmt.Fprintf(&b, "  want %q have %q\n", f.Expected, f.Actual)
		}
		if f.Stack != "" {
			first, _, _ := strings.Cut(f.Stack, "\n")
			fmt.Fprintf(&b, "  stack of %d lines: %q\n", 1+strings.Count(f.Stack, "\n"), first)
		}
	}
	return strings.ReplaceAll(b.String(), "\n-- ", "\n --")
}

func TestWhatToolsSay(t *testing.T) {
	for _, r := range recordings(t) {
		t.Run(strings.TrimSuffix(filepath.Base(r.path), ".txtar"), func(t *testing.T) {
			have := tell(stack.ReadOutput(r.in))
			if *update {
				files := []txtar.File{{Name: "want", Data: []byte(have)}}
				for _, f := range r.file.Files {
					if f.Name != "want" {
						files = append(files, f)
					}
				}
				r.file.Files = files
				if err := os.WriteFile(r.path, txtar.Format(r.file), 0o644); err != nil {
					t.Fatal(err)
				}
				return
			}
			if d := cmp.Diff(strings.Split(r.want, "\n"), strings.Split(have, "\n")); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestPlacesInAPackageAreThoseOfTheTree(t *testing.T) {
	r := stack.ReadOutput(outputparser.ToolOutput{
		Format: "tsc", Root: "/src", Dir: "web", Exit: 2,
		Stdout: []byte("src/a.ts(1,2): error TS1: x\n../lib/b.ts(3,4): error TS2: y\n/src/web/c.ts(5,6): error TS3: z\n../../out.ts(7,8): error TS4: o\n"),
	})
	var got []string
	for _, f := range r.Findings {
		got = append(got, fmt.Sprintf("%s:%d:%d", f.File, f.Line, f.Column))
	}
	if d := cmp.Diff([]string{":0:0", "lib/b.ts:3:4", "web/c.ts:5:6", "web/src/a.ts:1:2"}, got); d != "" {
		t.Error(d)
	}
}

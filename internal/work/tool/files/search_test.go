package files

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/sys/sandbox"
	"github.com/nexus-ai-builder/nexus/internal/sys/testenv"
)

// TestSearchIsTheSame searches made-up trees with ripgrep and without, for
// patterns that the two languages read differently, in texts of all forms.
func TestSearchIsTheSame(outer *testing.T) {
	with := ripgrepIn(outer)
	names := []string{
		"a.go", "b.txt", "dir/a.go", "dir/sub/c.log", "dir.x/d", ".hidden/e", "build/f", "dir/build/g", "\u00e4/h \u00fc", "i\\j", "-k", "keep.log", "A.GO", ".env", "nexus.toml",
		".github/x/w.yml", "node_modules/m/index.js", "dir/.git/config",
	}
	lines := []string{
		"func Find() {}", "caf\u00e9 na\u00efve", "K kelvin \u212a", "foo", "foo bar", "  indented\t", "x = 1", "_id9", "end.", "", "\u0130stanbul", "a\rb", "tab\tend", "\U0001f600 ok", "foo_bar", "\ufeffmark", "123 45",
	}
	forms := []func(string) string{
		func(s string) string { return s },
		func(s string) string { return strings.ReplaceAll(s, "\n", "\r\n") },
		func(s string) string { return "\ufeff" + s },
		func(s string) string { return "\xff\xfe" + spread(s, "\x00") },
		func(s string) string {
			return strings.ToValidUTF8("caf\xe9 foo\xff\n", "") + "caf\xe9 foo \xff\n" + "na\xefve\n"
		},
		func(s string) string { return s + "\x00binary\n" },
		func(s string) string { return strings.TrimSuffix(s, "\n") },
		func(s string) string { return strings.Replace(s, "\n", "\r\n", 1) },
	}
	ignores := []string{"", "*.log\n", "build/\n!keep.log\n", "/dir\n", "dir/sub\n", "*\n!*.go\n!dir/\n", "node_modules\n", "\u00e4/\n", "*.go\n"}
	patterns := []string{
		"foo", "^foo", "foo$", "^foo$", "caf.", "caf.$", "caf\u00e9", "(?i)CAF\u00c9", "na.ve", `\bfoo\b`, `o\Bo`, `\d+`, `\w+`, `[^a-z ]`, `[^\x00-\x7f]`, "k", "(?i)k", "(?i)\u212a",
		`^\s+\S`, `\s$`, "^$", "x*", `\Afunc`, `\}\z`, `a.b`, `(foo|bar)+`, `f(o){2}`, `[[:upper:]]`, `\p{Lu}`, `\pN`, `(?i)istanbul`, "\U0001f600", `.{3}$`, `\.`, `.`, `(?s).`, `\x{e9}`, `\Qx = \E\d`, `^\x{FEFF}?mark`,
		`foo\b.*`, `nothing at all`, `[\x80-\xff]`, `a\n?b`, "o{0,1}f", `()`, `(?m)^foo$`, `[^\d\s]+$`, `\W`, `(?i)[\x{e0}-\x{ff}]`, `\xff`,
	}
	rapid.Check(outer, func(t *rapid.T) {
		dir := outer.TempDir()
		place := func(name, text string) {
			full := filepath.Join(dir, name)
			if err := os.MkdirAll(filepath.Dir(full), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(full, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range rapid.SliceOfNDistinct(rapid.SampledFrom(names), 3, 12, rapid.ID).Draw(t, "names") {
			text := strings.Join(rapid.SliceOfN(rapid.SampledFrom(lines), 0, 8).Draw(t, "lines"), "\n") + "\n"
			place(name, rapid.SampledFrom(forms).Draw(t, "form")(text))
		}
		for _, name := range []string{".gitignore", "dir/.gitignore", ".nexusignore", "dir/.nexusignore"} {
			if text := rapid.SampledFrom(ignores).Draw(t, name); text != "" {
				place(name, text)
			}
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		own := TreeSearcher{Tree: NewAgentTree(dir, root)}
		other := TreeSearcher{Tree: own.Tree, Run: with(dir), few: 1}
		for range 2 {
			q := SearchQuery{Pattern: rapid.SampledFrom(patterns).Draw(t, "pattern"), Glob: rapid.SampledFrom([]string{"", "", "*.go", "**/c.*"}).Draw(t, "glob")}
			if path := rapid.SampledFrom([]string{"", "", "dir", "dir/sub", ".github", "build"}).Draw(t, "path"); path != "" {
				if _, err := os.Stat(filepath.Join(dir, path)); err == nil {
					q.Path = path
				}
			}
			a, _ := own.Search(t.Context(), q) // one that is refused has an empty answer
			b, _ := other.Search(t.Context(), q)
			if d := cmp.Diff(a, b); d != "" {
				t.Fatalf("%+v (-own +ripgrep):\n%s", q, d)
			}
		}
	})
}

func spread(s, pad string) string {
	var b strings.Builder
	for _, r := range s {
		if r < 0x80 {
			b.WriteByte(byte(r))
			b.WriteString(pad)
		}
	}
	return b.String()
}

// TestRipgrepNamesTheFiles holds that ripgrep is really asked: what it does
// not name is not read.
func TestRipgrepNamesTheFiles(t *testing.T) {
	run := ripgrepIn(t)
	dir := t.TempDir()
	names := []string{"-no", "a b", "no", "yes"}
	for _, name := range names {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(strings.Repeat("needle\n", len(name)/3)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := TreeSearcher{Run: run(dir), few: 1}.filesWithMatches(t.Context(), "ne{2}dle", names)
	if d := cmp.Diff([]string{"-no", "a b", "yes"}, got); d != "" || err != nil {
		t.Errorf("%v %s", err, d)
	}
}

// ripgrepIn returns what runs ripgrep in a directory, in a sandbox.
func ripgrepIn(tb testing.TB) func(dir string) func(context.Context, []string, time.Duration, int64) ([]byte, error) {
	tb.Helper()
	testenv.NeedTool(tb, "rg")
	b, err := sandbox.FindSandbox(tb.Context(), sandbox.ModeAuto)
	if errors.Is(err, &nexus.Error{Code: nexus.CodeSandbox}) {
		b, err = sandbox.FindSandbox(tb.Context(), sandbox.ModeOff)
	}
	if err != nil {
		tb.Fatal(err)
	}
	return func(dir string) func(context.Context, []string, time.Duration, int64) ([]byte, error) {
		return func(ctx context.Context, args []string, limit time.Duration, most int64) ([]byte, error) {
			r, err := b.Run(ctx, sandbox.Command{Args: args, Dir: dir, Readable: []string{dir}, Env: sandbox.AgentCommandEnv(), Timeout: limit, Cap: most})
			if err == nil && (r.Exit > 1 || r.Exit < 0 || r.Cut) {
				err = fmt.Errorf("exit %d: %s", r.Exit, r.Stderr)
			}
			return r.Stdout, err
		}
	}
}

// BenchmarkSearch looks for a rare and a common line in 5,000 files of 6 KB:
// with ripgrep's help, without, and ripgrep alone in the same sandbox.
func BenchmarkSearch(b *testing.B) {
	run := ripgrepIn(b)
	dir := b.TempDir()
	for i := range 5000 {
		sub := filepath.Join(dir, fmt.Sprintf("pkg%02d", i%50))
		if err := os.MkdirAll(sub, 0o755); err != nil {
			b.Fatal(err)
		}
		text := strings.Repeat(fmt.Sprintf("func Name%d(ctx context.Context) error { return nil }\n\t// some words of a comment\n", i), 75)
		if err := os.WriteFile(filepath.Join(sub, fmt.Sprintf("file%04d.go", i)), []byte(text), 0o644); err != nil {
			b.Fatal(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		b.Fatal(err)
	}
	defer root.Close()
	tree := NewAgentTree(dir, root)
	for name, pattern := range map[string]string{"rare": `Name4711\(`, "none": `no such (line|word)`, "common": `func \w+`} {
		b.Run(name+"/with", func(b *testing.B) { benchmark(b, TreeSearcher{Tree: tree, Run: run(dir)}, pattern) })
		b.Run(name+"/own", func(b *testing.B) { benchmark(b, TreeSearcher{Tree: tree}, pattern) })
		b.Run(name+"/rg", func(b *testing.B) {
			for b.Loop() {
				if _, err := run(dir)(b.Context(), []string{"rg", "--no-config", "--sort=path", "--max-count=50", "-n", "-e", pattern, "."}, time.Minute, 64<<20); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func benchmark(b *testing.B, f TreeSearcher, pattern string) {
	b.Helper()
	for b.Loop() {
		if _, err := f.Search(b.Context(), SearchQuery{Pattern: pattern}); err != nil {
			b.Fatal(err)
		}
	}
}

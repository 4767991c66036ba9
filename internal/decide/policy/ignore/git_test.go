package ignore_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/ignore"
	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
)

// unusual matches two stars beside something else than a slash, such as a**/b, which git's manual
// describes as one star. Git matches them differently behind a plain text than behind a pattern.
var unusual = regexp.MustCompile(`[^/!]\*\*|\*\*[^/]`)

// TestAgreesWithGit holds that a file of patterns excludes what git would, for random patterns in two
// directories.
func TestAgreesWithGit(t *testing.T) {
	dir := t.TempDir()
	gittest.RunGit(t, dir, "init", "-q")
	names := []string{"a", "b", "ab", "c/a", "c/b/x", "c/ab/a/b", "x", "d/a", "d/x/a", "d/d/b", "xx", "-a", "#a", "a]", "1", "A", "c/1"}
	files := map[string]string{}
	for _, n := range names {
		if n != "c" && n != "d" {
			files[n] = ""
		}
	}
	gittest.WriteFiles(t, dir, files)
	slices.Sort(names)
	pattern := rapid.SliceOfN(rapid.SampledFrom([]string{
		"a", "b", "c", "d", "x", "*", "?", "/", "/", "**", "**/", "/**", "[ab]", "[!a]", "[^b-x]", "[]a]", "[a-]", "[[:alpha:]]", "[![:digit:]]", "[[:punct:]]", "[!-0]", "[.-2]", `\`, `\#`, "!", "#", " ", "-", "1",
	}), 1, 5)
	line := rapid.Map(pattern, func(parts []string) string { return strings.Join(parts, "") }).Filter(func(line string) bool {
		return !unusual.MatchString(line)
	})
	lines := rapid.SliceOfN(line, 1, 3)
	rapid.Check(t, func(r *rapid.T) {
		texts := map[string]string{".gitignore": strings.Join(lines.Draw(r, "top"), "\n") + "\n", "c/.gitignore": ""}
		if rapid.Bool().Draw(r, "two") {
			texts["c/.gitignore"] = strings.Join(lines.Draw(r, "below"), "\n") + "\n"
		}
		for name, text := range texts {
			if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), []byte(text), 0o600); err != nil {
				r.Fatal(err)
			}
		}
		s, err := ignore.NewIgnoreSet(texts)
		if err != nil {
			r.Skip("git passes over a line that it cannot read; here all is hidden until it is corrected")
		}
		shown := strings.Split(gittest.RunGit(t, dir, "-c", "core.quotePath=false", "ls-files", "--others", "--exclude-per-directory=.gitignore"), "\n")
		var want, got []string
		for _, n := range names {
			if slices.Contains(shown, n) {
				want = append(want, n)
			}
			if !s.IsIgnored(n) {
				got = append(got, n)
			}
		}
		if d := cmp.Diff(want, got); d != "" {
			r.Fatalf("%q: what is shown (-git +here):\n%s", texts, d)
		}
	})
}

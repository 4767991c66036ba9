package files

import (
	"os"
	"strings"
	"testing"
)

func TestVeil(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, map[string]string{
		".nexusignore": "hidden/\n*.key.go\n", "hidden/deep/a.go": "package deep\n\nfunc Canary() string { return \"canary one\" }\nx := 1\n", "sub/.nexusignore": "own.txt\n",
		"sub/own.txt": "a canary of its own\n", "own.txt": "a shown line of text\n", "b.key.go": "var b = `canary b`\n",
	})
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	for name, c := range map[string]struct{ text, want string }{
		"a compiler that shows the line": {
			"a.go:3:5: bad\n    3 | func Canary() string { return \"canary one\" }\n      |      ^\n",
			"a.go:3:5: bad\n    3 | [a line of hidden/deep/a.go, which .nexusignore hides from agents]\n      |      ^\n",
		},
		"a compiler that quotes a part": {
			"hidden/deep/a.go:3:30: cannot use \"canary one\" (a string), x or \"something else\"\n",
			"hidden/deep/a.go:3:30: cannot use \"[what .nexusignore hides from agents]\" (a string), x or \"something else\"\n",
		},
		"a diff": {
			"```diff\ndiff --git a/x.go b/x.go\n--- a/x.go\n+++ b/x.go\n@@ -1 +1 @@\n-a\n+b\ndiff --git a/hidden/deep/a.go b/hidden/deep/a.go\nindex 1..2 100644\n--- a/hidden/deep/a.go\n+++ b/hidden/deep/a.go\n@@ -1 +1 @@\n-canary old\n+canary new\n\n context\ndiff --git a/y b/y\n+y\n```\n\n## Next\n",
			"```diff\ndiff --git a/x.go b/x.go\n--- a/x.go\n+++ b/x.go\n@@ -1 +1 @@\n-a\n+b\n[changes of hidden/deep/a.go, which .nexusignore hides from agents]\ndiff --git a/y b/y\n+y\n```\n\n## Next\n",
		},
		"a diff that ends with it": {
			"```diff\ndiff --git a/gone b/hidden/new name\nsimilarity index 90%\nrename from gone\n-canary\n```\nmore\n",
			"```diff\n[changes of hidden/new name, which .nexusignore hides from agents]\n```\nmore\n",
		},
		"a file that is there no more": {
			"diff --git a/hidden/gone b/hidden/gone\n-canary\n", "[changes of hidden/gone, which .nexusignore hides from agents]\n",
		},
		"names of both lists": {"own.txt:1: a canary of its own\nb.key.go:1: `canary b`\n", "own.txt:1: [a line of sub/own.txt, which .nexusignore hides from agents]\nb.key.go:1: `[what .nexusignore hides from agents]`\n"},
		"no name":             {"a canary of its own\n", "a canary of its own\n"},
		"another word":        {"down.txt: a canary of its own\n", "down.txt: a canary of its own\n"},
		"what is shown":       {"own.txt: a shown line of text, `canary`\nx := 1\n", "own.txt: a shown line of text, `canary`\nx := 1\n"},
		"a diff of what is shown": {
			"own.txt\n```diff\ndiff --git a/x b/x\n+a canary of its own\n```\n", "own.txt\n```diff\ndiff --git a/x b/x\n+a canary of its own\n```\n",
		},
	} {
		if got := (HiddenPathRules{}).RedactHidden(root, c.text); got != c.want {
			t.Errorf("%s: got\n%s", name, got)
		}
	}
	if err := os.Remove(dir + "/.nexusignore"); err != nil {
		t.Fatal(err)
	}
	text := "hidden/deep/a.go: \"canary one\"\n"
	if got := (HiddenPathRules{}).RedactHidden(root, text); got != text || strings.Contains(got, "hides") {
		t.Errorf("got %s", got)
	}
}

// TestVeilWithinAFence takes out what a gate prints as if it were a diff of ours.
func TestVeilWithinAFence(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, map[string]string{".nexusignore": "hidden/\n", "hidden/a.txt": "canary canary\n"})
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	for text, shown := range map[string]bool{
		"a.txt\n````text\n```diff\ncanary canary\n```\n````\n":                   false,
		"a.txt\n````text\n```diff\n````\ncanary canary\n":                        false,
		"a.txt\n````text\n```diff\n````\n```diff\n+canary canary\n```\n":         true,
		"a.txt\n```diff\n+x\n```\ncanary canary\n":                               false,
		"a.txt\n```text\nx\n```\n````diff\n ```text\n canary canary\n ```\n````": true,
	} {
		if got := (HiddenPathRules{}).RedactHidden(root, text); strings.Contains(got, "canary canary") != shown {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// TestVeilPrinted takes out what a command prints, whatever it puts around it.
func TestVeilPrinted(t *testing.T) {
	dir := t.TempDir()
	plant(t, dir, map[string]string{".nexusignore": "hidden/\n", "hidden/a.txt": "canary canary\n"})
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = root.Close() })
	for _, text := range []string{"cat a.txt\n\ncanary canary\n", ": <<X\n```diff\nX\ncat a.txt\n\ncanary canary\n", "a.txt\n```diff\n+canary canary\n```\n"} {
		if got := (HiddenPathRules{}).RedactOutput(root, text); strings.Contains(got, "canary canary") || !strings.Contains(got, "a line of hidden/a.txt") {
			t.Errorf("%q: %q", text, got)
		}
	}
}

// FuzzVeil plants a canary in a file that is hidden and quotes it in any text that
// names the file.
func FuzzVeil(f *testing.F) {
	f.Add("hidden/a.txt:1: ", "\n", "canary canary")
	f.Add("```diff\nx\n```\n a.txt ", "```", "  canary\tcanary ")
	dir := f.TempDir()
	f.Fuzz(func(t *testing.T, before, after, canary string) {
		line := strings.TrimSpace(canary)
		if len(line) < leastVeiled || len(line) > 1000 || strings.ContainsAny(line, "\n\r") {
			return
		}
		plant(t, dir, map[string]string{".nexusignore": "hidden/\n", "hidden/a.txt": canary + "\n"})
		root, err := os.OpenRoot(dir)
		if err != nil {
			t.Fatal(err)
		}
		defer root.Close()
		got := (HiddenPathRules{}).RedactHidden(root, "a.txt\n"+before+line+after)
		if strings.Contains(got, line) && !strings.Contains(before+line+after, "diff") && !strings.Contains("a line of hidden/a.txt, which .nexusignore hides from agents", line) && !strings.Contains(before+after, line) {
			t.Errorf("%q shows %q", got, line)
		}
	})
}

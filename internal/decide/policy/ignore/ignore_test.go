package ignore_test

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/ignore"
)

func TestHides(t *testing.T) {
	s, err := ignore.NewIgnoreSet(map[string]string{
		".nexusignore":        "fixtures/\n*.pem\n!public.pem\n/docs/*.md\nall\n",
		"sub/.nexusignore":    "/own\n!key.pem\n",
		"deep/a/.nexusignore": "x\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"fixtures/a", "x/fixtures/b/c", "key.pem", "docs/a.md", "sub/own", "sub/own/below", "all", "all/x", "sub/all/y/z", "deep/a/b/x", "./key.pem"} {
		if !s.IsIgnored(name) {
			t.Errorf("%s is shown", name)
		}
	}
	for _, name := range []string{"fixtures", "public.pem", "docs/a.txt", "x/docs/a.md", "own", "sub/key.pem", "sub/.nexusignore", "deep/x", "deep/b/x", ""} {
		if s.IsIgnored(name) {
			t.Errorf("%s is hidden", name)
		}
	}
	if none := (ignore.IgnoreSet{}); !none.IsEmpty() || none.IsIgnored("a") {
		t.Error("the zero set hides something")
	}
	if none, err := ignore.NewIgnoreSet(map[string]string{"a/.nexusignore": "# nothing\n"}); err != nil || !none.IsEmpty() {
		t.Error("a comment hides something")
	}
}

// TestSecretsStayHidden wants no line with "!" to bring back a name that
// suggests secrets, in the same file or in one below.
func TestSecretsStayHidden(t *testing.T) {
	s, err := ignore.NewIgnoreSet(map[string]string{
		".nexusignore":     "*\n!.env\n!sub/\n!*.go\n!.env.example\n!id_rsa\n",
		"sub/.nexusignore": "!*\n",
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".env", "id_rsa", "sub/.env", "sub/credentials.json", "a.txt"} {
		if !s.IsIgnored(name) {
			t.Errorf("%s is shown", name)
		}
	}
	for _, name := range []string{"a.go", ".env.example", "sub/a.txt"} {
		if s.IsIgnored(name) {
			t.Errorf("%s is hidden", name)
		}
	}
}

// TestLinesOfGit has lines that git understands, and each must hide what git
// would leave out, and nothing else.
func TestLinesOfGit(t *testing.T) {
	for _, c := range []struct{ text, hides, shows string }{
		{"[[:digit:]]*.key\n", "1.key 2a.key", "a.key"},
		{"[![:alpha:]]x\n", "1x -x", "ax"},
		{"[[:upper:]_]x\n", "Ax _x", "ax"},
		{"[]x]\n", "] x", "y []x]"},
		{"[^]x]\n", "y", "] x"},
		{"[a-]b\n", "ab -b", "bb"},
		{"[!a]b\n", "bb", "ab"},
		{"[a\\]b]c\n", "]c bc ac", "\\c"},
		{"[{}]x{a,b}\n", "{x{a,b} }x{a,b}", "{xa"},
		{"\ufeffown\n", "own", "other"},
		{"#" + strings.Repeat("-", 70_000) + "\nown\r\n", "own", "other"},
	} {
		s, err := ignore.NewIgnoreSet(map[string]string{".nexusignore": c.text})
		if err != nil {
			t.Error(err)
		}
		for _, name := range strings.Fields(c.hides) {
			if !s.IsIgnored(name) {
				t.Errorf("%.20q shows %s", c.text, name)
			}
		}
		for _, name := range strings.Fields(c.shows) {
			if s.IsIgnored(name) {
				t.Errorf("%.20q hides %s", c.text, name)
			}
		}
	}
}

// TestLinesThatCannotBeRead says which they are, and hides all in the meantime.
func TestLinesThatCannotBeRead(t *testing.T) {
	for _, line := range []string{"[a", "[[:vowel:]]x", `a\`, "[z-"} {
		s, err := ignore.NewIgnoreSet(map[string]string{"sub/.nexusignore": "a\n" + line + "\n"})
		if err == nil || !strings.Contains(err.Error(), "sub/.nexusignore: line 2") {
			t.Errorf("%q: %v", line, err)
		}
		if !s.IsIgnored("sub/b/c") || s.IsIgnored("b") {
			t.Errorf("%q hides the wrong", line)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add("*.log\n!a\n/b/\n**/c\n[x\n", "a/b")
	f.Fuzz(func(_ *testing.T, text, name string) {
		rules, _ := ignore.ParseIgnoreFile("sub", text)
		ignore.IsIgnored(rules, name, true)
		ignore.IsIgnored(rules, "sub/"+name, false)
		s, _ := ignore.NewIgnoreSet(map[string]string{"sub/" + ignore.File: text})
		s.IsIgnored(name)
	})
}

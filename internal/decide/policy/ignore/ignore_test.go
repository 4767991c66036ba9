package ignore_test

import (
	"strings"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/policy/ignore"
)

func TestHides(t *testing.T) {
	s := ignore.New(map[string]string{
		".nexusignore":        "fixtures/\n*.pem\n!public.pem\n/docs/*.md\nall\n",
		"sub/.nexusignore":    "/own\n!key.pem\n",
		"deep/a/.nexusignore": "x\n",
	})
	for _, name := range []string{"fixtures/a", "x/fixtures/b/c", "key.pem", "docs/a.md", "sub/own", "sub/own/below", "all", "all/x", "sub/all/y/z", "deep/a/b/x", "./key.pem"} {
		if !s.Hides(name) {
			t.Errorf("%s is shown", name)
		}
	}
	for _, name := range []string{"fixtures", "public.pem", "docs/a.txt", "x/docs/a.md", "own", "sub/key.pem", "sub/.nexusignore", "deep/x", "deep/b/x", ""} {
		if s.Hides(name) {
			t.Errorf("%s is hidden", name)
		}
	}
	if none := (ignore.Set{}); !none.Empty() || none.Hides("a") {
		t.Error("the zero set hides something")
	}
	if none := ignore.New(map[string]string{"a/.nexusignore": "# nothing\n"}); !none.Empty() {
		t.Error("a comment hides something")
	}
}

func FuzzParse(f *testing.F) {
	f.Add("*.log\n!a\n/b/\n**/c\n[x\n", "a/b")
	f.Fuzz(func(_ *testing.T, text, name string) {
		rules := ignore.Parse("sub", strings.NewReader(text))
		ignore.Left(rules, name, true)
		ignore.Left(rules, "sub/"+name, false)
		ignore.New(map[string]string{"sub/" + ignore.File: text}).Hides(name)
	})
}

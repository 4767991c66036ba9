package bench

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/nexus-ai-builder/nexus/internal/sys/git/gittest"
)

// TestMapsShowWhatFixesChange measures a history of three fixes: one that its
// map shows, one whose subject says nothing of its file, and one of a test.
func TestMapsShowWhatFixesChange(t *testing.T) {
	dir := t.TempDir()
	commit := func(subject string, files map[string]string) {
		t.Helper()
		gittest.WriteFiles(t, dir, files)
		gittest.RunGit(t, dir, "add", ".")
		gittest.RunGit(t, dir, "commit", "-q", "-m", subject)
	}
	gittest.RunGit(t, dir, "init", "-q")
	cart := "package shop\n\ntype Cart struct{}\n\nfunc (c *Cart) Total() int {\n\treturn 0\n}\n\nfunc (c *Cart) discount(percent int) int {\n\treturn percent\n}\n"
	commit("Begin", map[string]string{
		"shop/cart.go": cart, "shop/cart_test.go": "package shop\n\nfunc TestCart() {}\n", "mail/send.go": "package mail\n\nfunc Send(to string) {\n\tdial(to)\n}\n",
		"other/a.go": "package other\n\nfunc A() {}\n",
	})
	commit("Fix the discount of large carts (#12)", map[string]string{"shop/cart.go": strings.Replace(cart, "return percent", "return min(percent, 50)", 1)})
	commit("fixes #13", map[string]string{"mail/send.go": "package mail\n\nfunc Send(to string) {\n\tredial(to)\n}\n"})
	commit("Fix cart test", map[string]string{"shop/cart_test.go": "package shop\n\nfunc TestCart() { _ = 1 }\n"})
	m, err := measureMaps(t.Context(), dir, nil, 5, 1_000)
	if err != nil {
		t.Fatal(err)
	}
	for i := range m.Fixes {
		m.Fixes[i].Commit, m.Fixes[i].Tokens = "", 0
	}
	m.Tokens = 0
	want := MapFigures{Files: 1, Symbols: 1, Fixes: []MappedFix{
		{Subject: "fixes", File: "mail/send.go", Symbol: "Send"},
		{Subject: "Fix the discount of large carts", File: "shop/cart.go", Symbol: "discount", Shown: true, Named: true},
	}}
	if d := cmp.Diff(want, m); d != "" {
		t.Error(d)
	}
	if _, err := measureMaps(t.Context(), dir, []string{"HEAD"}, 5, 1_000); err == nil || !strings.Contains(err.Error(), "no fix was found") {
		t.Error(err)
	}
}

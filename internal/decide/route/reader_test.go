package route_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/nexus-ai-builder/nexus/internal/decide/route"
)

func TestReader(t *testing.T) {
	for _, c := range []struct{ name, author, can, want, why string }{
		{"another provider", "a/fast", "a/balanced b/balanced b/strong", "b/balanced", "another provider"},
		{"another provider at another tier", "a/fast", "a/balanced a/strong b/fast", "b/fast", "another provider"},
		{"the tiers' order", "a/fast", "c/balanced b/balanced", "c/balanced", "another provider"},
		{"another model", "a/balanced", "a/balanced a/strong a/fast", "a/strong", "another model"},
		{"another one already", "a/fast", "a/balanced a/strong", "a/balanced", "another model"},
		{"one model", "a/one", "a/one a/one", "a/one", "no other model"},
		{"nobody can", "a/one", "", "a/one", "no other model"},
		{"a slash in the name", "router/x/one", "router/y/one other/x", "other/x", "another provider"},
	} {
		got, why := route.ChooseReviewModel(c.author, strings.Fields(c.can))
		if got != c.want || !strings.Contains(why, c.why) {
			t.Errorf("%s: %s, %q", c.name, got, why)
		}
	}
}

// TestReaderIsAnother holds that the author reads its own work only where
// nobody else can.
func TestReaderIsAnother(t *testing.T) {
	model := rapid.SampledFrom([]string{"a/1", "a/2", "b/1", "b/2", "c/1"})
	rapid.Check(t, func(t *rapid.T) {
		author, can := model.Draw(t, "author"), rapid.SliceOf(model).Draw(t, "can")
		got, why := route.ChooseReviewModel(author, can)
		others := slices.DeleteFunc(slices.Clone(can), func(c string) bool { return c == author })
		if why == "" || got == author && len(others) > 0 || got != author && !slices.Contains(others, got) {
			t.Fatalf("%s of %v reads %s (%s)", got, can, author, why)
		}
		if got[:1] == author[:1] && slices.ContainsFunc(can, func(c string) bool { return c[:1] != author[:1] }) {
			t.Fatalf("%s reads %s though there is another provider in %v", got, author, can)
		}
	})
}

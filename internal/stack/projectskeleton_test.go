package stack

import (
	"slices"
	"strings"
	"testing"
)

func all(string) bool { return true }

// TestChoose holds which stack an idea leads to, and why.
func TestChoose(t *testing.T) {
	for _, c := range []struct {
		idea, given, missing, want, why string
	}{
		{"a command that renames photos", "", "", "go", "commands and servers"},
		{"A website for our club", "", "", "node", "website"},
		{"plot the data of a CSV file", "", "", "python", "data, csv, plot"},
		{"a fast parser", "", "", "rust", "fast"},
		{"a backup script", "", "", "shell", "small scripts"},
		{"a website in Python", "", "", "python", "the idea names python"},
		{"something", "", "", "go", "nothing in the idea asks for another one"},
		{"something", "", "go", "node", "nothing in the idea"},
		{"a website in Python", "rust", "", "rust", "it was asked for"},
	} {
		got, no := ChooseStack(c.idea, c.given, func(p string) bool { return p != c.missing })
		if no != "" || got.Stack.Name != c.want || !strings.Contains(strings.Join(got.Why, "; "), c.why) {
			t.Errorf("%q: %s, %q, %q", c.idea, got.Stack.Name, got.Why, no)
		}
		if c.missing != "" && !slices.Contains(got.Not, "go: go is not installed") {
			t.Errorf("%q: %q", c.idea, got.Not)
		}
	}
	none := func(string) bool { return false }
	for given, want := range map[string]string{"elixir": "has no skeleton", "cobol": "there is no stack cobol", "rust": "not installed", "": "no toolchain"} {
		has := all
		if given == "rust" || given == "" {
			has = none
		}
		if _, no := ChooseStack("x", given, has); !strings.Contains(no, want) {
			t.Errorf("%q: %q", given, no)
		}
	}
}

// TestSkeletons holds that each skeleton names its project everywhere, and is found by its own stack.
func TestSkeletons(t *testing.T) {
	n := 0
	for _, s := range AllStacks() {
		if len(s.Skeleton.Files) == 0 {
			continue
		}
		n++
		named := false
		for _, f := range s.Skeleton.FilesFor("recipes") {
			if strings.Contains(f.Path+f.Text, "{name}") || strings.HasPrefix(f.Path, "/") || f.Text != "" && !strings.HasSuffix(f.Text, "\n") {
				t.Errorf("%s: %s", s.Name, f.Path)
			}
			named = named || strings.Contains(f.Text, "recipes")
		}
		if !named || len(s.Skeleton.Needs) == 0 || s.Skeleton.For == "" {
			t.Errorf("%s is not told apart", s.Name)
		}
	}
	if n < 5 {
		t.Errorf("%d skeletons", n)
	}
}

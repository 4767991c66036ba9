package nexus_test

import (
	"slices"
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

func TestGroups(t *testing.T) {
	for name, want := range map[string][]string{
		"":                         nil,
		" shop ":                   {"shop"},
		"CI/CD":                    {"CI/CD"},
		"shop /  cart / a  basket": {"shop", "shop / cart", "shop / cart / a basket"},
		" / shop / / cart / ":      {"shop", "shop / cart"},
		"shop\t/\ncart":            {"shop", "shop / cart"},
		"/":                        nil,
		"a / b / a":                {"a", "a / b", "a / b / a"},
		"shop /cart":               {"shop /cart"},
	} {
		clean := nexus.NormalizeGroupName(name)
		if got := nexus.EnclosingGroups(clean); !slices.Equal(got, want) || nexus.NormalizeGroupName(clean) != clean {
			t.Errorf("%q: %q", name, got)
		}
	}
}

func FuzzGroup(f *testing.F) {
	f.Add("a / b / / c")
	f.Fuzz(func(t *testing.T, name string) {
		clean := nexus.NormalizeGroupName(name)
		if again := nexus.NormalizeGroupName(clean); again != clean {
			t.Errorf("%q becomes %q, and that %q", name, clean, again)
		}
		if all := nexus.EnclosingGroups(clean); len(all) > 0 && all[len(all)-1] != clean {
			t.Errorf("%q is not the last of its groups: %q", clean, all)
		}
	})
}

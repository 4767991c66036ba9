package spec

import "testing"

func TestTitle(t *testing.T) {
	for goal, want := range map[string]string{
		"Do it.":                                "",
		"# Prices differ\n\nFix it.":            "Prices differ",
		"\n\n## Prices  differ ##\r\nFix it.\n": "Prices differ",
		"#123 is a number of an issue":          "",
		"#\n# Later":                            "Later",
		"Do it.\n# Not the first":               "",
		"":                                      "",
		"# A spec\n\n## Requirements\n\n- REQ-1: it works\n": "A spec",
		"####### seven": "",
	} {
		if got := GoalTitle(goal); got != want {
			t.Errorf("%q is called %q, want %q", goal, got, want)
		}
	}
}

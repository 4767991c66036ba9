package accept_test

import (
	"testing"

	"github.com/nexus-ai-builder/nexus/internal/decide/accept"
	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// TestRelates holds which red tests of a library show a bug that is told in words, where they turn green.
func TestRelates(t *testing.T) {
	for name, c := range map[string]struct {
		goal    string
		known   []string // names that the code has
		test    string
		text    string
		touched string
		left    []string // tests that are red still
		by      nexus.EvidenceReason
	}{
		"a word in its name":                             {"a copy of a dictionary keeps one value", nil, "test_omd_copy", "", "", nil, nexus.TurnedBearing},
		"one word in its text":                           {"a range of dates that begins and ends on the same day never ends", nil, "test_bounds", "x = IndexedSet(range(10))", "", nil, ""},
		"two words in its text":                          {"a range of dates that begins and ends on the same day never ends", nil, "test_same", "range = over(day, day)", "", nil, nexus.TurnedBearing},
		"one word, and no other is said":                 {"ranges are wrong", nil, "test_same", "range(3)", "", nil, nexus.TurnedBearing},
		"a word in its text, and one in what is touched": {"ranges of dates never end", nil, "test_same", "range(3)", "date_of", nil, nexus.TurnedBearing},

		"an ordinary word that the code has":            {"sorting a long list that was split in two crashes", []string{"split"}, "test_sort_barrel_list", "bl.sort()", "sort", nil, nexus.TurnedBearing},
		"the same word, as a name":                      {"split crashes for a long list", []string{"split"}, "test_sort_barrel_list", "bl.sort()", "sort", nil, ""},
		"the same word, before what it is":              {"the split function crashes for a long list", []string{"split"}, "test_sort_barrel_list", "bl.sort()", "sort", nil, ""},
		"the same word, as code":                        {"the `split` crashes for a long list", []string{"split"}, "test_sort_barrel_list", "bl.sort()", "sort", nil, ""},
		"an ordinary word, and little else":             {"the list is split in the wrong place", []string{"split"}, "test_sum", "of(list)", "sum", nil, ""},
		"a name, and a word that happens to be one":     {"a negative index of an IndexedSet is no error", []string{"index", "IndexedSet"}, "test_parsed", "IndexError: index", "parse", nil, ""},
		"the name that is written as one":               {"a negative index of an IndexedSet is no error", []string{"index", "IndexedSet"}, "test_bounds", "IndexedSet()[-1]", "get", nil, nexus.TurnedBearing},
		"a name in its text":                            {"mul gives a sum for large numbers", []string{"mul"}, "test_arithmetic", "assert mul(2, 3) == 6", "", nil, nexus.TurnedBearing},
		"a name that neither it nor the change has":     {"mul gives a sum for large numbers", []string{"mul"}, "test_large_numbers", "add(2, 3)", "add", nil, ""},
		"a consonant that its ending doubles":           {"splitting at most zero times is wrong", nil, "test_split", "", "", nil, nexus.TurnedBearing},
		"a word that is a part of one":                  {"a list of unsigned numbers takes no hexadecimal ones", nil, "TestUISHex", "", "", nil, nexus.TurnedBearing},
		"a part of a word, and another is red":          {"a list of unsigned numbers takes no hexadecimal ones", nil, "TestUISHex", "", "", []string{"TestIP"}, ""},
		"a part of a word, and a name that is not here": {"Parse takes no hexadecimal numbers", []string{"Parse"}, "TestUISHex", "", "", nil, ""},
		"another that is called like it is red":         {"a copy of a dictionary keeps one value", nil, "test_copy_of_dict", "", "", []string{"test_params_copy_of_dict"}, ""},
		"one is red that shares a word with it":         {"a copy of a dictionary keeps one value", nil, "test_copy_dict", "", "", []string{"test_dict_order"}, nexus.TurnedBearing},
		"one is red that shares its only word":          {"a copy of a dictionary keeps one value", nil, "test_copy", "", "", []string{"test_slice"}, nexus.TurnedBearing},
		"a short word that another ends with":           {"the art of it is lost", nil, "test_restart", "", "", nil, ""},
		"no word at all":                                {"a list of unsigned numbers takes no hexadecimal ones", nil, "TestIP", "", "", nil, ""},
	} {
		task := nexus.Task{ID: "T1", Title: c.goal, Criteria: []nexus.Criterion{{Text: c.goal, Check: "test"}}}
		base, now := verifierVerdict(3, append([]string{c.test}, c.left...)...), old(4, c.left...)
		for i := range c.left {
			base.Findings[i+1].File = "other_test.go"
		}
		w := accept.GatePassedTree{Task: task, Changed: []string{"x.py"}, Known: c.known, Base: []nexus.GateEvidence{base}, Now: []nexus.GateEvidence{now}}
		if c.touched != "" {
			w.Touched = []string{c.touched}
		}
		w.Ended = func(nexus.GateEvidence) map[string]string { return map[string]string{c.test: "pass"} }
		w.TextOf = func(f nexus.Finding) string {
			if f.Test == c.test {
				return c.text
			}
			return "nothing"
		}
		if all := accept.JudgeGateCriteria(w); len(all) != 1 || all[0].By != c.by {
			t.Errorf("%s: %+v", name, all)
		}
	}
}

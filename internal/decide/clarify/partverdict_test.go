package clarify

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// shown is a verdict in one line.
func shown(v specPartJudgement) string {
	var all []string
	for _, w := range v.wrong {
		text := "wrong " + w.id
		if w.instead != "" {
			text += " (" + w.instead + ")"
		}
		all = append(all, text)
	}
	for _, id := range v.right {
		all = append(all, "right "+id)
	}
	for _, id := range v.unclear {
		all = append(all, "unclear "+id)
	}
	if v.rest {
		all = append(all, "rest")
	}
	return strings.Join(all, "; ")
}

// TestWeigh holds what a person's words do to the parts that they name: only plain words do anything.
func TestWeigh(t *testing.T) {
	for text, want := range map[string]string{
		"A2 is wrong: it must be stored in a file, not in memory; the rest is fine": "wrong A-2 (it must be stored in a file, not in memory); rest",
		"A-1 is wrong: b":                          "wrong A-1 (b)",
		"a-1 isn't right, it is blue":              "wrong A-1 (it is blue)",
		"Assumption 2 is wrong. It is a file.":     "wrong A-2 (It is a file)",
		"assumption A-2 is wrong":                  "wrong A-2",
		"No, REQ-3 is not true.":                   "wrong REQ-3",
		"I think R3 is wrong it must be CSV":       "wrong REQ-3 (it must be CSV)",
		"A-2 is wrong because we have no disk":     "wrong A-2",
		"A-2 is wrong, the rest is fine":           "wrong A-2; rest",
		"A-2 is wrong and everything else is ok.":  "wrong A-2; rest",
		"A-2 does not hold; keep the others":       "wrong A-2; rest",
		"A-1 and A-2 are wrong: one file":          "wrong A-1 (one file); wrong A-2 (one file)",
		"assumptions 1, 2 and 3 are wrong":         "wrong A-1; wrong A-2; wrong A-3",
		"A-1 is right, A-2 is wrong: a file":       "wrong A-2 (a file); right A-1",
		"A-1 is right but A-2 is wrong":            "wrong A-2; right A-1",
		"A-1 is wrong: a. A-2 is wrong: b":         "wrong A-1 (a); wrong A-2 (b)",
		"remove A-2":                               "wrong A-2",
		"Please drop REQ-1 and AC-2, no one asked": "wrong REQ-1 (no one asked); wrong AC-2 (no one asked)",
		"keep A-2":                           "right A-2",
		"don't remove A-2":                   "right A-2",
		"A2 is right":                        "right A-2",
		"A-2 is not wrong":                   "right A-2",
		"A-2 is fine, I think":               "right A-2",
		"criterion 1 is okay":                "right AC-1",
		"A-2 is right, but only on Windows":  "unclear A-2",
		"A-2 is right if we have a disk":     "unclear A-2",
		"A-2 is wrong on Windows":            "unclear A-2",
		"is A-2 wrong?":                      "unclear A-2",
		"A-2 might be wrong":                 "unclear A-2",
		"if A-2 is wrong, say so":            "unclear A-2",
		"everything except A-2 is fine":      "unclear A-2",
		"nothing is wrong with A-2":          "unclear A-2",
		"only A-2 is right":                  "unclear A-2",
		"neither A-1 nor A-2 is right":       "unclear A-1; unclear A-2",
		"A-2: a file":                        "unclear A-2",
		"REQ-2 must remove old files":        "unclear REQ-2",
		"REQ-2 puts the button at the right": "unclear REQ-2",
		"remove A-2 and keep A-3":            "unclear A-2; unclear A-3",
		"A-2 is wrong. A-2 is right.":        "unclear A-2",
		"A-02 is wrong":                      "wrong A-2",
		"the rest is fine":                   "rest",
		"All the others hold.":               "rest",
		"the rest is not fine":               "",
		"the rest of it needs work":          "",
		"US-A-2 is wrong, and so is A-2.5":   "",
		"a 2 minute window is wrong":         "",
		"print it on A4-paper":               "",
		"in my own words":                    "",
		"":                                   "",
	} {
		if got := shown(parsePartJudgement(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// FuzzWeigh holds that a person's words say one thing about a part at most, and only about parts that they name.
func FuzzWeigh(f *testing.F) {
	for _, text := range []string{"A2 is wrong: b; the rest is fine", "assumptions 1, 2 and 3 are right", "\u2019A-1\xff is wrong, it's b", "drop REQ-1 and keep A-3?", "a9999 & A-1"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		v := parsePartJudgement(text)
		var seen []string
		for _, w := range v.wrong {
			seen = append(seen, w.id)
			if w.instead != boundedLine(w.instead) {
				t.Errorf("%q: %q", text, w.instead)
			}
		}
		seen = append(append(seen, v.right...), v.unclear...)
		for n, id := range seen {
			if slices.Contains(seen[:n], id) {
				t.Errorf("%q says two things about %s: %s", text, id, shown(v))
			}
			number := id[strings.Index(id, "-")+1:]
			if !strings.Contains(text, number) {
				t.Errorf("%q does not name %s", text, id)
			}
		}
		if fmt.Sprint(parsePartJudgement(text)) != fmt.Sprint(v) {
			t.Error("it is not always the same")
		}
	})
}

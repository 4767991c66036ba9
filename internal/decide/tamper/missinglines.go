package tamper

import (
	"fmt"
	"slices"
	"strings"
)

const (
	told    = 8 // missing lines that a finding quotes
	joined  = 8 // lines of the result into which one line may have been broken
	slack   = 3 // maximum ratio of words in a line that combines the words of two
	minimum = 2 // words that must stay if a name was replaced
)

// missingLine is an expected line that is missing.
type missingLine struct {
	number int // line number in the side that has it
	text   string
	whose  string
	key    string
}

// lines finds missing lines, by file.
func (m *merge) lines() {
	m.gone = map[string]bool{}
	each := make([]map[string]counted, len(m.files))
	missing := map[string]int{}
	for i, f := range m.files {
		if opaque(f) {
			continue
		}
		each[i] = count4(f, func(t *string) []string { return m.keys(f.Path, t) })
		for key, c := range each[i] { // the order of a sum does not matter
			missing[key] += c.expected() - c.result
		}
	}
	fresh := m.fresh(each)
	words := m.words()
	for i, f := range m.files {
		if each[i] == nil {
			continue
		}
		var all []missingLine
		for _, a := range m.short4(f, each[i]) {
			if missing[a.key] <= 0 {
				continue // it is in another file
			}
			missing[a.key]--
			if !words.covered(a, fresh) {
				all = append(all, a)
			}
		}
		m.missing(f, all)
	}
}

// missing adds the missing lines of a file.
func (m *merge) missing(f Sides, all []missingLine) {
	wanted := expected(there(f.Base), there(f.Landed), there(f.Change)) > 0
	if wanted && f.Result == nil && (len(all) > 0 || !m.moved()) {
		m.gone[f.Path] = true
		m.add(f.Path, f.Path, 0, LostFile, "the file is missing")
		return
	}
	var sides []string
	for _, a := range all {
		if !slices.Contains(sides, a.whose) {
			sides = append(sides, a.whose)
		}
	}
	for _, side := range sides {
		var texts []string
		first, n := 0, 0
		for _, a := range all {
			if a.whose != side {
				continue
			}
			if n++; n <= told {
				texts = append(texts, short(a.text))
			}
			if first == 0 && f.Result != nil {
				first = min(a.number, strings.Count(*f.Result, "\n")+1)
			}
		}
		added := "which " + side + " added"
		if side == "before both sides" {
			added = "which neither side removed"
		}
		text := fmt.Sprintf("%s, %s:\n%s", count(n, "line is missing", "lines are missing"), added, strings.Join(texts, "\n"))
		if n > told {
			text += fmt.Sprintf("\nand %d more", n-told)
		}
		m.add(f.Path+": lines of "+side, f.Path, first, LostLines, "%s", text)
	}
}

// moved reports whether the result has a file that no other tree has.
func (m *merge) moved() bool {
	return slices.ContainsFunc(m.files, func(f Sides) bool {
		return f.Base == nil && f.Landed == nil && f.Change == nil && f.Result != nil
	})
}

func there(text *string) int {
	if text == nil {
		return 0
	}
	return 1
}

// short4 returns the lines that are in the result of a file less often than expected, in
// order.
func (m *merge) short4(f Sides, all map[string]counted) []missingLine {
	left := map[string]int{}
	for key, c := range all {
		left[key] = c.expected() - c.result
	}
	var lost []missingLine
	for _, side := range []*string{f.Landed, f.Change} {
		if side == nil {
			continue
		}
		from := map[string]int{} // the base's copies of a line come first
		keys, lines := m.keyed(f.Path, *side), strings.Split(*side, "\n")
		for i, text := range lines {
			key := keys[i]
			c := all[key]
			if from[key]++; left[key] <= 0 || from[key] <= c.base && c.whose() != "before both sides" {
				continue
			}
			left[key]--
			lost = append(lost, missingLine{i + 1, strings.TrimSpace(text), c.whose(), key})
		}
	}
	return lost
}

// tokenizedLine is a line of a result.
type tokenizedLine struct {
	words  []string
	fresh  bool // it is not expected there
	silent bool // it is a comment
}

// fresh returns the lines of the results that have content.
func (m *merge) fresh(each []map[string]counted) [][]tokenizedLine {
	var all [][]tokenizedLine
	for i, f := range m.files {
		if each[i] == nil || f.Result == nil {
			continue
		}
		left := map[string]int{}
		for key, c := range each[i] {
			left[key] = c.result - c.expected()
		}
		var lines []tokenizedLine
		keys := m.keyed(f.Path, *f.Result)
		for n, text := range strings.Split(*f.Result, "\n") {
			key := keys[n]
			if key == "" {
				continue
			}
			l := tokenizedLine{words: tokens(text), fresh: left[key] > 0, silent: silent(key)}
			left[key]--
			lines = append(lines, l)
		}
		all = append(all, lines)
	}
	return all
}

// keys returns the lines of a text that have content, with single spaces.
func (m *merge) keys(file string, text *string) []string {
	if text == nil {
		return nil
	}
	return slices.DeleteFunc(m.keyed(file, *text), func(key string) bool { return key == "" })
}

// inert is the prefix of the key of a line without effect: a comment, or a part of a literal
// of several lines.
const inert = "\x01"

// keyed returns the key of every line of a text, or "" for a line without a word. A line that
// was commented out has another key than before.
func (m *merge) keyed(file, text string) []string {
	lines, bare := strings.Split(text, "\n"), strings.Split(m.stripInert(file, text), "\n")
	all := make([]string, len(lines))
	for i, l := range lines {
		if all[i] = squeezed(l); all[i] != "" && len(bare) == len(lines) && squeezed(bare[i]) == "" {
			all[i] = inert + all[i]
		}
	}
	return all
}

// silent reports whether a key is that of a comment.
func silent(key string) bool {
	for _, mark := range []string{inert, "#", "//", "/*", "-- ", "<!--"} {
		if strings.HasPrefix(key, mark) {
			return true
		}
	}
	return false
}

// squeezed returns a line with single spaces, or "" if it has no word.
func squeezed(line string) string {
	if !strings.ContainsFunc(line, wordy) {
		return ""
	}
	return strings.TrimSuffix(strings.Join(strings.Fields(line), " "), ",")
}

func wordy(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80
}

// tokens returns the words, numbers and operators of a text.
func tokens(text string) []string {
	var all []string
	start := -1
	for i, r := range text + " " {
		switch in := wordy(r); {
		case in && start < 0:
			start = i
		case !in && start >= 0:
			all = append(all, text[start:i])
			start = -1
		}
		if strings.ContainsRune("<>=!+-*/%&|^~?", r) {
			all = append(all, string(r))
		}
	}
	return all
}

// covered reports whether lines of a result, at least one of them new, have the words of a
// line in order, and no word that is in neither side: the line was broken, joined, or merged
// with the other side's version.
func (v vocabulary) covered(a missingLine, results [][]tokenizedLine) bool {
	want, replaced := tokens(a.text), v.replaced(a.whose)
	kept := 0
	for _, w := range want {
		if !replaced(w) {
			kept++
		}
	}
	other := func(w string) bool { return kept >= minimum && replaced(w) }
	for _, lines := range results {
		for i := range lines {
			if v.spread(want, lines[i:min(len(lines), i+joined)], silent(a.key), other) {
				return true
			}
		}
	}
	return false
}

// spread reports whether the first of some lines, at least one of them new, have words in
// order. Comments contain no words of a line that is not a comment.
func (v vocabulary) spread(want []string, lines []tokenizedLine, comments bool, other func(string) bool) bool {
	var have []string
	fresh := false
	for _, l := range lines {
		if l.silent && !comments {
			return false
		}
		have, fresh = append(have, l.words...), fresh || l.fresh
		if len(have) > slack*len(want)+2*joined || l.fresh && slices.ContainsFunc(l.words, v.alien) {
			return false
		}
		if fresh && follows(want, have, other) {
			return true
		}
	}
	return false
}

// alien reports whether a word is in neither side.
func (v vocabulary) alien(w string) bool {
	return wordy(rune(w[0])) && (w[0] < '0' || w[0] > '9') && !v.base[w] && !v.landed[w] && !v.change[w]
}

// follows reports whether words occur among others in order. A replaced one may be any word.
func follows(want, have []string, replaced func(string) bool) bool {
	for _, h := range have {
		if len(want) == 0 {
			break
		}
		if h == want[0] || replaced(want[0]) && wordy(rune(h[0])) {
			want = want[1:]
		}
	}
	return len(want) == 0
}

// vocabulary is the set of words of each tree.
type vocabulary struct{ base, landed, change, result map[string]bool }

func (m *merge) words() vocabulary {
	of := func(get func(Sides) *string) map[string]bool {
		all := map[string]bool{}
		for _, f := range m.files {
			if t := get(f); t != nil && !opaque(f) {
				for _, w := range tokens(*t) {
					all[w] = true
				}
			}
		}
		return all
	}
	return vocabulary{
		of(func(f Sides) *string { return f.Base }), of(func(f Sides) *string { return f.Landed }),
		of(func(f Sides) *string { return f.Change }), of(func(f Sides) *string { return f.Result }),
	}
}

// replaced returns a function that reports which words of a line of one side the other side
// replaced everywhere.
func (v vocabulary) replaced(whose string) func(string) bool {
	other := v.change
	if whose == "the change" {
		other = v.landed
	}
	return func(w string) bool { return v.base[w] && !other[w] && !v.result[w] }
}

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

// checkMissingLines finds missing lines, by file.
func (m *mergeComparison) checkMissingLines() {
	m.gone = map[string]bool{}
	each := make([]map[string]countBySide, len(m.files))
	missing := map[string]int{}
	for i, f := range m.files {
		if isBinary(f) {
			continue
		}
		each[i] = countByTree(f, func(t *string) []string { return m.meaningfulLines(f.Path, t) })
		for key, c := range each[i] { // the order of a sum does not matter
			missing[key] += c.expectedCount() - c.result
		}
	}
	fresh := m.newLines(each)
	words := m.collectWords()
	for i, f := range m.files {
		if each[i] == nil {
			continue
		}
		var all []missingLine
		for _, a := range m.missingOccurrences(f, each[i]) {
			if missing[a.key] <= 0 {
				continue // it is in another file
			}
			missing[a.key]--
			if !words.isCoveredByResult(a, fresh) {
				all = append(all, a)
			}
		}
		m.addMissingLines(f, all)
	}
}

// addMissingLines adds the missing lines of a file.
func (m *mergeComparison) addMissingLines(f MergedFileVersions, all []missingLine) {
	wanted := expectedCount(presenceCount(f.Base), presenceCount(f.Landed), presenceCount(f.Change)) > 0
	if wanted && f.Result == nil && (len(all) > 0 || !m.hasNewFile()) {
		m.gone[f.Path] = true
		m.addFinding(f.Path, f.Path, 0, LostFile, "the file is missing")
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
				texts = append(texts, shortenText(a.text))
			}
			if first == 0 && f.Result != nil {
				first = min(a.number, strings.Count(*f.Result, "\n")+1)
			}
		}
		added := "which " + side + " added"
		if side == "before both sides" {
			added = "which neither side removed"
		}
		text := fmt.Sprintf("%s, %s:\n%s", countText(n, "line is missing", "lines are missing"), added, strings.Join(texts, "\n"))
		if n > told {
			text += fmt.Sprintf("\nand %d more", n-told)
		}
		m.addFinding(f.Path+": lines of "+side, f.Path, first, LostLines, "%s", text)
	}
}

// hasNewFile reports whether the result has a file that no other tree has.
func (m *mergeComparison) hasNewFile() bool {
	return slices.ContainsFunc(m.files, func(f MergedFileVersions) bool {
		return f.Base == nil && f.Landed == nil && f.Change == nil && f.Result != nil
	})
}

func presenceCount(text *string) int {
	if text == nil {
		return 0
	}
	return 1
}

// missingOccurrences returns the lines that are in the result of a file less often than expected, in
// order.
func (m *mergeComparison) missingOccurrences(f MergedFileVersions, all map[string]countBySide) []missingLine {
	left := map[string]int{}
	for key, c := range all {
		left[key] = c.expectedCount() - c.result
	}
	var lost []missingLine
	for _, side := range []*string{f.Landed, f.Change} {
		if side == nil {
			continue
		}
		from := map[string]int{} // the base's copies of a line come first
		keys, lines := m.lineKeys(f.Path, *side), strings.Split(*side, "\n")
		for i, text := range lines {
			key := keys[i]
			c := all[key]
			if from[key]++; left[key] <= 0 || from[key] <= c.base && c.sideName() != "before both sides" {
				continue
			}
			left[key]--
			lost = append(lost, missingLine{i + 1, strings.TrimSpace(text), c.sideName(), key})
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

// newLines returns, for each merged file, its lines with content, and which of them neither side
// has.
func (m *mergeComparison) newLines(each []map[string]countBySide) [][]tokenizedLine {
	var all [][]tokenizedLine
	for i, f := range m.files {
		if each[i] == nil || f.Result == nil {
			continue
		}
		left := map[string]int{}
		for key, c := range each[i] {
			left[key] = c.result - c.expectedCount()
		}
		var lines []tokenizedLine
		keys := m.lineKeys(f.Path, *f.Result)
		for n, text := range strings.Split(*f.Result, "\n") {
			key := keys[n]
			if key == "" {
				continue
			}
			l := tokenizedLine{words: splitTokens(text), fresh: left[key] > 0, silent: isCommentKey(key)}
			left[key]--
			lines = append(lines, l)
		}
		all = append(all, lines)
	}
	return all
}

// meaningfulLines returns the lines of a text that have content, with single spaces.
func (m *mergeComparison) meaningfulLines(file string, text *string) []string {
	if text == nil {
		return nil
	}
	return slices.DeleteFunc(m.lineKeys(file, *text), func(key string) bool { return key == "" })
}

// inert is the prefix of the key of a line without effect: a comment, or a part of a literal
// of several lines.
const inert = "\x01"

// lineKeys returns the key of every line of a text, or "" for a line without a word. A line that
// was commented out has another key than before.
func (m *mergeComparison) lineKeys(file, text string) []string {
	lines, bare := strings.Split(text, "\n"), strings.Split(m.stripInertText(file, text), "\n")
	all := make([]string, len(lines))
	for i, l := range lines {
		if all[i] = squeezeSpaces(l); all[i] != "" && len(bare) == len(lines) && squeezeSpaces(bare[i]) == "" {
			all[i] = inert + all[i]
		}
	}
	return all
}

// isCommentKey reports whether a key is that of a comment.
func isCommentKey(key string) bool {
	for _, mark := range []string{inert, "#", "//", "/*", "-- ", "<!--"} {
		if strings.HasPrefix(key, mark) {
			return true
		}
	}
	return false
}

// squeezeSpaces returns a line with single spaces, or "" if it has no word.
func squeezeSpaces(line string) string {
	if !strings.ContainsFunc(line, isWordRune) {
		return ""
	}
	return strings.TrimSuffix(strings.Join(strings.Fields(line), " "), ",")
}

func isWordRune(r rune) bool {
	return r == '_' || r >= '0' && r <= '9' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 0x80
}

// splitTokens returns the words, numbers and operators of a text.
func splitTokens(text string) []string {
	var all []string
	start := -1
	for i, r := range text + " " {
		switch in := isWordRune(r); {
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

// isCoveredByResult reports whether lines of a result, at least one of them new, have the words of a
// line in order, and no word that is in neither side: the line was broken, joined, or merged
// with the other side's version.
func (v wordsBySide) isCoveredByResult(a missingLine, results [][]tokenizedLine) bool {
	want, replaced := splitTokens(a.text), v.replacedWordTest(a.whose)
	kept := 0
	for _, w := range want {
		if !replaced(w) {
			kept++
		}
	}
	other := func(w string) bool { return kept >= minimum && replaced(w) }
	for _, lines := range results {
		for i := range lines {
			if v.hasWordsInOrder(want, lines[i:min(len(lines), i+joined)], isCommentKey(a.key), other) {
				return true
			}
		}
	}
	return false
}

// hasWordsInOrder reports whether the first of some lines, at least one of them new, have words in
// order. Comments contain no words of a line that is not a comment.
func (v wordsBySide) hasWordsInOrder(want []string, lines []tokenizedLine, comments bool, other func(string) bool) bool {
	var have []string
	fresh := false
	for _, l := range lines {
		if l.silent && !comments {
			return false
		}
		have, fresh = append(have, l.words...), fresh || l.fresh
		if len(have) > slack*len(want)+2*joined || l.fresh && slices.ContainsFunc(l.words, v.isNewWord) {
			return false
		}
		if fresh && hasWordSequence(want, have, other) {
			return true
		}
	}
	return false
}

// isNewWord reports whether a word is in neither side.
func (v wordsBySide) isNewWord(w string) bool {
	return isWordRune(rune(w[0])) && (w[0] < '0' || w[0] > '9') && !v.base[w] && !v.landed[w] && !v.change[w]
}

// hasWordSequence reports whether words occur among others in order. A replaced one may be any word.
func hasWordSequence(want, have []string, replaced func(string) bool) bool {
	for _, h := range have {
		if len(want) == 0 {
			break
		}
		if h == want[0] || replaced(want[0]) && isWordRune(rune(h[0])) {
			want = want[1:]
		}
	}
	return len(want) == 0
}

// wordsBySide is the set of words of each tree.
type wordsBySide struct{ base, landed, change, result map[string]bool }

func (m *mergeComparison) collectWords() wordsBySide {
	of := func(get func(MergedFileVersions) *string) map[string]bool {
		all := map[string]bool{}
		for _, f := range m.files {
			if t := get(f); t != nil && !isBinary(f) {
				for _, w := range splitTokens(*t) {
					all[w] = true
				}
			}
		}
		return all
	}
	return wordsBySide{
		of(func(f MergedFileVersions) *string { return f.Base }), of(func(f MergedFileVersions) *string { return f.Landed }),
		of(func(f MergedFileVersions) *string { return f.Change }), of(func(f MergedFileVersions) *string { return f.Result }),
	}
}

// replacedWordTest returns a function that reports which words of a line of one side the other side
// replaced everywhere.
func (v wordsBySide) replacedWordTest(whose string) func(string) bool {
	other := v.change
	if whose == "the change" {
		other = v.landed
	}
	return func(w string) bool { return v.base[w] && !other[w] && !v.result[w] }
}

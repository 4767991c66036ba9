package tamper

import (
	"fmt"
	"slices"
	"strings"
)

// Undone is the code of a finding about a thing that one side removed and the result of a
// merge contains again.
const Undone = "merge.undone"

// maxCells limits the comparison of two versions of a file, in differing lines times
// differing lines.
const maxCells = 4 << 20

// maxPairs limits the pairs of lines whose words are compared.
const maxPairs = 200_000

// checkRestoredLines finds lines that a side removed and that the result contains again. The expected
// count of a line is the number that both sides kept plus the number that either added; a
// line that both sides moved counts once. Lines that only moved to another file are skipped,
// and so are lines that a side broke or joined and the result has in the old form.
func (m *mergeComparison) checkRestoredLines() {
	var all []*removedLinesBySide
	excess := map[string]int{}
	for _, f := range m.files {
		if isBinary(f) || f.Result == nil {
			continue
		}
		if f.Base != nil && (f.Landed == nil || f.Change == nil) {
			m.addRestoredFile(f)
			continue
		}
		r := m.newRemovals(f)
		all = append(all, r)
		for key, n := range r.have {
			excess[key] += n
		}
		for key, n := range r.allowed {
			excess[key] -= n
		}
	}
	for _, r := range all {
		m.addRestoredLines(r, excess)
		m.addRestoredWords(r)
	}
}

// addRestoredFile adds a file that one side deleted, the other did not change, and the result
// contains. If the other side changed it, that is a decision that the merger explains.
func (m *mergeComparison) addRestoredFile(f MergedFileVersions) {
	kept := f.Landed
	side := "the change"
	if kept == nil {
		kept, side = f.Change, "the landed work"
		if f.Change == nil {
			side = "both sides"
		}
	}
	if kept == nil || isSameText(kept, f.Base) {
		m.addFinding(f.Path+": deleted by "+side, f.Path, 0, Undone, "the file is there again, which %s deleted", side)
	}
}

// removedLinesBySide describes the sides' removals in a file, and its result.
type removedLinesBySide struct {
	MergedFileVersions

	base, landed, change, result []string // keys of the lines, empty for one without a word
	goneLanded, goneChange       []bool   // for each line of the base: the side removed it
	allowed, have                map[string]int
}

func (m *mergeComparison) newRemovals(f MergedFileVersions) *removedLinesBySide {
	keyed := func(text *string) []string {
		if text == nil {
			return nil
		}
		return m.lineKeys(f.Path, *text)
	}
	r := &removedLinesBySide{MergedFileVersions: f, base: keyed(f.Base), landed: keyed(f.Landed), change: keyed(f.Change), result: keyed(f.Result)}
	r.allowed, r.have = map[string]int{}, map[string]int{}
	var newLanded, newChange []bool
	r.goneLanded, newLanded = unmatchedLines(r.base, r.landed)
	r.goneChange, newChange = unmatchedLines(r.base, r.change)
	for i, key := range r.base {
		if !r.goneLanded[i] && !r.goneChange[i] {
			r.allowed[key]++
		}
	}
	for i, key := range r.landed {
		if newLanded[i] {
			r.allowed[key]++
		}
	}
	for i, key := range r.change {
		if newChange[i] {
			r.allowed[key]++
		}
	}
	made := map[string]int{}
	for _, key := range keyed(f.Made) { // git's own merge counts as right
		made[key]++
		r.allowed[key] = max(r.allowed[key], made[key])
	}
	for _, key := range r.result {
		r.have[key]++
	}
	delete(r.have, "")
	return r
}

// unmatchedLines compares two texts, and reports which lines of each are not in the other one, by
// a longest common subsequence. If that would take too long, every line that differs counts
// as unmatched.
func unmatchedLines(a, b []string) (gone, added []bool) {
	gone, added = make([]bool, len(a)), make([]bool, len(b))
	lo := 0
	for lo < len(a) && lo < len(b) && a[lo] == b[lo] {
		lo++
	}
	ea, eb := len(a), len(b)
	for ea > lo && eb > lo && a[ea-1] == b[eb-1] {
		ea, eb = ea-1, eb-1
	}
	for i := lo; i < ea; i++ {
		gone[i] = true
	}
	for i := lo; i < eb; i++ {
		added[i] = true
	}
	n, k := ea-lo, eb-lo
	if n == 0 || k == 0 || n*k > maxCells {
		return gone, added
	}
	longest := make([]int32, (n+1)*(k+1)) // for the rest of both texts after a position
	at := func(i, j int) int32 { return longest[i*(k+1)+j] }
	for i := n - 1; i >= 0; i-- {
		for j := k - 1; j >= 0; j-- {
			if a[lo+i] == b[lo+j] {
				longest[i*(k+1)+j] = at(i+1, j+1) + 1
			} else {
				longest[i*(k+1)+j] = max(at(i+1, j), at(i, j+1))
			}
		}
	}
	for i, j := 0, 0; i < n && j < k; {
		switch {
		case a[lo+i] == b[lo+j]:
			gone[lo+i], added[lo+j] = false, false
			i, j = i+1, j+1
		case at(i+1, j) >= at(i, j+1):
			i++
		default:
			j++
		}
	}
	return gone, added
}

// removingSide returns the side that removed a line with a key of the base, or "".
func (r *removedLinesBySide) removingSide(key string) string {
	landed, change := false, false
	for i, k := range r.base {
		landed, change = landed || k == key && r.goneLanded[i], change || k == key && r.goneChange[i]
	}
	switch {
	case landed && change:
		return "both sides"
	case landed:
		return "the landed work"
	case change:
		return "the change"
	}
	return ""
}

// addRestoredLines adds findings for the restored lines of a file, for each side.
func (m *mergeComparison) addRestoredLines(r *removedLinesBySide, excess map[string]int) {
	lines := strings.Split(*r.Result, "\n")
	seen := map[string]int{}
	texts, first := map[string][]string{}, map[string]int{}
	var order []string
	for i, key := range r.result {
		if seen[key]++; key == "" || seen[key] <= r.allowed[key] || excess[key] <= 0 {
			continue
		}
		side := r.removingSide(key)
		if side == "" || isCommonLine(key) && !r.isBetweenSameLines(i) || m.wasReformatted(r, side, key) {
			continue
		}
		excess[key]--
		if first[side] == 0 {
			first[side] = i + 1
			order = append(order, side)
		}
		texts[side] = append(texts[side], shortenText(strings.TrimSpace(lines[i])))
	}
	for _, side := range order {
		all := texts[side]
		text := fmt.Sprintf("%s again, which %s removed:\n%s", countText(len(all), "line is there", "lines are there"), side, strings.Join(all[:min(len(all), told)], "\n"))
		if n := len(all); n > told {
			text += fmt.Sprintf("\nand %d more", n-told)
		}
		m.addFinding(r.Path+": lines removed by "+side, r.Path, first[side], Undone, "%s", text)
	}
}

// isCommonLine reports whether a line has only words that are frequent in any code, such as "return
// nil": one more of these is no evidence.
func isCommonLine(key string) bool {
	for _, w := range splitTokens(key) {
		switch strings.ToLower(w) {
		case "return", "nil", "null", "none", "true", "false", "else", "end", "break", "continue", "pass", "try", "finally",
			"do", "done", "fi", "then", "begin", "default", "err", "error", "if", "esac", "self", "this", "!", "=":
		default:
			return false
		}
	}
	return true
}

// isBetweenSameLines reports whether a line of the result is between the same lines between which an
// equal line was removed.
func (r *removedLinesBySide) isBetweenSameLines(at int) bool {
	for i, key := range r.base {
		if key == r.result[at] && (r.goneLanded[i] || r.goneChange[i]) &&
			neighbourKey(r.base, i, -1) == neighbourKey(r.result, at, -1) && neighbourKey(r.base, i, 1) == neighbourKey(r.result, at, 1) {
			return true
		}
	}
	return false
}

// neighbourKey returns the next key before or after a line.
func neighbourKey(keys []string, at, step int) string {
	for i := at + step; i >= 0 && i < len(keys); i += step {
		if keys[i] != "" {
			return keys[i]
		}
	}
	return ""
}

// wasReformatted reports whether a side changed the form of a line, to several lines or joined with
// others, and the result does not have that form: then it has the old one, and the missing
// lines are already reported.
func (m *mergeComparison) wasReformatted(r *removedLinesBySide, side, key string) bool {
	text, keys := r.Landed, r.landed
	if side == "the change" {
		text, keys = r.Change, r.change
	}
	inBase := map[string]int{}
	for _, k := range r.base {
		inBase[k]++
	}
	missing := map[string]int{}
	for _, k := range keys {
		missing[k]++
	}
	for k := range missing {
		missing[k] -= r.have[k]
	}
	lines := strings.Split(*text, "\n")
	var all []tokenizedLine
	for i, k := range keys {
		if inBase[k]--; k != "" {
			all = append(all, tokenizedLine{words: splitTokens(lines[i]), fresh: inBase[k] < 0 && missing[k] > 0, silent: isCommentKey(k)})
		}
	}
	absent := slices.DeleteFunc(addedLines(keys, r.base), func(k string) bool { return missing[k] <= 0 })
	if nearestLine(wordsOf(key), absent) != "" {
		return true
	}
	want, no := splitTokens(strings.TrimPrefix(key, inert)), func(string) bool { return false }
	v := m.collectWords()
	for i := range all {
		if v.hasWordsInOrder(want, all[i:min(len(all), i+joined)], isCommentKey(key), no) {
			return true
		}
	}
	return false
}

// addRestoredWords compares lines that both sides changed, such as a list on one line, and adds the
// words that a side removed and the result's line contains again.
func (m *mergeComparison) addRestoredWords(r *removedLinesBySide) {
	byLanded, byChange, now := addedLines(r.landed, r.base), addedLines(r.change, r.base), addedLines(r.result, r.base)
	left := maxPairs
	for i, key := range r.base {
		if key == "" || !r.goneLanded[i] || !r.goneChange[i] {
			continue
		}
		if left -= len(byLanded) + len(byChange) + len(now); left < 0 {
			return
		}
		base := wordsOf(key)
		landed, change := nearestLine(base, byLanded), nearestLine(base, byChange)
		if landed == "" || change == "" || landed == change {
			continue
		}
		union := append(slices.Clone(wordsOf(landed)), wordsOf(change)...)
		is := nearestLine(union, now)
		if is == "" {
			continue
		}
		var back []string
		for w, c := range countWords(base, wordsOf(landed), wordsOf(change), wordsOf(is)) {
			if c.result > c.expectedCount() && (c.landed < c.base || c.change < c.base) && c.result <= c.base {
				back = append(back, w)
			}
		}
		slices.Sort(back)
		if len(back) > 0 {
			m.addFinding(fmt.Sprintf("%s: words removed from %s", r.Path, shortenText(strings.TrimPrefix(key, inert))), r.Path, slices.Index(r.result, is)+1, Undone,
				"in the line %s there is again what one side took out of it: %s", shortenText(is), strings.Join(back, ", "))
		}
	}
}

// wordsOf returns the words of a line without its operators.
func wordsOf(key string) []string {
	return slices.DeleteFunc(splitTokens(strings.TrimPrefix(key, inert)), func(w string) bool { return !isWordRune(rune(w[0])) })
}

// addedLines returns the lines of a text that the base does not have.
func addedLines(keys, base []string) []string {
	old := map[string]bool{"": true}
	for _, key := range base {
		old[key] = true
	}
	return slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return old[key] })
}

// nearestLine returns the line with the most words in common with some words, at least half of
// its own and of theirs, or "".
func nearestLine(want, keys []string) string {
	best, most := "", 0
	for _, key := range keys {
		have := wordsOf(key)
		shared := 0
		left := slices.Clone(want)
		for _, w := range have {
			if at := slices.Index(left, w); at >= 0 {
				left = slices.Delete(left, at, at+1)
				shared++
			}
		}
		if shared > most && 2*shared >= len(have) && 2*shared >= min(len(want), len(have)) {
			best, most = key, shared
		}
	}
	return best
}

// countWords counts the words of a line in each tree.
func countWords(base, landed, change, result []string) map[string]countBySide {
	all := map[string]countBySide{}
	for i, words := range [][]string{base, landed, change, result} {
		for _, w := range words {
			c := all[w]
			*[]*int{&c.base, &c.landed, &c.change, &c.result}[i]++
			all[w] = c
		}
	}
	return all
}

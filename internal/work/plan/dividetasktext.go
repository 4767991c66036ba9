package plan

import (
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// lastNamedPart returns the index of the last part with a file that a text names; -1 for none.
func lastNamedPart(parts []nexus.Task, text string) int {
	said := parseWording(text)
	for i := len(parts) - 1; i >= 0; i-- {
		if said.namesFileOf(parts[i]) {
			return i
		}
	}
	return -1
}

// splitTextWords is a text split into paths and words.
type splitTextWords struct {
	text  string
	paths map[string]bool // words with their separators, such as db/store.go
	words map[string]bool // words in lower case, without those of file names
}

// parseWording splits a text.
func parseWording(text string) splitTextWords {
	w := splitTextWords{text, map[string]bool{}, map[string]bool{}}
	inWord := func(r rune) bool { return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) }
	for p := range strings.FieldsFuncSeq(text, func(r rune) bool { return !inWord(r) && !strings.ContainsRune("./-", r) }) {
		p = strings.TrimPrefix(strings.TrimRight(p, "./-"), "./")
		if w.paths[p] = true; strings.Contains(p, ".") {
			continue
		}
		for word := range strings.FieldsFuncSeq(strings.ToLower(p), func(r rune) bool { return !inWord(r) }) {
			w.words[word] = true
		}
	}
	return w
}

// namesFileOf reports whether the text names a file of a part: its path, the end of its path, or its
// stem if that is long enough to be specific.
func (w splitTextWords) namesFileOf(p nexus.Task) bool {
	return slices.ContainsFunc(p.Files, func(f string) bool {
		base := path.Base(f)
		stem := strings.TrimSuffix(base, path.Ext(base))
		if len(stem) > 3 && w.words[strings.ToLower(stem)] || strings.ContainsAny(base, " ()[]{}@+$") && strings.Contains(w.text, base) {
			return true
		}
		for end := f; ; {
			if w.paths[end] {
				return true
			}
			_, rest, found := strings.Cut(end, "/")
			if end = rest; !found {
				return false
			}
		}
	})
}

// splitParagraphs splits a text at empty lines, but not in fenced code.
func splitParagraphs(text string) []string {
	var all, lines []string
	fence := ""
	end := func() {
		if p := strings.TrimSpace(strings.Join(lines, "\n")); p != "" {
			all = append(all, p)
		}
		lines = nil
	}
	for line := range strings.Lines(text) {
		line = strings.TrimRight(line, "\r\n")
		bare := strings.TrimSpace(line)
		mark := bare[:len(bare)-len(strings.TrimLeft(bare, "`"))]
		if mark == "" {
			mark = bare[:len(bare)-len(strings.TrimLeft(bare, "~"))]
		}
		switch {
		case fence == "" && bare == "":
			end()
			continue
		case fence == "" && len(mark) >= 3:
			fence = mark
		case fence != "" && bare == mark && strings.HasPrefix(mark, fence):
			fence = ""
		}
		lines = append(lines, line)
	}
	end()
	return all
}

// writeBriefs writes the briefs of the parts. The first paragraph is in all of them. A later
// one is in the parts whose files it names, or in all if it names none. If all parts have the
// same files, paragraphs that name one are distributed, and so are the longest of the others
// if a part would become too large.
func writeBriefs(parts []nexus.Task, t nexus.Task, most int, by DivisionCriterion) {
	all := splitParagraphs(t.Brief)
	mine := make([][]bool, len(all)) // by paragraph, the parts that have it; nil: all
	for k := 1; k < len(all); k++ {
		said := parseWording(all[k])
		owner := make([]bool, len(parts))
		for i, p := range parts {
			owner[i] = said.namesFileOf(p)
		}
		if slices.Contains(owner, true) {
			mine[k] = owner
		}
	}
	if by == ByTime {
		distributeParagraphs(parts, t, all, mine, most)
	}
	for i := range parts {
		b := taskPartIntroduction(t, parts, i)
		for k, text := range all {
			if mine[k] == nil || mine[k][i] {
				b += "\n\n" + text
			}
		}
		parts[i].Brief = b
	}
}

// distributeParagraphs assigns each paragraph that is not in all parts to one part. If a part is too
// large, the longest of the common paragraphs are assigned as well, as many as necessary.
func distributeParagraphs(parts []nexus.Task, t nexus.Task, all []string, mine [][]bool, most int) {
	var common []int
	for k := 1; k < len(all); k++ {
		if mine[k] == nil {
			common = append(common, k)
		}
	}
	size := func(k int) int { return utf8.RuneCountInString(all[k]) + len("\n\n") }
	slices.SortStableFunc(common, func(a, b int) int { return size(b) - size(a) })
	own := make([]int, len(parts)) // characters of a part besides these
	for i, p := range parts {
		own[i] = utf8.RuneCountInString(taskPartIntroduction(t, parts, i))
		if len(all) > 0 {
			own[i] += size(0)
		}
		for _, c := range p.Criteria {
			own[i] += utf8.RuneCountInString(c.Text)
		}
	}
	for {
		var shared []int
		everybody := 0
		for k := 1; k < len(all); k++ {
			if mine[k] != nil {
				shared = append(shared, k)
			} else {
				everybody += size(k)
			}
		}
		have := slices.Clone(own)
		for j, k := range shared {
			i := j * len(parts) / len(shared)
			mine[k] = make([]bool, len(parts))
			mine[k][i] = true
			have[i] += size(k)
		}
		if len(common) == 0 || slices.Max(have)+everybody <= most {
			return
		}
		n := (len(common) + 3) / 4
		for _, k := range common[:n] {
			mine[k] = []bool{}
		}
		common = common[n:]
	}
}

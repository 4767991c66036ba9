package codemap

import (
	"hash/fnv"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// wordCount is the number of times that a file contains a word; words are stored by their hashes.
type wordCount struct {
	hash uint32
	n    uint16
}

const (
	shortest = 2       // least characters of a word
	longest  = 40      // most characters of a word
	mostHits = 1 << 12 // limit of the count of a word in a file
)

// forEachWord calls do with the words of a text: its identifiers, and their parts, in lower case and
// without English suffixes.
func forEachWord(text string, do func(word string)) {
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if !isLetter(r) {
			i += size
			continue
		}
		end := i + size
		for end < len(text) {
			r, size := utf8.DecodeRuneInString(text[end:])
			if !isLetter(r) && !unicode.IsDigit(r) && r != '_' {
				break
			}
			end += size
		}
		if id := text[i:end]; len(id) <= longest {
			forEachIdentifierPart(id, do)
		}
		i = end
	}
}

func isLetter(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= utf8.RuneSelf && unicode.IsLetter(r)
}

// forEachIdentifierPart calls do with a name and its parts.
func forEachIdentifierPart(id string, do func(string)) {
	from, parts := 0, 0
	part := func(end int) {
		if p := strings.Trim(id[from:end], "_"); len(p) >= shortest {
			parts++
			do(stemWord(strings.ToLower(p)))
		}
		from = end
	}
	for i := 1; i < len(id); i++ {
		before, c := id[i-1], id[i]
		switch {
		case c == '_':
			part(i)
		case isUpperCase(c) && !isUpperCase(before),
			isUpperCase(c) && isUpperCase(before) && i+1 < len(id) && isLowerCase(id[i+1]):
			part(i)
		}
	}
	part(len(id))
	if parts > 1 {
		do(strings.ToLower(strings.ReplaceAll(id, "_", "")))
	}
}

func isUpperCase(c byte) bool { return c >= 'A' && c <= 'Z' }
func isLowerCase(c byte) bool { return c >= 'a' && c <= 'z' }

// stemWord removes the usual suffixes from a word, so that its forms are equal.
func stemWord(w string) string {
	for _, end := range []string{"ing", "ers", "ies", "ied", "ed", "es", "er", "s", "e"} {
		if rest, ok := strings.CutSuffix(w, end); ok && len(rest) >= 3 && (end != "s" || !strings.HasSuffix(rest, "s")) {
			return rest
		}
	}
	return w
}

func hashWord(w string) uint32 {
	h := fnv.New32a()
	_, _ = h.Write([]byte(w)) // never fails
	return h.Sum32()
}

// countWords returns the words of a text, by their hashes.
func countWords(text string) []wordCount {
	seen := map[string]uint16{}
	forEachWord(text, func(w string) {
		if n := seen[w]; n < mostHits {
			seen[w] = n + 1
		}
	})
	all := make([]wordCount, 0, len(seen))
	for w, n := range seen {
		all = append(all, wordCount{hashWord(w), n})
	}
	slices.SortStableFunc(all, func(a, b wordCount) int {
		if a.hash < b.hash {
			return -1
		}
		return 1
	})
	return all
}

// wordFrequency returns the count of a word.
func wordFrequency(all []wordCount, h uint32) float64 {
	i, ok := slices.BinarySearchFunc(all, h, func(w wordCount, h uint32) int {
		switch {
		case w.hash < h:
			return -1
		case w.hash > h:
			return 1
		default:
			return 0
		}
	})
	if !ok {
		return 0
	}
	return float64(all[i].n)
}

// common are words that do not help to select a file.
const common = `a about add after all also an and any are as at be because been before being but by call can cannot
	change check closes code could do does done due each even every file fix fixes follow for from get give goal had has have
	if implement improve in instead into is issue it its let like make may more must need new no not now of on one only or other
	our out over own part please pr properly provide remove return same see should show so some still such support than that the
	their them then there these they this those to too two up update use used using via was way we were what when where which
	while will with without work would write wrong you your bug error task test`

// weightedWords returns the words of texts, each once, with a weight.
func weightedWords(texts ...weightedText) map[string]float64 {
	idle := map[string]bool{}
	for w := range strings.FieldsSeq(common) {
		idle[stemWord(w)] = true
	}
	all := map[string]float64{}
	for _, t := range texts {
		forEachWord(t.text, func(w string) {
			if !idle[w] {
				all[w] = max(all[w], t.weight)
			}
		})
	}
	return all
}

// weightedText is a text with the weight of its words.
type weightedText struct {
	text   string
	weight float64
}

package clarify

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// specPartJudgement is a person's judgement of parts of the spec.
type specPartJudgement struct {
	wrong   []rejectedSpecPart
	right   []string // ids that they agree to
	unclear []string // ids that they name without a clear judgement
	rest    bool     // all parts that they do not name are right
}

// rejectedSpecPart is a part that a person calls wrong.
type rejectedSpecPart struct {
	id      string
	instead string // the person's replacement
}

// partName matches part names as people write them: A-2, a2, assumption 2, REQ-1, R1, AC-3.
var partName = regexp.MustCompile(`(?i)\b(?:(assumptions?|requirements?|criteri(?:on|a))\s+(?:no\.?\s*|#)?|(req|ac|a|r)-?)(\d{1,4})\b`)

// moreNumbers matches the rest of a list, as in "assumptions 1, 2 and 3".
var moreNumbers = regexp.MustCompile(`(?i)^(?:\s*,\s*(?:and\s+)?|\s+and\s+|\s*&\s*)(\d{1,4})\b`)

// restBreak matches the start of a statement about the rest.
var restBreak = regexp.MustCompile(`(?i)(?:,|\band\b|\bbut\b)\s+(?:(?:please\s+)?(?:keep|leave)\s+)?` +
	`(?:the\s+rest|everything\s+else|all\s+else|(?:all\s+)?the\s+others?|all\s+others|the\s+remaining)\b`)

// restFine matches a whole statement that accepts the rest.
var restFine = regexp.MustCompile(`(?i)^(?:,|and\b|but\b|\s)*(?:` +
	`(?:please\s+)?(?:keep|leave)\s+` + theRest + `(?:\s+as\s+(?:it\s+is|they\s+are|is))?|` +
	theRest + `(?:\s+(?:is|are|looks?|sounds?|seems?|stays?))?(?:\s+(?:all|just|quite|perfectly))*` +
	`\s+(?:fine|right|correct|ok|okay|good|true|perfect|great|as\s+(?:it\s+is|is))|` +
	theRest + `\s+(?:holds?|stays?|stands?))[\s.!;]*$`)

// theRest matches phrases for the parts that were not named.
const theRest = `(?:the\s+rest|everything\s+else|all\s+else|(?:all\s+)?the\s+others?|all\s+others|the\s+remaining(?:\s+ones)?)`

// specPartMention is a mention of a part.
type specPartMention struct {
	id         string
	start, end int
}

// partMentions returns the parts that a text names, in order.
func partMentions(text string) (all []specPartMention) {
	for at := 0; at < len(text); {
		m := partName.FindStringSubmatchIndex(text[at:])
		if m == nil {
			break
		}
		start, end := at+m[0], at+m[1]
		at = end
		short, kind := m[4] >= 0, ""
		if short {
			kind = text[start-m[0]+m[4] : start-m[0]+m[5]]
		} else {
			kind = text[start-m[0]+m[2] : start-m[0]+m[3]]
		}
		if isPartOfWord(text, start, end) {
			continue
		}
		all = append(all, specPartMention{partID(kind, text[start-m[0]+m[6]:end]), start, end})
		for !short {
			next := moreNumbers.FindStringSubmatchIndex(text[end:])
			if next == nil || isPartOfWord(text, end+next[2], end+next[3]) {
				break
			}
			all = append(all, specPartMention{partID(kind, text[end+next[2]:end+next[3]]), end + next[2], end + next[3]})
			end += next[1]
			at = end
		}
	}
	return all
}

// isPartOfWord reports whether a name is only part of another word, as in US-A-2, A-2.5 and A-2-x.
func isPartOfWord(text string, start, end int) bool {
	if start > 0 && strings.ContainsRune("-_./\\@#", rune(text[start-1])) {
		return true
	}
	after := text[end:]
	if after == "" {
		return false
	}
	return strings.ContainsRune("-_/\\@", rune(after[0])) && len(after) > 1 && after[1] != ' ' && after[1] != '-' && after[1] != '>' ||
		after[0] == '.' && len(after) > 1 && after[1] != ' ' && after[1] != '\n'
}

// partID returns the id of a name.
func partID(kind, number string) string {
	n, err := strconv.Atoi(number)
	if err != nil {
		return ""
	}
	prefix := "A"
	switch k := strings.ToLower(kind); {
	case strings.HasPrefix(k, "r"):
		prefix = "REQ"
	case k == "ac" || strings.HasPrefix(k, "criteri"):
		prefix = "AC"
	}
	return prefix + "-" + strconv.Itoa(n)
}

// judgementWord is the meaning of a word in a judgement. A clause with any other word is not
// understood: see [judgeSegment].
type judgementWord int

const (
	otherWord judgementWord = iota
	fillerWord
	wrongWord
	rightWord
	dropWord // an order, such as "remove A-2"
	keepWord // an order
	negationWord
)

func judgementWordOf(word string) judgementWord {
	switch word {
	case "wrong", "incorrect", "false", "untrue", "mistaken", "invalid":
		return wrongWord
	case "right", "correct", "fine", "ok", "okay", "good", "true", "holds", "hold", "stands", "stand", "stays", "stay", "perfect", "great":
		return rightWord
	case "remove", "drop", "delete", "strike", "withdraw", "discard":
		return dropWord
	case "keep":
		return keepWord
	case "not", "isn't", "aren't", "isnt", "arent", "doesn't", "don't", "doesnt", "dont", "does", "do", "wasn't", "never":
		return negationWord
	case "is", "are", "was", "were", "the", "that", "this", "these", "those", "it's", "its", "all", "both", "quite", "just", "simply",
		"completely", "totally", "absolutely", "clearly", "still", "also", "too", "please", "no", "yes", "so", "well", "and", "but", "then", "i",
		"we", "think", "believe", "say", "sorry", "assumption", "assumptions", "requirement", "requirements", "criterion", "criteria", "number",
		"as", "now", "though", "however":
		return fillerWord
	}
	return otherWord
}

// startsReplacement reports whether a word or a dash after a judgement starts the text that replaces the part.
func startsReplacement(word string) bool {
	switch word {
	case "because", "since", "it", "they", "we", "use", "there", "he", "she", "you", "instead":
		return true
	}
	return false
}

// parsePartJudgement returns the judgement of a person's text about the parts that it names. A
// clause counts as right or wrong only if each of its words, up to a punctuation mark or a
// replacement, is in a short list; in all other cases the named part is unclear. The zero
// verdict judges nothing.
func parsePartJudgement(text string) specPartJudgement {
	var v specPartJudgement
	current := -1 // index into v.wrong: the following text is its replacement
	var from, first, last int
	done := func(to int) {
		for n := first; current >= 0 && n <= last; n++ {
			v.wrong[n].instead = replacementText(text[from:to])
		}
		current = -1
	}
	for _, c := range splitClauses(text) {
		clause := text[c[0]:c[1]]
		if restFine.MatchString(clause) {
			done(c[0])
			v.rest = true
			continue
		}
		groups := partMentions(clause)
		if len(groups) == 0 {
			continue // part of the replacement, if there is one
		}
		done(c[0])
		for _, seg := range splitSegments(clause, groups) {
			says, end := judgeSegment(clause, seg)
			if strings.HasSuffix(strings.TrimSpace(clause), "?") {
				says = unclear
			}
			done(c[0] + seg.start)
			if says == wrong {
				first, from, current = len(v.wrong), c[0]+end, len(v.wrong)
			}
			v.addSegment(seg, says)
			last = len(v.wrong) - 1
		}
	}
	done(len(text))
	return v.withoutContradictions()
}

// addSegment adds a segment's judgement of the parts that it names.
func (v *specPartJudgement) addSegment(seg clauseSegment, says segmentJudgement) {
	for _, g := range seg.names {
		switch says {
		case wrong:
			v.wrong = append(v.wrong, rejectedSpecPart{id: g.id})
		case right:
			v.right = append(v.right, g.id)
		default:
			v.unclear = append(v.unclear, g.id)
		}
	}
}

// withoutContradictions returns a verdict with one judgement for each part.
func (v specPartJudgement) withoutContradictions() specPartJudgement {
	out := specPartJudgement{rest: v.rest}
	for _, id := range v.unclear {
		if !slices.Contains(out.unclear, id) {
			out.unclear = append(out.unclear, id)
		}
	}
	for _, id := range v.right {
		if slices.ContainsFunc(v.wrong, func(w rejectedSpecPart) bool { return w.id == id }) && !slices.Contains(out.unclear, id) {
			out.unclear = append(out.unclear, id)
		}
	}
	for _, w := range v.wrong {
		n := slices.IndexFunc(out.wrong, func(o rejectedSpecPart) bool { return o.id == w.id })
		switch {
		case n >= 0 && out.wrong[n].instead == "":
			out.wrong[n].instead = w.instead
		case n < 0 && !slices.Contains(out.unclear, w.id):
			out.wrong = append(out.wrong, w)
		}
	}
	for _, id := range v.right {
		if !slices.Contains(out.unclear, id) && !slices.Contains(out.right, id) {
			out.right = append(out.right, id)
		}
	}
	return out
}

// splitClauses returns the start and the end of each clause of a text.
func splitClauses(text string) (all [][2]int) {
	var breaks []int
	for n, r := range text {
		end := n + 1
		switch {
		case r == ';' || r == '\n' || r == '!':
		case (r == '.' || r == '?') && (end == len(text) || text[end] == ' ' || text[end] == '\n'):
		default:
			continue
		}
		breaks = append(breaks, end)
	}
	for _, m := range restBreak.FindAllStringIndex(text, -1) {
		breaks = append(breaks, m[0])
	}
	slices.Sort(breaks)
	start := 0
	for _, b := range append(breaks, len(text)) {
		if b > start {
			all = append(all, [2]int{start, b})
			start = b
		}
	}
	return all
}

// clauseSegment is the part of a clause about some parts.
type clauseSegment struct {
	names      []specPartMention
	start, end int
	mixed      bool // other words are between the parts
}

// splitSegments splits a clause that starts with a part before each further part that does not
// belong to the same list. A clause that starts with other words is one segment.
func splitSegments(clause string, groups []specPartMention) []clauseSegment {
	if !hasOnlyFillers(clause[:groups[0].start]) {
		mixed := false
		for n := 1; n < len(groups); n++ {
			mixed = mixed || !isListJoin(clause[groups[n-1].end:groups[n].start])
		}
		return []clauseSegment{{names: groups, end: len(clause), mixed: mixed}}
	}
	out := []clauseSegment{{names: groups[:1], end: len(clause)}}
	for n := 1; n < len(groups); n++ {
		s := &out[len(out)-1]
		if isListJoin(clause[groups[n-1].end:groups[n].start]) {
			s.names = groups[n-len(s.names) : n+1]
			continue
		}
		s.end = groups[n].start
		out = append(out, clauseSegment{names: groups[n : n+1], start: groups[n].start, end: len(clause)})
	}
	return out
}

// isListJoin reports whether the text between two parts makes them members of one list.
func isListJoin(between string) bool {
	joins := []string{"", "and", "and assumption", "and requirement", "and criterion", "assumption"}
	return slices.Contains(joins, strings.ToLower(strings.Trim(between, " ,&/")))
}

// hasOnlyFillers reports whether a text consists of filler words.
func hasOnlyFillers(text string) bool {
	return !slices.ContainsFunc(wordsOf(text), func(w string) bool { return judgementWordOf(w) != fillerWord })
}

// wordsOf returns the words of a text, as used in judgements.
func wordsOf(text string) []string {
	return strings.FieldsFunc(strings.ReplaceAll(strings.ToLower(text), "\u2019", "'"), func(r rune) bool {
		return strings.ContainsRune(" \t\r\n,.;:!?\"()[]*_`", r)
	})
}

// segmentJudgement is a segment's judgement of its parts.
type segmentJudgement int

const (
	unclear segmentJudgement = iota
	wrong
	right
)

// judgeSegment returns a segment's judgement of its parts, and the position of a replacement in the
// clause.
func judgeSegment(clause string, s clauseSegment) (segmentJudgement, int) {
	if s.mixed {
		return unclear, 0
	}
	before := clause[s.start:s.names[0].start]
	after := s.names[len(s.names)-1].end
	head, end := cutAtReplacement(clause[after:s.end])
	got, negated := unclear, false
	take := func(words []string, orders bool) bool { // such as "remove A-2" come only before a name
		for _, w := range words {
			var found segmentJudgement
			switch meaning := judgementWordOf(w); {
			case meaning == wrongWord, meaning == dropWord && orders:
				found = wrong
			case meaning == rightWord, meaning == keepWord && orders:
				found = right
			case meaning == negationWord:
				negated = negated || w != "do" && w != "does"
				continue
			case meaning == fillerWord:
				continue
			default:
				return false
			}
			if got != unclear {
				return false
			}
			got = found
		}
		return true
	}
	if !take(wordsOf(before), true) || !take(wordsOf(head), false) {
		return unclear, 0
	}
	switch {
	case !negated:
	case got == wrong:
		got = right
	case got == right:
		got = wrong
	}
	tail := clause[after+end : s.end]
	if w := wordsOf(tail); got == right && !hasOnlyFillers(tail) && w[0] != "because" && w[0] != "since" {
		return unclear, 0 // it accepts a part of it, or sets a condition
	}
	return got, after + end
}

// cutAtReplacement returns a text up to a punctuation mark, or to a word that introduces a replacement,
// and that position.
func cutAtReplacement(text string) (head string, end int) {
	judged := false
	for at := 0; at < len(text); {
		rest := text[at:]
		n := strings.IndexAny(rest, " ,:;.!?")
		if n < 0 {
			n = len(rest)
		}
		w := strings.Join(wordsOf(rest[:n]), " ")
		switch meaning := judgementWordOf(w); {
		case judged && startsReplacement(w), w == "-" || w == "--" || w == "->":
			return text[:at], at
		case meaning == wrongWord, meaning == rightWord:
			judged = true
		}
		at += n
		if at < len(text) && (text[at] == ':' || text[at] == ',') {
			return text[:at], at + 1
		}
		at++
	}
	return text, len(text)
}

// replacementText returns a person's replacement without surrounding marks. A reason is not a
// replacement.
func replacementText(text string) string {
	text = boundedLine(strings.Trim(boundedLine(text), " ,:;-.>"))
	text = strings.TrimSpace(strings.TrimPrefix(text, "and "))
	switch w := wordsOf(text); {
	case len(w) == 0 || w[0] == "because" || w[0] == "since" || hasOnlyFillers(text):
		return ""
	}
	return text
}

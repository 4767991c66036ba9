package spec

import "strings"

// ListItemKind reports whether a line is a list item whose first words mark it as a requirement
// (REQ), a criterion (AC) or an assumption (A), and which. An item with a check box is a
// criterion, too.
func ListItemKind(line string) (kind string, ok bool) {
	text := strings.TrimLeft(line, " \t")
	mark := bullet.FindString(text)
	if mark == "" {
		return "", false
	}
	text = text[len(mark):]
	ticked := box.FindString(text)
	text = strings.TrimPrefix(text[len(ticked):], "**")
	m := nearly.FindStringSubmatch(text)
	switch {
	case m != nil && (m[2] != "" || strings.HasPrefix(strings.TrimLeft(text[len(m[0]):], " \t*"), ":")):
		return strings.ToUpper(m[1]), true
	case ticked != "" && ticked[0] != '\\':
		return "AC", true
	default:
		return "", false
	}
}

// ReadCriteria parses a list of criteria from another file; first is the number of its first
// line. All its lines must belong to the list.
func ReadCriteria(lines []string, first int) ([]SpecCriterion, []int, []TextProblem) {
	r := specParser{seen: map[string]int{}, ids: map[string]int{}, section: criteriaTitle, line: first - 1, titled: true, begun: true}
	for _, line := range lines {
		r.line++
		r.readLine(strings.TrimSuffix(line, "\r"))
	}
	r.finishItem()
	at := make([]int, len(r.spec.Criteria))
	for i, c := range r.spec.Criteria {
		at[i] = r.ids[c.ID]
	}
	return r.spec.Criteria, at, r.problems
}

// NearestWord returns the word that is closest to a mistyped one, or "" if none is close.
func NearestWord(word string, of []string) string { return nearestWord(word, of) }

// SingleLine returns a text in one line.
func SingleLine(text string) string { return singleLine(text) }

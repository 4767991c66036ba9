package spec

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/sanitize"
)

// readRequirement parses "REQ-1 (must): text" and the lines below it.
func (r *specParser) readRequirement(i specListItem) {
	id, brackets, text, ok := r.readItemID(i)
	if !ok {
		return
	}
	q := nexus.Requirement{ID: id, Text: text, Later: r.section == laterTitle}
	for word := range strings.SplitSeq(brackets, ",") {
		r.readBracketWord(&q, i.line, strings.TrimSpace(word))
	}
	set := map[string]bool{}
	for _, a := range i.about {
		if set[a.name] {
			r.addProblemAt(a.line, "%s has %s twice; keep one", id, a.name)
		}
		set[a.name] = true
		r.readAttribute(&q, a)
	}
	r.spec.Requirements = append(r.spec.Requirements, q)
}

// readBracketWord parses a word in the brackets after the id of a requirement.
func (r *specParser) readBracketWord(q *nexus.Requirement, line int, word string) {
	lower := strings.ReplaceAll(strings.ToLower(word), "_", "-")
	switch lower {
	case "":
		return
	case "later":
		q.Later = true
		return
	case "p0", "critical":
		lower = string(nexus.Must)
	case "p1", "high":
		lower = string(nexus.Should)
	case "p2", "p3", "medium", "low":
		lower = string(nexus.Could)
	case "won't", "will not", "won\u2019t":
		lower = string(nexus.Wont)
	}
	switch {
	case slices.Contains(nexus.RequirementPriorities(), nexus.RequirementPriority(lower)):
		if q.Priority != "" && q.Priority != nexus.RequirementPriority(lower) {
			r.addProblemAt(line, "%s has two priorities, %s and %s; keep one", q.ID, q.Priority, lower)
		}
		q.Priority = nexus.RequirementPriority(lower)
	case slices.Contains(nexus.RequirementCategories(), nexus.RequirementCategory(lower)):
		q.Category = nexus.RequirementCategory(lower)
	default:
		r.addProblemAt(line, "%q is not a priority; write %s", word, suggestWords(lower, toStrings(nexus.RequirementPriorities())))
	}
}

// readAttribute parses a line about a requirement.
func (r *specParser) readAttribute(q *nexus.Requirement, a specItemAttribute) {
	v, err := unquoteValue(a.value)
	if err != nil {
		r.addProblemAt(a.line, "%v", err)
	}
	switch a.name {
	case "category":
		c := nexus.RequirementCategory(strings.ReplaceAll(strings.ToLower(v), "_", "-"))
		if !slices.Contains(nexus.RequirementCategories(), c) {
			r.addProblemAt(a.line, "%q is not a category; write %s", v, suggestWords(string(c), toStrings(nexus.RequirementCategories())))
			return
		}
		q.Category = c
	case "area":
		q.Area = v
	case "quote":
		q.Quote = v
	case "confidence":
		n, err := strconv.ParseFloat(v, 64)
		if err != nil || !(n >= 0 && n <= 1) {
			r.addProblemAt(a.line, "the confidence is a number from 0 to 1, such as 0.8, not %q", v)
			return
		}
		q.Confidence = n
	case "check":
		r.addProblemAt(a.line, "a requirement has no check; write it to a criterion of %s below \"## %s\"", q.ID, criteriaTitle)
	default:
		r.reportMisspelled(a)
	}
}

func (r *specParser) reportMisspelled(a specItemAttribute) {
	r.addProblemAt(a.line, "%q is not known here; write %s", a.name, suggestWords(a.name, attributeNames()))
}

// readCriterion parses "AC-1 (REQ-1, REQ-2): text (check: `command`)".
func (r *specParser) readCriterion(i specListItem) {
	id, brackets, text, ok := r.readItemID(i)
	if !ok {
		return
	}
	c := SpecCriterion{ID: id, Text: text}
	for name := range strings.FieldsFuncSeq(brackets, func(c rune) bool { return c == ',' || c == ';' || c == ' ' || c == '\t' }) {
		name = strings.ToUpper(strings.Trim(name, "`*"))
		if !strings.HasPrefix(name, "REQ-") {
			r.addProblemAt(i.line, "%s names %q; put ids of requirements in brackets, such as (REQ-1, REQ-2)", id, sanitize.TruncateText(name, 60))
			continue
		}
		if !slices.Contains(c.Of, name) {
			c.Of = append(c.Of, name)
			r.refs = append(r.refs, specIDReference{line: i.line, from: id, to: name})
		}
	}
	if m := inline.FindStringSubmatch(text); m != nil && m[2] == "" {
		c.Text, c.Check = strings.TrimSpace(m[1]), strings.TrimSpace(m[3])
	} else if m != nil {
		c.Text = m[1] + m[2][1:] + text[len(m[1])+len(m[2]):]
	}
	for _, a := range i.about {
		switch {
		case a.name != "check":
			if slices.Contains(attributeNames(), a.name) {
				r.addProblemAt(a.line, "a criterion has no %s; it has a check", a.name)
			} else {
				r.reportMisspelled(a)
			}
		case c.Check != "":
			r.addProblemAt(a.line, "%s has two checks; make two criteria of it", id)
		default:
			c.Check = a.value
			if len(c.Check) > 1 && strings.HasPrefix(c.Check, "`") && strings.HasSuffix(c.Check, "`") {
				c.Check = strings.TrimSpace(c.Check[1 : len(c.Check)-1])
			}
		}
	}
	if c.Text == "" {
		c.Text = c.Check
	}
	r.spec.Criteria = append(r.spec.Criteria, c)
}

// readAssumption parses "A-1 [locked]: text".
func (r *specParser) readAssumption(i specListItem) {
	id, brackets, text, ok := r.readItemID(i)
	if !ok {
		return
	}
	a := SpecAssumption{ID: id, Text: text}
	switch strings.ToLower(strings.TrimSpace(brackets)) {
	case "":
	case "locked":
		a.Locked = true
	default:
		r.addProblemAt(i.line, "%q is not known here; write [locked] after the id of an assumption that a person agreed to", brackets)
	}
	for _, l := range i.about {
		r.addProblemAt(l.line, "an assumption has a text and nothing below it; %q is for %s", l.name, "requirements and criteria")
	}
	r.spec.Assumptions = append(r.spec.Assumptions, a)
}

// unquoteValue parses the output of value, also after a person's edits.
func unquoteValue(v string) (string, error) {
	if !strings.HasPrefix(v, `"`) {
		return v, nil
	}
	text, err := strconv.Unquote(v)
	if err != nil {
		text = v // a person's own quotation marks
	}
	for _, c := range text {
		if sanitize.IsHiddenCharacter(c) && c != '\r' {
			return "", fmt.Errorf("it has an invisible character, U+%04X; delete it", c)
		}
	}
	return text, nil
}

func toStrings[S ~string](all []S) (out []string) {
	for _, s := range all {
		out = append(out, string(s))
	}
	return out
}

// suggestWords returns the nearest of the words, or all of them.
func suggestWords(word string, of []string) string {
	return cmp.Or(nearestWord(word, of), "one of "+strings.Join(of, ", "))
}

// nearestWord returns the word that is closest to a mistyped one, or "" if none is close.
func nearestWord(word string, of []string) string {
	best, least := "", 3
	for _, w := range of {
		if d := editDistance(strings.ToLower(word), strings.ToLower(w)); d < least && d*3 <= len(w) {
			best, least = w, d
		}
	}
	return best
}

// editDistance returns the number of letters to change, add or drop between two words.
func editDistance(a, b string) int {
	if len(a) > 60 || len(b) > 60 {
		return 60
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, diagonal+1)
		}
	}
	return row[len(b)]
}

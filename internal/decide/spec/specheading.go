package spec

import "strings"

// headingLevel returns the level of a heading, or 0 for other lines. Headings below the third
// level are text.
func headingLevel(line string) int {
	n := len(line) - len(strings.TrimLeft(line, "#"))
	if n == 0 || n > 3 || len(line) > n && line[n] != ' ' && line[n] != '\t' {
		return 0
	}
	return n
}

// knownHeading returns the known heading for a text, in any spelling.
func knownHeading(text string) string {
	for _, h := range knownHeadings() {
		if lettersAndDigits(h) == lettersAndDigits(text) {
			return h
		}
	}
	switch lettersAndDigits(text) {
	case "problemstatement", "goal", "overview":
		return problemTitle
	case "requirement", "functionalrequirements", "v1":
		return requireTitle
	case "acceptance", "criteria", "acceptancecriterion", "successcriteria":
		return criteriaTitle
	case "assumption":
		return assumptionTitle
	case "answer", "questionsandanswers":
		return answersTitle
	case "notes", "technicalnote":
		return notesTitle
	case "nongoals", "notinscope":
		return outTitle
	case "v2", "laterversions":
		return laterTitle
	case "selfcritique":
		return critiqueTitle
	default:
		return ""
	}
}

// lettersAndDigits returns the letters and digits of a heading.
func lettersAndDigits(text string) string {
	return strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' {
			return c
		}
		return -1
	}, strings.ToLower(text))
}

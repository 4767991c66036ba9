package spec

import "strings"

// GoalTitle returns the title of a spec, or the text of the heading at the start of another goal,
// or "" if there is neither.
func GoalTitle(goal string) string {
	if s, ok := ReadIfValid(goal); ok {
		return s.Title
	}
	for l := range strings.Lines(strings.TrimPrefix(goal, "\uFEFF")) {
		l = strings.TrimSpace(l)
		rest := strings.TrimLeft(l, "#")
		switch text := strings.Trim(rest, "# \t"); {
		case l == "":
		case rest == l || len(l)-len(rest) > 6 || rest != "" && rest[0] != ' ' && rest[0] != '\t':
			return ""
		case text != "":
			return singleLine(text)
		}
	}
	return ""
}

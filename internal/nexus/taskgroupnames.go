package nexus

import "strings"

// groupWithin separates a group from a group within it.
const groupWithin = " / "

// NormalizeGroupName returns a group's name with single blanks and without empty parts.
func NormalizeGroupName(name string) string {
	var parts [][]string
	begins := true
	for _, word := range strings.Fields(name) {
		switch {
		case word == "/":
			begins = true
		case begins:
			parts, begins = append(parts, []string{word}), false
		default:
			parts[len(parts)-1] = append(parts[len(parts)-1], word)
		}
	}
	names := make([]string, len(parts))
	for i, words := range parts {
		names[i] = strings.Join(words, " ")
	}
	return strings.Join(names, groupWithin)
}

// EnclosingGroups returns the groups that contain a group, the outermost first, and the group itself.
func EnclosingGroups(name string) []string {
	if name == "" {
		return nil
	}
	var all []string
	for i := 0; ; {
		at := strings.Index(name[i:], groupWithin)
		if at < 0 {
			return append(all, name)
		}
		all = append(all, name[:i+at])
		i += at + len(groupWithin)
	}
}

package bounds

import (
	"regexp"
	"strconv"
	"strings"
)

// FileChange is what a change does to one file.
type FileChange struct {
	Path    string
	New     bool
	Gone    bool
	Added   []PatchLine
	Removed int    // lines
	Was     int    // lines that it had before, where that matters; 0: nobody counted
	MovedTo string // where it stands now, as it is gone; empty: nowhere
}

// PatchLine is a line that a change adds.
type PatchLine struct {
	Number int
	Text   string
}

// ParsePatch reads a patch in git's format, as it is without lines around it and
// without renames. Lines are counted as the heads of hunks say, so that no
// content is taken for a head.
func ParsePatch(patch string) []FileChange {
	head := regexp.MustCompile(`^@@ -\d+(?:,(\d+))? \+(\d+)(?:,(\d+))? @@`)
	var files []FileChange
	var at *FileChange
	old, fresh, line := 0, 0, 0
	for text := range strings.Lines(patch) {
		text = strings.TrimSuffix(text, "\n")
		switch {
		case at != nil && (old > 0 || fresh > 0):
			switch {
			case strings.HasPrefix(text, "+") && fresh > 0:
				at.Added = append(at.Added, PatchLine{line, strings.TrimSuffix(text[1:], "\r")})
				fresh, line = fresh-1, line+1
			case strings.HasPrefix(text, "-") && old > 0:
				at.Removed++
				old--
			case strings.HasPrefix(text, `\`):
			default:
				old, fresh, line = max(0, old-1), max(0, fresh-1), line+1
			}
		case strings.HasPrefix(text, "diff --git "):
			files = append(files, FileChange{Path: named(text)})
			at = &files[len(files)-1]
		case at == nil:
		case strings.HasPrefix(text, "new file mode "):
			at.New = true
		case strings.HasPrefix(text, "deleted file mode "):
			at.Gone = true
		case strings.HasPrefix(text, "--- "), strings.HasPrefix(text, "+++ "):
			if p := path(text[4:]); p != "" {
				at.Path = p
			}
		default:
			if m := head.FindStringSubmatch(text); m != nil {
				old, fresh, line = count(m[1]), count(m[3]), number(m[2])
			}
		}
	}
	return files
}

func count(s string) int {
	if s == "" {
		return 1
	}
	return number(s)
}

func number(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// named returns the path of a head such as diff --git a/x b/x, where both are
// the same. It is all that there is for a file without lines.
func named(head string) string {
	rest := strings.TrimPrefix(head, "diff --git ")
	if half := len(rest) / 2; half < len(rest) && rest[half] == ' ' {
		return path(rest[half+1:])
	}
	return ""
}

// path returns a path as a patch names it, empty for none.
func path(s string) string {
	s = strings.TrimSuffix(s, "\t")
	if plain, err := strconv.Unquote(s); err == nil {
		s = plain
	}
	for _, side := range []string{"a/", "b/"} {
		if rest, ok := strings.CutPrefix(s, side); ok {
			return rest
		}
	}
	return ""
}

package bounds

import (
	"regexp"
	"strconv"
	"strings"
)

// FileChange is the change of one file.
type FileChange struct {
	Path    string
	New     bool
	Gone    bool
	Added   []PatchLine
	Removed int    // lines
	Was     int    // earlier number of lines, if needed; 0: not counted
	MovedTo string // its new path, if it was moved; empty: not moved
}

// PatchLine is a line that a change adds.
type PatchLine struct {
	Number int
	Text   string
}

// ParsePatch parses a patch in git's format without context lines and renames. It counts
// lines by the hunk headers, so that no content is mistaken for a header.
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
			files = append(files, FileChange{Path: pathInHeader(text)})
			at = &files[len(files)-1]
		case at == nil:
		case strings.HasPrefix(text, "new file mode "):
			at.New = true
		case strings.HasPrefix(text, "deleted file mode "):
			at.Gone = true
		case strings.HasPrefix(text, "--- "), strings.HasPrefix(text, "+++ "):
			if p := patchPath(text[4:]); p != "" {
				at.Path = p
			}
		default:
			if m := head.FindStringSubmatch(text); m != nil {
				old, fresh, line = parseCount(m[1]), parseCount(m[3]), parseNumber(m[2])
			}
		}
	}
	return files
}

func parseCount(s string) int {
	if s == "" {
		return 1
	}
	return parseNumber(s)
}

func parseNumber(s string) int {
	n, err := strconv.Atoi(s)
	if err != nil {
		return 0
	}
	return n
}

// pathInHeader returns the path in a header such as diff --git a/x b/x, if both are the same. Files
// without lines have nothing else.
func pathInHeader(head string) string {
	rest := strings.TrimPrefix(head, "diff --git ")
	if half := len(rest) / 2; half < len(rest) && rest[half] == ' ' {
		return patchPath(rest[half+1:])
	}
	return ""
}

// patchPath returns a path of a patch, or "" for none.
func patchPath(s string) string {
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

package git

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxRef limits the length of a ref name.
const maxRef = 250

// CheckRef returns an error if name is invalid for a ref or a branch. It is stricter than git: no
// name that looks like an option, none that is not UTF-8, and no invisible character.
func CheckRef(name string) error {
	if why := refNameReason(name); why != "" {
		return fmt.Errorf("ref name %q %s", name, why)
	}
	return nil
}

func refNameReason(name string) string {
	switch {
	case name == "":
		return "is empty"
	case len(name) > maxRef:
		return "is too long"
	case !utf8.ValidString(name):
		return "is not UTF-8"
	case name == "@" || strings.Contains(name, "@{"):
		return "means a revision"
	case strings.HasPrefix(name, "-"):
		return "looks like an option"
	case strings.Contains(name, ".."):
		return "contains two dots in a row"
	case strings.HasSuffix(name, "."):
		return "ends with a dot"
	}
	for part := range strings.SplitSeq(name, "/") {
		switch {
		case part == "":
			return "has an empty part"
		case strings.HasPrefix(part, "."):
			return "has a part that begins with a dot"
		case strings.HasSuffix(part, ".lock"):
			return "has a part that ends with .lock"
		}
	}
	for _, c := range name {
		if strings.ContainsRune(` ~^:?*[\`, c) || !unicode.IsPrint(c) {
			return fmt.Sprintf("holds %q", c)
		}
	}
	return ""
}

// MatchesBranch reports whether the name of a branch matches one of the patterns: * is any text without
// a slash.
func MatchesBranch(patterns []string, branch string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, branch)
		return ok || err != nil // an invalid pattern matches everything
	})
}

// IsObjectID reports whether id is a full object name in lower-case hex.
func IsObjectID(id string) bool {
	if len(id) != 40 && len(id) != 64 {
		return false
	}
	return strings.Trim(id, "0123456789abcdef") == ""
}

// CheckPath returns an error if a file must not have this path: git, here or on a file system that
// folds names, would use a part of it as its own directory, or a link as its list of submodules.
func CheckPath(path string, mode uint32) error {
	for part := range strings.SplitSeq(path, "/") {
		name := foldName(part)
		switch {
		case part == "" || part == "." || part == "..":
			return fmt.Errorf("path %q is not a path in a tree", path)
		case name == ".git" || name == "git~1":
			return fmt.Errorf("path %q contains a name that git reserves", path)
		case mode == ModeLink && (name == ".gitmodules" || strings.HasPrefix(name, "gitmod~") || strings.HasPrefix(name, "gi7eba~")):
			return fmt.Errorf("path %q is a link that git refuses", path)
		}
	}
	return nil
}

// foldName returns the name as case-folding file systems compare it.
func foldName(name string) string {
	name = strings.Map(func(c rune) rune {
		// HFS+ ignores these characters in names.
		if c >= 0x200c && c <= 0x200f || c >= 0x202a && c <= 0x202e || c >= 0x206a && c <= 0x206f || c == 0xfeff {
			return -1
		}
		return unicode.ToLower(c)
	}, name)
	name, _, _ = strings.Cut(name, ":") // NTFS streams
	return strings.TrimRight(name, " .")
}

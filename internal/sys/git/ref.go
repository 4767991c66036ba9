package git

import (
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"
)

// maxRef is the longest ref name that is taken.
const maxRef = 250

// RefOK reports why name may not name a ref or a branch: nil if it may. It is
// stricter than git: no name that looks like an option, none that is not
// UTF-8, and no character that a reader cannot see.
func RefOK(name string) error {
	if why := refFault(name); why != "" {
		return fmt.Errorf("ref name %q %s", name, why)
	}
	return nil
}

func refFault(name string) string {
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
		return "holds two dots in a row"
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

// ID reports whether id is a full object name in lower-case hex.
func ID(id string) bool {
	if len(id) != 40 && len(id) != 64 {
		return false
	}
	return strings.Trim(id, "0123456789abcdef") == ""
}

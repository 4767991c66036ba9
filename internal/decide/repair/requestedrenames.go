package repair

import (
	"regexp"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// RequestedRename is a requested change of a name.
type RequestedRename struct{ From, To string }

// RenamesOf returns the rename that a task's title asks for, and whether the title asks for
// nothing else. [RequestedRename.IsOnlyChange] checks whether its change does nothing else.
func RenamesOf(t nexus.Task) (RequestedRename, bool) {
	m := regexp.MustCompile("(?i)^renames? (?:the )?(?:\\w+ )?[`'\"]?([\\w$.-]+)[`'\"]? (?:to|into|as) [`'\"]?([\\w$.-]+?)[`'\"]?\\.?$").FindStringSubmatch(strings.TrimSpace(t.Title))
	if m == nil {
		return RequestedRename{}, false
	}
	r := RequestedRename{From: lastNamePart(m[1]), To: lastNamePart(m[2])}
	return r, r.From != r.To && len(r.From) > 1 && len(r.To) > 1
}

// lastNamePart returns the last part of a qualified name, and a file name unchanged.
func lastNamePart(name string) string {
	name = strings.Trim(name, ".-")
	if parts := strings.Split(name, "."); len(parts) == 2 && parts[1] != "" && strings.ToUpper(parts[1][:1]) == parts[1][:1] {
		return parts[1]
	}
	return name
}

// IsOnlyChange reports whether two texts differ only by the rename, in words or parts of words, in
// any case of letters. It returns false for a text that contained the new name before: two
// things may have the same name then.
func (r RequestedRename) IsOnlyChange(old, now string) bool {
	if old == now {
		return true
	}
	if strings.EqualFold(r.From, r.To) {
		return !strings.Contains(old, r.To) && strings.ReplaceAll(old, r.From, r.To) == now
	}
	first, second := r.From, r.To
	if len(second) > len(first) {
		first, second = second, first
	}
	names := regexp.MustCompile("(?i)" + regexp.QuoteMeta(first) + "|" + regexp.QuoteMeta(second))
	plain := func(text string) []string {
		lines := strings.Split(names.ReplaceAllString(text, "\x00"), "\n")
		for i, l := range lines {
			body := strings.TrimLeft(l, " \t")
			// names of another length are aligned again
			lines[i] = l[:len(l)-len(body)] + strings.Join(strings.Fields(body), " ")
		}
		return lines
	}
	from, to, rest := strings.ToLower(r.From), strings.ToLower(r.To), strings.ToLower(old)
	if !strings.Contains(to, from) {
		rest = strings.ReplaceAll(rest, from, "")
	}
	return !strings.Contains(rest, to) && slices.Equal(plain(old), plain(now))
}

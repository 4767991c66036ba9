package foreign

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	numberedItem = regexp.MustCompile(`^\d+[.)]\s+(.+)$`)
	brokenBox    = regexp.MustCompile(`^[-*+]?\s*\[\s*[A-Za-z~/-]?\s*\]\s*\S`)
	labelLine    = regexp.MustCompile(`^(?:\*\*([A-Za-z][A-Za-z /&-]{1,40})(?::\*\*|\*\*(?: *\([^)]*\))?:)` +
		`|([A-Z][A-Za-z]{2,20}(?: [A-Za-z]{2,20})?):)\s*(.*)$`)
	pathWord     = regexp.MustCompile(`^[A-Za-z0-9_.][A-Za-z0-9_./+-]*\.[A-Za-z][A-Za-z0-9]{0,9}$`)
	sourceEnding = regexp.MustCompile(`\.(?:go|mod|tsx?|jsx?|mjs|py|rb|rs|java|kt|json|ya?ml|toml|md` +
		`|sh|sql|s?css|html|txt|cfg|ini|xml|c|h|cpp|cs|php|swift|vue|svelte|lock)$`)
)

// markdownLine is a line of Markdown outside of comments.
type markdownLine struct {
	no     int
	indent int
	text   string // without the indent
	code   bool   // inside a code block
}

// scanMarkdownLines returns the lines of Markdown, without comments.
func scanMarkdownLines(text string) []markdownLine {
	text = strings.TrimPrefix(strings.ReplaceAll(text, "\r\n", "\n"), "\ufeff")
	var out []markdownLine
	fence, comment, no := "", false, 0
	for raw := range strings.SplitSeq(text, "\n") {
		no++
		raw = strings.ReplaceAll(raw, "\t", "    ")
		body := strings.TrimSpace(raw)
		if comment {
			_, after, ended := strings.Cut(raw, "-->")
			if !ended {
				continue
			}
			comment, raw = false, after
			body = strings.TrimSpace(raw)
		}
		if fence == "" {
			raw, comment = withoutComments(raw)
			if body = strings.TrimSpace(raw); comment && body == "" {
				continue
			}
		}
		l := markdownLine{no: no, indent: len(raw) - len(strings.TrimLeft(raw, " ")), text: body, code: fence != ""}
		switch mark := fenceOf(body); {
		case fence == "" && mark != "":
			fence, l.code = mark, true
		case fence != "" && strings.HasPrefix(body, fence) && strings.Trim(body, fence[:1]) == "":
			fence = ""
		}
		out = append(out, l)
	}
	return out
}

// fenceOf returns the mark that starts a code block, or "".
func fenceOf(body string) string {
	for _, mark := range []string{"```", "~~~"} {
		if strings.HasPrefix(body, mark) {
			return mark
		}
	}
	return ""
}

// withoutComments removes comments from a line, and reports whether one continues.
func withoutComments(line string) (rest string, open bool) {
	for {
		before, after, found := strings.Cut(line, "<!--")
		if !found {
			return line, false
		}
		_, after, ended := strings.Cut(after, "-->")
		if !ended {
			return before, true
		}
		line = before + after
	}
}

// parseHeading returns the level and the title of a heading.
func (l markdownLine) parseHeading() (level int, title string, ok bool) {
	if l.code || l.indent > 3 || !strings.HasPrefix(l.text, "#") {
		return 0, "", false
	}
	title = strings.TrimLeft(l.text, "#")
	level = len(l.text) - len(title)
	if level > 6 || title != "" && title[0] != ' ' {
		return 0, "", false
	}
	return level, strings.TrimSpace(strings.TrimRight(strings.TrimSpace(title), "#")), true
}

// parseBullet returns the text of a list item.
func (l markdownLine) parseBullet() (string, bool) {
	if l.code {
		return "", false
	}
	for _, mark := range []string{"- ", "* ", "+ "} {
		if rest, ok := strings.CutPrefix(l.text, mark); ok {
			return strings.TrimSpace(rest), true
		}
	}
	if m := numberedItem.FindStringSubmatch(l.text); m != nil {
		return strings.TrimSpace(m[1]), true
	}
	return "", false
}

// parseCheckbox returns the text of an item with a checkbox, and whether it is ticked.
func (l markdownLine) parseCheckbox() (text string, done, ok bool) {
	bullet, ok := l.parseBullet()
	if !ok || len(bullet) < 3 || bullet[0] != '[' || bullet[2] != ']' || !strings.ContainsRune(" xX", rune(bullet[1])) {
		return "", false, false
	}
	rest := bullet[3:]
	if rest != "" && rest[0] != ' ' {
		return "", false, false
	}
	return strings.TrimSpace(rest), bullet[1] != ' ', true
}

// isMalformedCheckbox reports whether a line has a malformed checkbox: -[ ], - [], - [ ], - [v] or [ ]
// alone.
func (l markdownLine) isMalformedCheckbox() bool {
	if _, _, ok := l.parseCheckbox(); ok || l.code {
		return false
	}
	return brokenBox.MatchString(l.text) && !strings.Contains(l.text, "](")
}

// parseLabel returns the name and the value of a line such as **Name:** value.
func (l markdownLine) parseLabel() (name, value string, ok bool) {
	if l.code {
		return "", "", false
	}
	text := l.text
	if bullet, ok := l.parseBullet(); ok {
		text = bullet
	}
	m := labelLine.FindStringSubmatch(text)
	if m == nil {
		return "", "", false
	}
	return m[1] + m[2], strings.TrimSpace(m[3]), true
}

// cutPrefixFold cuts a prefix, ignoring case.
func cutPrefixFold(s, prefix string) (string, bool) {
	if len(s) < len(prefix) || !strings.EqualFold(s[:len(prefix)], prefix) {
		return s, false
	}
	return strings.TrimSpace(s[len(prefix):]), true
}

// splitInlineList splits a list in a line at commas, and removes code marks.
func splitInlineList(value string) []string {
	var out []string
	for w := range strings.SplitSeq(value, ",") {
		w = strings.TrimRight(strings.Trim(strings.TrimSpace(w), "`*_ "), ".")
		if w != "" && !strings.EqualFold(w, "none") && !strings.EqualFold(w, "n/a") && w != "-" {
			out = append(out, w)
		}
	}
	return out
}

// namedPaths returns the files that a sentence names: with a slash or in code marks, and with an
// extension.
func namedPaths(text string) []string {
	var out []string
	for w := range strings.FieldsSeq(text) {
		inCode := strings.Contains(w, "`")
		w = strings.Trim(w, "`\"'()[]{},;:*.!?")
		top, _, deep := strings.Cut(w, "/")
		switch {
		case len(out) == maxNamed:
			return out
		case !pathWord.MatchString(w) || strings.Contains(w, "..") || strings.Contains(w, "//"):
		case deep && !strings.HasSuffix(top, ".com") && !strings.HasSuffix(top, ".org") && !strings.HasSuffix(top, ".io"), inCode &&
			sourceEnding.MatchString(w):
			out = append(out, w)
		}
	}
	return out
}

// countWithNoun returns a number with the name of the counted thing.
func countWithNoun(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

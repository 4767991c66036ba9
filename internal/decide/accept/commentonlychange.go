package accept

import (
	"path"
	"slices"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/stack"
)

// ChangesOnlyText reports whether a file changed only in comments or prose. Old is nil for a new
// file, now is nil for a deleted one. Comments that tools obey count as code.
func ChangesOnlyText(file string, old, now *string) bool {
	base := strings.ToLower(path.Base(file))
	if stack.ServesTests(file) || stack.IsManifest(file) || strings.HasPrefix(base, "requirements") || base == "cmakelists.txt" {
		return false
	}
	switch strings.ToLower(path.Ext(file)) {
	case ".md", ".rst", ".adoc", ".markdown", ".png", ".svg", ".jpg", ".gif":
		return true
	case "", ".txt": // others may be data
		stem := strings.ToUpper(strings.TrimSuffix(path.Base(file), path.Ext(file)))
		return slices.Contains([]string{"README", "LICENSE", "CHANGELOG", "CHANGES", "NEWS", "AUTHORS", "NOTICE", "CONTRIBUTING"}, stem) ||
			slices.Contains(strings.Split(path.Dir(file), "/"), "docs")
	}
	syntax, known := stack.CommentSyntaxOf(file)
	if !known || old == nil || now == nil {
		return false
	}
	return slices.Equal(codeLinesOf(syntax, *old), codeLinesOf(syntax, *now))
}

// codeLinesOf returns the lines of a text without comments and blank lines. A literal of several
// lines at the start of a line, preceded only by the head of a block, is a comment too:
// Python's docstrings.
func codeLinesOf(x stack.SourceSyntax, text string) []string {
	r := commentStripper{syntax: x, in: text}
	r.stripComments()
	var lines []string
	for l := range strings.Lines(r.out.String()) {
		if l = strings.TrimRight(l, " \t\r\n"); strings.TrimSpace(l) != "" {
			lines = append(lines, l)
		}
	}
	return lines
}

// commentStripper scans a text once.
type commentStripper struct {
	syntax stack.SourceSyntax
	in     string
	out    strings.Builder
}

func (r *commentStripper) stripComments() {
	for i := 0; i < len(r.in); {
		n, code := r.nextToken(i)
		if code {
			r.out.WriteString(r.in[i : i+n])
		} else {
			r.out.WriteString(strings.Repeat("\n", strings.Count(r.in[i:i+n], "\n")))
		}
		i += n
	}
}

// nextToken returns the length of the token at i, and whether it is code.
func (r *commentStripper) nextToken(i int) (n int, code bool) {
	rest := r.in[i:]
	for _, mark := range r.syntax.Long {
		if strings.HasPrefix(rest, mark) {
			end := strings.Index(rest[len(mark):], mark)
			if end < 0 {
				return len(rest), true
			}
			n = len(mark) + end + len(mark)
			return n, !r.isDocstring(i, rest[:n])
		}
	}
	begins := i == 0 || strings.IndexByte(" \t\n;{}()", r.in[i-1]) >= 0
	for _, mark := range r.syntax.Comments {
		if begins && strings.HasPrefix(rest, mark) {
			line, _, _ := strings.Cut(rest, "\n")
			return len(line), stack.IsToolDirective(line)
		}
	}
	if open, shut := r.syntax.Block[0], r.syntax.Block[1]; open != "" && begins && strings.HasPrefix(rest, open) {
		end := strings.Index(rest[len(open):], shut)
		if end < 0 {
			return len(rest), true
		}
		n = len(open) + end + len(shut)
		return n, stack.IsToolDirective(rest[:n])
	}
	if strings.IndexByte(r.syntax.Quotes, rest[0]) >= 0 {
		return literalLength(rest), true
	}
	return 1, true
}

// isDocstring reports whether a literal of several lines is a comment: it is alone on its
// lines, and the first statement of a file or of a block whose head ends with a colon.
func (r *commentStripper) isDocstring(i int, literal string) bool {
	if !r.syntax.Dented || strings.Contains(literal, ">>>") {
		return false
	}
	before := r.out.String()
	line := before[strings.LastIndexByte(before, '\n')+1:]
	head := strings.TrimRight(before[:len(before)-len(line)], " \t\r\n")
	after, _, _ := strings.Cut(r.in[i+len(literal):], "\n")
	return strings.TrimSpace(line) == "" && strings.TrimSpace(after) == "" && (head == "" || strings.HasSuffix(head, ":"))
}

// literalLength returns the length of the one-line literal at the start of a text, or of its opening
// mark if it does not end on its line.
func literalLength(text string) int {
	for i := 1; i < len(text) && text[i] != '\n'; i++ {
		switch text[i] {
		case '\\':
			i++
		case text[0]:
			return i + 1
		}
	}
	return 1
}

package diffreview

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// guide is the heading of a patch into which people write comments.
const guide = `# %s
# Write a comment below the line that it is about, in lines that begin with #>:
#   #> must: do this before it lands        kinds: must, should, question, praise (should if none)
#   #> must 10-12: about these lines        of the file as it is now
#   #>= text that should be there instead   a suggestion, one line each, below its comment
# Below a file's head a comment is about the file, here it is about the whole change.
# Leave all other lines as they are. Save and close; nothing is sent if there is no comment.
# commit %s
`

// ReviewPatch returns a diff as a text into which people write comments.
func ReviewPatch(title, commit, diff string) string {
	if diff != "" && !strings.HasSuffix(diff, "\n") {
		diff += "\n"
	}
	return fmt.Sprintf(guide, nexus.OneLine(title), commit) + diff
}

// PatchCommit returns the commit in a patch's heading.
func PatchCommit(text string) string {
	for line := range strings.Lines(text) {
		if commit, ok := strings.CutPrefix(strings.TrimSpace(line), "# commit "); ok {
			return commit
		}
		if !strings.HasPrefix(line, "#") {
			break
		}
	}
	return ""
}

// PatchReadError is the error for a line of a patch that cannot be read.
type PatchReadError struct {
	Line int // from 1
	Why  string
}

// Error implements error.
func (e *PatchReadError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Why) }

// ReadPatchComments returns the comments that people wrote into a patch of a diff. If other lines
// were changed, it returns no comments, and the error names the first such line.
func ReadPatchComments(text, diff string) ([]nexus.ReviewComment, error) {
	p := &patchCommentParser{want: slices.Collect(strings.Lines(diff)), open: -1}
	n := 0
	for line := range strings.Lines(text) {
		n++
		if err := p.readLine(n, strings.TrimRight(line, "\r\n")); err != nil {
			return nil, err
		}
	}
	if p.at < len(p.want) {
		return nil, &PatchReadError{n + 1, fmt.Sprintf("lines of the change are missing from here on: %q", shortenLine(p.want[p.at]))}
	}
	for i := range p.all {
		c := &p.all[i]
		c.Body = strings.TrimSpace(c.Body)
		if c.Body == "" && c.Replace == nil {
			return nil, &PatchReadError{p.lines[i], "the comment says nothing"}
		}
	}
	return p.all, nil
}

type patchCommentParser struct {
	want  []string
	at    int                 // index into want
	diff  diffParser          // has read the lines before at
	place nexus.ReviewComment // position of a comment at this line
	all   []nexus.ReviewComment
	lines []int // start of each comment
	open  int   // comment to which the next lines belong; -1: none
}

func (p *patchCommentParser) readLine(n int, line string) error {
	switch {
	case strings.HasPrefix(line, "#>="):
		return p.readSuggestion(n, strings.TrimPrefix(strings.TrimPrefix(line, "#>="), " "))
	case strings.HasPrefix(line, "#>"):
		return p.readCommentLine(n, strings.TrimPrefix(strings.TrimPrefix(line, "#>"), " "))
	case strings.HasPrefix(line, "#"):
		return nil
	}
	if p.at >= len(p.want) {
		if strings.TrimSpace(line) == "" {
			return nil // the last line of an editor
		}
		return &PatchReadError{n, fmt.Sprintf("this line is not part of the change: %q; a comment starts with #>", shortenLine(line))}
	}
	want := strings.TrimRight(p.want[p.at], "\r\n")
	if line != want && strings.TrimRight(line, " \t\r") != strings.TrimRight(want, " \t\r") {
		return &PatchReadError{n, fmt.Sprintf("it was changed from %q to %q; a comment starts with #>", shortenLine(want), shortenLine(line))}
	}
	p.trackPlace(strings.TrimRight(p.want[p.at], "\n"))
	p.at++
	p.open = -1
	return nil
}

// trackPlace updates the position of a comment below the line.
func (p *patchCommentParser) trackPlace(line string) {
	l := p.diff.parseLine(line)
	p.place = nexus.ReviewComment{}
	if len(p.diff.files) > 0 {
		p.place.File = p.diff.currentFile().Path
	}
	if l.Kind == "" {
		return
	}
	p.place.Side, p.place.Start, p.place.Hunk = nexus.NewSide, l.New, line
	if l.Kind == "-" {
		p.place.Side, p.place.Start = nexus.OldSide, l.Old
	}
	p.place.End = p.place.Start
}

// readCommentLine reads a line of a comment. A line that starts with a kind starts a new
// comment.
func (p *patchCommentParser) readCommentLine(n int, text string) error {
	head, body, colon := strings.Cut(text, ":")
	words := strings.Fields(head)
	kind := nexus.CommentKind("")
	if colon && len(words) > 0 && len(words) <= 2 {
		kind = nexus.CommentKind(strings.ToLower(words[0]))
	}
	switch {
	case nexus.IsCommentKind(kind):
		c := p.place
		c.Kind, c.Body = kind, strings.TrimSpace(body)
		if len(words) == 2 {
			start, end, ok := ParseLines(words[1])
			if !ok || c.File == "" {
				return &PatchReadError{n, fmt.Sprintf("%q is not a range of lines, such as 10-12", words[1])}
			}
			c.Side, c.Start, c.End, c.Hunk = nexus.NewSide, start, end, ""
		}
		p.beginComment(n, c)
	case p.open < 0:
		c := p.place
		c.Kind, c.Body = nexus.ShouldComment, text
		p.beginComment(n, c)
	default:
		p.all[p.open].Body += "\n" + text
	}
	return nil
}

func (p *patchCommentParser) beginComment(n int, c nexus.ReviewComment) {
	p.all, p.lines, p.open = append(p.all, c), append(p.lines, n), len(p.all)
}

// readSuggestion reads a line of a suggestion.
func (p *patchCommentParser) readSuggestion(n int, text string) error {
	if p.open < 0 {
		c := p.place
		c.Kind = nexus.ShouldComment
		p.beginComment(n, c)
	}
	c := &p.all[p.open]
	if c.File == "" || c.Start == 0 || c.Side == nexus.OldSide {
		return &PatchReadError{n, "a suggestion replaces lines of a file as it is now; put it below one of them"}
	}
	if c.Replace == nil {
		c.Replace = &nexus.SuggestedReplacement{}
	}
	c.Replace.Text += text + "\n"
	return nil
}

// ParseLines parses "10" or "10-12".
func ParseLines(text string) (start, end int, ok bool) {
	first, last, two := strings.Cut(text, "-")
	start, err := strconv.Atoi(first)
	end = start
	if two && err == nil {
		end, err = strconv.Atoi(last)
	}
	return start, end, err == nil && start > 0 && end >= start && end < 1<<30
}

func shortenLine(text string) string {
	const most = 80
	text = strings.TrimRight(text, "\r\n")
	if len(text) > most {
		return strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

// CommentExcerpt returns the lines of a change that a comment is about, as the diff shows them, or
// "" if the diff does not contain them.
func CommentExcerpt(files []DiffFile, c nexus.ReviewComment) string {
	f, ok := FindFile(files, c.File)
	if !ok || c.Start == 0 {
		return ""
	}
	var b strings.Builder
	for _, h := range f.Hunks {
		for _, l := range h.Lines {
			at := l.New
			if c.Side == nexus.OldSide {
				at = l.Old
			}
			if at >= c.Start && at <= c.LastLine() && at > 0 {
				b.WriteString(l.Kind + l.Text + "\n")
			}
		}
	}
	return b.String()
}

package highlight

import (
	"strconv"
	"strings"
)

// Mark is what a line of a diff is.
type Mark string

// The marks of lines.
const (
	Same    Mark = "same"
	Added   Mark = "added"
	Deleted Mark = "deleted"
	Hunk    Mark = "hunk" // where the next lines are
	Note    Mark = "note" // about the file: its mode, that it is binary, no newline at its end
)

// File is a file of a diff.
type File struct {
	Path    string `json:"path"`            // as it is after the change; of a deleted file, before
	Before  string `json:"before,omitzero"` // its path before, where that was another
	Added   int    `json:"added"`           // lines
	Deleted int    `json:"deleted"`         // lines
	New     bool   `json:"new,omitzero"`    //
	Gone    bool   `json:"gone,omitzero"`   //
	Lines   []Line `json:"lines"`           //
}

// Line is a line of a file in a diff.
type Line struct {
	Mark  Mark   `json:"mark"`
	Old   int    `json:"old,omitzero"` // its number before the change; 0: it was not there
	New   int    `json:"new,omitzero"` // its number after the change; 0: it is gone
	Spans []Span `json:"spans"`
}

// Text returns the line as it is in its file.
func (l Line) Text() string {
	var b strings.Builder
	for _, s := range l.Spans {
		b.WriteString(s.Text)
	}
	return b.String()
}

// Diff splits what git prints of a change into its files and lines, with each
// side of a file highlighted. What it cannot read is a [Note].
func Diff(text string) []File {
	r := reader{}
	for line := range strings.SplitSeq(strings.TrimSuffix(text, "\n"), "\n") {
		r.read(line)
	}
	for i := range r.files {
		color(&r.files[i])
	}
	return r.files
}

// reader reads a diff line by line.
type reader struct {
	files    []File
	old, new int // numbers of the next lines
	left     int // lines of the hunk that are to come before the change
	right    int // lines of the hunk that are to come after it
}

func (r *reader) read(line string) {
	inside := r.left > 0 || r.right > 0
	switch {
	case inside && strings.HasPrefix(line, "+"):
		r.add(Line{Mark: Added, New: r.new}, line[1:])
		r.new, r.right = r.new+1, r.right-1
	case inside && strings.HasPrefix(line, "-"):
		r.add(Line{Mark: Deleted, Old: r.old}, line[1:])
		r.old, r.left = r.old+1, r.left-1
	case inside && (strings.HasPrefix(line, " ") || line == ""):
		r.add(Line{Mark: Same, Old: r.old, New: r.new}, strings.TrimPrefix(line, " "))
		r.old, r.new, r.left, r.right = r.old+1, r.new+1, r.left-1, r.right-1
	default:
		r.head(line)
	}
}

// head reads a line that is not in a hunk.
func (r *reader) head(line string) {
	name := ""
	if strings.HasPrefix(line, "diff --git ") {
		r.left, r.right = 0, 0
		_, name, _ = strings.Cut(line, " b/")
		r.files = append(r.files, File{Path: unquote(name)})
		return
	}
	if len(r.files) == 0 {
		if line == "" {
			return
		}
		r.files = append(r.files, File{})
	}
	f := &r.files[len(r.files)-1]
	if r.hunk(line) {
		r.add(Line{Mark: Hunk}, line)
		return
	}
	switch key, value, _ := strings.Cut(line, " "); {
	case key == "index":
	case key == "---" && value == "/dev/null", strings.HasPrefix(line, "new file"):
		f.New = true
	case key == "---":
		if value = side(value, "a/"); f.Path == "" {
			f.Path = value
		}
	case key == "+++" && value == "/dev/null", strings.HasPrefix(line, "deleted file"):
		f.Gone = true
	case key == "+++":
		f.Path = side(value, "b/")
	case strings.HasPrefix(line, "rename from "):
		f.Before = unquote(line[len("rename from "):])
	case strings.HasPrefix(line, "rename to "):
		f.Path = unquote(line[len("rename to "):])
	case line != "":
		r.add(Line{Mark: Note}, strings.TrimPrefix(line, `\ `))
	}
}

// hunk reads where a hunk is: @@ -1,2 +1,3 @@ text.
func (r *reader) hunk(line string) bool {
	words := strings.Fields(line)
	if len(words) < 4 || words[0] != "@@" || words[3] != "@@" {
		return false
	}
	old, left, ok := place(words[1], "-")
	now, right, also := place(words[2], "+")
	if !ok || !also {
		return false
	}
	r.old, r.left, r.new, r.right = old, left, now, right
	return true
}

// place reads a range such as -1,2: its first line, and how many it has.
func place(text, sign string) (first, n int, ok bool) {
	text, ok = strings.CutPrefix(text, sign)
	begin, count, several := strings.Cut(text, ",")
	first, err := strconv.Atoi(begin)
	if n = 1; err == nil && several {
		n, err = strconv.Atoi(count)
	}
	return first, n, ok && err == nil && n >= 0 && first >= 0
}

func (r *reader) add(l Line, text string) {
	f := &r.files[len(r.files)-1]
	l.Spans = plain(text)
	switch l.Mark {
	case Added:
		f.Added++
	case Deleted:
		f.Deleted++
	default:
	}
	f.Lines = append(f.Lines, l)
}

// side is the path of a line that begins with --- or +++.
func side(value, prefix string) string {
	value, _, _ = strings.Cut(value, "\t")
	return strings.TrimPrefix(unquote(value), prefix)
}

// unquote returns a path as it is: git quotes those with special characters.
func unquote(path string) string {
	if strings.HasPrefix(path, `"`) {
		if plain, err := strconv.Unquote(path); err == nil {
			return plain
		}
	}
	return strings.TrimSuffix(path, `"`)
}

// color highlights the lines of a file: the lines before the change as one text,
// and the lines after it as another, so that a comment over several lines is one.
func color(f *File) {
	for _, in := range []func(Line) bool{
		func(l Line) bool { return l.Old > 0 },
		func(l Line) bool { return l.New > 0 }, // last: it has the word on lines that are in both
	} {
		var at []int
		var text strings.Builder
		for i, l := range f.Lines {
			if in(l) {
				at = append(at, i)
				text.WriteString(l.Text() + "\n")
			}
		}
		if len(at) == 0 {
			continue
		}
		for i, spans := range Lines(f.Path, text.String()) {
			f.Lines[at[i]].Spans = spans
		}
	}
}

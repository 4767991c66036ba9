// Package diffreview provides functions for people's reviews of changes: it parses diffs,
// orders their files by risk, finds moved lines, reads and writes patches with comments, and
// formats comments as messages for agents.
package diffreview

import (
	"strconv"
	"strings"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
)

// DiffFile is a file of a diff.
type DiffFile struct {
	Path    string     `json:"path"`
	Old     string     `json:"old_path,omitzero"` // earlier path, if it was renamed or copied
	Status  string     `json:"status"`            // added, deleted, modified, renamed, copied
	Mode    string     `json:"mode,omitzero"`     // new mode, if it changed or the file is new
	Binary  bool       `json:"binary,omitzero"`
	Added   int        `json:"added"` // lines
	Deleted int        `json:"deleted"`
	Hunks   []DiffHunk `json:"hunks"`
}

// DiffHunk is a hunk of a diff.
type DiffHunk struct {
	Old     int        `json:"old"` // first line before the change, from 1; 0: the file was empty
	OldLen  int        `json:"old_lines"`
	New     int        `json:"new"`
	NewLen  int        `json:"new_lines"`
	Section string     `json:"section,omitzero"` // the surrounding section, as git reports it
	Lines   []DiffLine `json:"lines"`
}

// DiffLine is a line of a hunk.
type DiffLine struct {
	Kind string `json:"kind"`         // " ", "+" or "-"
	Old  int    `json:"old,omitzero"` // its earlier number; 0: it is new
	New  int    `json:"new,omitzero"`
	Text string `json:"text"`          // without the line end
	Bare bool   `json:"bare,omitzero"` // it is the last line and has no line end
}

// FileRisk is the risk of a change to a file.
type FileRisk string

// Levels of risk, the greatest first.
const (
	// public interfaces, migrations, authentication and security, weaker tests, dependencies,
	// CI.
	HighRisk   FileRisk = "high"
	NormalRisk FileRisk = "normal" // code
	LowRisk    FileRisk = "low"    // tests that only grew, prose
	NoRisk     FileRisk = "none"   // generated files
)

// maxLine limits the length of a displayed line.
const maxLine = 4000

// ParseDiff parses a patch in git's format, to display it: long lines are cut. It skips parts that
// it cannot parse, and reads a truncated patch up to its end. A file of the patch is never left
// out, because its author may want that: bluekeyes/go-gitdiff returns no file from the first one
// on that it cannot parse, which a name that ends in a backslash achieves.
func ParseDiff(patch string) []DiffFile {
	files := ParseWholeDiff(patch)
	for _, f := range files {
		for _, h := range f.Hunks {
			for i := range h.Lines {
				h.Lines[i].Text = truncateLine(h.Lines[i].Text)
			}
		}
	}
	return files
}

// ParseWholeDiff is [ParseDiff] with long lines as they are.
func ParseWholeDiff(patch string) []DiffFile {
	p := diffParser{}
	for line := range strings.Lines(patch) {
		p.parseLine(strings.TrimSuffix(line, "\n"))
	}
	return p.files
}

// SplitPatchByFile returns the parts of a patch, one per file. The text before the first file is part of
// the first.
func SplitPatchByFile(patch string) []string { return splitBefore(patch, fileMark) }

// SplitFileHunks returns the header of a file's patch and its hunks. There may be no header.
func SplitFileHunks(file string) []string { return splitBefore(file, hunkMark) }

// The beginnings of the lines that begin a file and a hunk. Lines of a hunk begin otherwise.
const (
	fileMark = "diff --git "
	hunkMark = "@@ "
)

// splitBefore cuts text before each line that begins with the mark.
func splitBefore(text, mark string) []string {
	var all []string
	begin, at := 0, 0
	for line := range strings.Lines(text) {
		if at > 0 && strings.HasPrefix(line, mark) {
			all = append(all, text[begin:at])
			begin = at
		}
		at += len(line)
	}
	return append(all, text[begin:])
}

type diffParser struct {
	files            []DiffFile
	old, now         int // numbers of the next lines
	oldLeft, newLeft int // remaining lines of the hunk
}

func (p *diffParser) currentFile() *DiffFile { return &p.files[len(p.files)-1] }

// parseLine parses the next line. It returns the line of a hunk that it is; else one without a kind.
func (p *diffParser) parseLine(line string) DiffLine {
	if p.oldLeft > 0 || p.newLeft > 0 {
		if l, ok := p.parseHunkLine(line); ok {
			return l
		}
		p.oldLeft, p.newLeft = 0, 0
	}
	p.parseHeader(line)
	return DiffLine{}
}

// parseHeader parses a line that is not in a hunk.
func (p *diffParser) parseHeader(line string) {
	if rest, ok := strings.CutPrefix(line, fileMark); ok {
		f := DiffFile{Status: "modified", Hunks: []DiffHunk{}}
		f.Path = nameInDiffHeader(rest)
		p.files = append(p.files, f)
		return
	}
	if len(p.files) == 0 {
		return
	}
	if strings.HasPrefix(line, hunkMark) {
		p.parseHunkHeader(line)
		return
	}
	if strings.HasPrefix(line, `\`) { // no newline at the end of the file
		if f := p.currentFile(); len(f.Hunks) > 0 {
			if h := &f.Hunks[len(f.Hunks)-1]; len(h.Lines) > 0 {
				h.Lines[len(h.Lines)-1].Bare = true
			}
		}
		return
	}
	p.parseFileHeader(line)
}

// parseFileHeader parses the header lines of a file.
func (p *diffParser) parseFileHeader(line string) {
	f := p.currentFile()
	if len(f.Hunks) > 0 {
		return
	}
	path := func(text, side string) string {
		return strings.TrimPrefix(unquoteName(strings.TrimSuffix(text, "\t")), side)
	}
	for _, h := range []struct {
		prefix string
		says   func(string)
	}{
		{"new file mode ", func(mode string) { f.Status, f.Mode = "added", mode }},
		{"deleted file mode ", func(string) { f.Status = "deleted" }},
		{"new mode ", func(mode string) { f.Mode = mode }},
		{"rename from ", func(from string) { f.Status, f.Old = "renamed", unquoteName(from) }},
		{"rename to ", func(to string) { f.Path = unquoteName(to) }},
		{"copy from ", func(from string) { f.Status, f.Old = "copied", unquoteName(from) }},
		{"copy to ", func(to string) { f.Path = unquoteName(to) }},
		{"+++ ", func(name string) {
			if name != "/dev/null" {
				f.Path = path(name, "b/")
			}
		}},
		{"--- ", func(name string) {
			if name != "/dev/null" && f.Status != "renamed" && f.Status != "copied" {
				f.Path = path(name, "a/")
			}
		}},
		{"Binary files ", func(string) { f.Binary = true }},
		{"GIT binary patch", func(string) { f.Binary = true }},
	} {
		if rest, ok := strings.CutPrefix(line, h.prefix); ok {
			h.says(rest)
			return
		}
	}
}

// parseHunkHeader parses the header of a hunk: @@ -1,2 +1,3 @@ section.
func (p *diffParser) parseHunkHeader(line string) {
	ranges, section, ok := strings.Cut(strings.TrimPrefix(line, hunkMark), " @@")
	old, now, two := strings.Cut(ranges, " ")
	if !ok || !two {
		return
	}
	h := DiffHunk{Section: strings.TrimSpace(section), Lines: []DiffLine{}}
	var ok1, ok2 bool
	h.Old, h.OldLen, ok1 = parseRange(strings.TrimPrefix(old, "-"))
	h.New, h.NewLen, ok2 = parseRange(strings.TrimPrefix(now, "+"))
	if !ok1 || !ok2 {
		return
	}
	p.old, p.now, p.oldLeft, p.newLeft = h.Old, h.New, h.OldLen, h.NewLen
	f := p.currentFile()
	f.Hunks = append(f.Hunks, h)
}

// parseHunkLine parses a line of a hunk. It returns false for a line that cannot be in one.
func (p *diffParser) parseHunkLine(line string) (DiffLine, bool) {
	if line == "" { // a mail program removed the blank
		line = " "
	}
	f := p.currentFile()
	h := &f.Hunks[len(f.Hunks)-1]
	l := DiffLine{Kind: line[:1], Text: line[1:]}
	switch l.Kind {
	case "\\":
		if len(h.Lines) > 0 {
			h.Lines[len(h.Lines)-1].Bare = true
		}
		return DiffLine{}, true
	case " ":
		l.Old, l.New = p.old, p.now
	case "-":
		l.Old = p.old
		f.Deleted++
	case "+":
		l.New = p.now
		f.Added++
	default:
		return DiffLine{}, false
	}
	if l.Old > 0 || l.Kind == "-" {
		p.old++
		p.oldLeft--
	}
	if l.New > 0 || l.Kind == "+" {
		p.now++
		p.newLeft--
	}
	h.Lines = append(h.Lines, l)
	return l, true
}

func truncateLine(text string) string {
	if len(text) > maxLine {
		return strings.ToValidUTF8(text[:maxLine], "") + " [the rest of the line is left out]"
	}
	return text
}

// parseRange parses "3,2" or "3".
func parseRange(text string) (from, n int, ok bool) {
	first, count, two := strings.Cut(text, ",")
	from, err := strconv.Atoi(first)
	n = 1
	if two && err == nil {
		n, err = strconv.Atoi(count)
	}
	const most = 1 << 30
	return from, n, err == nil && from >= 0 && n >= 0 && from < most && n < most
}

// nameInDiffHeader returns the name in "a/NAME b/NAME", if both are the same.
func nameInDiffHeader(text string) string {
	if strings.HasPrefix(text, `"`) {
		if i := strings.Index(text, `" "`); i > 0 {
			return strings.TrimPrefix(unquoteName(text[:i+1]), "a/")
		}
	}
	if n := len(text); n%2 == 1 {
		a, b := text[:n/2], text[n/2+1:]
		if strings.HasPrefix(a, "a/") && strings.HasPrefix(b, "b/") && a[2:] == b[2:] {
			return a[2:]
		}
	}
	_, name, _ := strings.Cut(text, " b/")
	return name
}

// unquoteName decodes a name as git writes it, quoted if it has unusual characters.
func unquoteName(name string) string {
	if len(name) < 2 || !strings.HasPrefix(name, `"`) || !strings.HasSuffix(name, `"`) {
		return name
	}
	var b strings.Builder
	for in := name[1 : len(name)-1]; in != ""; {
		if in[0] != '\\' || len(in) < 2 {
			b.WriteByte(in[0])
			in = in[1:]
			continue
		}
		if len(in) >= 4 {
			if n, err := strconv.ParseUint(in[1:4], 8, 8); err == nil {
				b.WriteByte(byte(n))
				in = in[4:]
				continue
			}
		}
		escapes := map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', 'a': '\a', 'b': '\b', 'f': '\f', 'v': '\v'}
		if c, ok := escapes[in[1]]; ok {
			b.WriteByte(c)
		} else {
			b.WriteByte(in[1])
		}
		in = in[2:]
	}
	return b.String()
}

// FindFile returns the file with that new or old path.
func FindFile(files []DiffFile, name string) (DiffFile, bool) {
	for _, f := range files {
		if f.Path == name {
			return f, true
		}
	}
	for _, f := range files {
		if f.Old == name && f.Status == "renamed" {
			return f, true
		}
	}
	return DiffFile{}, false
}

// ShiftLines returns the new position of lines after a diff, from their earlier one, or false if
// one of them changed or was removed. It needs a diff of this file alone, with or without
// context.
func (f DiffFile) ShiftLines(start, end int) (int, bool) {
	if f.Status == "deleted" || f.Binary {
		return 0, false
	}
	by := 0
	for _, h := range f.Hunks {
		for _, l := range h.Lines {
			switch {
			case l.Kind == "-" && l.Old >= start && l.Old <= end:
				return 0, false
			case l.Kind == "-" && l.Old < start:
				by--
			case l.Kind == "+":
				if at := h.oldLineBefore(l); at < start {
					by++
				} else if at >= start && at < end {
					return 0, false // lines were inserted in between
				}
			}
		}
	}
	return start + by, true
}

// oldLineBefore returns the number of the last line before an added one.
func (h DiffHunk) oldLineBefore(added DiffLine) int {
	last := h.Old - 1
	if h.OldLen == 0 {
		last = h.Old
	}
	for _, l := range h.Lines {
		if l.Kind == "+" && l.New == added.New {
			return last
		}
		if l.Old > 0 {
			last = l.Old
		}
	}
	return last
}

// ChangesCommentSubject reports whether a diff since the commit of a comment changes the comment's subject:
// its lines and lines added next to them, its file, or anything.
func ChangesCommentSubject(files []DiffFile, c nexus.ReviewComment) bool {
	if c.File == "" {
		return len(files) > 0
	}
	f, ok := FindFile(files, c.File)
	if !ok {
		return false
	}
	if c.Start == 0 || c.Side == nexus.OldSide { // the old side is not part of the comparison
		return true
	}
	for _, h := range f.Hunks {
		for _, l := range h.Lines {
			switch {
			case l.Kind == "-" && l.Old >= c.Start && l.Old <= c.LastLine():
				return true
			case l.Kind == "+":
				if at := h.oldLineBefore(l); at >= c.Start-1 && at <= c.LastLine() {
					return true
				}
			}
		}
	}
	return f.Status == "deleted"
}

// ReplaceLines returns a text with some lines, from 1, replaced, or false if it does not have
// these lines. The new lines end like the lines around them.
func ReplaceLines(text string, start, end int, with string) (string, bool) {
	all := strings.SplitAfter(text, "\n")
	if all[len(all)-1] == "" {
		all = all[:len(all)-1]
	}
	if start < 1 || end < start || end > len(all) {
		return "", false
	}
	bare := !strings.HasSuffix(all[end-1], "\n")
	with = strings.ReplaceAll(with, "\r\n", "\n")
	if with != "" && !strings.HasSuffix(with, "\n") {
		with += "\n"
	}
	if strings.HasSuffix(all[start-1], "\r\n") {
		with = strings.ReplaceAll(with, "\n", "\r\n")
	}
	if bare {
		with = strings.TrimSuffix(strings.TrimSuffix(with, "\n"), "\r")
	}
	return strings.Join(all[:start-1], "") + with + strings.Join(all[end:], ""), true
}

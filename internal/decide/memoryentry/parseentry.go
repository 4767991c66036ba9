package memoryentry

import (
	"fmt"
	"path"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/frontmatter"
)

// headFields returns the fields of a head, in the order in which they are written.
func headFields() []string {
	return []string{"kind", "state", "by", "learned", "from", "file", "blob", "symbol"}
}

// ParseEntry parses an entry's file; name is its path, which starts error messages. It accepts
// nothing unknown: the error names the first wrong line and the correct form.
func ParseEntry(name string, data []byte) (MemoryEntry, error) {
	e, f := parseEntry(data)
	if f != nil {
		return MemoryEntry{}, f.Error(name)
	}
	e.ID = strings.TrimSuffix(path.Base(name), ".md")
	return e, nil
}

func parseEntry(data []byte) (e MemoryEntry, _ *frontmatter.Fault) {
	if len(data) > MaxFile {
		return e, frontmatter.NewMistake(
			1, fmt.Sprintf("the file has more than %d bytes", MaxFile),
			"Keep one thing that was learned in a file, in a few sentences.",
		)
	}
	if f := frontmatter.CheckPlainText(string(data)); f != nil {
		return e, f
	}
	d := frontmatter.SplitHead(string(data))
	if !d.HasHead {
		return e, frontmatter.NewMistake(1, "the file does not start with a line "+frontmatter.Fence,
			"Start with "+frontmatter.Fence+", a line for each field such as kind: gotcha, and another "+frontmatter.Fence+".")
	}
	h := entryHeadParser{}
	if f := d.ReadFields(frontmatter.AllowedFields{Known: headFields(), Repeated: []string{"from", "file", "blob", "symbol"}}, h.setField); f != nil {
		return e, f
	}
	return h.finishHead(2+strings.Count(d.Head, "\n"), strings.TrimRight(strings.Trim(d.Body, "\n"), " \t\n"))
}

// entryHeadParser is the part of a file's head that has been read.
type entryHeadParser struct{ e MemoryEntry }

func (h *entryHeadParser) setField(n int, key, value string) *frontmatter.Fault {
	switch key {
	case "kind":
		h.e.Kind = EntryKind(value)
		return checkOneOf(n, key, h.e.Kind, EntryKinds())
	case "state":
		h.e.State = EntryApprovalState(value)
		return checkOneOf(n, key, h.e.State, ApprovalStates())
	case "by":
		h.e.By = EntrySource(value)
		return checkOneOf(n, key, h.e.By, ProposalSources())
	case "learned":
		t, err := time.Parse(time.DateOnly, value)
		if err != nil || t.Year() < 1 || t.Year() > 9999 {
			return frontmatter.NewMistake(n, fmt.Sprintf("learned is not a day: %q", frontmatter.ShortenForError(value)), "Write it as 2006-01-02.")
		}
		h.e.Learned = CalendarDay{t}
	case "from":
		return h.parseFrom(n, value)
	case "file":
		if why := pathFault(value); why != "" {
			return frontmatter.NewMistake(n, fmt.Sprintf("file %q %s", frontmatter.ShortenForError(value), why), "Write the path from the root of the repository, with slashes.")
		}
		if slices.ContainsFunc(h.e.Files, func(f SubjectFile) bool { return f.Path == value }) {
			return frontmatter.NewMistake(n, fmt.Sprintf("file %q is there twice", frontmatter.ShortenForError(value)), "Remove one of the lines.")
		}
		h.e.Files = append(h.e.Files, SubjectFile{Path: value})
		return tooManyFault(n, key, len(h.e.Files), maxFiles)
	case "blob":
		return h.parseBlob(n, value)
	case "symbol":
		if len(value) > maxName || strings.ContainsFunc(value, unicode.IsSpace) {
			return frontmatter.NewMistake(
				n, fmt.Sprintf("symbol %q is not one name", frontmatter.ShortenForError(value)),
				"Write one name, such as Parse or Tree.Walk, and a line for each further one.",
			)
		}
		h.e.Symbols = append(h.e.Symbols, value)
		return tooManyFault(n, key, len(h.e.Symbols), maxFiles)
	}
	return nil
}

func (h *entryHeadParser) parseFrom(n int, value string) *frontmatter.Fault {
	words := strings.Fields(value)
	o := EntryOrigin{Run: nexus.RunID(words[0])}
	if len(words) > 3 {
		return frontmatter.NewMistake(n, "from has more than a run, a task and a commit", "Write it as from: RUN TASK COMMIT; the last two may be left out.")
	}
	if len(words) > 1 {
		o.Task = nexus.TaskID(words[1])
	}
	if len(words) > 2 {
		if o.Commit = words[2]; !isHash(o.Commit) {
			return frontmatter.NewMistake(n, fmt.Sprintf("%q is not the hash of a commit", frontmatter.ShortenForError(o.Commit)), "Write all 40 or 64 digits of it, or leave it out.")
		}
	}
	h.e.From = append(h.e.From, o)
	return tooManyFault(n, "from", len(h.e.From), maxOrigin)
}

func (h *entryHeadParser) parseBlob(n int, value string) *frontmatter.Fault {
	last := len(h.e.Files) - 1
	switch {
	case last < 0 || h.e.Files[last].Blob != "":
		return frontmatter.NewMistake(n, "blob does not follow the file that it belongs to", "Write it in the line after its file.")
	case !isHash(value):
		return frontmatter.NewMistake(
			n, fmt.Sprintf("%q is not the hash of a file", frontmatter.ShortenForError(value)),
			"git rev-parse HEAD:PATH prints it. Without a blob, the episode stays when the file changes.",
		)
	}
	h.e.Files[last].Blob = value
	return nil
}

// finishHead checks the complete head; n is the line of the closing fence.
func (h *entryHeadParser) finishHead(n int, text string) (MemoryEntry, *frontmatter.Fault) {
	h.e.Text = text
	switch {
	case h.e.Kind == "":
		return h.e, frontmatter.NewMistake(n, "kind is missing", "Write kind: and one of "+joinWords(EntryKinds())+" above this line.")
	case h.e.State == "":
		return h.e, frontmatter.NewMistake(n, "state is missing", "Write state: approved above this line; agents see only approved episodes.")
	case text == "":
		return h.e, frontmatter.NewMistake(n+1, "there is no text", "Write the episode below the head.")
	case len(text) > MaxText:
		return h.e, frontmatter.NewMistake(
			n+1, fmt.Sprintf("the text has %d bytes; at most %d are kept", len(text), MaxText),
			"Shorten it to a few sentences, and link to the rest.",
		)
	}
	return h.e, nil
}

// String formats the entry as its file, for [ParseEntry].
func (e MemoryEntry) String() string {
	var b strings.Builder
	line := func(key, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", key, value)
		}
	}
	b.WriteString(frontmatter.Fence + "\n")
	line("kind", string(e.Kind))
	line("state", string(e.State))
	line("by", string(e.By))
	line("learned", e.Learned.String())
	for _, o := range e.From {
		words := []string{string(o.Run), string(o.Task), o.Commit}
		if i := slices.Index(words, ""); i >= 0 {
			words = words[:i]
		}
		line("from", strings.Join(words, " "))
	}
	for _, f := range e.Files {
		line("file", f.Path)
		line("blob", f.Blob)
	}
	for _, s := range e.Symbols {
		line("symbol", s)
	}
	b.WriteString(frontmatter.Fence + "\n\n" + strings.Trim(e.Text, "\n") + "\n")
	return b.String()
}

// ReplaceState returns the text of a file with another state, and all other lines unchanged.
func ReplaceState(data []byte, s EntryApprovalState) []byte {
	lines := strings.SplitAfter(string(data), "\n")
	for i, line := range lines {
		if key, _, _ := strings.Cut(line, ":"); strings.TrimSpace(key) == "state" {
			end := line[len(strings.TrimRight(line, "\r\n")):]
			lines[i] = "state: " + string(s) + end
			break
		}
	}
	return []byte(strings.Join(lines, ""))
}

func checkOneOf[T ~string](n int, key string, is T, all []T) *frontmatter.Fault {
	if slices.Contains(all, is) {
		return nil
	}
	return frontmatter.NewMistake(n, fmt.Sprintf("unknown %s %q", key, frontmatter.ShortenForError(string(is))), "Write one of "+joinWords(all)+".")
}

func joinWords[T ~string](all []T) string {
	words := make([]string, len(all))
	for i, w := range all {
		words[i] = string(w)
	}
	return strings.Join(words, ", ")
}

func tooManyFault(n int, key string, is, max int) *frontmatter.Fault {
	if is <= max {
		return nil
	}
	return frontmatter.NewMistake(n, fmt.Sprintf("there are more than %d lines %s", max, key), "Name those that matter most.")
}

// pathFault returns why a path cannot name a file of the repository, or "".
func pathFault(p string) string {
	switch {
	case len(p) > 1000:
		return "is too long"
	case strings.TrimSpace(p) != p || !utf8.ValidString(p) || strings.ContainsFunc(p, unicode.IsControl):
		return "has characters that are not text"
	case strings.HasPrefix(p, "/") || len(p) > 1 && p[1] == ':':
		return "is not relative"
	case strings.Contains(p, `\`):
		return "has a backslash"
	case strings.HasPrefix(p, ":"):
		return "starts with a colon, which git has for patterns"
	case path.Clean(p) != p || p == "." || p == ".." || strings.HasPrefix(p, "../"):
		return "is not a path within the repository"
	}
	return ""
}

func isHash(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

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
)

// fence is the line before and after the head.
const fence = "---"

// headFields returns the fields of a head, in the order in which they are written.
func headFields() []string {
	return []string{"kind", "state", "by", "learned", "from", "file", "blob", "symbol"}
}

// entryFault is a mistake in an entry's file.
type entryFault struct {
	line int // from 1
	what string
	hint string
}

// Parse parses an entry's file; name is its path, which starts error messages. It accepts
// nothing unknown: the error names the first wrong line and the correct form.
func Parse(name string, data []byte) (MemoryEntry, error) {
	e, f := parse(data)
	if f != nil {
		return MemoryEntry{}, &nexus.Error{Code: nexus.CodeInvalidConfig, Message: fmt.Sprintf("%s:%d: %s", name, f.line, f.what), Hint: f.hint}
	}
	e.ID = strings.TrimSuffix(path.Base(name), ".md")
	return e, nil
}

func parse(data []byte) (e MemoryEntry, _ *entryFault) {
	if len(data) > MaxFile {
		return e, &entryFault{
			1, fmt.Sprintf("the file has more than %d bytes", MaxFile),
			"Keep one thing that was learned in a file, in a few sentences.",
		}
	}
	text := strings.TrimPrefix(strings.ReplaceAll(string(data), "\r\n", "\n"), "\ufeff")
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if !utf8.ValidString(line) || strings.ContainsFunc(line, func(r rune) bool { return r != '\t' && unicode.IsControl(r) }) {
			return e, &entryFault{i + 1, "the line has characters that are not text", "Save the file as UTF-8 without control characters."}
		}
	}
	if strings.TrimRight(lines[0], " \t") != fence {
		return e, &entryFault{
			1, "the file does not start with a line " + fence,
			"Start with " + fence + ", a line for each field such as kind: gotcha, and another " + fence + ".",
		}
	}
	h := headParser{seen: map[string]int{}}
	for i, line := range lines[1:] {
		line, n := strings.TrimSpace(line), i+2
		if line == fence {
			body := strings.Trim(strings.Join(lines[n:], "\n"), "\n")
			return h.finishHead(n, strings.TrimRight(body, " \t\n"))
		}
		if line == "" {
			continue
		}
		if f := h.readLine(n, line); f != nil {
			return e, f
		}
	}
	return e, &entryFault{len(lines), "the head has no end", "Write a line " + fence + " after the fields, and the text below it."}
}

// headParser is the part of a file's head that has been read.
type headParser struct {
	e    MemoryEntry
	seen map[string]int // line number of each field
}

// readLine reads one line of the head.
func (h *headParser) readLine(n int, line string) *entryFault {
	key, value, ok := strings.Cut(line, ":")
	key, value = strings.TrimSpace(key), strings.TrimSpace(value)
	switch {
	case !ok:
		return &entryFault{
			n, fmt.Sprintf("%q is not a field", shortenText(line)),
			"Write a field as name: value; the text comes after the second " + fence + ".",
		}
	case !slices.Contains(headFields(), key):
		return &entryFault{n, fmt.Sprintf("unknown field %q", shortenText(key)), "The fields are " + strings.Join(headFields(), ", ") + "."}
	case value == "":
		return &entryFault{n, key + " has no value", "Give it one, or remove the line."}
	}
	many := slices.Contains([]string{"from", "file", "blob", "symbol"}, key)
	if before := h.seen[key]; before > 0 && !many {
		return &entryFault{n, fmt.Sprintf("%s is there twice; it was set in line %d", key, before), "Remove one of the lines."}
	}
	h.seen[key] = n
	return h.setField(n, key, value)
}

func (h *headParser) setField(n int, key, value string) *entryFault {
	switch key {
	case "kind":
		h.e.Kind = Kind(value)
		return checkOneOf(n, key, h.e.Kind, Kinds())
	case "state":
		h.e.State = ApprovalState(value)
		return checkOneOf(n, key, h.e.State, ApprovalStates())
	case "by":
		h.e.By = ProposalSource(value)
		return checkOneOf(n, key, h.e.By, ProposalSources())
	case "learned":
		t, err := time.Parse(time.DateOnly, value)
		if err != nil || t.Year() < 1 || t.Year() > 9999 {
			return &entryFault{n, fmt.Sprintf("learned is not a day: %q", shortenText(value)), "Write it as 2006-01-02."}
		}
		h.e.Learned = CalendarDay{t}
	case "from":
		return h.parseFrom(n, value)
	case "file":
		if why := pathFault(value); why != "" {
			return &entryFault{n, fmt.Sprintf("file %q %s", shortenText(value), why), "Write the path from the root of the repository, with slashes."}
		}
		if slices.ContainsFunc(h.e.Files, func(f EntryFile) bool { return f.Path == value }) {
			return &entryFault{n, fmt.Sprintf("file %q is there twice", shortenText(value)), "Remove one of the lines."}
		}
		h.e.Files = append(h.e.Files, EntryFile{Path: value})
		return tooManyFault(n, key, len(h.e.Files), maxFiles)
	case "blob":
		return h.parseBlob(n, value)
	case "symbol":
		if len(value) > maxName || strings.ContainsFunc(value, unicode.IsSpace) {
			return &entryFault{
				n, fmt.Sprintf("symbol %q is not one name", shortenText(value)),
				"Write one name, such as Parse or Tree.Walk, and a line for each further one.",
			}
		}
		h.e.Symbols = append(h.e.Symbols, value)
		return tooManyFault(n, key, len(h.e.Symbols), maxFiles)
	}
	return nil
}

func (h *headParser) parseFrom(n int, value string) *entryFault {
	words := strings.Fields(value)
	o := EntryOrigin{Run: nexus.RunID(words[0])}
	if len(words) > 3 {
		return &entryFault{n, "from has more than a run, a task and a commit", "Write it as from: RUN TASK COMMIT; the last two may be left out."}
	}
	if len(words) > 1 {
		o.Task = nexus.TaskID(words[1])
	}
	if len(words) > 2 {
		if o.Commit = words[2]; !isHash(o.Commit) {
			return &entryFault{n, fmt.Sprintf("%q is not the hash of a commit", shortenText(o.Commit)), "Write all 40 or 64 digits of it, or leave it out."}
		}
	}
	h.e.From = append(h.e.From, o)
	return tooManyFault(n, "from", len(h.e.From), maxOrigin)
}

func (h *headParser) parseBlob(n int, value string) *entryFault {
	last := len(h.e.Files) - 1
	switch {
	case last < 0 || h.e.Files[last].Blob != "":
		return &entryFault{n, "blob does not follow the file that it belongs to", "Write it in the line after its file."}
	case !isHash(value):
		return &entryFault{
			n, fmt.Sprintf("%q is not the hash of a file", shortenText(value)),
			"git rev-parse HEAD:PATH prints it. Without a blob, the episode stays when the file changes.",
		}
	}
	h.e.Files[last].Blob = value
	return nil
}

// finishHead checks the complete head; n is the line of the closing fence.
func (h *headParser) finishHead(n int, text string) (MemoryEntry, *entryFault) {
	h.e.Text = text
	switch {
	case h.e.Kind == "":
		return h.e, &entryFault{n, "kind is missing", "Write kind: and one of " + joinWords(Kinds()) + " above this line."}
	case h.e.State == "":
		return h.e, &entryFault{n, "state is missing", "Write state: approved above this line; agents see only approved episodes."}
	case text == "":
		return h.e, &entryFault{n + 1, "there is no text", "Write the episode below the head."}
	case len(text) > MaxText:
		return h.e, &entryFault{
			n + 1, fmt.Sprintf("the text has %d bytes; at most %d are kept", len(text), MaxText),
			"Shorten it to a few sentences, and link to the rest.",
		}
	}
	return h.e, nil
}

// String formats the entry as its file, for [Parse].
func (e MemoryEntry) String() string {
	var b strings.Builder
	line := func(key, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%s: %s\n", key, value)
		}
	}
	b.WriteString(fence + "\n")
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
	b.WriteString(fence + "\n\n" + strings.Trim(e.Text, "\n") + "\n")
	return b.String()
}

// ReplaceState returns the text of a file with another state, and all other lines unchanged.
func ReplaceState(data []byte, s ApprovalState) []byte {
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

func checkOneOf[T ~string](n int, key string, is T, all []T) *entryFault {
	if slices.Contains(all, is) {
		return nil
	}
	return &entryFault{n, fmt.Sprintf("unknown %s %q", key, shortenText(string(is))), "Write one of " + joinWords(all) + "."}
}

func joinWords[T ~string](all []T) string {
	words := make([]string, len(all))
	for i, w := range all {
		words[i] = string(w)
	}
	return strings.Join(words, ", ")
}

func tooManyFault(n int, key string, is, max int) *entryFault {
	if is <= max {
		return nil
	}
	return &entryFault{n, fmt.Sprintf("there are more than %d lines %s", max, key), "Name those that matter most."}
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

func shortenText(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "..."
	}
	return s
}

package workitem

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/pattern"
)

// MaxFile limits the size of an item's file, in bytes.
const MaxFile = 64 << 10

const (
	fence    = "---"
	maxLine  = 500 // of a value
	maxTitle = 120
	maxFiles = 50
)

// fields returns the fields of a head, in the order in which they are written.
func fields() []string {
	return []string{"state", "reason", "priority", "order", "type", "file", "check", "added", "by", "finding", "run", "commit"}
}

// fault is a mistake in a file.
type fault struct {
	line       int // from 1
	what, hint string
}

var name = pattern.Lazy(`^[a-z0-9][a-z0-9_-]{0,62}$`)

// findingID matches the ID of a finding: strategy and finding.
var findingID = pattern.Lazy(`^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+$`)

// Mentions returns the finding that the head of a file names, even if [Parse] refuses the
// file, or "".
func Mentions(data []byte) string {
	for line := range strings.Lines(string(data[:min(len(data), MaxFile)])) {
		key, value, ok := strings.Cut(line, ":")
		if value = strings.TrimSpace(value); ok && strings.TrimSpace(key) == "finding" && findingID().MatchString(value) {
			return value
		}
	}
	return ""
}

// Parse parses the file of an item; file is its path, which starts error messages. It accepts
// nothing unknown: the error names the first wrong line and the correct form.
func Parse(file string, data []byte) (Item, error) {
	i, f := parse(data)
	i.ID = strings.TrimSuffix(path.Base(file), ".md")
	if f == nil && !name().MatchString(i.ID) {
		f = &fault{
			1, fmt.Sprintf("%q is not the name of an item", short(i.ID)),
			"Name the file with small letters, digits, - and _, such as faster-start.md.",
		}
	}
	if f != nil {
		return Item{}, &nexus.Error{Code: nexus.CodeInvalidConfig, Message: fmt.Sprintf("%s:%d: %s", file, f.line, f.what), Hint: f.hint}
	}
	return i, nil
}

func parse(data []byte) (i Item, _ *fault) {
	if len(data) > MaxFile {
		return i, &fault{1, fmt.Sprintf("the file has more than %d bytes", MaxFile), "Split it into several items."}
	}
	lines := strings.Split(strings.TrimPrefix(strings.ReplaceAll(string(data), "\r\n", "\n"), "\ufeff"), "\n")
	for n, line := range lines {
		if !utf8.ValidString(line) || strings.ContainsFunc(line, func(r rune) bool { return r != '\t' && unicode.IsControl(r) }) {
			return i, &fault{n + 1, "the line has characters that are not text", "Save the file as UTF-8 without control characters."}
		}
	}
	body := 0
	if strings.TrimRight(lines[0], " \t") == fence {
		end, f := i.head(lines)
		if f != nil {
			return i, f
		}
		body = end
	}
	if i.State == "" {
		i.State = Waiting // a person who writes a file by hand wants the work done
	}
	return i.body(lines, body)
}

// head parses the fields, and returns the number of their lines.
func (i *Item) head(lines []string) (end int, _ *fault) {
	seen := map[string]int{}
	for at, line := range lines[1:] {
		line, n := strings.TrimSpace(line), at+2
		if line == fence {
			return n, i.fits(seen)
		}
		if line == "" {
			continue
		}
		key, value, ok := strings.Cut(line, ":")
		key, value = strings.TrimSpace(key), strings.TrimSpace(value)
		switch {
		case !ok:
			return 0, &fault{
				n, fmt.Sprintf("%q is not a field", short(line)),
				"Write a field as name: value; the title comes after the second " + fence + ".",
			}
		case !slices.Contains(fields(), key):
			return 0, &fault{n, fmt.Sprintf("unknown field %q", short(key)), "The fields are " + strings.Join(fields(), ", ") + "."}
		case value == "":
			return 0, &fault{n, key + " has no value", "Give it one, or remove the line."}
		case len(value) > maxLine:
			return 0, &fault{
				n, fmt.Sprintf("%s has more than %d bytes", key, maxLine),
				"Shorten it; what does not fit goes below the title.",
			}
		case seen[key] > 0 && key != "file":
			return 0, &fault{n, fmt.Sprintf("%s is there twice; it was set in line %d", key, seen[key]), "Remove one of the lines."}
		}
		seen[key] = n
		if what, hint := i.set(key, value); what != "" {
			return 0, &fault{n, what, hint}
		}
	}
	return 0, &fault{len(lines), "the head has no end", "Write a line " + fence + " after the fields, and the title below it."}
}

// set sets one field, and returns the problem with it.
func (i *Item) set(key, value string) (what, hint string) {
	switch key {
	case "state":
		if i.State = State(value); !slices.Contains(States(), i.State) {
			return fmt.Sprintf("unknown state %q", short(value)),
				"Write one of waiting, queued, active, done, rejected; without the line it is waiting."
		}
	case "priority":
		p, ok := nexus.ParsePriority(value)
		if i.Priority = p; !ok {
			return fmt.Sprintf("unknown priority %q", short(value)), "Write one of " + nexus.Join(nexus.Priorities()) + "."
		}
	case "order":
		n, err := strconv.Atoi(value)
		if i.Order = n; err != nil || n < 1 || n > 1_000_000 {
			return fmt.Sprintf("%q is not a place", short(value)), "Write a number from 1; items without one come last."
		}
	case "type":
		if i.Kind = nexus.TaskKind(value); !slices.Contains([]nexus.TaskKind{nexus.CodeTask, nexus.TestTask, nexus.DocsTask}, i.Kind) {
			return fmt.Sprintf("unknown type %q", short(value)), "Write code, test or docs."
		}
	case "file":
		clean := path.Clean(value)
		outside := path.IsAbs(value) || clean == "." || clean == ".." || strings.HasPrefix(clean, "../")
		if clean != value || outside || strings.Contains(value, `\`) {
			return fmt.Sprintf("%q is not a path within the repository", short(value)), "Write it from the root of the repository, with slashes."
		}
		if i.Files = append(i.Files, value); len(i.Files) > maxFiles {
			return fmt.Sprintf("there are more than %d lines file", maxFiles), "Name those that matter most."
		}
	case "added":
		if _, err := time.Parse(time.DateOnly, value); err != nil {
			return fmt.Sprintf("added is not a day: %q", short(value)), "Write it as 2006-01-02."
		}
		i.Added = value
	case "run":
		i.Run = nexus.RunID(value)
	case "commit":
		if i.Commit = value; (len(value) != 40 && len(value) != 64) || strings.Trim(value, "0123456789abcdef") != "" {
			return fmt.Sprintf("%q is not the hash of a commit", short(value)), "Write all 40 or 64 digits of it, or remove the line."
		}
	case "reason":
		i.Reason = value
	case "check":
		i.Check = value
	case "by":
		i.By = value
	case "finding":
		if i.Finding = value; !findingID().MatchString(value) {
			return fmt.Sprintf("%q is not the ID of a finding", short(value)), "Write it as nexus discover lists it, or remove the line."
		}
	}
	return "", ""
}

// fits checks fields against each other.
func (i *Item) fits(seen map[string]int) *fault {
	switch {
	case i.State == Rejected && i.Reason == "":
		return &fault{seen["state"], "it is rejected without a reason", "Write reason: and why below this line."}
	case i.State != Done && i.Commit != "":
		return &fault{seen["commit"], "it has a commit and is not done", "Write state: done, or remove the line."}
	}
	return nil
}

// body parses the title and the text, which start at a line.
func (i Item) body(lines []string, at int) (Item, *fault) {
	for at < len(lines) && strings.TrimSpace(lines[at]) == "" {
		at++
	}
	if at == len(lines) {
		return i, &fault{len(lines), "there is no title", "Write # and the title below the head, and what to do below that."}
	}
	title := strings.TrimSpace(lines[at])
	mark, rest, ok := strings.Cut(title, " ")
	switch rest = strings.TrimSpace(rest); {
	case mark != "#" || !ok || rest == "":
		return i, &fault{at + 1, fmt.Sprintf("%q is not a title", short(title)), "Begin the text with a line: # and the title."}
	case len(rest) > maxTitle:
		return i, &fault{at + 1, fmt.Sprintf("the title has more than %d bytes", maxTitle), "Shorten it, and write the rest below it."}
	}
	i.Title = rest
	i.Text = strings.TrimRight(strings.Trim(strings.Join(lines[at+1:], "\n"), "\n"), " \t\n")
	return i, nil
}

// String formats the item as its file, for [Parse].
func (i Item) String() string {
	var b strings.Builder
	b.WriteString(fence + "\n")
	for _, key := range fields() {
		for _, value := range i.values(key) {
			fmt.Fprintf(&b, "%s: %s\n", key, value)
		}
	}
	b.WriteString(fence + "\n\n# " + i.Title + "\n")
	if i.Text != "" {
		b.WriteString("\n" + i.Text + "\n")
	}
	return b.String()
}

// values returns an item's values of a field.
func (i Item) values(key string) []string {
	value := ""
	switch key {
	case "state":
		value = string(i.State)
	case "reason":
		value = i.Reason
	case "priority":
		value = string(i.Priority)
	case "order":
		if i.Order > 0 {
			value = strconv.Itoa(i.Order)
		}
	case "type":
		value = string(i.Kind)
	case "file":
		return i.Files
	case "check":
		value = i.Check
	case "added":
		value = i.Added
	case "by":
		value = i.By
	case "finding":
		value = i.Finding
	case "run":
		value = string(i.Run)
	case "commit":
		value = i.Commit
	}
	if value == "" {
		return nil
	}
	return []string{value}
}

func short(s string) string {
	if r := []rune(s); len(r) > 60 {
		return string(r[:60]) + "..."
	}
	return s
}

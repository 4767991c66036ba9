package backlogitem

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/nexus-ai-builder/nexus/internal/nexus"
	"github.com/nexus-ai-builder/nexus/internal/nexus/frontmatter"
)

// MaxFile limits the size of an item's file, in bytes.
const MaxFile = 64 << 10

const (
	maxLine  = 500 // of a value
	maxTitle = 120
	maxFiles = 50
)

// headFields returns the fields of a head, in the order in which they are written.
func headFields() []string {
	return []string{"state", "reason", "priority", "order", "type", "file", "check", "added", "by", "finding", "run", "commit"}
}

var name = regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,62}$`)

// findingID matches the ID of a finding: strategy and finding.
var findingID = regexp.MustCompile(`^[A-Za-z0-9._-]+/[A-Za-z0-9._-]+$`)

// FindingOfItemFile returns the finding that the head of a file names, even if [ParseBacklogItem] refuses the
// file, or "".
func FindingOfItemFile(data []byte) string {
	for line := range strings.Lines(string(data[:min(len(data), MaxFile)])) {
		key, value, ok := strings.Cut(line, ":")
		if value = strings.TrimSpace(value); ok && strings.TrimSpace(key) == "finding" && findingID.MatchString(value) {
			return value
		}
	}
	return ""
}

// ParseBacklogItem parses the file of an item; file is its path, which starts error messages. It accepts
// nothing unknown: the error names the first wrong line and the correct form.
func ParseBacklogItem(file string, data []byte) (BacklogItem, error) {
	i, f := parseItem(data)
	i.ID = strings.TrimSuffix(path.Base(file), ".md")
	if f == nil && !name.MatchString(i.ID) {
		f = frontmatter.NewMistake(
			1, fmt.Sprintf("%q is not the name of an item", frontmatter.ShortenForError(i.ID)),
			"Name the file with small letters, digits, - and _, such as faster-start.md.",
		)
	}
	if f != nil {
		return BacklogItem{}, f.Error(file)
	}
	return i, nil
}

func parseItem(data []byte) (i BacklogItem, _ *frontmatter.Fault) {
	if len(data) > MaxFile {
		return i, frontmatter.NewMistake(1, fmt.Sprintf("the file has more than %d bytes", MaxFile), "Split it into several items.")
	}
	if f := frontmatter.CheckPlainText(string(data)); f != nil {
		return i, f
	}
	d := frontmatter.SplitHead(string(data))
	above := 0 // lines above the body
	if d.HasHead {
		if f := i.parseHead(d); f != nil {
			return i, f
		}
		above = 2 + strings.Count(d.Head, "\n")
	}
	if i.State == "" {
		i.State = Waiting // a person who writes a file by hand wants the work done
	}
	return i.parseBody(d, above)
}

// parseHead parses the fields.
func (i *BacklogItem) parseHead(d frontmatter.Document) *frontmatter.Fault {
	lines := map[string]int{}
	f := d.ReadFields(frontmatter.AllowedFields{Known: headFields(), Repeated: []string{"file"}}, func(n int, key, value string) *frontmatter.Fault {
		lines[key] = n
		if len(value) > maxLine {
			return frontmatter.NewMistake(n, fmt.Sprintf("%s has more than %d bytes", key, maxLine), "Shorten it; what does not fit goes below the title.")
		}
		if what, hint := i.setField(key, value); what != "" {
			return frontmatter.NewMistake(n, what, hint)
		}
		return nil
	})
	if f != nil {
		return f
	}
	return i.checkFields(lines)
}

// setField sets one field, and returns the problem with it.
func (i *BacklogItem) setField(key, value string) (what, hint string) {
	switch key {
	case "state":
		if i.State = BacklogItemState(value); !slices.Contains(BacklogStates(), i.State) {
			return fmt.Sprintf("unknown state %q", frontmatter.ShortenForError(value)),
				"Write one of waiting, queued, active, done, rejected; without the line it is waiting."
		}
	case "priority":
		p, ok := nexus.ParsePriority(value)
		if i.Priority = p; !ok {
			return fmt.Sprintf("unknown priority %q", frontmatter.ShortenForError(value)), "Write one of " + nexus.JoinWords(nexus.Priorities()) + "."
		}
	case "order":
		n, err := strconv.Atoi(value)
		if i.Order = n; err != nil || n < 1 || n > 1_000_000 {
			return fmt.Sprintf("%q is not a place", frontmatter.ShortenForError(value)), "Write a number from 1; items without one come last."
		}
	case "type":
		if i.Kind = nexus.TaskKind(value); !slices.Contains([]nexus.TaskKind{nexus.CodeTask, nexus.TestTask, nexus.DocsTask}, i.Kind) {
			return fmt.Sprintf("unknown type %q", frontmatter.ShortenForError(value)), "Write code, test or docs."
		}
	case "file":
		clean := path.Clean(value)
		outside := path.IsAbs(value) || clean == "." || clean == ".." || strings.HasPrefix(clean, "../")
		if clean != value || outside || strings.Contains(value, `\`) {
			return fmt.Sprintf("%q is not a path within the repository", frontmatter.ShortenForError(value)), "Write it from the root of the repository, with slashes."
		}
		if i.Files = append(i.Files, value); len(i.Files) > maxFiles {
			return fmt.Sprintf("there are more than %d lines file", maxFiles), "Name those that matter most."
		}
	case "added":
		if _, err := time.Parse(time.DateOnly, value); err != nil {
			return fmt.Sprintf("added is not a day: %q", frontmatter.ShortenForError(value)), "Write it as 2006-01-02."
		}
		i.Added = value
	case "run":
		i.Run = nexus.RunID(value)
	case "commit":
		if i.Commit = value; (len(value) != 40 && len(value) != 64) || strings.Trim(value, "0123456789abcdef") != "" {
			return fmt.Sprintf("%q is not the hash of a commit", frontmatter.ShortenForError(value)), "Write all 40 or 64 digits of it, or remove the line."
		}
	case "reason":
		i.Reason = value
	case "check":
		i.Check = value
	case "by":
		i.By = value
	case "finding":
		if i.Finding = value; !findingID.MatchString(value) {
			return fmt.Sprintf("%q is not the ID of a finding", frontmatter.ShortenForError(value)), "Write it as nexus discover lists it, or remove the line."
		}
	}
	return "", ""
}

// checkFields checks fields against each other.
func (i *BacklogItem) checkFields(seen map[string]int) *frontmatter.Fault {
	switch {
	case i.State == Rejected && i.Reason == "":
		return frontmatter.NewMistake(seen["state"], "it is rejected without a reason", "Write reason: and why below this line.")
	case i.State != Done && i.Commit != "":
		return frontmatter.NewMistake(seen["commit"], "it has a commit and is not done", "Write state: done, or remove the line.")
	}
	return nil
}

// parseBody parses the title and the text below so many lines.
func (i BacklogItem) parseBody(d frontmatter.Document, above int) (BacklogItem, *frontmatter.Fault) {
	lines, at := strings.Split(d.Body, "\n"), 0
	for at < len(lines) && strings.TrimSpace(lines[at]) == "" {
		at++
	}
	if at == len(lines) {
		return i, frontmatter.NewMistake(d.Lines, "there is no title", "Write # and the title below the head, and what to do below that.")
	}
	title := strings.TrimSpace(lines[at])
	mark, rest, ok := strings.Cut(title, " ")
	switch rest = strings.TrimSpace(rest); {
	case mark != "#" || !ok || rest == "":
		return i, frontmatter.NewMistake(above+at+1, fmt.Sprintf("%q is not a title", frontmatter.ShortenForError(title)), "Begin the text with a line: # and the title.")
	case len(rest) > maxTitle:
		return i, frontmatter.NewMistake(above+at+1, fmt.Sprintf("the title has more than %d bytes", maxTitle), "Shorten it, and write the rest below it.")
	}
	i.Title = rest
	i.Text = strings.TrimRight(strings.Trim(strings.Join(lines[at+1:], "\n"), "\n"), " \t\n")
	return i, nil
}

// String formats the item as its file, for [ParseBacklogItem].
func (i BacklogItem) String() string {
	var b strings.Builder
	b.WriteString(frontmatter.Fence + "\n")
	for _, key := range headFields() {
		for _, value := range i.valuesOfField(key) {
			fmt.Fprintf(&b, "%s: %s\n", key, value)
		}
	}
	b.WriteString(frontmatter.Fence + "\n\n# " + i.Title + "\n")
	if i.Text != "" {
		b.WriteString("\n" + i.Text + "\n")
	}
	return b.String()
}

// valuesOfField returns an item's values of a field.
func (i BacklogItem) valuesOfField(key string) []string {
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
